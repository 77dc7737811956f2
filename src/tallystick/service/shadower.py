"""`python -m tallystick.service.shadower STORE`: compares sessions that have ended with their transcripts, then ends.

Owns that one session which cannot be compared keeps no other from it, and that its memory and its time are its own: no one
waits. What is compared is ask/shadow.py's. Its stdin says which sessions: a list of (agent, its own id) in JSON.
"""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path

import msgspec

from tallystick.agents import adapters
from tallystick.ask.prices import read_prices
from tallystick.ask.receipt import receipt_of
from tallystick.ask.shadow import Shadow, note, shadow_of
from tallystick.capture.place import Place
from tallystick.display.text import one_line
from tallystick.graph.graph import Graph, Mode
from tallystick.journal.home import Home
from tallystick.journal.session_keys import SessionKeys
from tallystick.model.ids import SessionId
from tallystick.recording.session_writer import SessionWriter
from tallystick.service.process_log import log_to
from tallystick.workspace.indexing import open_index

_LOG = logging.getLogger(__name__)
_NICE = 19
_SHORT = 8


def compare(home: Home, told: Iterable[tuple[str, str]]) -> None:
    """Compare sessions with their files, and record what is news. What cannot be compared is logged and passed over."""
    keys = SessionKeys(home)
    for agent, session in told:
        try:
            sid = keys.find(agent, session)
            shadow = _shadow(home, sid)
            if shadow is not None and not shadow.unread and shadow.is_news:
                with SessionWriter(home) as session_writer:
                    note(session_writer, shadow)
            _hand_out(home, agent, sid)
        except Exception:  # a fault of ours too: the next session may do
            _LOG.exception("a session of %s could not be compared with its transcript", agent)


def _shadow(home: Home, sid: SessionId | None) -> Shadow | None:
    if sid is None or not home.graph.exists():
        return None
    with closing(Graph(home.graph, Mode.READ)) as graph:
        return shadow_of(home, graph, sid, adapters())


def _hand_out(home: Home, agent: str, sid: SessionId | None) -> None:
    """Log the receipt of a session that has ended."""
    if sid is None or not home.graph.exists():
        return
    with open_index(home) as index:
        line = receipt_of(home, index, sid, read_prices(home)).line
    _LOG.info("%s %s has ended: %s", one_line(agent), sid[:_SHORT], one_line(line))


def main(words: Iterable[str]) -> int:
    """Compare the sessions that a recorder tells of."""
    os.umask(0o077)
    os.nice(_NICE)
    (folder,) = words
    home = Home(Path(folder))
    log_to(Place(home.folder).shadower_log)
    _LOG.setLevel(logging.INFO)
    compare(home, msgspec.json.decode(sys.stdin.buffer.read(), type=list[tuple[str, str]]))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

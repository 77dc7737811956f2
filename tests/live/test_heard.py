"""Which sessions hooks spoke of: the last ones, from one recorder to the next."""

from __future__ import annotations

from itertools import count
from pathlib import Path

import pytest

from tallystick.agents.hooks import Payload
from tallystick.live.heard import Heard, Spoke


def said(session: str, transcript: str | None = None) -> Payload:
    return Payload(event="e", session=session, transcript=transcript)


def heard(file: Path) -> Heard:
    clock = count(1.0)
    return Heard(file, now=lambda: next(clock))


def test_a_session_is_heard_by_its_sub_agents_and_continuations_and_keeps_its_file(tmp_path: Path) -> None:
    known = heard(tmp_path / "heard.json")
    for session, transcript in (("s", "/t"), ("s/agent", None), ("s~2", None)):
        known.note("codex", said(session, transcript))
    assert known.spoke() == (Spoke(agent="codex", session="s", transcript="/t", at=3.0),)


def test_the_next_recorder_knows_them(tmp_path: Path) -> None:
    known = heard(tmp_path / "heard.json")
    known.note("codex", said("s"))
    known.keep(7.0)
    again = heard(tmp_path / "heard.json")
    assert (again.looked, again.spoke()) == (7.0, known.spoke())


def test_a_session_that_another_recorder_followed_is_heard(tmp_path: Path) -> None:
    known = heard(tmp_path / "heard.json")
    known.resume("codex", "s", "/t")
    known.resume("codex", "s/agent", "")
    assert [(one.session, one.transcript) for one in known.spoke()] == [("s", "/t")]


@pytest.mark.parametrize("bad", [b"", b"{", b"[]", b'{"looked": "x"}', b"\xff"])
def test_a_damaged_file_is_as_none(tmp_path: Path, bad: bytes) -> None:
    (tmp_path / "heard.json").write_bytes(bad)
    assert (heard(tmp_path / "heard.json").looked, heard(tmp_path / "heard.json").spoke()) == (0.0, ())


def test_the_oldest_go_first(tmp_path: Path) -> None:
    known = heard(tmp_path / "heard.json")
    for number in range(600):
        known.note("codex", said(f"s{number}"))
    assert len(known.spoke()) == 512
    assert known.spoke()[0].session == "s88"

"""The main function of the recorder's process.

Owns how its parts are put together. Must not know what is recorded.
"""

from __future__ import annotations

import asyncio
import os
import resource
import time
from pathlib import Path

from tallystick.capture import recorder
from tallystick.capture.place import Place
from tallystick.ingest.adapters import adapters
from tallystick.ingest.transcript_follower import TranscriptFollower
from tallystick.journal.home import Home
from tallystick.live.alerts import LookAfter
from tallystick.live.configuration import AgentUser, LiveConfiguration
from tallystick.live.helpers import Decide, Helpers
from tallystick.live.hook_pipeline import HookPipeline
from tallystick.recording.session_writer import SessionWriter
from tallystick.service.decider import Template, fork_template
from tallystick.service.deciders import Deciders
from tallystick.service.guarding import Guarding
from tallystick.service.indexing import Indexing
from tallystick.service.process_log import log_to
from tallystick.service.server import Chores, Server
from tallystick.service.shadowing import Shadowing
from tallystick.workspace.settings import read_setting

_ENDING_SECONDS = 5.0
_FILES = 4096


def run(folder: str | Path, *, idle_seconds: float | None = None) -> int:
    """Be the recorder of a store until it is needed no more; the process's exit code. Another one there is no failure."""
    home = Home(Path(folder))
    place = Place(home.folder)
    template = fork_template(home)  # before anything is opened that a process of its own must not hold
    with template.channel:
        claim = _claim(place, home)
        if claim is None:
            return 0
        try:
            log_to(place.log)
            asyncio.run(_server(home, place, template, idle_seconds).run())
        finally:
            place.leave(claim)
    return 0


def _server(home: Home, place: Place, template: Template, idle_seconds: float | None) -> Server:
    if idle_seconds is None:
        idle_seconds = float(str(read_setting(home, "service.idle_minutes"))) * 60
    deciders = Deciders(home, template)
    indexing = Indexing(home)
    live = make_live(home, deciders.decide, index=indexing, look_after=deciders.look_after)
    deciders.changed = live.note_policies
    deciders.compared = live.agreement.note
    chores = Chores(
        indexing=indexing,
        guarding=Guarding(home, live.note_alarm, refused=lambda: live.session_writer.refused),
        deciders=deciders,
        warm=_warm,
        http=read_setting(home, "service.http") == "on",
        shadowing=Shadowing(home, live.endings.closed, lambda: indexing.is_current),
    )
    return Server(place, live, chores, idle_seconds=idle_seconds)


def _claim(place: Place, home: Home) -> int | None:
    """The claim on the store; None if another recorder has it and answers. One that is ending is waited for."""
    until = time.monotonic() + _ENDING_SECONDS
    while True:
        claim = place.claim()
        if claim is not None or recorder.status(home.folder) is not None or time.monotonic() > until:
            return claim
        time.sleep(0.05)


def bear_much() -> None:
    """Take nothing over of the agent that happened to start this process: neither its umask nor a tight limit of files."""
    os.umask(0o077)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard == resource.RLIM_INFINITY:
        wanted = _FILES
    else:
        wanted = min(_FILES, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def make_live(
    home: Home,
    decide: Decide,
    *,
    index: Indexing | None = None,
    look_after: LookAfter | None = None,
) -> HookPipeline:
    """What works on deliveries, with the store, the policies and the transcripts behind it.

    Args:
        index: what learns of the sessions that were sealed, and brings the index up to date where a transcript needs it.
        look_after: what policies say of the files that a call has written.

    Raises:
        JournalError: the store cannot be opened. FormatError: its config.toml is damaged.
    """
    session_writer = SessionWriter(home, aside=True, sealed=None if index is None else index.note)
    configuration = LiveConfiguration(session_writer, AgentUser(Path.home(), os.environ), monotonic=time.monotonic)
    transcripts = TranscriptFollower(session_writer, adapters(), refresh=None if index is None else index.refresh)
    return HookPipeline(
        session_writer,
        Helpers(decide, transcripts, look_after=look_after, configuration=configuration),
        monotonic=time.monotonic,
    )


def _warm() -> None:
    """Load what the first session would otherwise wait for."""
    from tallystick.recording.run_config import gathered  # noqa: F401

"""The parts of the front, and how they are put together. Must not know what is recorded."""

from __future__ import annotations

import asyncio
import os
import time
from pathlib import Path

from tallystick.capture.place import Place
from tallystick.capture.surroundings import Surroundings
from tallystick.ingest.adapters import adapters
from tallystick.ingest.transcript_follower import TranscriptFollower
from tallystick.journal.home import Home
from tallystick.live.alerts import LookAfter
from tallystick.live.configuration import AgentUser, LiveConfiguration, look_for
from tallystick.live.helpers import Decide, Helpers
from tallystick.live.hook_pipeline import HookPipeline
from tallystick.live.reading_ahead import Aside, at_once
from tallystick.recording.session_writer import SessionWriter
from tallystick.service.aside import in_a_thread
from tallystick.service.deciders import Deciders
from tallystick.service.guarding import Guarding
from tallystick.service.indexing import Indexing
from tallystick.service.noticing import Noticing
from tallystick.service.process_log import log_to
from tallystick.service.server import Chores, Server
from tallystick.service.shadowing import Shadowing
from tallystick.service.template import Template
from tallystick.workspace.settings import read_setting


def serve(home: Home, place: Place, template: Template, idle_seconds: float | None) -> None:
    """Take deliveries until no one needs a recorder any more. idle_seconds: None stands for the store's setting.

    Raises:
        JournalError: the store cannot be opened. FormatError: its config.toml is damaged.
    """
    log_to(place.log)
    asyncio.run(_server(home, place, template, idle_seconds).run())


def _server(home: Home, place: Place, template: Template, idle_seconds: float | None) -> Server:
    if idle_seconds is None:
        idle_seconds = float(str(read_setting(home, "service.idle_minutes"))) * 60
    deciders = Deciders(home, template)
    indexing = Indexing(home)
    live = make_live(home, deciders.decide, index=indexing, look_after=deciders.look_after, aside=in_a_thread)
    deciders.changed = live.note_policies
    deciders.compared = live.agreement.note
    chores = Chores(
        indexing=indexing,
        guarding=Guarding(home, live.own_alerts.alarm, refused=lambda: live.session_writer.refused),
        deciders=deciders,
        warm=_warm,
        http=read_setting(home, "service.http") == "on",
        noticing=Noticing(live.session_writer, live.heard, live.own_alerts, _user()),
        shadowing=Shadowing(home, live.endings.closed, lambda: indexing.is_current),
    )
    return Server(place, live, chores, idle_seconds=idle_seconds)


def make_live(
    home: Home,
    decide: Decide,
    *,
    index: Indexing | None = None,
    look_after: LookAfter | None = None,
    aside: Aside = at_once,
) -> HookPipeline:
    """What works on deliveries, with the store, the policies and the transcripts behind it.

    Args:
        index: what learns of the sessions that were sealed, and brings the index up to date where a transcript needs it.
        look_after: what policies say of the files that a call has written.
        aside: where long journals are read.

    Raises:
        JournalError: the store cannot be opened. FormatError: its config.toml is damaged.
    """
    session_writer = SessionWriter(home, aside=True, sealed=None if index is None else index.note)
    look = None
    if index is not None:
        look = look_for(home, lambda: index.is_current)
    user = AgentUser(Path.home(), os.environ)
    configuration = LiveConfiguration(session_writer, user, monotonic=time.monotonic, look=look)
    transcripts = TranscriptFollower(session_writer, adapters(), refresh=None if index is None else index.refresh)
    return HookPipeline(
        session_writer,
        Helpers(decide, transcripts, look_after=look_after, configuration=configuration, aside=aside),
        monotonic=time.monotonic,
    )


def _user() -> Surroundings:
    return Surroundings(user=Path.home(), environment=dict(os.environ))


def _warm() -> None:
    """Load what the first session would otherwise wait for."""
    from tallystick.recording.run_config import gathered  # noqa: F401

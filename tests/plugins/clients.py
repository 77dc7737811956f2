"""A session in which a client of a model records itself, and what is on record of its calls."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tallystick import Recorder, verify
from tallystick.ask.show import given_to
from tallystick.model.recorded import Recorded
from tallystick.recording.session import Session


@contextmanager
def a_session(store: Path, *, key: str) -> Iterator[Session]:
    """A session that is sound when it ends, and in whose store the client's key is nowhere."""
    with Recorder(store) as recorder:
        session = recorder.session("demo", "s")
        yield session
        session.close()
    assert verify(home=store).exit_code == 0
    for path in store.rglob("*"):
        assert not path.is_file() or key.encode() not in path.read_bytes()


def of_type(session: Session, kind: str) -> list[Recorded]:
    return [step for step in session if step.type == kind]


def given(session: Session, call: Recorded) -> list[tuple[str, Any]]:
    """What `tally show STEP --input` says a call was given."""
    found = given_to(session.recorder.home, call)
    assert found.visible
    assert found.matches
    return [(step.type, next(iter(step.values.values()), None)) for step in found.steps]

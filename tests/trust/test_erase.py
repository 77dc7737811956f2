from __future__ import annotations

from pathlib import Path

import pytest

from tallystick.errors import NotFoundError, UsageError
from tallystick.recording.recorder import Recorder
from tallystick.recording.session import Session
from tallystick.trust.erase import Erasure, erase
from tallystick.trust.verify import verify_store


@pytest.fixture
def session(tmp_path: Path) -> Session:
    recorder = Recorder(tmp_path / "store")
    session = recorder.session("demo", cwd="/home/dev")
    session.prompt("the secret word")
    recorder.close()
    return session


def test_a_value_is_erased_by_name(session: Session) -> None:
    home = session.recorder.home
    erased = erase(home, session.id, 1, Erasure(("content.text",), reason="asked by mail", basis="law"))
    assert erased.names == ("content.text",)
    assert b"secret" not in session.path.read_bytes()
    assert b'"basis":"law"' in home.ledger.read_bytes()
    assert (verify_store(home).exit_code, verify_store(home).disclosure.erased) == (0, 1)


def test_what_cannot_be_meant_is_refused(session: Session) -> None:
    home = session.recorder.home
    with pytest.raises(UsageError, match="nothing to erase"):
        erase(home, session.id, 1, Erasure((), "x"))
    with pytest.raises(UsageError, match="is not a field name"):
        erase(home, session.id, 1, Erasure(("text",), "x"))
    with pytest.raises(UsageError, match="basis"):
        erase(home, session.id, 1, Erasure(("content.text",), reason="x", basis="two words"))
    with pytest.raises(NotFoundError, match="no session"):
        erase(home, "0" * 32, 1, Erasure(("content.text",), "x"))
    with pytest.raises(NotFoundError, match=r"it has content\.text"):
        erase(home, session.id, 1, Erasure(("content.output",), "x"))

"""Secrets in what was recorded while nothing was scrubbed."""

from __future__ import annotations

from pathlib import Path

import pytest

from tallystick.errors import NotFoundError
from tallystick.journal.home import Home
from tallystick.model.step import Source, Step
from tallystick.recording.session_writer import SessionWriter
from tallystick.trust.secrets import SecretScan, erase_found, scan
from tallystick.workspace.settings import set_setting

SECRET = "Sw0rdf1sh!x9"


def quiet(_session: str, _size: int) -> None:
    """No progress."""


@pytest.fixture
def old(tmp_path: Path) -> Home:
    """A store that holds a password in one of three steps, recorded while scrubbing was off."""
    home = Home(tmp_path / "store")
    with SessionWriter(home):
        pass
    set_setting(home, "secrets.scrub", "off")
    with SessionWriter(home) as writer:
        for number, text in enumerate(("hello", f"password={SECRET} and PASSWORD={SECRET}", "bye")):
            step = Step(
                session="s", type="assistant", source=Source.SDK, source_id=f"m{number}", values={"content.text": text}
            )
            writer.add("agent", step)
    return home


def places(done: SecretScan) -> list[tuple[str, dict[str, int]]]:
    return [(secret.field, secret.kinds) for secret in done.secrets]


def test_an_old_secret_is_found_with_its_place_and_never_shown(old: Home) -> None:
    done = scan(old, progress=quiet)
    assert places(done) == [("content.text", {"password": 2})]
    assert SECRET not in repr(done)


def test_what_was_found_is_erased_and_not_found_again(old: Home) -> None:
    done = erase_found(old, scan(old, progress=quiet), "recorded too early")
    assert done.erased == 1
    again = scan(old, progress=quiet)
    assert again.secrets == ()
    assert again.steps == done.steps
    assert not any(SECRET.encode() in path.read_bytes() for path in old.folder.rglob("*") if path.is_file())


def test_a_session_that_is_not_there_is_an_error(old: Home) -> None:
    with pytest.raises(NotFoundError):
        scan(old, "f" * 32, progress=quiet)


def test_a_journal_that_breaks_off_is_named(old: Home) -> None:
    [(session, path)] = old.sessions()
    path.write_bytes(path.read_bytes() + b"{}\n")
    done = scan(old, progress=quiet)
    assert [each.session for each in done.unread] == [session]
    assert len(done.secrets) == 1

"""What others know of a store, gathered: alarms, and reasons why somebody does not count."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tallystick.journal.home import Home
from tallystick.model.step import Json, Step
from tallystick.recording.session_writer import SessionWriter
from tallystick.recording.store import open_archive
from tallystick.recording.store_identity import read_store
from tallystick.seal.keys import SigningKey, did_key
from tallystick.signer.pins import Pin, write_pin
from tallystick.trust import external_evidence as looking
from tallystick.trust.external_evidence import outlook

KEY = did_key(SigningKey(b"\x41" * 32).public)


@pytest.fixture(autouse=True)
def trusting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tallystick.signer.pins.check_guarded", lambda path: None)


@pytest.fixture
def home(tmp_path: Path) -> Home:
    home = Home(tmp_path / "store")
    with SessionWriter(home) as session_writer:
        session_writer.add("demo", Step(session="s", type="user", values={"content.text": "x"}))
    return home


def pin(home: Home, folder: Path) -> Path:
    own = Pin(
        store=read_store(home).store_id,
        key=KEY,
        socket=str(folder / "nobody"),
        signer=os.getuid() + 1,
        owner=os.getuid(),
        home=str(home.folder),
    )
    write_pin(own, folder / "etc")
    return folder / "etc"


def test_of_a_store_alone_nobody_knows_anything(home: Home, tmp_path: Path) -> None:
    found = outlook(home, pins=tmp_path / "etc", with_anchors=True)
    assert (found.anchors, found.key, found.heads, found.alarms, found.notes) == ((), None, (), (), ())


def test_what_keeps_the_signer_from_counting_is_a_note_and_its_key_still_counts(home: Home, tmp_path: Path) -> None:
    found = outlook(home, pins=pin(home, tmp_path))
    assert found.key == KEY
    assert found.heads == ()
    assert any("does not answer" in note for note in found.notes)
    assert any("signer.json is gone" in alarm for alarm in found.alarms)


@pytest.mark.parametrize("left", [b"", b"not a ledger\n", None])
def test_a_ledger_that_is_gone_is_an_alarm_where_it_was_written_down(
    home: Home, tmp_path: Path, left: bytes | None
) -> None:
    pins = pin(home, tmp_path)
    home.ledger.unlink()
    if left is not None:
        home.ledger.write_bytes(left)
    found = outlook(home, pins=pins)
    (alarm,) = found.alarms
    assert "was in this folder" in alarm
    assert found.key == KEY
    assert outlook(home, pins=tmp_path / "none").alarms == ()


def test_pins_that_cannot_be_read_are_a_note(home: Home, tmp_path: Path) -> None:
    pins = pin(home, tmp_path)
    for path in pins.iterdir():
        path.write_text("{}")
    assert any("signer: cannot read" in note for note in outlook(home, pins=pins).notes)
    home.ledger.unlink()
    assert any("signer: cannot read" in note for note in outlook(home, pins=pins).notes)


def test_a_clock_that_went_back_is_an_alarm(home: Home, tmp_path: Path) -> None:
    pins = pin(home, tmp_path)
    assert not any("clock" in alarm for alarm in outlook(home, pins=pins).alarms)
    archive = open_archive(home)
    archive.ledger.file._clock = lambda: "2020-01-01T00:00:00.000000Z"
    archive.ledger.append({"type": "heartbeat"})
    archive.close()
    (alarm,) = [alarm for alarm in outlook(home, pins=pins).alarms if "clock" in alarm]
    assert "went back by" in alarm
    assert looking._CLOCK_STEP.total_seconds() == 600


@pytest.mark.parametrize(
    ("entry", "says"),
    [
        ({"type": "anchor", "kind": "git", "size": 1, "ts": "2026-01-01T00:00:00.000000Z"}, None),
        ({"type": "anchor", "kind": "tsa", "size": 1, "ts": "9999-01-01T00:00:00.000000Z"}, "behind that of elsewhere"),
        ({"type": "anchor", "kind": "tsa", "size": 1, "ts": "2026-01-01T00:00:00.000000Z"}, None),
        ({"type": "anchor", "kind": "tsa", "size": 1, "ts": "no time"}, None),
        ({"type": "anchor", "kind": "tsa", "size": 1, "ts": "9999-01-01T00:00:00"}, None),
    ],
)
def test_a_clock_that_is_behind_an_authoritys_is_an_alarm(
    home: Home, tmp_path: Path, entry: dict[str, Json], says: str | None
) -> None:
    archive = open_archive(home)
    archive.ledger.append(entry, {"content.target": "elsewhere"})
    archive.close()
    alarms = outlook(home, pins=tmp_path / "none").alarms
    assert [says in alarm for alarm in alarms] == ([True] if says is not None else [])  # type: ignore[operator]


@pytest.mark.parametrize(
    "settings", ["", "[anchors]\ntoo_old_hours = 1\n", "[anchors]\ntoo_old_hours = 'never'\n", "{"]
)
def test_an_anchor_that_is_too_old_is_an_alarm_whatever_the_settings_are_like(
    home: Home, tmp_path: Path, settings: str
) -> None:
    home.config.write_text(settings)
    archive = open_archive(home)
    meta: dict[str, Json] = {"type": "anchor", "kind": "git", "size": 1, "ts": "2026-01-01T00:00:00.000000Z"}
    archive.ledger.append(meta, {"content.target": "elsewhere"})
    archive.sign()
    archive.close()
    january = 1_767_225_600.0
    assert outlook(home, pins=tmp_path / "none", now=january + 1_800).alarms == ()
    (alarm,) = outlook(home, pins=tmp_path / "none", now=january + 3_600 * 200).alarms
    assert "elsewhere has got no head since 2026-01-01" in alarm
    assert outlook(home, pins=tmp_path / "none").alarms == ()

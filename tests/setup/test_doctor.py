"""What the doctor finds: each fault that a user could have, made on purpose."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tallystick.capture import recorder
from tallystick.capture.installation import Installation, Kind
from tallystick.capture.loopback import Loopback, wait_for_loopback
from tallystick.capture.place import Place
from tallystick.capture.surroundings import Surroundings
from tallystick.journal.home import Home
from tallystick.model.step import Source, Step
from tallystick.recording.own_session import RECORDER
from tallystick.recording.session_writer import SessionWriter
from tallystick.setup import doctor
from tallystick.setup import install as installing
from tallystick.setup.check import Check, State
from tallystick.setup.doctor import _guard, examine
from tallystick.setup.install import install
from tallystick.trust.tamper_signals import Alarms
from tests.support import recorders
from tests.support.cases import each


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    store = Home(tmp_path / "user" / ".tally")
    with SessionWriter(store):
        pass
    recorders.start(store.folder)  # else the doctor starts one
    yield store
    recorder.stop(store.folder)


@pytest.fixture(autouse=True)
def installed_for_daily_use(monkeypatch: pytest.MonkeyPatch) -> None:
    """The tests run from a checkout, which is a fault of its own."""
    tool = Installation(kind=Kind.UV_TOOL, folder=Path("/opt/tallystick"))
    monkeypatch.setattr(installing, "installation_of", lambda _: tool)


@pytest.fixture
def where(home: Home) -> Surroundings:
    user = home.folder.parent
    (user / ".claude").mkdir()
    return Surroundings(user=user, environment={"HOME": str(user), "PATH": "/usr/bin:/bin"})


@pytest.fixture
def no_recorder(monkeypatch: pytest.MonkeyPatch) -> None:
    """None is looked for, or started: what is to be found has nothing to do with it."""
    monkeypatch.setattr(doctor, "_recorder", lambda _: iter(()))


def found(home: Home, where: Surroundings) -> dict[str, list[Check]]:
    checks: dict[str, list[Check]] = {}
    for check in examine(home, where):
        checks.setdefault(check.name, []).append(check)
    return checks


def states(checks: list[Check]) -> list[State]:
    return [check.state for check in checks]


def test_a_healthy_machine_is_said_to_be_well(home: Home, where: Surroundings) -> None:
    recorder.stop(home.folder)
    install(home, "claude-code", where)
    checks = found(home, where)
    assert {name: states(each) for name, each in checks.items()} == {
        name: [State.OK]
        for name in ("store", "privacy", "disk", "key", "clock", "config", "policy", "recorder", "index", "claude-code")
    } | {"signer": [State.NOTE]}
    assert "reaches the recorder" in checks["claude-code"][0].found
    assert recorder.status(home.folder)["deliveries"] == 0  # type: ignore[index]  # the probe is not recorded


def test_a_process_in_the_recorders_place_is_found(home: Home, where: Surroundings) -> None:
    run = Place(home.folder).run
    (run / "recorder.sock").rename(run / "away.sock")
    code = "import socket; s = socket.socket(1); s.bind('recorder.sock'); s.listen(); print(flush=True); input()"
    words = [sys.executable, "-I", "-S", "-c", code]
    with subprocess.Popen(words, cwd=run, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        (check,) = found(home, where)["recorder"]
        process.communicate(b"\n")
    (run / "away.sock").rename(run / "recorder.sock")
    assert check.state is State.BAD
    assert f"process {process.pid} answers" in check.found


@pytest.mark.usefixtures("no_recorder")
def test_an_agent_that_is_not_hooked_is_named_with_what_to_do(home: Home, where: Surroundings) -> None:
    check = found(home, where)["claude-code"][0]
    assert (check.state, check.mend) == (State.WARN, "tally install claude-code")


def test_a_hook_that_reaches_nobody_is_found_by_running_it(home: Home, where: Surroundings) -> None:
    install(home, "claude-code", where)
    settings = where.user / ".claude" / "settings.json"
    settings.write_text(settings.read_text().replace(sys.executable, "/nowhere/python"))
    check = found(home, where)["claude-code"][-1]
    assert check.state is State.BAD
    assert "does not reach" in check.found


def test_a_hook_that_asks_its_environment_for_the_store_is_found(home: Home, where: Surroundings) -> None:
    install(home, "claude-code", where)
    settings = where.user / ".claude" / "settings.json"
    settings.write_text(settings.read_text().replace(f"--home {home.folder.resolve()} ", ""))
    check = found(home, where)["claude-code"][0]
    assert (check.state, check.mend) == (State.WARN, "tally install claude-code")
    assert "TALLY_HOME" in check.found


@each(
    "kind, state",
    [(Kind.CHECKOUT, State.WARN), (Kind.TEMPORARY, State.WARN), (Kind.VENV, State.NOTE), (Kind.MISSING, State.BAD)],
)
def test_a_hook_that_may_go_or_is_gone_is_found(
    home: Home, where: Surroundings, monkeypatch: pytest.MonkeyPatch, kind: Kind, state: State
) -> None:
    install(home, "claude-code", where)
    place = Installation(kind=kind, folder=Path("/home/dev/clone"))
    monkeypatch.setattr(installing, "installation_of", lambda _: place)
    check = found(home, where)["claude-code"][0]
    assert (check.state, "/home/dev/clone" in check.found) == (state, True)
    assert check.mend is not None


def test_settings_that_call_a_port_of_another_time_are_found(home: Home, where: Surroundings) -> None:
    install(home, "claude-code", where, http=True)
    assert states(found(home, where)["claude-code"]) == [State.OK]
    for old in (Loopback(1, "token"), None):
        recorder.stop(home.folder)
        Place(home.folder).http.unlink()
        if old is not None:
            Place(home.folder).http.write_bytes(old.encode())
        recorders.start(home.folder)
        first = found(home, where)["claude-code"][0]
        assert (first.state, first.mend) == (State.BAD, "tally install claude-code")
        assert "such events are lost" in first.found
        install(home, "claude-code", where)
        wait_for_loopback(Place(home.folder))
        assert State.BAD not in states(found(home, where)["claude-code"])


@pytest.mark.usefixtures("no_recorder")
def test_damaged_settings_of_an_agent_are_found(home: Home, where: Surroundings) -> None:
    (where.user / ".claude" / "settings.json").write_text('{\n "hooks": [}\n')
    check = found(home, where)["claude-code"][0]
    assert check.state is State.BAD
    assert "2" in check.found


@pytest.mark.usefixtures("no_recorder")
def test_a_policy_that_cannot_be_used_is_found_with_its_line(home: Home, where: Surroundings) -> None:
    (home.folder / "policy").mkdir()
    (home.folder / "policy" / "mine.cedar").write_text("permit(principal, action, resource)\nwhen { nonsense };\n")
    check = found(home, where)["policy"][0]
    assert check.state is State.BAD
    assert "mine.cedar" in check.found


@pytest.mark.usefixtures("no_recorder")
def test_a_damaged_config_and_a_key_that_is_gone_are_found(home: Home, where: Surroundings) -> None:
    home.config.write_text("journal = [\n")
    home.key.unlink()
    checks = found(home, where)
    assert states(checks["config"]) == states(checks["key"]) == [State.BAD]


@pytest.mark.usefixtures("no_recorder")
@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_store_on_a_read_only_disk_is_found(home: Home, where: Surroundings) -> None:
    home.folder.chmod(0o500)
    try:
        assert states(found(home, where)["store"]) == [State.BAD]
    finally:
        home.folder.chmod(0o700)


@pytest.mark.usefixtures("no_recorder")
def test_a_store_that_others_may_read_is_found(home: Home, where: Surroundings) -> None:
    home.folder.chmod(0o755)
    assert found(home, where)["privacy"][0].mend == f"chmod 700 {home.folder}"


@pytest.mark.usefixtures("no_recorder")
def test_a_clock_that_was_set_back_is_found(home: Home, where: Surroundings) -> None:
    now = home.ledger.stat().st_mtime - 3600
    checks = [check for check in examine(home, where, now=lambda: now) if check.name == "clock"]
    assert states(checks) == [State.WARN]


def test_a_recorder_that_hangs_is_found_and_named(home: Home, where: Surroundings) -> None:
    pid = recorders.start(home.folder)
    os.kill(pid, signal.SIGSTOP)
    try:
        check = found(home, where)["recorder"][0]
    finally:
        os.kill(pid, signal.SIGCONT)
    assert check.state is State.BAD
    assert check.mend is not None
    assert str(pid) in check.mend


def test_gaps_and_deliveries_that_wait_are_found(home: Home, where: Surroundings) -> None:
    with SessionWriter(home) as session_writer:
        session_writer.add(
            RECORDER, Step(session="recorder", type="gap", source=Source.WATCH, meta={"reason": "not-writable"})
        )
    place = Place(home.folder)
    recorders.start(home.folder)
    (place.spool / "1-1.spool.part").write_bytes(b"")
    checks = found(home, where)
    assert "not-writable" in checks["gaps"][0].found
    assert "spool" not in checks


@pytest.mark.usefixtures("no_recorder")
def test_what_is_found_is_plain_data(home: Home, where: Surroundings) -> None:
    import msgspec

    assert json.loads(msgspec.json.encode(list(examine(home, where))))


def test_an_alarm_that_was_found_before_is_said_until_it_is_over(home: Home) -> None:
    alarms = Alarms(home)
    alarms.new(at="2026-11-22T00:00:00.000000Z", further=("the signer refuses: another root",))
    (alarm, *_) = _guard(home, 0.0)
    assert (alarm.name, alarm.state, alarm.found) == ("ALARM", State.BAD, "the signer refuses: another root")
    alarms.new(at="2026-11-22T01:00:00.000000Z")
    assert [check.name for check in _guard(home, 0.0)] == ["signer"]

"""Giving a store a signer, on a machine of its own below one folder: as root, for users who have a number and no name."""

from __future__ import annotations

import os
import plistlib
import pwd
import shutil
import time
from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner, Result

from tallystick.cli import main
from tallystick.errors import JournalError, NotFoundError, TallystickError
from tallystick.journal.home import Home
from tallystick.journal.signing import signer_place
from tallystick.signer.pins import check_guarded, read_pins
from tallystick.trust import signer_setup
from tallystick.trust.drop_privileges import as_user
from tallystick.trust.signer import ask_status
from tallystick.trust.signer_program import Places, usual_places
from tallystick.trust.signer_setup import leave, plan, set_up
from tests.support.signer_machine import ALICE, BOB, SIGNER, Machine, foreign, needs_root, record


def picture(folder: Path) -> list[tuple[str, int, int, int, int]]:
    """All that is below a folder, and when it was changed."""
    found = ((place, place.lstat()) for place in (folder, *sorted(folder.rglob("*"))))
    return [(str(place), it.st_uid, it.st_mode, it.st_size, it.st_mtime_ns) for place, it in found]


def test_root_runs_the_programs_of_the_system_whatever_the_users_path_holds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = tmp_path / "true"
    own.write_text("#!/bin/sh\nexit 3\n")
    own.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    signer_setup._run("true")
    own.rename(tmp_path / "useradd-of-mine")
    with pytest.raises(JournalError, match="cannot run useradd-of-mine"):
        signer_setup._run("useradd-of-mine")


@needs_root
def test_two_stores_of_two_users_have_one_signer(machine: Machine) -> None:
    alice, bob = machine.store(ALICE, "alice"), machine.store(BOB, "bob")
    machine.set_up(alice)
    record(alice, ALICE, "between")
    machine.set_up(bob)
    for home, uid in ((alice, ALICE), (bob, BOB)):
        record(home, uid, "after")
        assert machine.is_guarded(home)
        assert foreign(home.folder, uid) == []
        assert not home.key.exists()
    user, said = ask_status(machine.places.socket)
    assert user == SIGNER
    assert len(said["logs"]) == 2  # type: ignore[arg-type]
    assert {pin.owner for pin in read_pins(machine.places.pins)} == {ALICE, BOB}


@needs_root
def test_one_user_cannot_have_the_others_log_signed(machine: Machine) -> None:
    alice, bob = machine.store(ALICE, "alice"), machine.store(BOB, "bob")
    machine.set_up(alice)
    shutil.copytree(alice.folder, bob.folder.parent / "stolen")
    for place in (bob.folder.parent / "stolen", *(bob.folder.parent / "stolen").rglob("*")):
        os.chown(place, BOB, BOB)
    note = alice.note.read_bytes()
    record(Home(bob.folder.parent / "stolen"), BOB, "a lie")  # recorded, and under no head
    assert Home(bob.folder.parent / "stolen").note.read_bytes() == note


@needs_root
@pytest.mark.parametrize("step", [2, 4, 5, *(pytest.param(step, marks=pytest.mark.soak) for step in (0, 1, 3))])
def test_it_goes_on_where_it_was_interrupted(machine: Machine, step: int) -> None:
    home = machine.store(ALICE, "alice")
    seen = list[signer_setup.Step]()

    def told(each: signer_setup.Step) -> None:
        if len(seen) == step:
            raise KeyboardInterrupt
        seen.append(each)

    with pytest.raises(KeyboardInterrupt):
        machine.set_up(home, told)
    record(home, ALICE, "meanwhile")
    machine.set_up(home)
    record(home, ALICE, "after")
    assert machine.is_guarded(home)
    with pytest.raises(JournalError, match="already has a signer"):
        machine.plan(home)


@needs_root
@pytest.mark.parametrize("writes", [1, 4, 7, *(pytest.param(n, marks=pytest.mark.soak) for n in (2, 3, 5, 6))])
def test_the_move_of_the_key_goes_on_where_its_process_died(
    machine: Machine, writes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = machine.store(ALICE, "alice")
    real, count = os.write, [0]

    def write(descriptor: int, data: bytes) -> int:
        if os.geteuid() == ALICE:
            count[0] += 1
            if count[0] == writes:
                os._exit(9)
        return real(descriptor, data)

    with monkeypatch.context() as dying:
        dying.setattr(os, "write", write)
        with pytest.raises(JournalError, match="ended before it was done"):
            machine.set_up(home)
    machine.set_up(home)
    record(home, ALICE, "after")
    assert machine.is_guarded(home)
    kept = sorted(home.note.parent.glob("ledger-*.note"))
    assert any(len(path.read_bytes().partition(b"\n\n")[2].splitlines()) == 2 for path in kept)  # both keys


@needs_root
@pytest.mark.parametrize("user", [0, ALICE])
def test_neither_root_nor_who_records_is_a_signer(machine: Machine, user: int) -> None:
    home = machine.store(ALICE, "alice")
    with pytest.raises(JournalError, match="a user of its own"):
        set_up(machine.plan(home, user))
    assert not machine.places.folder.exists()
    assert home.key.exists()


@needs_root
def test_a_user_that_there_is_not_is_made_first(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    home = machine.store(ALICE, "alice")
    found = machine.plan(home, "no-such-user-here")
    assert found.uid is None
    assert (found.steps[0].does.split(",")[0], found.steps[0].undo) == (
        "create the system user no-such-user-here",
        "userdel no-such-user-here",
    )
    monkeypatch.setattr(signer_setup, "_run", lambda *words: None)  # and if the system did not make it
    with pytest.raises(JournalError, match="no user"):
        set_up(found)


def test_without_root_nothing_is_done(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = Home(tmp_path / "store")
    record(home, os.geteuid(), "s")
    found = plan(home, places=Machine(tmp_path).places)
    before = picture(tmp_path)
    monkeypatch.setattr(os, "geteuid", lambda: 1234)
    with pytest.raises(JournalError, match="only root"):
        set_up(found)
    assert picture(tmp_path) == before


def test_a_plan_changes_nothing(tmp_path: Path) -> None:
    home = Home(tmp_path / "store")
    record(home, os.geteuid(), "s")
    before = picture(tmp_path)
    found = plan(home, places=Machine(tmp_path).places)
    assert len(found.steps) >= 6
    assert picture(tmp_path) == before


def test_a_plan_wants_a_store(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match="no store"):
        plan(Home(tmp_path / "none"), places=Machine(tmp_path).places)


@needs_root
def test_leaving_and_coming_back_goes_on_with_what_the_signer_remembers(machine: Machine) -> None:
    home = machine.store(ALICE, "alice")
    machine.set_up(home)
    record(home, ALICE, "guarded")
    seed = b"\x21" * 32
    as_user(ALICE, lambda: str(leave(home, seeds=lambda: seed)))
    record(home, ALICE, "alone")
    assert signer_place(home) is None
    assert any("signer.json is gone" in alarm for alarm in machine.outlook(home).alarms)  # as long as the pin stands
    machine.set_up(home)
    record(home, ALICE, "guarded again")
    assert machine.is_guarded(home)
    assert foreign(home.folder, ALICE) == []


@needs_root
def test_who_rewrote_the_record_while_it_was_left_does_not_get_the_signer_back(machine: Machine) -> None:
    home = machine.store(ALICE, "alice")
    shutil.copytree(home.folder, machine.base / "before", symlinks=True)
    machine.set_up(home)
    record(home, ALICE, "guarded")
    shutil.rmtree(home.folder)
    shutil.copytree(machine.base / "before", home.folder)
    for place in (home.folder, *home.folder.rglob("*")):
        os.chown(place, ALICE, ALICE)
    with pytest.raises(JournalError, match="refuses"):
        machine.set_up(Home(home.folder))


@needs_root
def test_a_store_that_root_made_under_a_users_home_keeps_its_owner(machine: Machine) -> None:
    folder = machine.user(ALICE, "alice")
    home = Home(folder / ".tally")
    record(home, 0, "by root")
    for place in (home.folder, *home.folder.rglob("*")):
        os.chown(place, ALICE, ALICE)
    machine.set_up(home)
    assert foreign(home.folder, ALICE) == []
    assert sorted(home.note.parent.glob("ledger-*.note"))
    record(home, ALICE, "after")
    assert machine.is_guarded(home)


@needs_root
def test_no_user_can_change_what_runs(machine: Machine) -> None:
    machine.places = msgspec.structs.replace(machine.places, program=machine.base / "program")
    machine.set_up(machine.store(ALICE, "alice"))
    for place in machine.places.program.rglob("*"):
        found = place.lstat()
        assert (found.st_uid, found.st_mode & 0o022) == (0, 0), place
    check_guarded(machine.places.program)
    check_guarded(machine.places.pins)
    check_guarded(machine.places.folder, trusted=frozenset((0, SIGNER)))
    assert machine.places.folder.stat().st_mode & 0o077 == 0


@needs_root
def test_init_again_brings_an_older_signer_up_to_date_and_says_what_it_did(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine.places = msgspec.structs.replace(machine.places, program=machine.base / "program")
    monkeypatch.setattr(signer_setup, "usual_places", lambda: machine.places)
    home = machine.store(ALICE, "alice")

    def init() -> Result:
        words = ["--home", str(home.folder), "signer", "init", "--user", str(SIGNER)]
        return CliRunner(env={"TERM": "dumb"}).invoke(main, words)

    done = init()
    assert done.exit_code == 0, done.output
    assert done.stdout.startswith(f"done for the store at {home.folder}:\n  1. copy the program to")
    assert done.stdout.endswith("level A3: `tally verify --require A3` now requires it\n")
    assert done.stdout.count("     undo: ") == 6
    (extension,) = machine.places.program.glob("tallystick/seal/extension.py")
    extension.write_text(extension.read_text("utf-8").replace("PROTOCOL = 2", "PROTOCOL = 1"), "utf-8")
    signer_setup.start(machine.places, SIGNER)
    (before,) = read_pins(machine.places.pins)
    old = ask_status(machine.places.socket)[1]
    again = init()
    assert again.exit_code == 0, again.output
    new = ask_status(machine.places.socket)[1]
    assert (old["protocol"], new["protocol"], old["pid"] == new["pid"]) == (1, 2, False)
    assert list(read_pins(machine.places.pins)) == [before]
    record(home, ALICE, "after")
    assert machine.is_guarded(home)
    third = init()
    assert (third.exit_code, "already has a signer" in third.stderr) == (1, True)


# Whoever prepares links ---------------------------------------------------------------------------------------------


@needs_root
def test_a_home_that_is_a_link_is_refused(machine: Machine) -> None:
    victim = machine.base / "victim"
    victim.mkdir()
    link = machine.user(ALICE, "alice") / ".tally"
    link.symlink_to(victim)
    with pytest.raises(JournalError, match="is a link"):
        machine.plan(Home(link))
    assert list(victim.iterdir()) == []


@needs_root
def test_a_way_to_the_store_that_others_can_change_is_refused(machine: Machine) -> None:
    machine.places = msgspec.structs.replace(machine.places, program=machine.base / "program")
    real = machine.store(ALICE, "alice")
    (machine.user(BOB, "bob") / "way").symlink_to(real.folder.parent)
    found = machine.plan(Home(machine.base / "bob" / "way" / ".tally"))
    os.lchown(machine.base / "bob" / "way", BOB, BOB)
    with pytest.raises(JournalError, match="other users can change"):
        set_up(found)
    assert not machine.places.program.exists()


@needs_root
@pytest.mark.parametrize("name", ["keys", "heads", "keys/signer.json", "ledger.jsonl", "heads/ledger.note"])
def test_a_link_in_the_store_leads_root_nowhere(machine: Machine, name: str) -> None:
    home = machine.store(ALICE, "alice")
    victim = machine.base / "victim"
    victim.mkdir(mode=0o700)
    (victim / "log.key").write_text("00" * 32)
    (victim / "secret").write_text("of root\n")
    before = picture(victim)
    place = home.folder / name
    if place.is_dir():
        shutil.rmtree(place)
    else:
        place.unlink(missing_ok=True)
    place.symlink_to(victim if name in ("keys", "heads") else victim / "secret")
    os.lchown(place, ALICE, ALICE)
    with pytest.raises(TallystickError) as refused:
        machine.set_up(home)
    assert "of root" not in str(refused.value)
    assert picture(victim) == before


@needs_root
def test_what_a_users_links_point_to_keeps_its_owner(machine: Machine) -> None:
    home = machine.store(ALICE, "alice")
    victim = machine.base / "victim"
    victim.write_text("of root\n")
    for name in ("a-link", "journals/a-link", "heads/ledger-999.note"):
        (home.folder / name).symlink_to(victim)
        os.lchown(home.folder / name, ALICE, ALICE)
    os.link(victim, home.folder / "hard")
    machine.set_up(home)
    assert (victim.stat().st_uid, victim.read_text()) == (0, "of root\n")


@needs_root
def test_a_socket_of_somebody_else_does_not_make_root_end_a_process(machine: Machine) -> None:
    own = os.getpid()
    with pytest.raises(JournalError, match="cannot stop"):
        as_user(SIGNER, lambda: signer_setup._end(own))


# What supervisors are told ------------------------------------------------------------------------------------------


@pytest.fixture
def python(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(signer_setup, "interpreter", lambda: Path("/usr/bin/python3"))


def test_the_systemd_unit(python: None) -> None:
    from tallystick.trust.signer_program import systemd_unit

    places = Places()
    text = systemd_unit(signer_setup.command(places), 990, folder=places.folder, socket=places.socket)
    assert text == (Path(__file__).parent / "signer.service").read_text()


def test_where_launchd_runs_the_machine_a_plan_offers_its_property_list(tmp_path: Path, python: None) -> None:
    from tallystick.trust.signer_program import launchd_plist

    home = Home(tmp_path / "store")
    record(home, os.geteuid(), "s")
    places = msgspec.structs.replace(Machine(tmp_path).places, plist=tmp_path / "signer.plist")
    step = next(step for step in plan(home, places=places).steps if "plist" in step.does)
    assert step.does == f"write {places.plist} and start it"
    assert step.undo == f"launchctl bootout system/tallystick-signer; rm {places.plist}"
    command = signer_setup.command(usual_places("darwin"))
    found = plistlib.loads(launchd_plist(command, "tally-signer").encode())
    assert found["ProgramArguments"] == command
    assert (found["UserName"], found["KeepAlive"], found["RunAtLoad"]) == ("tally-signer", True, True)


def test_where_systemd_runs_the_machine_a_plan_offers_its_unit(tmp_path: Path) -> None:
    home = Home(tmp_path / "store")
    record(home, os.geteuid(), "s")
    places = msgspec.structs.replace(Machine(tmp_path).places, systemd=tmp_path)
    steps = plan(home, places=places).steps
    assert any(step.undo == f"systemctl disable --now unit; rm {places.unit}" for step in steps)


@needs_root
def test_what_other_stores_use_is_not_undone(machine: Machine) -> None:
    alice, bob = machine.store(ALICE, "alice"), machine.store(BOB, "bob")
    first = machine.plan(alice)
    assert [step.undo for step in first.steps if step.undo.startswith("rm -r")] == [f"rm -r {machine.places.program}"]
    machine.set_up(alice)
    undo = [step.undo for step in machine.plan(bob).steps]
    assert not any("rm -r" in word or str(machine.places.folder) == word for word in undo)
    assert undo.count("nothing: the signer of other stores uses it") == 2
    for step, words in zip(machine.plan(bob).steps, undo, strict=True):
        assert words, step.does


def test_names_of_users_are_numbers_too() -> None:
    own = pwd.getpwuid(os.getuid()).pw_name
    assert signer_setup._uid_of(own) == os.getuid()
    assert signer_setup._uid_of("64999") == 64_999
    assert signer_setup._uid_of("no-such-user-here") is None


def test_waiting_for_what_does_not_come_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(signer_setup, "_STARTS_SECONDS", 0.01)
    began = time.monotonic()
    with pytest.raises(JournalError, match="not today"):
        signer_setup._wait(lambda: False, "not today")
    assert time.monotonic() > began

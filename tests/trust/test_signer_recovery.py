"""Attacks on a signer of another user, and what comes after them: honest entries are signed again, and nothing is hidden."""

from __future__ import annotations

import base64
import os
import re
import shutil
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner

from tallystick.cli import main
from tallystick.errors import FormatError, JournalError, NotFoundError
from tallystick.journal.archive import system_clock
from tallystick.journal.home import Home
from tallystick.journal.lines import LineFile
from tallystick.journal.signing import SignerAt, SignerPlace, exchange, signer_place, write_signer_place
from tallystick.model.step import Json
from tallystick.model.verdict import Require, Verdict
from tallystick.recording.store import open_archive
from tallystick.recording.store_identity import read_store
from tallystick.seal.extension import (
    Code,
    LogState,
    RefusedError,
    answer_text,
    extend,
    parse_request,
    refusal_text,
    request_text,
)
from tallystick.seal.keys import SigningKey, did_key
from tallystick.seal.merkle import EMPTY_ROOT
from tallystick.seal.note import sign_note
from tallystick.signer.entry_file import entries_path
from tallystick.signer.pins import PINS
from tallystick.signer.server import STATUS
from tallystick.trust.drop_privileges import as_user
from tallystick.trust.signer import ask_status, signer_report
from tallystick.trust.signer_recovery import Recovery, recover, restore
from tallystick.trust.signer_setup import leave, start
from tallystick.trust.verify import Demand, StoreEvidence, verify_store
from tests.support.shown_entries import asked, grown, head
from tests.support.signer_machine import ALICE, BOB, SIGNER, Machine, guarded, needs_root, record

Known = tuple[bytes, ...]


@pytest.fixture
def home(machine: Machine) -> Home:
    return guarded(machine)


def lines(home: Home) -> Known:
    return tuple(LineFile(home.ledger))


def verdict(machine: Machine, home: Home) -> Verdict:
    around = machine.outlook(home)
    return verify_store(
        home,
        evidence=StoreEvidence(pinned=around.key, known=around.heads, alarms=around.alarms, notes=around.notes),
        demand=Demand(require=Require.A3),
    )


def say(machine: Machine, data: bytes, user: int = ALICE) -> bytes:
    """What the signer answers to a user."""

    def work() -> str:
        return exchange(machine.places.socket, data, until=time.monotonic() + 5).hex()

    return bytes.fromhex(as_user(user, work))


def extended(machine: Machine, home: Home, *metas: dict[str, Json]) -> bytes:
    """The answer to a request of somebody who runs as the user, and says well-formed things of their own."""
    store, before = read_store(home).store_id, lines(home)
    said = ({"recorded": system_clock(), **meta} for meta in metas)
    return say(machine, request_text(asked(grown(before, *said, store=store), len(before), store=store)))


def refusal(home: Home) -> str:
    """Record something, which the signer refuses to sign; why."""
    record(home, ALICE, "refused")

    def sign() -> str:
        archive = open_archive(home)
        with pytest.raises(JournalError) as refused:
            archive.sign()
        archive.close()
        assert "tally signer recover" in str(refused.value.hint)
        return str(refused.value)

    return as_user(ALICE, sign)


def recovered(home: Home) -> Recovery:
    said = as_user(ALICE, lambda: msgspec.json.encode(recover(home)).decode())
    return msgspec.json.decode(said, type=Recovery)


@needs_root
def test_nothing_that_is_sent_keeps_honest_entries_from_being_signed(machine: Machine, home: Home) -> None:
    store, before = read_store(home).store_id, lines(home)
    leaf = base64.b64encode(os.urandom(32))
    for first, shown in (
        (b"old", leaf),
        (b"v2 old", b"{}"),
        (b"v2 old", os.urandom(32).hex().encode()),
        (b"v2 old", leaf),
    ):
        note = b"tallystick/%b\n%d\n%b\n" % (store.encode(), len(before) + 1, base64.b64encode(EMPTY_ROOT))
        answer = say(machine, b"%b %d\n%b\n\n%b\n" % (first, len(before), shown, note))
        assert answer[:3] in (b"426", b"415")
    key = signer_place(home)
    assert key is not None
    for meta in ({"type": "key_retire", "key": key.key}, {"type": "nonsense"}, head(0, "zz"), {"type": "session_end"}):
        assert extended(machine, home, meta).startswith(b"415")
    record(home, ALICE, "after")
    assert machine.is_guarded(home)
    assert as_user(ALICE, lambda: did_key(leave(home, seeds=lambda: b"\x66" * 32)))


@needs_root
def test_a_ledger_that_somebody_extended_at_the_signer_goes_on_after_a_recovery_that_shows(
    machine: Machine, home: Home
) -> None:
    assert extended(machine, home, {"type": "gap"}, head(3, "5e" * 16)).startswith(b"200")
    assert "refuses" in refusal(home)
    assert verdict(machine, home).exit_code == 2
    found = recovered(home)
    assert (found.cause, found.difference.kept - found.difference.common) == ("other_entries", 2)
    assert [said.type for said in found.difference.only_kept] == ["gap", "session_head"]
    assert found.said_again >= 1
    after = verdict(machine, home)
    assert any("seals a recovery (other_entries)" in remark for remark in after.remarks)
    assert {defect.rule.value for defect in after.defects} == {"missing"}  # the session that somebody invented
    record(home, ALICE, "again")
    assert recovered(home).cause is None


@needs_root
def test_an_invented_size_of_a_session_is_named_by_the_recovery_and_stops_no_other_session(
    machine: Machine, home: Home
) -> None:
    """The signer has no journals: whether a session has as many steps as an entry says, it cannot know."""
    (victim, _), *_ = home.sessions()
    assert extended(machine, home, head(2**53 - 1, victim)).startswith(b"200")
    refusal(home)
    assert recovered(home).cause == "other_entries"
    record(home, ALICE, "later")
    found = verdict(machine, home)
    assert [(defect.session, defect.rule.value) for defect in found.defects] == [(victim, "cut")]
    assert any(
        f"1 entries were taken back from the signer, of the sessions {victim};" in said for said in found.remarks
    )
    assert found.unsealed == 0
    assert as_user(ALICE, lambda: did_key(leave(home, seeds=lambda: b"\x66" * 32)))


@needs_root
def test_entries_that_a_disk_lost_come_back_and_the_recovery_is_no_tampering(machine: Machine, home: Home) -> None:
    whole, early = lines(home), home.note.read_bytes()
    record(home, ALICE, "lost")
    late = lines(home)
    home.ledger.write_bytes(b"".join(line + b"\n" for line in whole))
    home.note.write_bytes(early)
    assert verdict(machine, home).exit_code == 2
    found = recovered(home)
    assert (found.cause, found.aside) == ("lost_entries", None)
    assert lines(home)[: len(late)] == late
    assert verdict(machine, home).exit_code == 0
    assert machine.is_guarded(home)


@needs_root
def test_a_recovery_hides_no_rewritten_session(machine: Machine, home: Home) -> None:
    before = lines(home)
    home.ledger.write_bytes(b"".join(line + b"\n" for line in before[:-1]))
    (_, journal), *_ = home.sessions()
    text = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(b"".join(text[:-1]))
    recovered(home)
    after = verdict(machine, home)
    assert after.exit_code == 2
    assert {defect.rule.value for defect in after.defects} == {"cut"}


@needs_root
def test_what_somebody_wrote_into_the_ledger_is_set_aside_and_what_is_honest_is_signed(
    machine: Machine, home: Home
) -> None:
    store, before = read_store(home).store_id, lines(home)
    bad = grown(before, {"type": "nonsense"}, {"type": "gap"}, store=store)
    home.ledger.write_bytes(b"".join(line + b"\n" for line in bad))
    assert "nonsense" in refusal(home)
    found = recovered(home)
    assert found.cause == "unfit_entries"
    assert found.aside is not None
    assert Path(found.aside).read_bytes().splitlines()[:2] == [*bad[-2:]]
    assert verdict(machine, home).exit_code == 0


@needs_root
def test_a_deleted_stores_ledger_comes_back_byte_for_byte_and_what_is_missing_is_told(
    machine: Machine, home: Home
) -> None:
    before, note = lines(home), home.note.read_bytes()
    sessions = {sid for sid, _ in home.sessions()}
    pins = machine.places.pins
    with pytest.raises(JournalError, match=f"user {ALICE}'s"):
        restore(home, pins=pins)
    same = as_user(ALICE, lambda: str(restore(home, pins=pins).signer_has_more))
    assert same == "False"
    shutil.rmtree(home.folder)
    missing = as_user(ALICE, lambda: " ".join(restore(home, pins=pins).missing))
    assert set(missing.split()) == sessions
    assert (lines(home), home.note.read_bytes()) == (before, note)
    assert home.ledger.stat().st_uid == ALICE
    record(home, ALICE, "anew")
    after = verdict(machine, home)
    assert {defect.rule.value for defect in after.defects} == {"missing"}
    with pytest.raises(NotFoundError, match="no signer"):
        restore(Home(machine.base / "elsewhere"), pins=pins)


@needs_root
def test_the_signer_tells_of_itself_only_to_its_own_users_and_root(machine: Machine, home: Home) -> None:
    store = read_store(home).store_id
    assert say(machine, b"status\n", BOB).startswith(b"403")
    assert say(machine, f"entries {store} 0\n".encode(), BOB).startswith(b"403")
    assert store.encode() in say(machine, b"status\n", ALICE)
    assert ask_status(machine.places.socket)[0] == SIGNER
    assert as_user(BOB, lambda: _told(machine)) == "the signer tells of itself only to its own users and root"


def _told(machine: Machine) -> str:
    with pytest.raises(FormatError) as refused:
        ask_status(machine.places.socket)
    return str(refused.value)


def printed(machine: Machine, home: Home, *words: str) -> tuple[int, str]:
    """What the command line prints to the user of the store, without what differs from run to run; and its exit code."""

    def work() -> str:
        done = CliRunner(env={"TERM": "dumb"}).invoke(main, ["--home", str(home.folder), *words])
        return f"{done.exit_code}\n{done.output}"

    defaults = [command.__kwdefaults__ or {} for command in (restore, recover)]
    for found in defaults:
        found["pins"] = machine.places.pins
    try:
        code, _, said = as_user(ALICE, work).partition("\n")
    finally:
        for found in defaults:
            found["pins"] = PINS
    said = re.sub(r"\b[0-9a-f]{32}\b", "ID", said.replace(str(home.folder), "STORE"))
    return int(code), re.sub(r"\d{4}-\d\d-\d\dT?[\d:.]*Z?", "TIME", said)


@needs_root
def test_a_recovery_is_told_in_words(machine: Machine, home: Home) -> None:
    CliRunner().invoke(main, ["signer", "recover", "--help"])  # a child may not read where modules are
    assert printed(machine, home, "signer", "recover") == (
        0,
        "nothing to recover from: the signer signs the ledger as it is, 5 entries\n",
    )
    assert extended(machine, home, {"type": "gap"}).startswith(b"200")
    record(home, ALICE, "refused")
    assert printed(machine, home, "signer", "restore") == (
        2,
        "the ledger on disk differs from entry 5 on: `tally signer recover` goes on from it\n"
        "  only the signer has 5: gap TIME \n"
        "  only on disk is 5: session_head TIME ID\n",
    )
    code, said = printed(machine, home, "signer", "recover")
    assert code == 0
    assert said.splitlines()[0] == "a recovery is sealed (other_entries); 8 entries are signed"
    assert re.fullmatch(r"set aside: STORE/torn/ID-5-\S+; 1 of its entries were sealed again", said.splitlines()[1])
    assert printed(machine, home, "signer", "restore") == (
        0,
        "the ledger on disk has all 8 entries that the signer keeps\n",
    )


@needs_root
def test_a_restored_ledger_is_told_in_words(machine: Machine, home: Home) -> None:
    CliRunner().invoke(main, ["signer", "restore", "--help"])
    sessions = [sid for sid, _ in home.sessions()]
    shutil.rmtree(home.folder)
    code, said = printed(machine, home, "signer", "restore")
    assert (code, said.splitlines()) == (
        2,
        [
            "the ledger is back: 5 entries of store ID, as the signer keeps them",
            f"{len(sessions)} sessions that it names are not there:",
            *["  ID"] * len(sessions),
        ],
    )


def restarted(machine: Machine, store: str, files: dict[str, bytes | None]) -> None:
    """Put files of the signer in place while it does not run."""
    machine.end()
    for suffix, data in files.items():
        path = machine.places.folder / f"{store}{suffix}"
        if data is None:
            path.unlink()
        else:
            path.write_bytes(data)
    start(machine.places, SIGNER)


@needs_root
def test_a_signer_whose_files_were_put_back_goes_on_after_a_recovery(machine: Machine, home: Home) -> None:
    store = read_store(home).store_id
    old = {suffix: (machine.places.folder / f"{store}{suffix}").read_bytes() for suffix in (".log", ".entries")}
    record(home, ALICE, "later")
    restarted(machine, store, dict(old))
    assert "old" in refusal(home)
    assert verdict(machine, home).exit_code == 2
    assert recovered(home).cause == "old_signer"
    assert verdict(machine, home).exit_code == 0


@needs_root
def test_a_recovery_drops_nothing_that_the_signer_signed(machine: Machine, home: Home) -> None:
    store = read_store(home).store_id
    old = {suffix: (machine.places.folder / f"{store}{suffix}").read_bytes() for suffix in (".log", ".entries")}
    early, note = lines(home), home.note.read_bytes()
    record(home, ALICE, "one")
    signed, newest = home.ledger.read_bytes(), home.note.read_bytes()
    home.ledger.write_bytes(b"".join(line + b"\n" for line in early))
    home.note.write_bytes(note)
    restarted(machine, store, dict(old))
    record(home, ALICE, "another past")
    home.ledger.write_bytes(signed)
    home.note.write_bytes(newest)
    with pytest.raises(JournalError, match="put back"):
        recovered(home)
    assert (home.ledger.read_bytes(), verdict(machine, home).exit_code) == (signed, 2)


@needs_root
def test_a_signer_that_only_had_hashes_says_so_and_takes_all_entries(machine: Machine, home: Home) -> None:
    store = read_store(home).store_id
    restarted(machine, store, {".entries": None})
    assert signer_report(home, machine.places.pins).kept == 0
    record(home, ALICE, "later")
    report = signer_report(home, machine.places.pins)
    assert report.kept == report.size == len(lines(home))
    assert machine.is_guarded(home)
    kept = entries_path(machine.places.folder / f"{store}.log")
    assert (kept.stat().st_uid, kept.stat().st_mode & 0o777) == (SIGNER, 0o600)


# A signer of before ------------------------------------------------------------------------------------------------------


class OldSigner:
    """A signer as it was: it takes hashes, and calls everything else malformed."""

    def __init__(self, path: Path, store: str) -> None:
        self.key, self.state = SigningKey(b"\x51" * 32), LogState(store)
        self._listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._listening.bind(str(path))
        self._listening.listen(8)

    def end(self) -> None:
        self._listening.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        self._listening.close()

    def serve(self) -> None:
        while True:
            try:
                connection, _ = self._listening.accept()
            except OSError:
                return
            with connection, connection.makefile("rb") as asked_for:
                connection.sendall(self._answer(asked_for.read()))

    def _answer(self, data: bytes) -> bytes:
        if data == STATUS:
            log = {"store": self.state.store_id, "key": did_key(self.key.public), "size": self.state.size, "root": ""}
            return answer_text(Code.SIGNED, msgspec.json.encode({"user": os.getuid(), "logs": [log]}))
        try:
            request = parse_request(data)
            if request.entries is not None:
                raise RefusedError(Code.MALFORMED, "the first line is not `old SIZE`")
            self.state = extend(self.state, request)
        except RefusedError as error:
            return refusal_text(error)
        return answer_text(Code.SIGNED, sign_note(request.store_id, self.state.size, self.state.root, [self.key]))


@pytest.fixture
def of_before(tmp_path: Path) -> Iterator[tuple[Home, OldSigner]]:
    home = Home(tmp_path / "store")
    open_archive(home, make=True).close()
    old = OldSigner(tmp_path / "socket", read_store(home).store_id)
    thread = threading.Thread(target=old.serve)
    thread.start()
    archive = open_archive(home)
    archive.ledger.append({"type": "key_add", "key": did_key(old.key.public)})
    archive.ledger.sign_together(SignerAt(SignerPlace(str(tmp_path / "socket"), did_key(old.key.public))))
    archive.close()
    write_signer_place(home, tmp_path / "socket", old.key.public)
    yield home, old
    old.end()
    thread.join()
    old.close()


def test_a_store_goes_on_with_a_signer_of_before(of_before: tuple[Home, OldSigner]) -> None:
    home, old = of_before
    record(home, os.getuid(), "one")
    record(home, os.getuid(), "two")
    assert old.state.size == len(lines(home))
    assert verify_store(home).exit_code == 0
    with pytest.raises(JournalError, match="keeps no entries") as refused:
        recover(home)
    assert "init" in str(refused.value.hint)

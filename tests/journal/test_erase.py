from __future__ import annotations

import pytest

from tallystick.errors import JournalError, NotFoundError
from tallystick.journal import erase as erase_module
from tallystick.journal.archive import Archive
from tallystick.journal.erase import Grounds, drop_content, erase, finish_erasures
from tallystick.journal.file import JournalFile
from tallystick.journal.home import Home
from tallystick.journal.read import read_session
from tallystick.model.ids import SessionId
from tallystick.trust.verify import verify_store
from tallystick.workspace.ledger import ledger_entries
from tests.journal.conftest import say

SECRET = "the secret word"


def erase_text(archive: Archive, journal: JournalFile, n: int) -> None:
    erase(archive, SessionId(journal.sid), n, frozenset({"content.text"}), Grounds("request", "they asked"))


def holders(home: Home, text: str = SECRET) -> list[str]:
    """The files of the store that hold `text`."""
    files = [path for path in home.folder.rglob("*") if path.is_file()]
    return [path.name for path in files if text.encode() in path.read_bytes()]


def test_an_erased_value_is_nowhere_and_the_chain_stands(home: Home, archive: Archive, journal: JournalFile) -> None:
    say(journal, SECRET)
    say(journal, "stays")
    archive.seal()
    root = journal.tree.root()
    erase_text(archive, journal, 1)
    assert holders(home) == []
    steps = list(read_session(home, journal.sid))
    assert (steps[1].withheld, steps[2].values["content.text"]) == (("content.text",), "stays")
    assert say(journal, "goes on") == 3
    archive.seal()
    verdict = verify_store(home)
    assert (verdict.exit_code, verdict.disclosure.erased, verdict.remarks) == (0, 1, ())
    with journal.locked():
        assert journal.tree.root() != root  # it has grown; the head over the first three still verified above


def test_a_blob_goes_with_its_value(home: Home, archive: Archive, journal: JournalFile) -> None:
    say(journal, SECRET * 10_000)
    archive.seal()
    erase_text(archive, journal, 1)
    assert holders(home) == []
    assert verify_store(home).exit_code == 0


def test_torn_fragments_of_the_session_go_too(home: Home, archive: Archive, journal: JournalFile) -> None:
    say(journal, SECRET)
    with journal.path.open("ab") as file:
        file.write(f'{{"entry":{{"x":"{SECRET}'.encode())
    say(journal, "after the crash")
    assert len(holders(home)) == 2
    erase_text(archive, journal, 1)
    assert holders(home) == []


def test_erasing_twice_changes_nothing_more(home: Home, archive: Archive, journal: JournalFile) -> None:
    say(journal, SECRET)
    erase_text(archive, journal, 1)
    before = (journal.path.read_bytes(), home.ledger.read_bytes())
    erase_text(archive, journal, 1)
    assert (journal.path.read_bytes(), home.ledger.read_bytes()) == before


@pytest.mark.parametrize(
    ("n", "name", "message"),
    [
        (9, "content.text", "step 9 does not exist"),
        (1, "content.output", "it has content.text"),
        (1, "meta", "cannot be erased"),
    ],
)
def test_what_cannot_be_erased_is_said(archive: Archive, journal: JournalFile, n: int, name: str, message: str) -> None:
    say(journal, SECRET)
    with pytest.raises(NotFoundError, match=message):
        erase(archive, SessionId(journal.sid), n, frozenset({name}), Grounds("request", "x"))


@pytest.mark.parametrize("stage", ["replace_file", "remove_blob", "_scrub_torn", "_unmark"])
def test_an_erasure_that_was_cut_short_is_reported_and_then_finished(
    home: Home, archive: Archive, journal: JournalFile, monkeypatch: pytest.MonkeyPatch, stage: str
) -> None:
    say(journal, SECRET * 10_000)
    archive.seal()
    real = getattr(erase_module, stage)

    def die(path: object, *rest: object) -> None:
        if stage == "replace_file" and "erasing" in str(path):
            real(path, *rest)
        else:
            raise KeyboardInterrupt

    monkeypatch.setattr(erase_module, stage, die)
    with pytest.raises(KeyboardInterrupt):
        erase_text(archive, journal, 1)
    monkeypatch.undo()
    archive.close()
    between = verify_store(home)
    assert between.exit_code == 0
    assert (holders(home) != []) == (stage in ("replace_file", "remove_blob"))
    if stage == "replace_file":
        assert any("not finished" in remark for remark in between.remarks)
    again = Archive(home)
    assert finish_erasures(again) == 1
    assert holders(home) == []
    assert finish_erasures(again) == 0
    assert verify_store(home).remarks == ()


def test_a_value_that_is_missing_without_an_erasure_is_tampering(
    home: Home, archive: Archive, journal: JournalFile
) -> None:
    say(journal, SECRET)
    archive.seal()
    erase_module._take_away(home, journal, {1: frozenset({"content.text"})})
    found = verify_store(home).first_bad
    assert found is not None
    assert (found.rule, found.n) == ("withheld", 1)


def test_nothing_is_taken_away_when_the_erasure_cannot_be_sealed(
    home: Home, archive: Archive, journal: JournalFile
) -> None:
    say(journal, SECRET)
    home.key.unlink()
    with pytest.raises(JournalError, match="nothing can be signed"):
        erase_text(archive, journal, 1)
    assert journal.path.name in holders(home)


# Retention: many entries at once ----------------------------------------------------------------------------------------


def drop_text(archive: Archive, journal: JournalFile, *numbers: int) -> None:
    names = frozenset({"content.text"})
    drop_content(archive, {SessionId(journal.sid): dict.fromkeys(numbers, names)}, rule="checkpoints")


def test_retention_takes_values_of_several_entries_and_of_no_other(
    home: Home, archive: Archive, journal: JournalFile
) -> None:
    for text in (SECRET, "stays", SECRET * 10_000, "stays too"):
        say(journal, text)
    archive.seal()
    before = [(step.hash, step.meta) for step in read_session(home, journal.sid)]
    drop_text(archive, journal, 1, 3)
    assert holders(home) == []
    steps = list(read_session(home, journal.sid))
    assert [(step.hash, step.meta) for step in steps] == before
    assert [step.withheld for step in steps] == [(), ("content.text",), (), ("content.text",), ()]
    ledger = [step.meta for step in ledger_entries(home) if step.type == "retention"]
    assert [(meta["action"], meta["from"], meta["to"]) for meta in ledger] == [
        ("drop_content", 1, 1),
        ("drop_content", 3, 3),
    ]
    verdict = verify_store(home)
    assert (verdict.exit_code, verdict.disclosure.withheld, verdict.remarks) == (0, 2, ())
    assert list(home.erasing.iterdir()) == []
    say(archive.journal(SessionId(journal.sid)), "goes on")
    archive.seal()
    assert verify_store(home).exit_code == 0


@pytest.mark.parametrize("stage", ["_say_dropped", "_take_away", "replace_file", "remove_blob", "_unmark"])
def test_a_retention_that_was_cut_short_is_finished(
    home: Home, archive: Archive, journal: JournalFile, monkeypatch: pytest.MonkeyPatch, stage: str
) -> None:
    say(journal, SECRET * 10_000)
    archive.seal()
    real = getattr(erase_module, stage)

    def die(*rest: object, **more: object) -> object:
        if stage == "replace_file" and rest[0] != journal.path:
            return real(*rest, **more)
        raise KeyboardInterrupt

    monkeypatch.setattr(erase_module, stage, die)
    with pytest.raises(KeyboardInterrupt):
        drop_text(archive, journal, 1)
    monkeypatch.undo()
    archive.close()
    between = verify_store(home)
    assert between.exit_code == 0
    is_there = stage in ("_take_away", "replace_file", "remove_blob")
    assert any("not finished" in remark for remark in between.remarks) == is_there
    again = Archive(home)
    was_sealed = stage != "_say_dropped"
    assert finish_erasures(again) == int(was_sealed)
    assert (holders(home) == []) == was_sealed
    assert list(home.erasing.iterdir()) == []
    assert verify_store(home).exit_code == 0


def test_a_mark_of_a_retention_that_somebody_wrote_takes_nothing_away(home: Home, journal: JournalFile) -> None:
    say(journal, SECRET)
    home.make_folder(home.erasing)
    (home.erasing / "retention-1-1").write_bytes(f"{journal.sid}\n../../etc\n\xff\n".encode("latin-1"))
    assert finish_erasures(Archive(home)) == 0
    assert holders(home) != []

"""The file in which hooks note their deliveries: what has no receipt is missed, and nothing else, whatever is in the file."""

from __future__ import annotations

from pathlib import Path

import pytest

from tallystick.capture import receipts
from tallystick.capture.receipts import Deliveries, receipt

KEY = b"k" * 32
FIRST = "7.1795293860746000000.r"
KEPT = "1795293860746000000-7"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("run", "spool"):
        (tmp_path / name).mkdir()
    return tmp_path


def begun(folder: Path, key: bytes = KEY) -> Deliveries:
    found = Deliveries(folder / "run", folder / "spool", key)
    found.begin()
    return found


def say(folder: Path, *lines: str) -> None:
    with (folder / "run" / "deliveries").open("a") as file:
        file.write("".join(f"{line}\n" for line in lines))


def missed(deliveries: Deliveries) -> set[str]:
    found = deliveries.look()
    if found is None:
        return set()
    deliveries.settle(found.agents)
    return set(found.agents)


def test_an_answer_with_our_receipt_is_recorded_and_any_other_is_not(folder: Path) -> None:
    deliveries = begun(folder)
    other = receipt(b"x" * 32, "3.3.r")
    say(
        folder,
        f"{FIRST} claude-code {receipt(KEY, FIRST)}",
        "2.2.r codex -",
        f"3.3.r codex {other}",
        f"4.4.r a {other}é",
    )
    assert missed(deliveries) == {"2.2.r", "3.3.r", "4.4.r"}
    assert missed(deliveries) == set()
    assert missed(begun(folder)) == set(), "the next recorder knows that it was told"


def test_a_receipt_is_of_one_delivery_and_given_only_where_it_is_wanted(folder: Path) -> None:
    deliveries = begun(folder)
    assert deliveries.receipt_of(FIRST) == receipt(KEY, FIRST) != receipt(KEY, "2.2.r")
    assert deliveries.receipt_of("7.1795293860746000000") is None


def test_what_waits_in_the_spool_is_not_missed_and_what_left_it_without_a_word_is(folder: Path) -> None:
    deliveries, kept = begun(folder), folder / "spool" / f"{KEPT}.alone.0abc.spool"
    kept.touch()
    say(folder, f"{KEPT} claude-code spooled")
    assert [missed(deliveries) for _ in range(2)] == [set(), set()]
    kept.unlink()
    assert [missed(deliveries) for _ in range(3)] == [set(), {KEPT}, set()], "a look later: it may be renamed just now"


def test_what_was_taken_from_the_spool_is_recorded_in_whatever_order_that_was_noted(folder: Path) -> None:
    deliveries = begun(folder)
    deliveries.settle({"8-8": "codex"})
    say(folder, "9-9 codex spooled")
    missed(deliveries)
    deliveries.settle({"9-9": "codex"})
    assert [missed(deliveries) for _ in range(2)] == [set(), set()]


def test_what_could_not_be_kept_is_missed_at_once(folder: Path) -> None:
    deliveries = begun(folder)
    say(folder, f"{KEPT} codex lost")
    assert missed(deliveries) == {KEPT}


@pytest.mark.parametrize("bad", ["", "a", "a b c d", "x" * 4000 + " b c", "\x00\xff", "7.7.r codex"])
def test_lines_that_are_none_are_passed_over(folder: Path, bad: str) -> None:
    deliveries = begun(folder)
    say(folder, bad, "2.2.r codex -")
    assert missed(deliveries) == {"2.2.r"}


def test_half_a_line_is_read_once_it_is_whole(folder: Path) -> None:
    deliveries = begun(folder)
    path = folder / "run" / "deliveries"
    path.write_text("2.2.r co")
    assert missed(deliveries) == set()
    path.write_text("2.2.r codex -\n")
    assert missed(deliveries) == {"2.2.r"}


def test_a_long_file_is_begun_again_and_what_waits_is_taken_over(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(receipts, "_SHORT", 200)
    deliveries, path = begun(folder), folder / "run" / "deliveries"
    (folder / "spool" / f"{KEPT}.spool").touch()
    late = path.open("a")  # a hook that opened it before
    for number in range(9):
        say(folder, f"{number}.{number}.r codex {receipt(KEY, f'{number}.{number}.r')}")
    say(folder, f"{KEPT} codex spooled")
    assert missed(deliveries) == set()
    assert path.read_text() == f"{KEPT} codex spooled\n"
    late.write("77.77.r codex -\n")
    late.close()
    assert missed(deliveries) == {"77.77.r"}
    assert missed(deliveries) == set()
    assert [each.name for each in (folder / "run").iterdir()] == ["deliveries"]
    (folder / "spool" / f"{KEPT}.spool").unlink()
    assert [missed(deliveries) for _ in range(2)] == [set(), {KEPT}]


def test_a_recorder_that_was_killed_while_the_file_was_begun_again_leaves_the_next_all_of_it(folder: Path) -> None:
    (folder / "run" / "deliveries.old").write_text(f"2.2.r codex -\n{KEPT} codex spooled\n3.3.r codex -\n")
    deliveries = begun(folder)
    say(folder, f"3.3.r codex {receipt(KEY, '3.3.r')}", f"{KEPT} codex {receipt(KEY, KEPT)}")
    assert missed(deliveries) == {"2.2.r"}
    assert missed(begun(folder)) == set()


@pytest.mark.parametrize("harm", ["removed", "cut", "another", "link", "huge"])
def test_a_file_that_is_not_as_it_was_is_told_of_and_made_again(
    folder: Path, harm: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    deliveries, path = begun(folder), folder / "run" / "deliveries"
    say(folder, f"{FIRST} codex {receipt(KEY, FIRST)}")
    assert (missed(deliveries), deliveries.was_removed) == (set(), False)
    if harm == "cut":
        path.write_bytes(b"")
    elif harm == "huge":
        monkeypatch.setattr(receipts, "_LONGEST", 20)
    else:
        path.unlink()
    if harm == "another":
        path.write_text("2.2.r codex -\n")
    elif harm == "link":
        path.symlink_to(folder / "elsewhere")
    assert missed(deliveries) == set()
    assert deliveries.was_removed
    say(folder, "5.5.r codex -")
    assert missed(deliveries) == {"5.5.r"}


def test_the_times_of_what_is_missed_are_known_by_its_ids(folder: Path) -> None:
    deliveries = begun(folder)
    say(folder, f"{FIRST} codex -", f"{KEPT} claude-code lost", "x gemini -")
    found = deliveries.look()
    assert found is not None
    assert (found.moments, found.named) == ([1795293860746000000] * 2, ["claude-code", "codex", "gemini"])


def test_a_receipt_that_is_written_while_the_file_is_begun_again_counts(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(receipts, "_SHORT", 10)
    deliveries, path = begun(folder), folder / "run" / "deliveries"
    (folder / "spool" / f"{KEPT}.spool").touch()
    say(folder, f"{KEPT} codex spooled", f"{FIRST} codex {receipt(KEY, FIRST)}")
    late = path.open("a")  # the recorder's other thread, which has just opened it
    missed(deliveries)
    late.write(f"{KEPT} codex {receipt(KEY, KEPT)}\n")
    late.close()
    (folder / "spool" / f"{KEPT}.spool").unlink()
    assert [missed(deliveries) for _ in range(3)] == [set()] * 3


def test_a_receipt_that_found_no_room_is_written_later(folder: Path) -> None:
    deliveries, path = begun(folder), folder / "run" / "deliveries"
    say(folder, f"{KEPT} codex spooled")
    (folder / "spool" / f"{KEPT}.spool").touch()
    assert missed(deliveries) == set()
    path.rename(folder / "elsewhere")
    deliveries.settle({KEPT: "codex"})
    (folder / "elsewhere").rename(path)
    (folder / "spool" / f"{KEPT}.spool").unlink()
    assert [missed(deliveries) for _ in range(3)] == [set()] * 3
    assert path.read_text().endswith(f"{KEPT} codex {receipt(KEY, KEPT)}\n")

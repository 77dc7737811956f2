"""The spool: what hooks have kept is taken in once, whatever became of the hook; what is no delivery is set aside."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tallystick import hook_alone
from tallystick.capture import recorder
from tallystick.capture.place import Place
from tallystick.errors import FormatError
from tallystick.journal.home import Home
from tallystick.journal.keys import spool_key
from tallystick.model.decision import Effect
from tallystick.service.spool import deliveries, late_answers, take_back, waiting
from tests.service.faults import before, gaps, steps, wait_for, wait_for_calls
from tests.support import recorders
from tests.support.cases import each

LONG_AGO_NS = 1_700_000_000_000_000_000
LONG_AGO = "2023-11-14T22:13:20.000000Z"


def request(number: int = 1, at_ns: int = LONG_AGO_NS) -> bytes:
    data = json.dumps(before("claude-code", number)).encode()
    return b"TALLY1 %d claude-code - 0.1.0 %d 7.%d -\n" % (len(data), at_ns, number) + data


def kept(folder: Path, name: str, number: int = 1, *, cut: int = 0) -> Path:
    """A delivery as a hook without a key keeps it, and anyone else."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    said = request(number)
    (folder / name).write_bytes(said[: len(said) - cut])
    return folder / name


def kept_by_hook(home: Home, number: int = 1, *, decided: str | None = None, at_ns: int = LONG_AGO_NS) -> Path:
    """A delivery as our hook keeps it in a store that has a key of the spool."""
    spool_key(home)
    spooled = hook_alone.spool(str(home.folder), request(number, at_ns), 1)
    assert spooled is not None
    if decided is not None:
        hook_alone.mark(str(home.folder), spooled, decided)
    [path] = spooled.parent.glob(f"{spooled.stem}.*")
    return path


def test_it_is_read_in_the_order_of_time(tmp_path: Path) -> None:
    names = ["2-1.spool", "1-9.alone.spool", "3-1.on_error-deny.spool"]
    for name in names:
        kept(tmp_path, name)
    assert [path.name for path in waiting(tmp_path)] == ["1-9.alone.spool", "2-1.spool", "3-1.on_error-deny.spool"]


@pytest.mark.parametrize("effect", [Effect.ALLOW, Effect.ASK, Effect.DENY])
def test_what_the_agent_was_told_stands_in_the_name(home: Home, effect: Effect) -> None:
    found = take_back(kept_by_hook(home, decided=f"on_error-{effect.value}"), spool_key(home)).decided
    assert found is not None
    assert found.effect is effect
    assert take_back(kept_by_hook(home, decided="alone"), spool_key(home)).decided is None


@pytest.mark.parametrize("decided", [None, "alone", "on_error-deny"])
def test_what_our_hook_kept_is_known_and_its_time_is_believed(home: Home, decided: str | None) -> None:
    found = take_back(kept_by_hook(home, decided=decided), spool_key(home))
    assert (found.received, found.claimed, found.members) == (LONG_AGO, None, {})


def without_code(path: Path) -> Path:
    path.write_bytes(path.read_bytes().partition(b"\nMAC ")[0])
    return path


def with_another_command(path: Path) -> Path:
    path.write_bytes(path.read_bytes().replace(b"call_00001", b"call_00002"))
    return path


def under_another_name(path: Path) -> Path:
    return path.rename(path.with_name(f"1-1.{path.name.partition('.')[2]}"))


@each("forged", [without_code, with_another_command, under_another_name])
def test_what_anyone_may_have_written_only_claims_its_time_and_is_judged(
    home: Home, forged: Callable[[Path], Path]
) -> None:
    """The call is judged again, for that its hook answered it is a claim too."""
    found = take_back(forged(kept_by_hook(home, decided="on_error-allow")), spool_key(home))
    assert found.members == {"authenticated": False, "claimed": LONG_AGO}
    assert found.received > "2026"
    assert found.decided is None


def test_another_answer_in_the_name_of_a_genuine_delivery_is_not_believed(home: Home) -> None:
    path = kept_by_hook(home, decided="on_error-deny")
    found = take_back(path.rename(path.with_name(path.name.replace("deny", "allow"))), spool_key(home))
    assert (found.claimed, found.decided) == (None, None)


def test_without_a_key_nothing_is_known_as_our_hooks(home: Home) -> None:
    path = kept_by_hook(home)
    assert take_back(path).claimed is not None
    assert take_back(path, bytes(32)).claimed is not None
    home.spool_key.unlink()
    other = hook_alone.spool(str(home.folder), request(), 1)
    assert other is not None
    assert take_back(other, bytes(32)).claimed is not None


def test_what_a_killed_hook_left_is_taken_in_once_it_writes_no_more(tmp_path: Path) -> None:
    part = kept(tmp_path, "1-1.part")
    assert waiting(tmp_path) == []
    os.utime(part, (1, 1))
    assert waiting(tmp_path) == [part]
    assert take_back(part).agent == "claude-code"


def test_a_call_that_was_answered_by_the_setting_after_it_was_taken_is_counted_once(tmp_path: Path) -> None:
    """Its hook says so beside it; one that a full interpreter decided on alone is not such a call."""
    spooled = kept(tmp_path, "1-1.spool")
    hook_alone.mark("", spooled, "on_error-ask")
    assert [path.name for path in tmp_path.iterdir()] == ["1-1.on_error-ask..spool"]
    for decided in ("alone", "on_error-ask"):
        hook_alone.mark("", spooled, decided)
    assert [late_answers(tmp_path), late_answers(tmp_path), late_answers(tmp_path / "none")] == [1, 0, 0]


def test_half_a_delivery_and_what_is_no_file_are_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "2-1.spool")
    for path in (kept(tmp_path, "1-1.spool", cut=5), tmp_path / "2-1.spool"):
        with pytest.raises(FormatError):
            take_back(path)


def test_what_is_no_delivery_is_told_of_once_though_the_reader_stops_there(tmp_path: Path) -> None:
    kept(tmp_path / "spool", "1-1.spool", cut=5)
    for _, found in deliveries(tmp_path / "spool", tmp_path / "torn"):
        assert isinstance(found, FormatError)
        break
    assert list(deliveries(tmp_path / "spool", tmp_path / "torn")) == []
    assert [path.name for path in (tmp_path / "torn").iterdir()] == ["1-1.spool"]


def test_a_recorder_takes_in_what_is_whole_and_sets_the_rest_aside(tmp_path: Path) -> None:
    home = Home(tmp_path / "store")
    folder = Place(home.folder).spool
    kept(folder, "1-1.spool", 1)
    kept(folder, "2-1.spool", 2, cut=5)
    (folder / "3-1.spool").write_bytes(b"\0" * 5000)
    os.mkfifo(folder / "4-1.spool")
    os.utime(kept(folder, "5-1.part", 5), (1, 1))
    kept_by_hook(home, 6, decided="on_error-ask", at_ns=time.time_ns())
    try:
        recorders.start(home.folder)
        wait_for_calls(home, 1, 5, 6)
        assert (recorder.status(home.folder) or {})["undecided_last_hour"] == 1
        wait_for(lambda: gaps(home) == ["bad-spool"] * 3)
        wait_for(lambda: list(folder.iterdir()) == [])
        aside = {"2-1.spool", "3-1.spool", "4-1.spool"}
        assert aside <= {path.name for path in Place(home.folder).torn.iterdir()}
        doubted = [step.member("corr") for step in steps(home) if step.member("authenticated") is False]
        assert [one for one in doubted if one is not None] == ["call_00001", "call_00005"]
    finally:
        recorder.stop(home.folder)


def test_a_link_is_no_delivery_and_what_it_names_is_left_alone(tmp_path: Path) -> None:
    elsewhere = kept(tmp_path / "elsewhere", "target")
    spool = tmp_path / "spool"
    spool.mkdir()
    (spool / "1-1.spool").symlink_to(elsewhere)
    [(_, found)] = deliveries(spool, tmp_path / "torn")
    assert isinstance(found, FormatError)
    assert "is a symbolic link" in str(found)
    assert (waiting(spool), elsewhere.exists()) == ([], True)


def test_one_that_another_takes_meanwhile_keeps_back_none_of_the_others(tmp_path: Path) -> None:
    _, second, _ = (kept(tmp_path, f"{number}-1.spool", number) for number in (1, 2, 3))
    found = []
    for path, _ in deliveries(tmp_path, tmp_path / "torn"):
        found.append(path.name)
        second.unlink(missing_ok=True)
    assert found == ["1-1.spool", "3-1.spool"]

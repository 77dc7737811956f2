"""What people name: sessions, files of agents, journals, folders."""

import hashlib
import os
import shutil
from pathlib import Path

import pytest

from tallystick.display.said import text_of
from tallystick.display.timeline import RowSetting, Timeline
from tallystick.errors import NotFoundError, UsageError
from tallystick.journal.home import Home
from tallystick.review.replay import Asked, replay
from tallystick.review.replay_sources import find_spot, open_cast
from tallystick.sessions.timeline import Below

RECORDINGS = Path(__file__).parents[1] / "recordings" / "headless"


@pytest.fixture
def log(indexed_samples: Home) -> Path:
    """The log of the headless agent as the agent left it."""
    return next((indexed_samples.folder.parent / ".local" / "grid").rglob("*.jsonl"))


def contents(folder: Path) -> dict[str, str]:
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def test_a_file_of_an_agent_gives_the_steps_that_importing_it_would(indexed_samples: Home, log: Path) -> None:
    with open_cast(indexed_samples, ["7c1f0a9e"]) as recorded, open_cast(indexed_samples, [str(log)]) as read:
        assert read.tops[0].session in read.origins
        assert recorded.tops[0].session not in recorded.origins
        first = [(step.type, step.meta.get("source_id")) for step in recorded.read(recorded.tops[0])]
        assert [(step.type, step.meta.get("source_id")) for step in read.read(read.tops[0])] == first


def test_a_session_that_is_named_in_the_record_and_as_a_file_is_replayed_once(indexed_samples: Home, log: Path) -> None:
    for names in (["7c1f0a9e", str(log)], [str(log), "7c1f0a9e"]):
        with open_cast(indexed_samples, names) as cast:
            (track,) = cast.tops
            assert track.session not in cast.origins
            assert [remark for remark in cast.remarks if str(log) in remark]


def test_nothing_of_a_file_enters_the_store_or_stays(
    indexed_samples: Home, log: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    before = contents(indexed_samples.folder)
    with open_cast(indexed_samples, [str(log)]) as cast:
        assert len(list(replay(cast, Asked()))) > 50
        assert list(tmp_path.glob("tally-replay-*"))
    assert contents(indexed_samples.folder) == before
    assert not list(tmp_path.glob("tally-replay-*"))


def test_no_store_is_needed_to_read_a_file(tmp_path: Path, log: Path) -> None:
    with open_cast(Home(tmp_path / "nowhere"), [str(log)]) as cast:
        assert len(list(replay(cast, Asked()))) > 50
    assert not (tmp_path / "nowhere").exists()
    with pytest.raises(NotFoundError), open_cast(Home(tmp_path / "nowhere"), ["a42b"]):
        pass


def test_a_folder_gives_all_histories_in_it_the_oldest_first(indexed_samples: Home) -> None:
    with open_cast(indexed_samples, [str(indexed_samples.folder.parent / ".claude")]) as cast:
        assert {track.agent for track in cast.tops} == {"claude-code"}
        assert [track.started for track in cast.tops] == sorted(str(track.started) for track in cast.tops)
        assert any(track.kind == "child" for tracks in cast.children.values() for track in tracks)
        assert not any(track.kind == "child" for track in cast.tops)
        assert not cast.failures


def test_a_journal_that_lies_anywhere_is_read_with_what_hangs_on_it(indexed_samples: Home, tmp_path: Path) -> None:
    shutil.copytree(indexed_samples.journals, tmp_path / "elsewhere")
    with (
        open_cast(indexed_samples, [str(tmp_path / "elsewhere")]) as cast,
        open_cast(indexed_samples, ["a42b3437"]) as known,
    ):
        assert len(cast.tops) + sum(map(len, cast.children.values())) == len(list(indexed_samples.sessions()))
        same = next(track for track in cast.tops if track.session == known.tops[0].session)
        assert list(cast.read(same)) == list(known.read(known.tops[0]))
        assert "journal" in cast.origins[same.session]


def test_one_bad_file_does_not_keep_the_others_away(indexed_samples: Home, log: Path, tmp_path: Path) -> None:
    folder = tmp_path / "logs"
    folder.mkdir()
    shutil.copy(log, folder / "good.jsonl")
    torn = folder / "torn.jsonl"
    torn.write_bytes(log.read_bytes()[:9000])
    other = tmp_path / "other.jsonl"
    other.write_text("no history at all\n")
    with open_cast(
        indexed_samples, [str(folder / "good.jsonl"), str(torn), str(other), str(tmp_path / "logs")]
    ) as cast:
        assert len(list(replay(cast, Asked(below=Below.HIDE)))) > 50
        assert any("half_line" in failure and "torn.jsonl" in failure for failure in cast.failures)
        assert any("other.jsonl" in failure for failure in cast.failures)


def test_a_damaged_journal_is_shown_as_far_as_it_goes(samples: Home) -> None:
    with open_cast(samples, ["a42b3437"]) as cast:
        path = samples.journal(cast.tops[0].session)
        assert path is not None
        lines = path.read_bytes().split(b"\n")
        path.write_bytes(b"\n".join([*lines[:10], b"x" * 20, *lines[11:]]))
        assert [beat.step.n for beat in replay(cast, Asked(below=Below.HIDE))] == list(range(10))
        assert len(cast.failures) == 1


def test_a_path_is_meant_where_the_name_looks_like_one_else_the_session(
    indexed_samples: Home, log: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    shutil.copy(log, "a42b3437")
    shutil.copy(log, "log.jsonl")
    shutil.copy(log, "plain")
    with open_cast(indexed_samples, ["a42b3437", "log.jsonl", "plain", "./a42b3437"]) as cast:
        assert cast.tops[0].session not in cast.origins
        assert all(track.session in cast.origins for track in cast.tops[1:])
    with pytest.raises(NotFoundError), open_cast(indexed_samples, ["log2.jsonl"]):
        pass


def test_a_session_that_is_named_twice_is_replayed_once(indexed_samples: Home) -> None:
    with open_cast(indexed_samples, ["a42b3437", "a42b3437-edc3-4f9f-94df-46a5393a6b90"]) as cast:
        assert len(cast.tops) == 1


def test_steps_of_files_are_found_too(indexed_samples: Home, log: Path, tmp_path: Path) -> None:
    with open_cast(indexed_samples, [str(log)]) as cast:
        steps = list(cast.read(cast.tops[0]))
        assert find_spot(cast, "30").hash == steps[30].hash
        assert find_spot(cast, steps[7].hash[:20]).hash == steps[7].hash
        with pytest.raises(NotFoundError):
            find_spot(cast, "999")
        with pytest.raises(UsageError):
            find_spot(cast, "what")
    (tmp_path / "b").mkdir()
    shutil.copy(log, tmp_path / "b" / "x.jsonl")
    with open_cast(
        indexed_samples, [str(log), str(next((indexed_samples.folder.parent / ".claude").rglob("a42b*.jsonl")))]
    ) as cast:
        with pytest.raises(UsageError):
            find_spot(cast, "30")
        name = cast.tops[0].source_session
        assert find_spot(cast, f"{name}:30").session == cast.tops[0].session


def test_a_step_of_a_session_that_is_not_replayed_is_refused(indexed_samples: Home) -> None:
    with open_cast(indexed_samples, ["a42b3437"]) as cast:
        with pytest.raises(UsageError, match="belongs to session"):
            find_spot(cast, "receipts-currency:3")
        with pytest.raises(NotFoundError):
            find_spot(cast, "9999")


def test_nothing_that_is_no_plain_file_is_waited_for(indexed_samples: Home, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.jsonl")
    with open_cast(indexed_samples, [str(tmp_path / "pipe.jsonl")]) as cast:
        assert not cast.tops
        assert len(cast.failures) == 1


@pytest.mark.parametrize("at_once", [1, 7, 1000])
def test_many_sessions_at_once_hold_no_open_files(samples: Home, monkeypatch: pytest.MonkeyPatch, at_once: int) -> None:
    with open_cast(samples, ["a42b3437"]) as cast:
        whole = list(cast.read(cast.tops[0]))
        monkeypatch.setattr("tallystick.review.replay_sources._MANY", 0)
        monkeypatch.setattr("tallystick.review.replay_sources._AT_ONCE", at_once)
        before = len(list(Path("/dev/fd").iterdir()))
        reading = cast.read(cast.tops[0])
        first = next(reading)
        assert len(list(Path("/dev/fd").iterdir())) == before
        assert [first, *reading] == whole
        path = samples.journal(cast.tops[0].session)
        assert path is not None
        lines = path.read_bytes().split(b"\n")
        path.write_bytes(b"\n".join([*lines[:10], b"x", *lines[11:]]))
        assert list(cast.read(cast.tops[0])) == whole[:10]
        assert len(cast.failures) == 1


def test_both_forms_of_a_log_give_the_same_rows_but_for_what_one_of_them_loses(tmp_path: Path) -> None:
    def rows(path: Path) -> list[str]:
        timeline = Timeline(140, 0, shows_seq=True)
        with open_cast(Home(tmp_path / "none"), [str(path)]) as cast:
            cast.noted = timeline.note
            return [
                text_of(line).strip()
                for beat in replay(cast, Asked(below=Below.INLINE))
                for line in timeline.rows(beat.step, RowSetting(agent="headless", role=beat.role))
            ]

    lines, document = (next((RECORDINGS / name).rglob("7c1f0a9e*")) for name in ("2026-03", "2026-03-legacy"))
    first, second = rows(lines), rows(document)
    only_first, only_second = (
        [row for row in one if row not in other] for one, other in ((first, second), (second, first))
    )
    assert [row.rpartition("│ ")[2].strip() for row in only_first] == [
        "denied: command comes from fetched text, not from the goal"
    ]
    assert [row.rpartition("│ ")[2].strip() for row in only_second] == [
        "error: security: command comes from fetched text, not from the goal",
        "error: open docs/STYLE.md: no such file or directory",
    ]

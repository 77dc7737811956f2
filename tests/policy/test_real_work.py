"""Real histories: what a replay of them assumes, and what is kept of what it stops."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bench.histories import cases_of
from bench.policy import files_everywhere
from bench.real_work import (
    Labels,
    counted,
    read_labels,
    sheet,
    stops_of,
    table,
    take_labels,
    write_labels,
    write_sheet,
)
from tallystick.guard.policy_quality import HOME_FOLDER, Case, CaseCall, Wants, judge

CWD = "/Users/dev/code/site"


def _line(number: int, kind: str, content: list[dict[str, object]], session: str) -> str:
    said = {"role": kind, "content": content, "id": f"m{session}{number}"}
    at = {"timestamp": f"2026-03-01T10:00:{number:02}.000Z", "sessionId": session, "cwd": CWD, "version": "2.0.0"}
    return json.dumps({"type": kind, "uuid": f"{session}{number}", "parentUuid": None, "message": said, **at})


def history(folder: Path, session: str, calls: list[tuple[str, dict[str, object], str]]) -> None:
    """A transcript of Claude Code with some calls and their results."""
    lines = [_line(0, "user", [{"type": "text", "text": "Go."}], session)]
    for n, (tool, args, result) in enumerate(calls, start=1):
        use: dict[str, object] = {"type": "tool_use", "id": f"{session}c{n}", "name": tool, "input": args}
        given: dict[str, object] = {"type": "tool_result", "tool_use_id": f"{session}c{n}", "content": result}
        lines += [_line(2 * n, "assistant", [use], session), _line(2 * n + 1, "user", [given], session)]
    folder.mkdir(exist_ok=True)
    (folder / f"{session}.jsonl").write_text("\n".join(lines) + "\n", "utf-8")


@pytest.fixture
def replayed(tmp_path: Path) -> Case:
    """Two sessions in one folder, as one case."""
    calls: list[tuple[str, dict[str, object], str]] = [
        ("Read", {"file_path": f"{CWD}/a.py"}, "     1→x = 1\n     2→y = 2"),
        ("Edit", {"file_path": f"{CWD}/a.py", "old_string": "x = 1", "new_string": "x = 3"}, "ok"),
        ("Bash", {"command": "git worktree add ../site-fix -b fix"}, "Preparing worktree"),
        ("Bash", {"command": "git commit -am x"}, "[main 1] x"),
    ]
    history(tmp_path / "h", "one", calls)
    history(tmp_path / "h", "two", [("Bash", {"command": "rm -rf /Users/dev/Documents"}, "")])
    (case,) = cases_of([tmp_path / "h"])
    return case


def test_a_replay_puts_there_what_sessions_read_and_leaves_what_they_write(replayed: Case) -> None:
    folder = f"{HOME_FOLDER}/code/site"
    assert replayed.folder == folder
    assert replayed.files == {f"{folder}/a.py": "x = 1\ny = 2"}
    assert replayed.is_repository
    left = [call.leaves for call in replayed.calls]
    assert {f"{folder}/a.py": "x = 3\ny = 2"} in left
    assert [path for one in left for path in one if path.endswith("site-fix/.git")] == [f"{folder}-fix/.git"]
    assert [call.commits for call in replayed.calls].count(True) == 1
    assert {call.session for call in replayed.calls} != {replayed.calls[0].session}
    assert any(call.args == {"command": f"rm -rf {HOME_FOLDER}/Documents"} for call in replayed.calls)


def test_labels_are_kept_by_digest_and_counted(replayed: Case, tmp_path: Path) -> None:
    stops = list(stops_of([replayed], judge([replayed], files_everywhere())))
    (stop,) = stops
    assert stop.rule.startswith("destroy.")
    labels = read_labels(tmp_path / "labels.json")
    before = counted([replayed], stops, labels)
    assert (before.calls, before.sessions, before.stops, before.wrong, before.unlabelled) == (5, 2, 1, 0, 1)
    write_sheet(tmp_path / "sheet.tsv", sheet(stops, labels))
    text = (
        (tmp_path / "sheet.tsv")
        .read_text("utf-8")
        .replace(f"\n\t{labels.digest(stop)}", f"\nwrong\t{labels.digest(stop)}")
    )
    (tmp_path / "sheet.tsv").write_text(text, "utf-8")
    assert take_labels(tmp_path / "sheet.tsv", labels) == 1
    write_labels(tmp_path / "labels.json", labels)
    kept = (tmp_path / "labels.json").read_text("utf-8")
    assert "Documents" not in kept
    after = counted([replayed], stops, read_labels(tmp_path / "labels.json"))
    assert (after.wrong, after.unlabelled, after.sessions_wrongly_stopped) == (1, 0, 1)
    assert any(stop.rule in line for line in table(after))


def test_a_label_is_of_the_call_and_the_rule() -> None:
    labels = Labels(salt="s")
    call = CaseCall(tool="Bash", args={"command": "x"})
    case = Case(id="c", class_="calls", wants=Wants.SILENCE, calls=(call,))
    judged = [one for one in judge([case], {}) if one.is_met]
    assert not list(stops_of([case], judged))
    assert labels.said == {}

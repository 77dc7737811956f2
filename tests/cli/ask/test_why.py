"""Which prompt and calls produced a file, URL or step., and results, as a person asks."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Tally, TallyJson
from tests.support.asking import DATA, REPORT, SUMMARY, Told, read_and_write


@pytest.fixture
def told(user: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Told:
    folder = tmp_path / "work"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return read_and_write(user / ".tally", folder)


def place(session: str, n: int) -> str:
    return f"{session[:8]}:{n}"


def test_a_report_leads_to_the_prompt_that_asked_for_it_and_to_that_behind_the_summary(
    tally: Tally, told: Told
) -> None:
    lines = tally("why", REPORT, "--all", env={"COLUMNS": "200"}).stdout.splitlines()
    assert lines[0].startswith(f"{told.folder}/{REPORT}  version 2")
    shown = "\n".join(lines)
    assert "“Write a report on the summary.”" in shown
    assert f"{told.folder}/{SUMMARY}  version 1" in shown
    assert "“Sum up the sales in data/sales.csv.”" in shown
    assert f"{told.folder}/{DATA}  version 0, as first seen" in shown
    assert "via model" in shown
    assert place(told.first, 1) in shown


def test_data_lead_to_the_report_of_another_session(tally: Tally, told: Told) -> None:
    shown = tally("impact", DATA, "--all", env={"COLUMNS": "200"}).stdout
    assert "read by Read" in shown
    assert f"went into {told.folder}/{SUMMARY}" in shown
    assert "used for “Write a report on the summary.”" in shown
    assert f"went into {told.folder}/{REPORT}" in shown


def test_every_line_but_that_of_a_found_file_names_a_step(tally: Tally, told: Told) -> None:
    for command in ("why", "impact"):
        for line in tally(command, SUMMARY, "--all", env={"COLUMNS": "200"}).stdout.splitlines():
            assert "as first seen" in line or any(f"{sid[:8]}:" in line for sid in (told.first, told.second))


def test_the_whole_evidence_comes_as_json(tally_json: TallyJson, told: Told) -> None:
    found = tally_json("why", REPORT)
    assert found["direction"] == "up"
    ids = {node["id"] for node in found["nodes"]}
    assert set(found["start"]) <= ids
    assert {end for edge in found["edges"] for end in (edge["source"], edge["target"])} <= ids
    flows = [edge for edge in found["edges"] if edge["relation"] == "derived_from"]
    assert flows
    assert all(edge["confidence"] <= 0.5 and edge["evidence"] for edge in flows)
    assert found["line"] is None
    assert tally_json("impact", DATA)["direction"] == "down"


def test_a_call_in_a_sub_agents_sub_agent_leads_to_the_first_prompt_of_all(tally: Tally, told: Told) -> None:
    lines = tally("why", f"{told.grandchild}:{told.deep_call}", "--all").stdout.splitlines()
    assert lines[0].startswith("Bash ")
    shown = "\n".join(lines)
    order = [place(told.grandchild, told.deep_call), place(told.child, 0), place(told.root, 1)]
    assert [shown.find(one) for one in order] == sorted(shown.find(one) for one in order)
    assert shown.count("started by Task") == 2
    assert "asked for by “Have it all looked at.”" in shown


def test_a_line_leads_to_the_write_that_holds_it(tally: Tally, tally_json: TallyJson, told: Told) -> None:
    shown = tally("why", f"{REPORT}:3", "--all").stdout.splitlines()
    assert shown[0] == "line 3: We grew in the north."
    assert shown[1].startswith(f"written by {told.second[:8]}:")
    found = tally_json("why", f"{REPORT}:3")["line"]
    edit = found["step"]
    assert found["confidence"] == 0.9
    heading = tally_json("why", f"{REPORT}:1")["line"]
    assert heading["step"] != edit
    assert heading["writes_since"] == 1


def test_a_line_that_nobody_wrote_says_so(tally: Tally, told: Told) -> None:
    (told.folder / REPORT).write_text("A line by hand.\n\n", "utf-8")
    assert "not traced to a write: no recorded write holds this line" in tally("why", f"{REPORT}:1").stdout
    assert "not traced to a write: the line is empty" in tally("why", f"{REPORT}:2").stdout
    assert "fewer than 9 lines" in tally("why", f"{REPORT}:9").stdout
    (told.folder / REPORT).unlink()
    gone = tally("why", f"{REPORT}:1").stdout
    assert "the file no longer exists" in gone
    assert "changed by Edit" in gone


def test_a_file_that_was_changed_since_says_so(tally: Tally, tally_json: TallyJson, told: Told) -> None:
    assert tally_json("why", SUMMARY)["is_as_recorded"] is True
    assert "changed since" not in tally("why", SUMMARY).stdout
    (told.folder / SUMMARY).write_text("Something else.\n", "utf-8")
    assert "on disk changed since" in tally("why", SUMMARY).stdout
    assert "the file on disk was changed since, by what is not on record" in tally("why", SUMMARY).stdout
    assert "it was changed since" in tally("why", SUMMARY, "--all").stdout


def test_a_walk_that_was_cut_says_where(tally: Tally, tally_json: TallyJson, told: Told) -> None:
    assert "cut here" in tally("why", REPORT, "--depth", "1").stdout
    assert "--limit N shows more" in tally("why", REPORT, "--limit", "2").stdout
    assert {cut["why"] for cut in tally_json("why", REPORT, "--fan-out", "1")["cuts"]} == {"fan-out"}
    assert tally_json("why", REPORT, "--depth", "20")["cuts"] == []


def test_a_name_that_means_nothing_says_what_was_looked_for_and_what_is_near(tally: Tally, told: Told) -> None:
    result = tally("why", "docs/sumary.md")
    assert result.exit_code == 1
    assert f"no file {told.folder}/docs/sumary.md" in result.stderr
    assert f"similar: {told.folder}/{SUMMARY}" in result.stderr
    assert "tally search" in tally("why", "nothing-like-it").stderr


def test_text_of_agents_cannot_forge_lines(tally: Tally, user: Path, told: Told) -> None:
    from tallystick.recording.recorder import Recorder
    from tests.support.asking import call

    with Recorder(user / ".tally") as recorder:
        session = recorder.session("demo", "hostile", cwd=str(told.folder))
        session.prompt("a\n└─ asked for by “nobody”\x1b[2J\u202e")
        call(session, "Write", {"file_path": f"{told.folder}/x\n├─ y\x1b]0;t\x07\u202e.txt", "content": "a"})
        sid = session.id
    for words in (("why", f"{sid}:2"), ("impact", sid), ("graph", sid), ("artifact", "list")):
        shown = tally(*words, color=False).stdout
        assert "\x1b" not in shown
        assert "\u202e" not in shown
        assert not any(line.startswith(("└─ asked for by “nobody”", "├─ y")) for line in shown.splitlines())


def test_what_has_no_causes_and_no_effects_says_so(tally: Tally, told: Told) -> None:
    assert "no call that made or changed it is on record" in tally("why", DATA).stdout
    assert "no cause is recorded" in tally("why", DATA, "--all").stdout
    assert "no result of it is on record" in tally("impact", f"{told.grandchild}:{told.deep_call}").stdout
    assert "no result is recorded" in tally("impact", f"{told.grandchild}:{told.deep_call}", "--all").stderr


@pytest.mark.parametrize(
    "words", [("why", ""), ("why", "a\0b"), ("why", "a", "--depth", "-1"), ("impact", "a", "--limit", "0")]
)
def test_a_mistake_of_the_caller_is_64(tally: Tally, told: Told, words: tuple[str, ...]) -> None:
    assert tally(*words).exit_code == 64

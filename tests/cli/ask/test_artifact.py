"""One thing over all its versions, and lists of things."""

from __future__ import annotations

from pathlib import Path

from tests.cli.ask.test_why import told as told
from tests.cli.conftest import Tally, TallyJson
from tests.support.asking import DATA, REPORT, REPORT_TEXT, SUMMARY, SUMMARY_TEXT, Told


def test_a_thing_is_shown_with_its_versions_and_relations(tally: Tally, told: Told) -> None:
    shown = tally("artifact", "show", REPORT, env={"COLUMNS": "200"}).stdout
    lines = shown.splitlines()
    assert lines[0] == f"file://{told.folder}/{REPORT}  file"
    versions = [line.split()[0] for line in lines if line.startswith("  ") and line.split()[:1][0].isdigit()]
    assert versions == ["2", "1"]
    assert "written by an agent" in shown
    assert "version 2: changed by Edit" in shown
    assert "version 1: made by Write" in shown
    assert "version 1: from " in shown


def test_a_digest_is_shown_where_the_whole_content_is_known(tally_json: TallyJson, told: Told) -> None:
    from hashlib import sha256

    (summary,) = tally_json("artifact", "show", SUMMARY)["versions"]
    assert summary["digest"] == f"sha256:{sha256(SUMMARY_TEXT.encode()).hexdigest()}"
    assert summary["made_by"].startswith(f"{told.first}:")
    newest = tally_json("artifact", "show", REPORT)["versions"][0]
    assert newest["digest"] in ("", f"sha256:{sha256(REPORT_TEXT.encode()).hexdigest()}")


def test_json_has_all_that_is_kept(tally_json: TallyJson, told: Told) -> None:
    found = tally_json("artifact", "show", SUMMARY)
    assert found["kind"] == "file"
    assert found["facts"]["is_agent_authored"] == 1
    assert found["version_count"] == 1
    relations = {edge["relation"] for edge in found["relations"]}
    assert {"produced", "consumed_by", "derived_from"} <= relations
    assert {end for edge in found["relations"] for end in (edge["source"], edge["target"])} <= {
        node["id"] for node in found["nodes"]
    }


def test_the_newest_versions_are_shown_and_the_others_counted(tally: Tally, told: Told) -> None:
    result = tally("artifact", "show", REPORT, "--limit", "1")
    assert "Showing the newest of 2 versions" in result.stderr


def test_a_step_is_no_thing(tally: Tally, told: Told) -> None:
    result = tally("artifact", "show", f"{told.first}:1")
    assert result.exit_code == 1
    assert "is a step or a session, not a file" in result.stderr
    assert f"`tally why {told.first}:1`" in result.stderr


def test_the_list_has_what_agents_touched(tally: Tally, tally_json: TallyJson, told: Told) -> None:
    uris = [thing["uri"] for thing in tally_json("artifact", "list", "--kind", "file")["artifacts"]]
    assert uris == sorted(uris)
    assert {f"file://{told.folder}/{name}" for name in (DATA, SUMMARY, REPORT)} <= set(uris)
    docs = tally_json("artifact", "list", "--prefix", "docs/")["artifacts"]
    assert [thing["versions"] for thing in docs] == [2, 1]
    assert tally_json("artifact", "list", "--kind", "url")["artifacts"] == []
    assert tally("artifact", "list", "--kind", "url").stdout == "no artifacts recorded\n"


def test_a_cut_list_says_so(tally: Tally, tally_json: TallyJson, told: Told) -> None:
    assert tally_json("artifact", "list", "--limit", "1")["has_more"]
    assert "Showing 1" in tally("artifact", "list", "--limit", "1").stderr


def test_every_file_that_an_agent_wrote_leads_to_a_prompt(tally: Tally, tally_json: TallyJson, told: Told) -> None:
    assert tally("artifact", "unexplained").stdout == (
        "2 files written by agents: 2 lead to the prompt that asked for them, 0 do not\n"
    )
    assert tally_json("artifact", "unexplained") == {"written": 2, "explained": 2, "unexplained": []}


def test_a_file_that_leads_to_no_prompt_is_named_with_the_reason(tally: Tally, user: Path, told: Told) -> None:
    from tallystick.recording.recorder import Recorder
    from tests.support.asking import call

    with Recorder(user / ".tally") as recorder:
        alone = recorder.session("demo", "alone", cwd="/w")
        call(alone, "Write", {"file_path": "/w/x.txt", "content": "x"})
        sid = alone.id
    shown = tally("artifact", "unexplained").stdout
    assert "3 files written by agents: 2 lead to the prompt that asked for them, 1 do not" in shown
    assert f"session {sid[:8]} has no prompt of a human  /w/x.txt" in shown


def test_on_the_samples_every_file_leads_to_a_prompt(tally_json: TallyJson, full: Path) -> None:
    found = tally_json("artifact", "unexplained")
    assert found["written"] >= 8
    assert found["unexplained"] == []

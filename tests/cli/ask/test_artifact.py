"""One thing over all its versions, and lists of things."""

from __future__ import annotations

import re
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


def said(text: str, told: Told) -> list[str]:
    """What was printed, with names for what is another in each run."""
    for name, known in (("/w", str(told.folder)), ("first", told.first[:8]), ("second", told.second[:8])):
        text = text.replace(known, name)
    return re.sub(r"(2\d{3}-)?\d\d-\d\d \d\d:\d\d(:\d\d)?", "TIME", text).splitlines()


def test_everything_that_is_known_of_a_thing_is_printed(tally: Tally, told: Told) -> None:
    lines = said(tally("artifact", "show", REPORT, env={"COLUMNS": "400"}).stdout, told)
    assert lines[:9] == [
        "file:///w/docs/report.md  file",
        "  known      written by an agent",
        "  last seen  TIME",
        "  changed    TIME by agent in session second",
        "  versions, the newest first",
        "  VERSION  SINCE (UTC)          MADE BY     DIGEST               GONE (UTC)",
        "  2        TIME  second:7",
        "  1        TIME  second:5  sha256:fcee556d424c",
        "  relations",
    ]
    assert sorted(lines[9:]) == [
        "    version 1: from /w/docs/summary.md  version 1, sha256:df3c22c912f8  first:5  TIME  demo  0.5 via model",
        "    version 1: made by Write /w/docs/report.md  second:5  TIME  demo  0.9",
        "    version 1: read by Edit /w/docs/report.md  second:7  TIME  demo  0.9",
        "    version 2: changed by Edit /w/docs/report.md  second:7  TIME  demo  0.9",
        "    version 2: changed from /w/docs/report.md  version 1 of 2, sha256:fcee556d424c  second:5  TIME  demo  0.9",
        "    version 2: from /w/docs/summary.md  version 1, sha256:df3c22c912f8  first:5  TIME  demo  0.5 via model",
    ]


def test_the_list_is_printed_with_counts_and_names(tally: Tally, told: Told) -> None:
    assert [line.split() for line in said(tally("artifact", "list", env={"COLUMNS": "400"}).stdout, told)] == [
        ["KIND", "VERSIONS", "LAST", "SEEN", "NAME"],
        ["file", "1", "TIME", f"/w/{DATA}"],
        ["file", "2", "TIME", f"/w/{REPORT}"],
        ["file", "1", "TIME", f"/w/{SUMMARY}"],
    ]


def test_the_members_of_a_thing_and_of_a_list_are_these(tally_json: TallyJson, told: Told) -> None:
    found = tally_json("artifact", "show", REPORT)
    assert (found["uri"], found["version_count"]) == (f"file://{told.folder}/{REPORT}", 2)
    assert [(one["version"], one["made_by"], one["deleted_at_ms"]) for one in found["versions"]] == [
        (2, f"{told.second}:7", None),
        (1, f"{told.second}:5", None),
    ]
    facts = found["facts"]
    assert (facts["last_modified_source"], facts["last_modified_session_id"]) == ("agent", told.second)
    assert {name: facts[name] for name in facts if name.startswith("is_")} == {
        "is_agent_authored": 1,
        "is_unmatched_modified": 0,
        "is_executable": 0,
        "is_memory_artifact": 0,
        "is_persistent_target": 0,
        "is_control_plane": 0,
    }
    assert sorted((edge["relation"], edge["confidence"]) for edge in found["relations"]) == [
        ("changed_into", 0.9),
        ("consumed_by", 0.9),
        ("derived_from", 0.5),
        ("derived_from", 0.5),
        ("modified", 0.9),
        ("produced", 0.9),
    ]
    assert (found["more_relations"], found["tags"], found["observations"]) == ({}, [], [])
    listed = tally_json("artifact", "list")
    assert listed["has_more"] is False
    assert [(one["kind"], one["uri"], one["versions"], one["deleted_at_ms"]) for one in listed["artifacts"]] == [
        ("file", f"file://{told.folder}/{name}", versions, None)
        for name, versions in ((DATA, 1), (REPORT, 2), (SUMMARY, 1))
    ]


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
    assert f"session {sid[:8]} has no prompt of a human before it  /w/x.txt" in shown


def test_on_the_samples_every_file_leads_to_a_prompt(tally_json: TallyJson, full: Path) -> None:
    found = tally_json("artifact", "unexplained")
    assert found["written"] >= 8
    assert found["unexplained"] == []

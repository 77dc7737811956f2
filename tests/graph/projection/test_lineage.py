"""What the graph says of calls: made-up sessions, projected and asked."""

from __future__ import annotations

import json
from hashlib import sha256

import pytest

from tallystick.graph.graph import Graph, Row
from tallystick.graph.project import forget
from tallystick.model.step import Json
from tests.graph.acting import Story, derived, edges, outcomes, told
from tests.graph.making import Session, sid_of

# Outcomes -------------------------------------------------------------------------------------------------------------


def test_a_call_without_a_result_is_intended_and_touches_nothing(graph: Graph) -> None:
    story = Story()
    story.call("Write", {"file_path": "/w/a", "content": "x"}, result=False)
    told(graph, story)
    assert outcomes(graph) == [("write", "/w/a", "intended")]
    assert graph.rows("SELECT * FROM relations") == []


def test_a_result_confirms_and_the_edge_says_who_and_what(graph: Graph) -> None:
    story = Story()
    story.ask()
    n = story.write("/w/a")
    told(graph, story)
    assert outcomes(graph) == [("write", "/w/a", "confirmed")]
    assert edges(graph, "produced") == {(str(n), "produced", "/w/a@1")}
    (row,) = graph.rows("SELECT confidence, evidence FROM relations WHERE src_kind = 'request'")
    assert row[0] == 0.9
    assert json.loads(row[1]) == {"operation": "write", "tool": "Write", "step": f"{story.sid[:12]}:{n}"}


def test_a_failed_call_touched_nothing(graph: Graph) -> None:
    story = Story()
    story.call("Write", {"file_path": "/w/a", "content": "x"}, success=False)
    told(graph, story)
    assert outcomes(graph) == [("write", "/w/a", "failed")]
    assert graph.rows("SELECT * FROM artifacts") == []


@pytest.mark.parametrize("kind", ["result", "decision", "permission"])
def test_a_denied_read_reaches_nothing_that_is_written_later(graph: Graph, kind: str) -> None:
    story = Story()
    story.ask()
    if kind == "result":
        story.call("Read", {"file_path": "/home/dev/.ssh/id_rsa"}, success=False, decision="deny")
    else:
        n = story.call("Read", {"file_path": "/home/dev/.ssh/id_rsa"}, result=False)
        said = {"effect": "deny"} if kind == "decision" else {"decision": "deny"}
        story.add(kind, {"parent": n, **said})
        story.add("tool_result", {"corr": story.lines[n].step.meta["corr"], "success": False})
    story.think()
    story.write("/w/out.txt")
    told(graph, story)
    assert outcomes(graph)[0] == ("read", "/home/dev/.ssh/id_rsa", "denied")
    assert derived(graph) == set()


def test_what_a_failed_script_did_before_its_last_command_is_uncertain(graph: Graph) -> None:
    story = Story()
    story.bash("cp a b; grep x c", success=False)
    told(graph, story)
    found = {(operation, target): outcome for operation, target, outcome in outcomes(graph)}
    assert found["copy_dest", "/w/b"] == "uncertain"
    assert found["read", "/w/c"] == "failed"
    (confidence,) = graph.rows(
        "SELECT confidence FROM relations WHERE relation_type = 'produced' AND src_kind = 'agent_event'"
    )
    assert confidence == (0.5,)


def test_a_result_that_is_told_again_with_another_outcome_replaces_the_first(graph: Graph) -> None:
    story = Story()
    n = story.write("/w/a")
    corr = story.lines[n].step.meta["corr"]
    story.add("tool_result", {"corr": corr, "success": False, "revises": n + 1})
    told(graph, story)
    assert outcomes(graph) == [("write", "/w/a", "failed")]
    assert graph.rows("SELECT * FROM artifacts") == []


def test_a_file_that_is_removed_and_made_again_gives_no_row_twice(graph: Graph) -> None:
    story = Story()
    story.ask()
    story.write("/tmp/input.txt", "one")
    story.bash("cp /tmp/input.txt /tmp/kept.txt")
    story.bash("rm /tmp/input.txt")
    story.write("/tmp/input.txt", "one")
    story.call("Edit", {"file_path": "/tmp/input.txt", "old_string": "one", "new_string": "two"})
    story.read("/tmp/input.txt")
    told(graph, story)
    rows = graph.rows(
        "WITH target AS (SELECT artifact_id FROM artifacts WHERE uri = 'file:///tmp/input.txt')"
        " SELECT rel.relation_id FROM relations rel, target WHERE"
        " (rel.src_kind = 'artifact' AND rel.src_id = target.artifact_id)"
        " OR (rel.dst_kind = 'artifact' AND rel.dst_id = target.artifact_id)"
    )
    assert len(rows) == len(set(rows)) > 8
    assert graph.rows("SELECT count(*) FROM artifacts WHERE uri = 'file:///tmp/input.txt'") == [(3,)]


# Per command ----------------------------------------------------------------------------------------------------------


def test_a_copy_links_its_source_to_its_target_and_nothing_else(graph: Graph) -> None:
    story = Story()
    story.bash("cp a b; cat c")
    told(graph, story)
    assert derived(graph) == {("/w/a@0", "/w/b@1")}


def test_a_pipe_links_all_that_goes_into_it(graph: Graph) -> None:
    story = Story()
    story.bash("cat a c | sort > d")
    told(graph, story)
    assert derived(graph) == {("/w/a@0", "/w/d@1"), ("/w/c@0", "/w/d@1")}


def test_a_rename_carries_the_content_on(graph: Graph) -> None:
    story = Story()
    story.write("/w/a")
    story.bash("mv a b")
    told(graph, story)
    assert derived(graph) == {("/w/a@1", "/w/b@1")}
    assert {target for _, _, target in edges(graph, "deleted")} == {"/w/a@1"}


def test_each_file_intent_of_a_command_is_an_event_of_its_own(graph: Graph) -> None:
    story = Story()
    story.ask()
    story.bash("cp a b; cat c")
    told(graph, story)
    rows = graph.rows("SELECT tool_input, request_id FROM agent_events WHERE type = 'file_intent'")
    found = {(json.loads(text)["operation"], json.loads(text)["path"]) for text, _ in rows}
    assert found == {("copy_source", "/w/a"), ("copy_dest", "/w/b"), ("read", "/w/c")}
    assert all(event < 0 for (event,) in graph.rows("SELECT event_id FROM agent_events WHERE type = 'file_intent'"))


def test_what_lies_in_a_folder_goes_with_it(graph: Graph) -> None:
    story = Story()
    story.write("/w/old/a")
    story.write("/w/older")
    story.bash("mv old new")
    story.bash("rm -rf new")
    told(graph, story)
    assert ("/w/old/a@1", "/w/new/a@1") in derived(graph)
    gone = {target for _, _, target in edges(graph, "deleted")}
    assert {"/w/old/a@1", "/w/new/a@1"} <= gone
    assert "/w/older@1" not in gone


def test_a_folder_that_is_copied_gives_each_known_file_in_it_a_copy(graph: Graph) -> None:
    story = Story()
    story.write("/w/old/a/b")
    story.bash("cp -r old new")
    told(graph, story)
    assert ("/w/old/a/b@1", "/w/new/a/b@1") in derived(graph)


def test_a_script_that_the_session_wrote_is_read_when_it_runs(graph: Graph) -> None:
    story = Story()
    story.write("/w/make.sh", "cp data.csv out.csv")
    n = story.bash("bash make.sh")
    told(graph, story)
    assert derived(graph) == {("/w/data.csv@0", "/w/out.csv@1")}
    assert (str(n), "produced", "/w/out.csv@1") in edges(graph, "produced")


def test_a_script_that_was_changed_since_is_not_known(graph: Graph) -> None:
    story = Story()
    story.write("/w/make.sh", "cp data.csv out.csv")
    story.call("Edit", {"file_path": "/w/make.sh", "old_string": "out", "new_string": "in"})
    story.bash("bash make.sh")
    told(graph, story)
    assert derived(graph) == set()
    assert ("unknown", "script: /w/make.sh") in graph.rows("SELECT operation, target FROM intents")


# Through the model ----------------------------------------------------------------------------------------------------


def test_a_summary_derives_from_what_the_model_had_read_with_half_confidence(graph: Graph) -> None:
    story = Story()
    story.ask()
    story.think()
    story.read("/w/data.csv")
    story.think()
    story.write("/w/summary.md")
    told(graph, story)
    (row,) = graph.rows("SELECT confidence, evidence FROM relations WHERE relation_type = 'derived_from'")
    assert row[0] == 0.5
    assert json.loads(row[1])["via"] == "model"


def test_a_package_that_was_installed_was_not_shown_to_the_model(graph: Graph) -> None:
    story = Story()
    story.ask()
    story.bash("pip install httpx -e .[dev]")
    story.think()
    story.write("/w/a.py")
    told(graph, story)
    sources = {uri for (uri,) in graph.rows("SELECT uri FROM artifacts WHERE kind = 'package'")}
    assert sources == {"pkg:pypi/httpx"}
    assert not [source for source, target in derived(graph) if target == "/w/a.py@1" and source.startswith("pkg:")]


def test_what_is_read_in_the_same_breath_had_not_reached_the_model(graph: Graph) -> None:
    story = Story()
    story.ask()
    story.think()
    story.read("/w/data.csv")
    story.write("/w/summary.md")  # the same model call asked for both
    told(graph, story)
    assert derived(graph) == set()


def test_what_is_read_after_a_write_is_not_its_parent(graph: Graph) -> None:
    story = Story()
    story.ask()
    story.write("/w/out")
    story.think()
    story.read("/w/late")
    story.think()
    told(graph, story)
    assert derived(graph) == set()


def test_a_copy_in_a_request_with_other_reads_links_only_what_was_copied(graph: Graph) -> None:
    story = Story()
    story.ask()
    story.read("/w/other")
    story.think()
    story.bash("cp a b")
    told(graph, story)
    assert derived(graph) == {("/w/a@0", "/w/b@1")}


def test_what_an_earlier_prompt_had_read_counts_less(graph: Graph) -> None:
    story = Story()
    story.ask()
    story.read("/w/data.csv")
    story.ask("now write it down")
    story.think()
    story.write("/w/summary.md")
    told(graph, story)
    assert graph.rows(
        "SELECT confidence FROM relations WHERE relation_type = 'derived_from' AND src_kind = 'artifact'"
    ) == [(0.3,)]


def test_of_many_inputs_the_newest_twenty_count_and_the_cut_is_said(graph: Graph) -> None:
    story = Story()
    story.ask()
    for n in range(30):
        story.read(f"/w/{n}")
    story.think()
    story.write("/w/summary.md")
    told(graph, story)
    sources = {source for source, _ in derived(graph)}
    assert sources == {f"/w/{n}@0" for n in range(10, 30)}
    (row, *_) = graph.rows("SELECT evidence FROM relations WHERE relation_type = 'derived_from'")
    assert json.loads(row[0])["via"] == "model; 20 of 30"


# Requests and sessions ------------------------------------------------------------------------------------------------


def request_edges(graph: Graph) -> list[Row]:
    return graph.rows(
        "SELECT a.original_user_prompt, b.original_user_prompt, r.evidence FROM relations r"
        " JOIN requests a ON r.src_kind = 'request' AND r.src_id = a.request_id"
        " JOIN requests b ON r.dst_kind = 'request' AND r.dst_id = b.request_id WHERE r.relation_type = 'derived_from'"
    )


def test_a_later_prompt_that_reads_what_an_earlier_one_wrote_derives_from_it(graph: Graph) -> None:
    one, two = Story("one"), Story("two", start=100)
    one.ask("write it")
    one.write("/w/summary.md")
    two.ask("read it")
    two.read("/w/summary.md")
    told(graph, two, one)
    ((source, target, evidence),) = request_edges(graph)
    assert (source, target) == ("write it", "read it")
    assert json.loads(evidence)["artifact"] == "file:///w/summary.md"


def test_an_edit_counts_as_production(graph: Graph) -> None:
    one, two = Story("one"), Story("two", start=100)
    one.ask("edit it")
    one.call("Edit", {"file_path": "/w/a", "old_string": "x", "new_string": "y"})
    two.ask("read it")
    two.read("/w/a")
    told(graph, one, two)
    assert [row[:2] for row in request_edges(graph)] == [("edit it", "read it")]


def test_two_sessions_that_share_nothing_have_no_edge_between_them(graph: Graph) -> None:
    one, two = Story("one"), Story("two", start=100)
    one.ask()
    one.write("/w/a")
    two.ask()
    two.write("/w/b")
    two.read("/w/b")
    told(graph, one, two)
    between = graph.rows(
        "SELECT count(*) FROM relations r WHERE (r.src_kind, r.src_id) IN (SELECT 'request', request_id FROM requests)"
        " AND (r.dst_kind, r.dst_id) IN (SELECT 'request', request_id FROM requests)"
    )
    assert between == [(0,)]


def test_a_file_whose_folder_is_not_told_is_no_file_of_another_session(graph: Graph) -> None:
    one, two = Story("one"), Story("two", start=100)
    one.ask("write it")
    one.call("Write", {"file_path": "notes.txt", "content": "x"}, cwd=None)
    two.ask("read it")
    two.call("Read", {"file_path": "notes.txt"}, cwd=None)
    told(graph, one, two)
    assert graph.rows("SELECT uri FROM artifacts") == [("file:notes.txt",)] * 2
    assert request_edges(graph) == []
    assert graph.rows("SELECT * FROM artifact_facts") == []


def test_what_no_human_asked_belongs_to_a_request_without_a_prompt(graph: Graph) -> None:
    story = Story()
    story.add("file_effect", {"source": "watch", "effect": "modify"}, path="/w/a")
    told(graph, story)
    ((request,),) = graph.rows("SELECT request_id FROM system_events")
    assert graph.rows("SELECT original_user_prompt FROM requests WHERE request_id = ?", (request,)) == [(None,)]
    assert graph.rows("SELECT count(*) FROM agent_events WHERE request_id IS NULL") == [(0,)]


# Effects --------------------------------------------------------------------------------------------------------------


def test_an_observed_effect_is_caused_by_the_call_that_wrote_there(graph: Graph) -> None:
    story, watcher = Story(), Session("watch", start=2)
    story.ask()
    n = story.write("/w/a")
    watcher.begin()
    watcher.add(
        "file_effect", {"source": "watch", "effect": "create"}, path="/w/a", digest=f"sha256:{sha256(b'x').hexdigest()}"
    )
    told(graph, story, watcher)
    assert edges(graph, "caused") == {(str(n), "caused", "1")}
    assert graph.rows("SELECT count(*) FROM artifacts") == [(1,)]


def test_what_an_agent_says_of_itself_is_no_observation(graph: Graph) -> None:
    story = Story()
    story.ask()
    story.add("system", {}, cwd="/w")
    n = story.add("file_effect", {"action": "edit", "request": story.asked}, path="src/a.py").n
    told(graph, story)
    assert edges(graph, "modified") == {(str(n), "modified", "/w/src/a.py@1")}
    assert graph.rows("SELECT last_modified_source, is_agent_authored FROM artifact_facts") == [("agent", 1)]
    assert graph.rows("SELECT count(*) FROM system_events") == [(0,)]


def test_an_effect_without_a_call_is_a_change_from_outside(graph: Graph) -> None:
    watcher = Session("watch")
    watcher.begin()
    watcher.add("file_effect", {"source": "watch", "effect": "modify"}, path="/w/a", digest="sha256:" + "a" * 64)
    told(graph, watcher)
    assert edges(graph, "modified") == {("1", "modified", "/w/a@1")}
    assert graph.rows("SELECT is_unmatched_modified, last_modified_source FROM artifact_facts") == [(1, "outside")]


def test_facts_are_found_by_key_and_not_by_looking_through_them(graph: Graph) -> None:
    plan = graph.rows("EXPLAIN QUERY PLAN SELECT * FROM artifact_facts WHERE kind = 'file' AND uri = 'file:///w/a'")
    assert "USING PRIMARY KEY (kind=? AND uri=?)" in plan[0][3]


# Hostile and odd ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "args",
    [
        None,
        "",
        [],
        {"file_path": None},
        {"file_path": ["a"]},
        {"file_path": "/w/\0a", "content": "x"},
        {"file_path": "x" * 100_000, "content": "y"},
        {"command": "rm -rf \0 / `$(", "file_path": 7},
    ],
    ids=repr,
)
@pytest.mark.parametrize("tool", ["Write", "Bash", "Read", "mcp__x__y", "", "apply_patch"])
def test_arguments_of_any_shape_are_projected(graph: Graph, tool: str, args: Json) -> None:
    story = Story()
    story.call(tool, args)
    told(graph, story)
    assert graph.rows("SELECT size FROM sessions") == [(len(story.lines),)]


def test_what_an_agent_reads_as_orders_is_kept_as_it_was_written(graph: Graph) -> None:
    story = Story()
    story.ask()
    story.write("/w/CLAUDE.md", "always be brief")
    story.write("/w/notes.txt", "not kept")
    told(graph, story)
    rows = graph.rows(
        "SELECT a.uri, o.content_prefix, o.digest = a.digest FROM artifact_observations o"
        " JOIN artifacts a USING (artifact_id)"
    )
    assert rows == [("file:///w/CLAUDE.md", "always be brief", 1)]


def test_a_session_that_is_taken_out_leaves_nothing_behind(graph: Graph) -> None:
    one, two = Story("one"), Story("two", start=100)
    for story in (one, two):
        story.ask()
        story.bash("cp a b")
        story.read("/w/b")
    told(graph, one)
    before = {table: graph.rows(f"SELECT * FROM {table}") for table in ("artifacts", "relations", "links", "accesses")}
    told(graph, one, two)
    forget(graph, [sid_of("two")])
    assert {table: graph.rows(f"SELECT * FROM {table}") for table in before} == before
    assert graph.rows("SELECT * FROM unsettled") == []


def watched(story: Story, path: str, **meta: Json) -> int:
    """An effect on a file, as the watcher saw it in the same session."""
    return story.add("file_effect", {"source": "watch", "effect": "create", **meta}, path=path).n


def test_an_effect_while_a_program_runs_is_put_down_to_it_with_less_confidence(graph: Graph) -> None:
    story = Story()
    story.ask()
    n = story.bash("make all", result=False)
    effect = watched(story, "/w/build/out.o")
    told(graph, story)
    ((confidence, evidence),) = graph.rows("SELECT confidence, evidence FROM relations WHERE relation_type = 'caused'")
    assert 0.2 <= confidence <= 0.5
    assert json.loads(evidence)["matched_by"] in ("folder", "time")
    assert edges(graph, "caused") == {(str(n), "caused", str(effect))}
    assert graph.rows("SELECT is_unmatched_modified, last_modified_source FROM artifact_facts") == [(0, "agent")]
    asked = graph.rows("SELECT original_user_prompt FROM requests JOIN system_events USING (request_id)")
    assert asked == [("do it",)]


def test_a_call_that_was_denied_caused_nothing(graph: Graph) -> None:
    story = Story()
    story.ask()
    n = story.bash("make all", result=False)
    story.add("decision", {"parent": n, "effect": "deny"})
    watched(story, "/w/build/out.o")
    told(graph, story)
    assert edges(graph, "caused") == set()
    assert graph.rows("SELECT is_unmatched_modified FROM artifact_facts") == [(1,)]


@pytest.mark.parametrize(("text", "is_outside"), [(b"x", 0), (b"by a person", 1)])
def test_a_change_a_moment_after_a_write_is_the_agents_only_by_its_content(
    graph: Graph, text: bytes, is_outside: int
) -> None:
    story = Story()
    story.ask()
    n = story.write("/w/a")
    seen = story.add(
        "file_effect",
        {"source": "watch", "effect": "modify"},
        path="/w/a",
        digest=f"sha256:{sha256(text).hexdigest()}",
    ).n
    told(graph, story)
    assert edges(graph, "caused") == (set() if is_outside else {(str(n), "caused", str(seen))})
    assert graph.rows("SELECT is_unmatched_modified FROM artifact_facts") == [(is_outside,)]
    assert graph.rows("SELECT max(version) FROM artifacts") == [(1 + is_outside,)]


def test_while_two_commands_run_a_change_is_put_down_to_neither(graph: Graph) -> None:
    story = Story()
    for command in ("make all", "make docs"):
        story.bash(command, result=False)
    watched(story, "/w/notes")
    told(graph, story)
    assert edges(graph, "caused") == set()
    assert graph.rows("SELECT is_unmatched_modified FROM artifact_facts") == [(1,)]


def test_a_call_that_ended_long_ago_caused_nothing(graph: Graph) -> None:
    story = Story()
    story.bash("make all")
    for _ in range(5):
        story.think()
    watched(story, "/w/build/out.o")
    told(graph, story)
    assert edges(graph, "caused") == set()

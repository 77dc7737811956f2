"""The real agents, recorded while they work, against a scripted model: `make test-agents`.

Each agent is run in a sealed box: once to do a bit of everything, once interrupted, once to do what the shipped policy
forbids, and once to do that unguarded, which shows that it is the policy that stops it.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import msgspec
import pytest

from tallystick.guard.fallback_decision import UNDECIDED
from tallystick.journal.home import Home
from tallystick.setup.check import State
from tallystick.setup.shadows import examine_shadows
from tests.support.live_and_import import unexplained
from tests.tools.live.conftest import Runs
from tools.live import install, matrix
from tools.live.evidence import Event, answer, compare_calls, events, files_with, steps_told_once, tally
from tools.live.matrix import Row
from tools.live.recorded import SECRETS, Observed, has_hooks, has_project_settings, hooked_files
from tools.live.run import PROMPT, Recipe
from tools.live.scenarios import COMMANDS_OF_WORK, FINAL, NOTE, WORKED, Forbidden
from tools.live.transcripts import NESTED, calls_in_transcripts, keeps_a_transcript

pytestmark = pytest.mark.agents

# What the portable calls are for each agent, as far as it can make them.
WITHOUT_SUBAGENTS = {"pi", "mini-swe-agent", "aider", "codex-patch"}
WITHOUT_MCP = {"pi", "mini-swe-agent", "aider", "codex-patch"}
WITHOUT_FOLDER = {"mini-swe-agent", "aider"}
"""Their histories do not tell where they worked."""
WITHOUT_PARENTS = {"gptme"}
"""Its sub-agents are conversations of which nothing tells who began them."""
STOPS_WHEN_REFUSED = {"cline"}
"""One refused call ends the whole run, so each kind needs a run of its own."""


CONTINUED = ["family", "stopped/INT", "stopped/TERM", "stopped/KILL"]
"""Runs of several commands, each of which goes on with what the one before left."""


@pytest.fixture
def row(recipe: Recipe, rows: dict[str, Row]) -> Row:
    """The recipe's row of the matrix."""
    version = install.agent_named(recipe.agent).version
    return rows.setdefault(recipe.name, matrix.empty(recipe.agent, version))


def can(recipe: Recipe, kind: str) -> bool:
    """Whether the agent can be made to do something of this kind."""
    if recipe.name == "aider":
        return False
    return recipe.name not in {"subagent": WITHOUT_SUBAGENTS, "mcp": WITHOUT_MCP}.get(kind, set())


def said(observed: Observed) -> str:
    """What the commands of a run complained about, for the message of a failed test."""
    names = [ended.name for ended in observed.ran.ended]
    return "\n".join(
        f"{name}: {observed.ran.command(name).exit_code} {observed.ran.stderr(name)[-600:]}" for name in names
    )


def kind_of(call: object) -> str | None:
    """Which of the matrix's kinds a call is, from what it is called with."""
    text = str(call)
    marks = {"leave_note": "mcp", "LIVE-SUBAGENT": "subagent", "draft.txt": "edit", "shell.txt": "shell"}
    return next((kind for mark, kind in marks.items() if mark in text), None)


def test_an_agent_does_all_it_is_told_while_it_is_recorded(recipe: Recipe, runs: Runs) -> None:
    observed = runs("everything", recipe)
    assert [e.name for e in observed.ran.ended if e.exit_code != 0 or e.killed] == [], said(observed)
    project = observed.place.project
    assert (project / "draft.txt").read_text() == FINAL
    if recipe.name != "aider":
        assert (project / "shell.txt").read_text() == "hi\n"
    if can(recipe, "subagent"):
        assert (project / "subagent.txt").read_text() == "sub\n"
    if can(recipe, "mcp"):
        assert observed.place.notes.read_text() == NOTE + "\n"


@pytest.mark.parametrize("kind", ["everything", "interrupted", "refused"])
def test_the_calls_in_the_record_are_those_in_the_transcript(recipe: Recipe, runs: Runs, kind: str) -> None:
    if not keeps_a_transcript(recipe.agent):
        pytest.skip(f"{recipe.agent} makes no calls")
    observed = runs(kind, recipe)
    transcript = calls_in_transcripts(recipe.agent, observed.home)
    difference = compare_calls(events(observed.home), transcript)
    named = steps_told_once(observed.home)
    assert difference.only_in_transcript == ()
    assert [call for call in difference.only_in_record if call[:2] not in named] == [], said(observed)
    assert difference.twice_in_record == ()


@pytest.mark.parametrize("kind", ["everything", "doubled", "interrupted", "refused", *CONTINUED])
def test_what_is_recorded_live_is_what_an_import_gives(recipe: Recipe, runs: Runs, kind: str, tmp_path: Path) -> None:
    if not has_hooks(recipe.agent):
        pytest.skip(f"{recipe.agent} calls no hook")
    if kind == "doubled" and not has_project_settings(recipe.agent):
        pytest.skip(f"{recipe.agent} has no settings of a project that call the hook")
    observed = runs(kind, recipe)
    assert unexplained(recipe.agent, observed.home, observed.live, tmp_path / "imported") == [], said(observed)
    assert [check for check in examine_shadows(Home(observed.live)) if check.state is State.WARN] == []


@pytest.mark.parametrize("kind", ["everything"])
def test_the_transcript_holds_the_calls_that_the_model_made(recipe: Recipe, runs: Runs, kind: str) -> None:
    if not keeps_a_transcript(recipe.agent):
        pytest.skip(f"{recipe.agent} makes no calls")
    observed = runs(kind, recipe)
    made = {call["id"] for call in observed.ran.calls()}
    kept = {name.rpartition("__")[2] for name in calls_in_transcripts(recipe.agent, observed.home)}
    assert made
    assert made == {name for name in kept if not name.startswith(NESTED)}


def test_each_call_is_seen_while_the_agent_works(recipe: Recipe, runs: Runs, row: Row) -> None:
    observed = runs("everything", recipe)
    calls = [event for event in events(observed.home) if event.type == "tool_call"]
    made = Counter(kind_of((call["tool"], call["input"])) for call in observed.ran.calls())
    for kind, cell in row.cells.items():
        found = [call for call in calls if kind_of((call.tool, call.content)) == kind]
        cell.made = made[kind] > 0
        cell.seen = _seen(found, made[kind])
    if has_hooks(recipe.agent):
        assert [kind for kind, cell in row.cells.items() if cell.made and cell.seen != "live"] == [], said(observed)


def _seen(found: list[Event], made: int) -> str | None:
    live = [event for event in found if event.sources - {"transcript", "import"}]
    if made and len(live) >= made:
        return "live"
    return "transcript" if made and len(found) >= made else None


@pytest.mark.parametrize("kind", ["everything", "interrupted", "refused"])
def test_the_record_verifies(recipe: Recipe, runs: Runs, kind: str) -> None:
    observed = runs(kind, recipe)
    done = tally(observed.home, "verify")
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_recorder_is_started_by_the_first_hook_and_leaves_nothing_behind(recipe: Recipe, runs: Runs) -> None:
    if not has_hooks(recipe.agent):
        pytest.skip(f"{recipe.agent} calls no hook")
    observed = runs("everything", recipe)
    assert "has stopped" in observed.ran.stdout("stop"), said(observed)
    assert list((observed.home / ".tally" / "spool").iterdir()) == []
    assert [event.content for event in events(observed.home) if event.type == "gap"] == []


def test_each_call_that_was_carried_out_has_its_result(recipe: Recipe, runs: Runs) -> None:
    observed = runs("everything", recipe)
    record = events(observed.home)
    answered = {(event.session, str(event.meta.get("corr"))) for event in record if event.type == "tool_result"}
    calls = [event for event in record if event.type == "tool_call"]
    assert [call.tool for call in calls if not {(call.session, name) for name in ids_of(call)} & answered] == []


def ids_of(call: Event) -> set[str]:
    """Everything that a result may name a call by."""
    return {*call.names, str(call.meta.get("corr"))}


def test_a_hook_that_is_installed_twice_tells_everything_once(recipe: Recipe, runs: Runs) -> None:
    if not has_project_settings(recipe.agent):
        pytest.skip(f"{recipe.agent} has no settings of a project that call the hook")
    once, twice = (
        sorted(
            Counter(
                kind_of((e.tool, e.content)) for e in events(runs(kind, recipe).home) if e.type == "tool_call"
            ).items(),
            key=str,
        )
        for kind in ("everything", "doubled")
    )
    assert twice == once, said(runs("doubled", recipe))


def test_what_was_installed_can_be_taken_out(recipe: Recipe, runs: Runs) -> None:
    if not has_project_settings(recipe.agent):
        pytest.skip(f"{recipe.agent} has no settings of a project that call the hook")
    assert hooked_files(runs("everything", recipe)) != []
    observed = runs("doubled", recipe)
    assert observed.ran.command("uninstall").exit_code == 0, said(observed)
    assert hooked_files(observed) == []


def test_what_was_asked_is_in_the_record(recipe: Recipe, runs: Runs) -> None:
    record = events(runs("everything", recipe).home)
    assert any(PROMPT in str(event.content) for event in record if event.type == "user")


def test_each_file_that_the_agent_wrote_leads_to_what_was_asked(recipe: Recipe, runs: Runs) -> None:
    observed = runs("everything", recipe)
    found = answer(observed.home, "artifact", "unexplained")
    made = {name for name in ("draft.txt", "shell.txt", "subagent.txt") if (observed.place.project / name).exists()}
    if recipe.agent in WITHOUT_PARENTS:
        made.discard("subagent.txt")
    else:
        assert found["unexplained"] == []
    assert found["written"] >= len(made)
    for name in made:
        asked = name if recipe.agent in WITHOUT_FOLDER else str(observed.place.project / name)
        causes = answer(observed.home, "why", asked)["nodes"]
        prompts = [node["title"] for node in causes if node["kind"] == "request"]
        assert any(PROMPT[:20] in prompt for prompt in prompts), (name, causes)


def test_no_secret_of_the_environment_or_of_an_output_is_in_the_store(recipe: Recipe, runs: Runs) -> None:
    observed = runs("everything", recipe)
    store = observed.home / ".tally"
    assert {name: files_with(store, value.encode()) for name, value in SECRETS.items()} == {
        name: [] for name in SECRETS
    }
    assert recipe.name == "aider" or any("DEPLOY_TOKEN=" in str(event.content) for event in events(observed.home))


def test_an_interrupted_call_is_in_the_record(recipe: Recipe, runs: Runs, row: Row) -> None:
    if recipe.name == "aider":
        pytest.skip("aider makes no calls")
    observed = runs("interrupted", recipe)
    agent = observed.ran.command("agent")
    assert agent.interrupted
    assert not agent.killed, said(observed)
    assert not (observed.place.project / "waited.txt").exists()
    record = events(observed.home)
    (made,) = [call for call in observed.ran.calls() if "begun.txt" in str(call)]
    calls = [event for event in record if event.type == "tool_call" and "begun.txt" in str(event.content)]
    assert calls, f"{made['tool']} is not in the record; {said(observed)}"
    names = {(call.session, name) for call in calls for name in ids_of(call)}
    results = [e for e in record if e.type == "tool_result" and (e.session, str(e.meta.get("corr"))) in names]
    row.interrupted = _shown_as(results)
    assert [result for result in results if result.meta.get("success") is True] == []


def _shown_as(results: list[Event]) -> str:
    if not results:
        return "without result"
    return "failed" if all(result.meta.get("success") is False for result in results) else "with a result"


def attempts(recipe: Recipe, runs: Runs, kind: str) -> tuple[Observed, list[Forbidden]]:
    """The run in which a forbidden deed was tried, and the deed."""
    observed = runs(f"refused/{kind}" if recipe.name in STOPS_WHEN_REFUSED else "refused", recipe)
    return observed, [one for one in observed.forbidden if one.kind == kind]


FORBIDDEN = ["shell", "edit", "subagent", "settings", "mcp", "ask"]


@pytest.mark.parametrize("kind", FORBIDDEN)
def test_unguarded_the_agent_does_what_is_forbidden(recipe: Recipe, runs: Runs, kind: str) -> None:
    _need(recipe, kind)
    observed = runs("unguarded", recipe)
    deeds = [one for one in observed.forbidden if one.kind == kind]
    assert [one.was_done() for one in deeds] == [True] * len(deeds), said(observed)


@pytest.mark.parametrize("kind", FORBIDDEN)
def test_what_is_forbidden_is_not_done_and_the_record_says_why(recipe: Recipe, runs: Runs, row: Row, kind: str) -> None:
    _need(recipe, kind)
    observed, deeds = attempts(recipe, runs, kind)
    if not deeds:
        pytest.skip(f"{recipe.agent} has no settings file that calls the hook")
    (deed,) = deeds
    outcome = "ran" if deed.was_done() else "blocked"
    if kind in row.cells:
        row.cells[kind].refusal = outcome
    if kind == "ask":
        row.ask = "ran" if outcome == "ran" else "not done"
    decisions = _decisions_on(deed, observed)
    assert outcome == "blocked", (decisions, said(observed))
    assert [decision.get("effect") for decision in decisions] == [deed.effect], said(observed)
    assert "'tally." in str(decisions[0]["rules"]), decisions
    assert UNDECIDED not in str(decisions[0]["rules"]), "refused because nobody could decide"


FORMS = ["plain", "base64", "hexadecimal", "for-url", "backwards", "note"]


@pytest.mark.parametrize("form", FORMS)
def test_a_value_that_was_read_does_not_leave_in_any_form(recipe: Recipe, runs: Runs, form: str) -> None:
    _need(recipe, "mcp" if form == "note" else "shell")
    if recipe.name in STOPS_WHEN_REFUSED:
        pytest.skip(f"{recipe.agent} ends at the first refusal")
    observed = runs("leaking", recipe)
    (deed,) = (one for one in observed.forbidden if one.kind == form)
    decisions = _decisions_on(deed, observed)
    assert not deed.was_done(), (decisions, said(observed))
    assert [decision.get("effect") for decision in decisions] == ["deny"], said(observed)
    assert UNDECIDED not in str(decisions[0]["rules"]), "refused because nobody could decide"


def test_after_a_status_command_ordinary_work_is_not_questioned_once(recipe: Recipe, runs: Runs) -> None:
    _need(recipe, "shell")
    observed = runs("working day", recipe)
    record = events(observed.home)
    stopped = [event.meta for event in record if event.type == "decision" and event.meta["effect"] in ("ask", "deny")]
    assert stopped == [], (stopped, said(observed))
    done = (observed.place.project / WORKED).read_text("utf-8").split()
    assert done == [str(n) for n in range(COMMANDS_OF_WORK)], said(observed)


def _decisions_on(deed: Forbidden, observed: Observed) -> list[dict[str, object]]:
    """What policy said to the calls that would have done it."""
    record = events(observed.home)
    marks = {"mcp": deed.content, "note": "leave_note"}  # of the note, the record has no word: it is a secret
    mark = marks.get(deed.kind, str(deed.trace))
    calls = [
        event for event in record if event.type == "tool_call" and mark in f"{event.meta.get('tool')} {event.content}"
    ]
    doing = [call for call in calls if "seq " not in str(call.content)]  # not the one that waits for the sub-agent
    names = {(call.session, name) for call in doing for name in ids_of(call)}
    return [e.meta for e in record if e.type == "decision" and (e.session, str(e.meta.get("corr"))) in names]


def _need(recipe: Recipe, kind: str) -> None:
    if not can(recipe, kind):
        pytest.skip(f"{recipe.name} makes no such call")
    if not has_hooks(recipe.agent):
        pytest.skip(f"{recipe.agent} has no way to refuse a call")


def test_the_agents_that_matter_most_all_ran(ran: set[str]) -> None:
    installed = {name for name in install.NAMED if install.program(install.agent_named(name)) is not None}
    if not installed:
        pytest.skip(f"no agent is installed in {install.place()}: make agents")
    assert installed - ran == set()
    if missing := set(install.NAMED) - installed:
        pytest.skip(f"not installed, so not run: {', '.join(sorted(missing))}")


def test_a_row_of_the_matrix_has_each_kind() -> None:
    assert set(matrix.empty("a", "1").cells) == set(matrix.KINDS)
    assert msgspec.to_builtins(matrix.Cell()) == {"made": False, "seen": None, "refusal": None}

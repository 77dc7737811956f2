"""Who asked for a step, in words."""

from __future__ import annotations

from pathlib import Path

import pytest

from tallystick.ask.prompts import Prompted, prompted
from tallystick.graph.prompts import NO_PROMPT, At
from tallystick.journal.home import Home
from tallystick.trust.erase import Erasure, erase
from tallystick.workspace.indexing import open_index
from tests.graph.weaving import Weave
from tests.support.graphs import new_graph
from tests.support.shop import ASKED, Shop, shop


@pytest.fixture
def told(tmp_path: Path) -> Shop:
    return shop(tmp_path / "store", tmp_path)


def asked(told: Shop, session: str, n: int) -> Prompted:
    home = Home(told.folder / "store")
    with open_index(home) as index:
        sql = "SELECT id, n, request, at_us / 1000 FROM steps WHERE session_id = ? AND n = ?"
        row = index.graph.row(sql, (session, n))
        assert row is not None
        return prompted(index.graph, At(*row))


def test_a_yes_is_told_with_what_it_agreed_to(told: Shop) -> None:
    found = asked(told, told.writer, told.write)
    assert (found.step, found.text) == (f"{told.writer}:{told.yes}", "yes")
    assert found.agreed_to == "Shall I write the prices to page.md now?"


def test_a_prompt_that_asks_itself_agrees_to_nothing(told: Shop) -> None:
    found = asked(told, told.writer, told.read)
    assert (found.text, found.agreed_to, found.why_not) == (ASKED, None, None)


def test_an_erased_prompt_is_shown_as_erased(told: Shop) -> None:
    """And not as the title of its session, which is another prompt then."""
    erase(Home(told.folder / "store"), told.writer, 1, Erasure(("content.text",), "it named a customer", "request"))
    found = asked(told, told.writer, told.read)
    assert (found.step, found.text, found.why_not) == (f"{told.writer}:1", None, "(erased)")


def test_a_step_before_every_prompt_was_asked_for_by_no_one_who_is_known(told: Shop) -> None:
    found = asked(told, told.early, told.early_edit)
    assert (found.step, found.text, found.why_not) == (None, None, NO_PROMPT)


def test_what_only_another_agent_asked_for_is_told_as_its_task(tmp_path: Path) -> None:
    with new_graph(tmp_path / "graph.db") as graph:
        weave = Weave(graph)
        lone = weave.session("lone")
        task = lone.prompt("You are the agent for fixes.")
        graph.change("UPDATE requests SET kind = 'task'")
        found = prompted(graph, At(lone.first_id + lone.call("Edit"), task + 1, task, weave.now_ms()))
    assert (found.step, found.kind, found.text) == (f"{lone.sid}:{task}", "task", "You are the agent for fixes.")
    assert (found.is_unknown, found.why_not) == (True, NO_PROMPT)


def test_a_text_of_a_hook_goes_on_with_the_prompt_before(tmp_path: Path) -> None:
    with new_graph(tmp_path / "graph.db") as graph:
        weave = Weave(graph)
        one = weave.session("one")
        first = one.prompt("Fix the tests.")
        hook = one.prompt("Tests still fail.")
        graph.change("UPDATE requests SET kind = 'hook' WHERE n = ?", (hook,))
        found = prompted(graph, At(one.first_id + one.call("Edit"), hook + 1, hook, weave.now_ms()))
    assert (found.step, found.text) == (f"{one.sid}:{first}", "Fix the tests.")


def test_of_an_answer_the_prompt_before_it_is_told_too(tmp_path: Path) -> None:
    with new_graph(tmp_path / "graph.db") as graph:
        weave = Weave(graph)
        one = weave.session("one")
        first = one.prompt("Fix the tests.")
        one.prompt("yes")
        answer = one.prompt("User has answered: all of them")
        graph.change("UPDATE requests SET kind = 'answer' WHERE n = ?", (answer,))
        found = prompted(graph, At(one.first_id + one.call("Edit"), answer + 1, answer, weave.now_ms()))
    assert (found.text, found.kind) == ("User has answered: all of them", "answer")
    assert (found.before, found.before_step) == ("Fix the tests.", f"{one.sid}:{first}")


def test_a_prompt_that_has_no_words_says_so(tmp_path: Path) -> None:
    with new_graph(tmp_path / "graph.db") as graph:
        one = Weave(graph).session("one")
        asked_at = one.prompt("")
        graph.change("UPDATE requests SET original_user_prompt = NULL, kind = 'command'")
        found = prompted(graph, At(one.first_id + one.call("Edit"), asked_at + 1, asked_at, one.weave.now_ms()))
    assert (found.step, found.text, found.why_not) == (f"{one.sid}:{asked_at}", None, "(a command without text)")

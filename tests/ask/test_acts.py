"""The newest acts of all sessions."""

from tallystick.ask.acts import newest_acts
from tallystick.display.acts import refuses
from tallystick.graph.log import LogFilter
from tallystick.journal.home import Home
from tallystick.journal.read import read_session
from tallystick.workspace.indexing import open_index


def test_every_call_of_the_sessions_is_one_act_with_its_result(indexed_samples: Home) -> None:
    with open_index(indexed_samples) as index:
        found = newest_acts(indexed_samples, index.graph, LogFilter(limit=2000), whole=True)
        children = {row[0] for row in index.graph.rows("SELECT session_id FROM sessions WHERE kind = 'child'")}
    steps = [
        step
        for sid, _ in indexed_samples.sessions()
        if sid not in children
        for step in read_session(indexed_samples, sid)
    ]
    calls = [(step.session, step.n) for step in steps if step.type == "tool_call" and "revises" not in step.meta]
    shown = [row.act for row in found.rows if row.act.lead.type == "tool_call" and row.act.lead.session not in children]
    assert sorted((act.lead.session, act.lead.n) for act in shown) == sorted(calls)
    results = {step.hash for step in steps if step.type == "tool_result"}
    assert results <= {step.hash for row in found.rows for step in row.act.steps}
    assert not found.has_more


def test_no_refusal_is_hidden_not_even_in_a_folded_session(indexed_samples: Home) -> None:
    with open_index(indexed_samples) as index:
        found = newest_acts(indexed_samples, index.graph, LogFilter(limit=2000), whole=True)
    refused = {
        (step.session, step.n)
        for sid, _ in indexed_samples.sessions()
        for step in read_session(indexed_samples, sid)
        if refuses(step)
    }
    assert refused
    assert refused <= {(step.session, step.n) for row in found.rows for step in row.act.steps}


def test_a_result_that_is_found_brings_its_call_and_its_prompt(indexed_samples: Home) -> None:
    with open_index(indexed_samples) as index:
        found = newest_acts(
            indexed_samples, index.graph, LogFilter(failures_only=True, tools=("Bash",), limit=50), whole=False
        )
    types = [row.act.lead.type for row in found.rows]
    assert set(types) == {"user", "tool_call"}
    assert types[0] == "user"


def test_a_limit_gives_the_newest(indexed_samples: Home) -> None:
    with open_index(indexed_samples) as index:
        whole = newest_acts(indexed_samples, index.graph, LogFilter(limit=2000), whole=True)
        some = newest_acts(indexed_samples, index.graph, LogFilter(limit=5), whole=True)
    assert some.has_more
    assert [row.act.lead.hash for row in some.rows][-5:] == [row.act.lead.hash for row in whole.rows][-5:]

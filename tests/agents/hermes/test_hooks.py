from __future__ import annotations

import ast
import json
from typing import Any

import pytest

from tallystick.agents.hermes import hooks as hermes
from tallystick.agents.hooks import HookCommand
from tallystick.errors import FormatError
from tallystick.model.step import Ref, SessionKind
from tests.agents.hooks.recorded import ASK, DENY, openings, payloads, recorded, steps
from tests.agents.hooks.same_run import assert_both_agree
from tests.support.cases import each

HOOK = HookCommand(python="/opt/it's/python", hook="/opt/it's/tallystick/hook.py", home="/data/tally")
MANIFEST, CODE, CONFIG = hermes.settings(project=False)


def parsed(hook: str, **members: Any) -> Any:
    return hermes.parse(json.dumps({"hook": hook, "session": "s", "at": 1, **members}).encode(), None)


def test_hooks_and_database_of_one_run_name_everything_alike() -> None:
    assert_both_agree(hermes)


def test_a_sub_agent_is_a_session_below_its_parents() -> None:
    found = payloads(hermes)
    root = found[0].session
    children = [opening for opening in openings(found) if opening.kind is SessionKind.CHILD]
    assert [(child.parent, child.meta["agent_role"]) for child in children] == [(Ref(session=root), "leaf")]
    (start,), (end,) = steps(found, "subagent_start"), steps(found, "subagent_end")
    assert (start.source_id, end.source_id) == (
        f"hook/{children[0].session}/start",
        f"hook/{children[0].session}/end",
    )
    assert start.values["content.text"] == "LIVE-SUBAGENT: make the file subagent.txt"
    assert start.session == end.session == root
    assert (end.meta["status"], end.values["content.text"]) == ("completed", "The file is there.")


def test_prompts_have_no_ids_and_those_of_a_sub_agent_were_not_typed() -> None:
    typed, given = steps(payloads(hermes), "user")
    assert (typed.source_id, typed.opens_request) == (None, True)
    assert (given.source_id, given.opens_request, given.meta["origin"]) == (None, False, "parent")


@each("platform, origin", [("cli", None), ("cron", "injected"), ("webhook", "injected")])
def test_what_a_schedule_says_was_not_typed(platform: str, origin: str | None) -> None:
    (step,) = steps([parsed("pre_llm_call", platform=platform, user_message="do it")])
    assert (step.meta.get("origin"), step.opens_request) == (origin, origin is None)


@each(
    "result, status, meta",
    [
        ('{"output": "", "exit_code": 3}', "ok", {"success": False, "exit_code": 3}),
        ('{"output": "", "exit_code": 0}', "ok", {"success": True, "exit_code": 0}),
        ('{"bytes_written": 3}', "ok", {"success": True}),
        ('{"error": "no such tool"}', "error", {"success": False}),
        ('{"error": "no"}', "blocked", {"success": False, "decision": "deny"}),
        ("plain text", None, {}),
    ],
)
def test_the_outcome_is_what_the_result_says_and_else_the_status(
    result: str, status: str | None, meta: dict[str, Any]
) -> None:
    (step,) = steps([parsed("post_tool_call", tool_name="t", tool_call_id="c", result=result, status=status)])
    assert {name: value for name, value in step.meta.items() if name not in ("tool", "corr")} == meta


def test_a_refused_call_of_a_real_run_has_its_reason() -> None:
    (refused,) = [step for step in steps(payloads(hermes), "tool_result") if step.meta.get("decision") == "deny"]
    assert (refused.meta["success"], refused.values["content.error"]) == (False, "the rule says no")


def test_an_answer_to_a_question_is_recorded() -> None:
    members = {"command": "rm x", "description": "dangerous", "choice": "deny", "decided_by": "user"}
    (step,) = steps([parsed("post_approval_response", **members)])
    assert step.meta == {"decision": "deny", "decided_by": "user"}
    assert step.values == {"content.text": "dangerous", "content.command": "rm x"}


def test_a_call_that_needs_a_human_asks_one() -> None:
    asking = parsed("pre_tool_call", tool_name="terminal", args={}, tool_call_id="c")
    assert json.loads(hermes.reply(asking, ASK).stdout) == {"ask": ASK.reason}
    assert json.loads(hermes.reply(asking, DENY).stdout) == {"deny": DENY.reason}


def test_where_nobody_is_asked_it_is_refused() -> None:
    asking = next(payload for payload in payloads(hermes) if payload.asks is not None)
    assert asking.never_asks, "the recorded run was one with --yolo"
    answer = json.loads(hermes.reply(asking, ASK).stdout)
    assert answer["deny"].startswith(ASK.reason)


# Settings -------------------------------------------------------------------------------------------------------------


def test_the_module_in_hermes_folder_loads_the_plugin_beside_the_hook() -> None:
    text = hermes.configure(CODE, b"", HOOK).decode()
    constants = {node.value for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Constant)}
    assert {"/opt/it's/tallystick/plugins/hermes.py", HOOK.python, HOOK.home} <= constants


def test_a_store_at_its_default_place_is_not_named() -> None:
    hook = HookCommand(python="/usr/bin/python3", hook="/usr/lib/tallystick/hook.py")
    assert "module.use('/usr/bin/python3', None)" in hermes.configure(CODE, b"", hook).decode()


@each("file", [MANIFEST, CODE])
def test_a_plugin_of_somebody_else_is_left_alone(file: Any) -> None:
    theirs = b"name: tallystick\n"
    with pytest.raises(FormatError, match="is not ours"):
        hermes.configure(file, theirs, HOOK)
    assert hermes.remove(file, theirs) == theirs
    assert hermes.hooked(file, theirs) == ()


def test_the_configuration_enables_the_plugin_and_keeps_its_comments() -> None:
    before = b"# mine\nmodel: x\nplugins:\n  enabled: [other] # those\n"
    after = hermes.configure(CONFIG, before, HOOK)
    assert after == b"# mine\nmodel: x\nplugins:\n  enabled: [other, tallystick] # those\n"
    assert hermes.hooked(CONFIG, after) == hermes.EVENTS
    assert hermes.remove(CONFIG, after) == before


def test_a_plugin_that_is_disabled_is_not_hooked_and_installing_enables_it() -> None:
    disabled = b"plugins:\n  enabled:\n    - tallystick\n  disabled:\n    - other\n    - tallystick\n"
    assert hermes.hooked(CONFIG, disabled) == ()
    after = hermes.configure(CONFIG, disabled, HOOK)
    assert hermes.hooked(CONFIG, after) == hermes.EVENTS
    assert b"- other" in after


def test_a_configuration_that_is_no_text_is_refused() -> None:
    with pytest.raises(FormatError, match="not UTF-8 at byte 3"):
        hermes.configure(CONFIG, b"a: \xff", HOOK)


def test_a_project_has_no_settings_of_its_own() -> None:
    assert hermes.settings(project=True) == ()


def test_every_recorded_event_is_one_that_is_listed() -> None:
    assert {each.event for each in recorded("hermes")} <= set(hermes.EVENTS)


# After a compaction ---------------------------------------------------------------------------------------------------


def continued(reason: str | None, **row: Any) -> Any:
    rows = {
        "row": {"id": "s", "source": "acp", "parent_session_id": "old", **row},
        "parent_row": {"id": "old", "source": "acp", "ended_at": 1795293555.640494, "end_reason": reason},
    }
    return parsed("pre_llm_call", user_message="go on", **rows)


def test_a_session_with_another_id_after_a_compaction_hangs_on_it() -> None:
    found = continued("compression")
    compaction, opening, prompt = found.events
    assert (compaction.session, compaction.type, compaction.meta) == ("old", "compaction", {"mode": "rotation"})
    assert compaction.source_id == "compaction@2026-11-21T20:39:15.640494Z"  # as the reader of state.db names it
    assert (opening.session, opening.kind) == ("s", SessionKind.CONTINUATION)
    assert opening.parent == Ref(compaction.source_id, "old")
    assert prompt.session == "s"
    assert found.continues == "old"


def test_after_a_rollover_it_hangs_on_the_last_step() -> None:
    found = continued("turn_boundary_rollover")
    assert [event.session for event in found.events] == ["s", "s"]
    assert (found.events[0].kind, found.events[0].parent) == (SessionKind.CONTINUATION, Ref(None, "old"))


@each(
    "reason, row",
    [
        (None, {}),
        ("branched", {}),
        ("compression", {"model_config": '{"_delegate_from": "old"}'}),
        ("compression", {"model_config": '{"_branched_from": "old"}'}),
        ("compression", {"source": "tool"}),
        ("compression", {"id": "another"}),
        ("compression", {"parent_session_id": "another"}),
        ("compression", {"parent_session_id": 7, "id": None}),
    ],
)
def test_what_is_no_continuation_is_opened_as_before(reason: str | None, row: dict[str, Any]) -> None:
    found = continued(reason, **row)
    assert found.continues is None
    assert [event.session for event in found.events] == ["s", "s"]
    assert found.events[0].kind is SessionKind.ROOT


@each("rows", [{"row": 7, "parent_row": []}, {"row": {}, "parent_row": {"id": 3}}, {"row": None}])
def test_rows_that_are_none_are_passed_over(rows: dict[str, Any]) -> None:
    assert parsed("pre_llm_call", user_message="x", **rows).continues is None

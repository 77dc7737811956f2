"""What a replay says of a step, type by type and by how much is wanted.

Owns the words of each type at verbosity 0, 1 and 2. For the types of the headless agent's log these are those of its own
replay (specification 3.2), but that what is missing is called unknown and that refused calls are shown as refused. All that
is returned is safe to print. Must not know columns, times, or the steps before, but for what `Before` holds.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping

from tallystick.display import outcome
from tallystick.display.before import Before
from tallystick.display.checks import CHECKS
from tallystick.display.facts import short
from tallystick.display.parts import (
    blocks_below,
    bracketed,
    call,
    names,
    note,
    said_of,
    text_below,
    took,
    value_below,
    verdict,
    word_of,
)
from tallystick.display.said import Line, Piece, Tone, bad_or
from tallystick.display.tagged import readable
from tallystick.display.text import cut, first_line, one_line, spaced
from tallystick.model.recorded import Recorded

_HINTS: Mapping[str, tuple[str, int]] = {
    "web_search": ("query", 60),
    "web_fetch": ("url", 80),
    **dict.fromkeys(("read", "write", "glob", "ls"), ("path", 80)),
    "bash": ("command", 60),
    **dict.fromkeys(("spawn_agent", "spawn_agents"), ("task", 60)),
}
"""By tool of the headless agent: the argument that says most, and how much of it is shown."""
_SPEAKING = ("text", "thinking", "error", "args", "output")


def described(step: Recorded, before: Before, verbosity: int) -> Iterator[Line]:
    """The lines of a step: one that names it, and those that stand below. None at all for what this verbosity leaves out."""
    say = _TYPES.get(step.type)
    if say is not None:
        yield from say(step, before, verbosity)
    else:
        yield from _other(step, verbosity)
    if verbosity and outcome.gone(step):
        yield [Piece(one_line(outcome.gone(step)), Tone.WARNING)]


# The work -------------------------------------------------------------------------------------------------------------


def _workflow(step: Recorded, before: Before, verbosity: int) -> Iterator[Line]:
    yield [Piece(step.type.replace("_", " ").upper()), took(step)]


def _goal(step: Recorded, before: Before, verbosity: int) -> Iterator[Line]:
    goal = first_line(said_of(step, "goal"), 80)
    label = "GOAL END"
    if step.type == "goal_start":
        label = "GOAL START"
    if goal:
        label += f": {goal}"
    yield [Piece(label), took(step)]
    if verbosity and step.type == "goal_end":
        yield from value_below(step, "text")


def _speech(step: Recorded, before: Before, verbosity: int) -> Iterator[Line]:
    """What someone said: a person, the program, the model."""
    is_prompt = step.type == "user" and "origin" not in step.meta
    if is_prompt:
        tone = Tone.HUMAN
    elif step.type == "system":
        tone = Tone.FAINT
    else:
        tone = Tone.PLAIN
    label = step.type.upper()
    if before.is_terse or verbosity:
        yield [Piece(label, tone), bracketed(outcome.name_of(step)), took(step)]
    else:
        name = outcome.name_of(step)
        if name:
            head = f"{label} [{name}] "
        else:
            head = f"{label}  "
        yield [Piece(head, tone), Piece(outcome.outcome_of(step, 400), tone), took(step)]
    if verbosity:
        yield from value_below(step, "text")
    if verbosity > 1:
        yield from blocks_below(step, "thinking")


def _model_call(step: Recorded, before: Before, verbosity: int) -> Iterator[Line]:
    said = outcome.outcome_of(step, 200)
    model = outcome.name_of(step)
    yield [Piece("MODEL CALL", Tone.FAINT), bracketed(model), Piece(spaced(said), Tone.FAINT), took(step)]
    if verbosity:
        yield from value_below(step, "error", label="error")
    if verbosity > 1:
        yield from blocks_below(step, "thinking", "prompt", "response")


def _tool_call(step: Recorded, before: Before, verbosity: int) -> Iterator[Line]:
    hint = ""
    if not before.is_terse:
        hint = first_line(outcome.asked(step.values.get("content.args")), 400)
    yield [
        Piece("TOOL: ", Tone.TOOL),
        Piece(word_of(step, "tool") or "?", Tone.TOOL),
        call(step),
        Piece(spaced(hint)),
    ]
    if verbosity:
        yield from _args(step)


def _args(step: Recorded) -> Iterator[Line]:
    """The arguments by name, sorted: a replay says the same every time."""
    args = readable(step.values.get("content.args"))
    if not isinstance(args, dict):
        yield from value_below(step, "args")
        return
    for name in sorted(args, key=str)[:100]:
        value = args[name]
        if isinstance(value, str):
            text = value
        else:
            text = json.dumps(value, ensure_ascii=False, sort_keys=True)
        yield from text_below(step, text, label=cut(one_line(str(name)), 60))


def _failure(*, refused: bool, failed: bool) -> str:
    if refused:
        return " DENIED"
    if failed:
        return " FAILED"
    return ""


def _tool_result(step: Recorded, before: Before, verbosity: int) -> Iterator[Line]:
    refused, failed = outcome.is_refused(step), outcome.is_failed(step)
    tool = word_of(step, "tool") or one_line(before.tools.get(str(step.meta.get("corr")), "?"))
    head = [Piece("TOOL RESULT: ", Tone.TOOL), Piece(tool, Tone.TOOL)]
    if before.is_terse:
        mark = Piece(_failure(refused=refused, failed=failed), Tone.BAD)
        if refused:
            corr = Piece("")
        else:
            corr = call(step)
        yield [*head, mark, bracketed(_hint(step), Tone.PLAIN), took(step), corr]
        why = ""
        if refused:
            why = before.reasons.get(str(step.member("corr")), "")
        error = said_of(step, "error") or why
        if error:
            label = "error"
            if refused and not said_of(step, "error"):
                label = "denied"
            yield from text_below(step, error, label=label, most=20)
    else:
        tone, said = bad_or(Tone.PLAIN, bool(refused or failed)), outcome.outcome_of(step, 400)
        yield [*head, call(step), took(step), Piece(spaced(said), tone)]
        if verbosity:
            yield from value_below(step, "error", label="error")
    if verbosity:
        yield from value_below(step, "output")


def _hint(step: Recorded) -> str:
    """The argument of a call that says what it was about."""
    args = readable(step.values.get("content.args"))
    named = _HINTS.get(str(step.member("tool")))
    if named is not None and isinstance(args, dict):
        value = args.get(named[0])
        if value is None:
            return ""
        if not isinstance(value, str):
            value = json.dumps(value)
        return first_line(value, named[1])
    return ""


def _phase(step: Recorded, before: Before, verbosity: int) -> Iterator[Line]:
    """Commit, execute, reconcile."""
    head: Line = [Piece(step.type.replace("_", " ").upper())]
    if step.type == "phase_execute":
        yield [*head, bracketed(word_of(step, "result")), took(step)]
        return
    if step.type == "phase_reconcile":
        is_told = {"escalate", "triggers", "phase"} & step.meta.keys()
        escalates = step.meta.get("escalate") is True
        told = ""
        if escalates:
            told = "ESCALATE"
        elif is_told:
            told = "pass"
        word = verdict(told)
        yield [*head, Piece(" "), word, took(step)]
        if verbosity and names(step.meta.get("triggers")):
            yield note("triggers", names(step.meta.get("triggers")))
        return
    yield [*head, took(step)]
    intent = said_of(step, "commitment")
    if verbosity:
        if word_of(step, "confidence"):
            yield note("confidence", word_of(step, "confidence"))
        if intent:
            yield note("intent", first_line(intent, 80))
    if verbosity > 1 and len(intent) > 80:
        yield from blocks_below(step, "commitment")


def _supervise(step: Recorded, before: Before, verbosity: int) -> Iterator[Line]:
    asked = Piece("")
    if step.meta.get("human_required") is True:
        asked = Piece(" a person is asked", Tone.WARNING)
    yield [
        Piece("SUPERVISOR: ", Tone.SUPERVISOR),
        verdict(word_of(step, "verdict")),
        took(step),
        bracketed(word_of(step, "model")),
        asked,
    ]
    correction = said_of(step, "correction") or said_of(step, "guidance")
    if correction:
        yield from text_below(step, correction, label="correction", most=20)
    if verbosity > 1:
        yield from blocks_below(step, "thinking", "prompt", "response")


def _checkpoint(step: Recorded, before: Before, verbosity: int) -> Iterator[Line]:
    kind = word_of(step, "ckpt_type") or word_of(step, "trigger") or "unknown"
    label = first_line(said_of(step, "label") or said_of(step, "ckpt_id"), 80)
    position = step.meta.get("position")
    at = ""
    if type(position) is int:
        at = f" at {position}"
    yield [Piece(f"CHECKPOINT {kind}{at}"), Piece(spaced(label), Tone.FAINT)]
    if verbosity:
        used = outcome.tokens_text(step.meta.get("tokens_used"))
        if used:
            yield note("used by then", used)
        for name in ("git", "metadata", "hook_registry"):
            yield from value_below(step, name, label=name)


def _joint(step: Recorded, before: Before, verbosity: int) -> Iterator[Line]:
    """Where sessions part or come together: with the other sessions that the step follows from."""
    others = dict.fromkeys(short(one_line(parent.partition("#")[0])) for parent in step.parents if "#" in parent)
    said = outcome.outcome_of(step, 400)
    yield [
        Piece(step.type.upper(), Tone.SUBAGENT),
        Piece(spaced(" ".join(others)), Tone.SUBAGENT),
        Piece(spaced(said)),
        took(step),
    ]
    if verbosity:
        yield from value_below(step, "text")


# Sub-agents and the rest ----------------------------------------------------------------------------------------------


def _subagent(step: Recorded, before: Before, verbosity: int) -> Iterator[Line]:
    named = (word_of(step, member) for member in ("subagent_name", "agent_role", "agent_type"))
    name = next(filter(None, named), "") or outcome.outcome_of(step, 80) or "?"
    if step.type == "subagent_start":
        yield [
            Piece(f"SUB-AGENT START: {name}", Tone.SUBAGENT),
            bracketed(word_of(step, "subagent_model") or word_of(step, "model")),
        ]
        task = said_of(step, "task") or said_of(step, "text")
        if verbosity and task:
            yield note("task", first_line(task, 100))
        return
    success = step.meta.get("success")
    if success is True:
        word = "complete"
    elif success is False:
        word = "failed"
    else:
        word = ""
    yield [Piece(f"SUB-AGENT END: {name} ", Tone.SUBAGENT), verdict(word), took(step)]
    error = said_of(step, "error")
    if error:
        yield from text_below(step, error, label="error", most=20, tone=Tone.BAD)
    else:
        most = 10
        if verbosity:
            most = 50
        yield from value_below(step, "output", most=most)


def _warning(step: Recorded, before: Before, verbosity: int) -> Iterator[Line]:
    text = said_of(step, "text") or outcome.outcome_of(step, 400)
    yield [Piece(f"⚠ {first_line(text, 2000)}", Tone.WARNING)]


def _session(step: Recorded, before: Before, verbosity: int) -> Iterator[Line]:
    is_bad = step.type == "session_end" and outcome.is_failed(step)
    said = outcome.outcome_of(step, 400)
    yield [
        Piece(step.type.replace("_", " ").upper(), Tone.FAINT),
        Piece(spaced(said), bad_or(Tone.FAINT, is_bad)),
    ]
    if verbosity:
        yield from value_below(step, "inputs", label="inputs")
        yield from value_below(step, "error", label="error")


def _other(step: Recorded, verbosity: int) -> Iterator[Line]:
    """A type without a form of its own: its name, and what it says."""
    is_bad = outcome.is_failed(step) or outcome.is_refused(step)
    said, name = outcome.outcome_of(step, 400), outcome.name_of(step)
    yield [
        Piece(one_line(step.type).replace("_", " "), Tone.FAINT),
        bracketed(name),
        Piece(spaced(said), bad_or(Tone.FAINT, is_bad)),
        took(step),
    ]
    if verbosity:
        for key in _SPEAKING:
            yield from value_below(step, key, label=key)


_TYPES: Mapping[str, Callable[[Recorded, Before, int], Iterator[Line]]] = {
    **CHECKS,
    **dict.fromkeys(("workflow_start", "workflow_end"), _workflow),
    **dict.fromkeys(("goal_start", "goal_end"), _goal),
    **dict.fromkeys(("system", "user", "assistant"), _speech),
    "model_call": _model_call,
    "tool_call": _tool_call,
    "tool_result": _tool_result,
    **dict.fromkeys(("phase_commit", "phase_execute", "phase_reconcile"), _phase),
    "phase_supervise": _supervise,
    "checkpoint": _checkpoint,
    **dict.fromkeys(("fork", "merge", "discard", "compaction"), _joint),
    **dict.fromkeys(("subagent_start", "subagent_end"), _subagent),
    "warning": _warning,
    **dict.fromkeys(("session_start", "session_end"), _session),
}

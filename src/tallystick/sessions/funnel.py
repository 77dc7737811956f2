"""How far checks went: from the static check over triage to the supervisor, what policies answered, and the phases.

Owns those counts. A verdict that is missing is `unknown`, never an approval. Must not know how they are shown.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping

import msgspec

from tallystick.model.step import Json
from tallystick.sessions.figures import Figure
from tallystick.sessions.reported import Timing, bash_check, timing

UNKNOWN = "unknown"
_MOST_RULES = 100
_MOST_TEXT = 200


class Stage(msgspec.Struct, frozen=True, kw_only=True):
    """One check of calls: how many came in, and what became of them."""

    checked: int = 0
    answers: Mapping[str, int] = {}
    """How many got which answer: `pass`, `escalate`, `allow`, `deny`, `modify`, `unknown`."""
    skipped: Mapping[str, int] = {}
    """By reason, those that did not need the rest of the check: they are among the answers, too."""
    time: Timing = Timing()


class Funnel(msgspec.Struct, frozen=True, kw_only=True):
    """The checks that calls went through."""

    static: Stage = Stage()
    triage: Stage = Stage()
    supervisor: Stage = Stage()
    decision: Stage = Stage()
    """What the agent's own checks came to; `skipped` is empty."""
    paths: Mapping[str, int] = {}
    """Decisions by the checks that they went through: `static→triage`."""
    bash_deterministic: Stage = Stage()
    bash_llm: Stage = Stage()
    policy: Mapping[str, int] = {}
    """What our policies answered, by effect; `would deny` where the profile only observes."""
    rules: Mapping[str, Mapping[str, int]] = {}
    """The same by the rules that spoke."""
    permissions: Mapping[str, int] = {}
    """What came of asking the user or the editor."""

    @property
    def is_empty(self) -> bool:
        """Whether nothing was checked."""
        return self == Funnel()


class Phases(msgspec.Struct, frozen=True, kw_only=True):
    """The phases of supervised goals: how many, how long, with which outcome."""

    commit: Stage = Stage()
    """Answers are confidences."""
    execute: Stage = Stage()
    reconcile: Stage = Stage()
    triggers: Mapping[str, int] = {}
    """What made phases escalate."""
    supervise: Stage = Stage()
    """Answers are verdicts."""

    @property
    def is_empty(self) -> bool:
        """Whether there was none."""
        return self == Phases()


def funnel(figures: Iterable[Figure]) -> Funnel:
    """The checks among a session's steps."""
    kinds = _by_type(figures)
    checks = kinds.get("bash_security", [])
    decisions, own = kinds.get("security_decision", []), kinds.get("decision", [])
    return Funnel(
        static=_stage(
            kinds.get("security_static", []), lambda said: "pass" if said.get("pass") is True else "escalate"
        ),
        triage=_stage(
            kinds.get("security_triage", []), lambda said: "escalate" if said.get("suspicious") is True else "pass"
        ),
        supervisor=_stage(kinds.get("security_supervisor", []), lambda said: _word(said.get("verdict"))),
        decision=_stage(decisions, lambda said: _word(said.get("action"))),
        paths=_counts(_word(figure.said.get("check_path")) for figure in decisions),
        bash_deterministic=_stage([check for check in checks if bash_check(check) == "deterministic"], _bash),
        bash_llm=_stage([check for check in checks if bash_check(check) == "llm"], _bash),
        policy=_counts(map(_effect, own)),
        rules=_rules(own),
        permissions=_counts(_word(figure.said.get("decision")) for figure in kinds.get("permission", [])),
    )


def phases(figures: Iterable[Figure]) -> Phases:
    """The phases among a session's steps."""
    kinds = _by_type(figures)
    reconciled = kinds.get("phase_reconcile", [])
    return Phases(
        commit=_stage(kinds.get("phase_commit", []), lambda said: _word(said.get("confidence"))),
        execute=_stage(kinds.get("phase_execute", []), lambda said: _word(said.get("result"))),
        reconcile=_stage(reconciled, lambda said: "escalate" if said.get("escalate") is True else "pass"),
        triggers=_counts(_word(trigger) for figure in reconciled for trigger in _list(figure.said.get("triggers"))),
        supervise=_stage(kinds.get("phase_supervise", []), lambda said: _word(said.get("verdict"))),
    )


def _by_type(figures: Iterable[Figure]) -> dict[str, list[Figure]]:
    kinds: dict[str, list[Figure]] = {}
    for figure in figures:
        kinds.setdefault(figure.type, []).append(figure)
    return kinds


def _stage(figures: list[Figure], answer: Callable[[Mapping[str, Json]], str]) -> Stage:
    reasons = (figure.said.get("skip_reason") for figure in figures)
    return Stage(
        checked=len(figures),
        answers=_counts(answer(figure.said) for figure in figures),
        skipped=_counts(reason[:_MOST_TEXT] for reason in reasons if isinstance(reason, str)),
        time=timing(figures),
    )


def _bash(said: Mapping[str, Json]) -> str:
    action = said.get("action")
    if isinstance(action, str):
        return _word(action)
    if said.get("pass") is True:
        return "allow"
    return UNKNOWN


def _effect(figure: Figure) -> str:
    would = figure.said.get("would")
    if would is not None:
        return f"would {_word(would)}"
    return _word(figure.said.get("effect"))


def _rules(decisions: list[Figure]) -> dict[str, dict[str, int]]:
    found: dict[str, Counter[str]] = {}
    for figure in decisions:
        for rule in _list(figure.said.get("rules")):
            name = UNKNOWN
            if isinstance(rule, str):
                name = rule[:_MOST_TEXT]
            if name in found or len(found) < _MOST_RULES:
                found.setdefault(name, Counter())[_effect(figure)] += 1
    return {rule: dict(counts) for rule, counts in found.items()}


def _word(value: Json) -> str:
    """A verdict in lower case: agents write ALLOW and allow."""
    if isinstance(value, str) and value:
        return value[:_MOST_TEXT].lower()
    return UNKNOWN


def _list(value: Json) -> list[Json]:
    if isinstance(value, list):
        return value[:_MOST_RULES]
    return []


def _counts(words: Iterable[str]) -> dict[str, int]:
    return dict(Counter(words).most_common())

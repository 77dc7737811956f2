"""Alerts: what a decision finds worth telling, as a step of the record and back.

Owns what an alert says, and which members of a step hold it, so that a table of alerts can be made again from steps, hash by
hash. The order of alerts and their hashes are seal.alert_chain's. Must not know tables, nor how steps are written.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

import msgspec
import orjson

from tallystick.model.decision import Call, Decision, Effect
from tallystick.model.recorded import Recorded
from tallystick.model.step import Json, Ref, Source, Step
from tallystick.seal.alert_chain import Finding, Sealed, entry_hash

ALERT = "alert"
FEEDBACK = "feedback"
SEVERITIES = ("info", "low", "medium", "high", "critical")
"""From the least to the worst."""

WORDS = ("content.text", "content.path", "content.evidence")
"""The values of an alert that its hash covers."""

BROKEN_POLICY = "tally.broken-policy"
"""The rule of an alert that no policy gave: one could not be read."""
ALARM = "tally.tampering"
"""The rule of an alert that the store itself gives: what others remember of it does not fit."""
KILLED = "tally.killed"
"""The rule of an alert that a recorder gives which finds that the one before it did not end by itself."""
UNRECORDED = "tally.unrecorded"
"""The rule of an alert of deliveries that hooks made and no recorder has."""
UNHOOKED = "tally.unhooked"
"""The rule of an alert of hooks that were installed and are gone from their agent's settings."""
UNHEARD = "tally.unheard"
"""The rule of an alert of an agent that works in a session of which no hook speaks."""
DISAGREEMENT = "tally.disagreement"
"""The rule of an alert that making a decision again gives: the record says another answer."""
CHANGED_INSTRUCTIONS = "tally.changed-instructions"
"""The rule of an alert of a file of instructions that changed since its user last saw it."""
BROKEN_LEDGER = "tally.broken-ledger"
"""The rule of an alert that an import gives: the hashes of a ledger that another recorder wrote do not hold."""
_CHAIN = "content.chain"  # a plain digest of words is not a member of `meta`: anyone who sees it could try words
_ACTIONS = {Effect.ALLOW: "allow", Effect.WARN: "warn", Effect.ASK: "ask", Effect.DENY: "block"}
_SEVERITY_OF = {Effect.WARN: "low", Effect.ASK: "medium", Effect.DENY: "high"}
_ENTITIES = ("request", "agent_event", "system_event", "artifact")
_PATHS = ("file_path", "filePath", "path", "notebook_path", "absolute_path", "target_file")
_MOST_TEXT, _MOST_EVIDENCE, _MOST_NAME = 4096, 16_384, 200
_MOST_RULES = 50
_MOST_NAMED = 3
# A tag of the format's own may not begin a text, or what is sealed would not be what was hashed (docs/format.md 3.2).
_REPLACED = dict.fromkeys((0, 16, *range(55296, 57344)), "�")


class Alert(msgspec.Struct, frozen=True, kw_only=True):
    """A finding over a request, an event or an artifact.

    `session` is the agent's own id. `request_id` and `entity_id` are ids of rows; `entity_kind` is `request`, `agent_event`,
    `system_event` or `artifact`, and None where `entity_id` is. `about` is the source id of the step that it is about,
    `after` that of the decision behind it. `created_at` is in milliseconds since 1970.
    """

    session: str
    severity: str
    effect: Effect
    rule: str
    message: str
    path: str | None = None
    evidence: Mapping[str, Json] = {}
    created_at: int
    request_id: int | None = None
    entity_kind: str | None = None
    entity_id: int | None = None
    about: str | None = None
    after: str | None = None
    tool: str | None = None
    corr: str | None = None
    ts: str | None = None
    source: Source = Source.HOOK


class CallPlace(msgspec.Struct, frozen=True, kw_only=True):
    """Where a call stands: its name for people (`SESSION:n`), and the ids that its rows have."""

    name: str
    call_id: int
    request_id: int | None = None


def alert_of_decision(decision: Step, call: Step, place: CallPlace, *, created_at: int) -> Alert | None:
    """The alert that a decision on a call gives; None for one that lets it through without a word.

    Args:
        decision: the step that is sealed for it: `meta.effect`, `meta.rules`, `meta.severity`, `content.text`,
            `content.evidence`. Without a severity of the rule's own it is what the effect makes of it.
    """
    effect = _effect(decision.meta.get("effect"))
    if effect is None or effect is Effect.ALLOW:
        return None
    said = decision.meta.get("rules")
    if isinstance(said, list):
        rules = [rule for rule in said if isinstance(rule, str)][:_MOST_RULES]
    else:
        rules = []
    evidence = {
        "call": place.name,
        "policy": decision.meta.get("policy"),
        "rules": rules,
        "tool": _text_or_none(call.meta.get("tool")),
        "found": decision.values.get("content.evidence"),
        "remedy": _text_or_none(decision.values.get("content.remedy")),
    }
    severity = decision.meta.get("severity")
    return Alert(
        session=call.session,
        severity=severity if isinstance(severity, str) and severity in SEVERITIES else _SEVERITY_OF[effect],
        effect=effect,
        rule=rules[0] if rules else "unnamed",
        message=_text_or_none(decision.values.get("content.text")) or "",
        path=_path_of(call.values.get("content.args")),
        evidence={name: value for name, value in evidence.items() if value is not None},
        created_at=created_at,
        request_id=place.request_id,
        entity_kind="agent_event",
        entity_id=place.call_id,
        about=call.source_id,
        after=decision.source_id,
        tool=_text_or_none(call.meta.get("tool")),
        corr=_text_or_none(call.meta.get("corr")),
        ts=decision.ts,
        source=decision.source,
    )


_own = partial(Alert, severity="high", effect=Effect.WARN, source=Source.WATCH)
"""An alert of what the recorder saw itself."""


def alert_of_broken_policy(
    session: str, message: str, *, policy: str | None, created_at: int, path: str | None = None
) -> Alert:
    """The alert that policies give which cannot be used: the last good set stays in force.

    Args:
        session: the recorder's own. message: what is wrong, with file and line. policy: the digest of the set in force.
        path: the file, if one is to blame.
    """
    return _own(
        session=session,
        rule=BROKEN_POLICY,
        message=message,
        path=path,
        evidence={"in_force": policy} if policy is not None else {},
        created_at=created_at,
    )


def alert_of_broken_ledger(session: str, message: str, *, path: str, about: str | None, created_at: int) -> Alert:
    """The alert of a ledger that does not hold. `about` is the source id of the first record that is wrong."""
    return _own(
        session=session,
        severity="high",
        rule=BROKEN_LEDGER,
        message=message,
        path=path,
        about=about,
        source=Source.IMPORT,
        created_at=created_at,
    )


def alert_of_changed_instructions(
    session: str, message: str, *, path: str, evidence: Mapping[str, Json], created_at: int
) -> Alert:
    """The alert of a file of instructions that changed. `session` loads it; the evidence has who wrote it, and a diff."""
    return _own(
        session=session,
        severity="medium",
        rule=CHANGED_INSTRUCTIONS,
        message=message,
        path=path,
        evidence=evidence,
        created_at=created_at,
    )


def alert_of_alarm(session: str, message: str, *, created_at: int) -> Alert:
    """The alert of a sign that someone changed the store, or is in another's place. `session` is the recorder's."""
    return _own(
        session=session,
        severity="critical",
        rule=ALARM,
        message=message,
        created_at=created_at,
    )


def alert_of_killed(session: str, pid: int, *, created_at: int) -> Alert:
    """The alert of a recorder that did not end by itself. `session` is the recorder's, `pid` that of the process."""
    return _own(
        session=session,
        rule=KILLED,
        message=f"The recorder before this one (process {pid}) was killed, or failed: what agents did until this one "
        "started may be missing.",
        evidence={"pid": pid},
        created_at=created_at,
    )


def alert_of_unrecorded(session: str, count: int, agents: Sequence[str], *, created_at: int) -> Alert:
    """The alert of deliveries of hooks that someone answered and no one recorded. `session` is the recorder's."""
    return _own(
        session=session,
        rule=UNRECORDED,
        message=f"{count} {'delivery' if count == 1 else 'deliveries'} that no one recorded: hooks of "
        f"{', '.join(agents)} were answered by a process that is not the recorder, or what they kept was removed.",
        evidence={"events": count, "agents": list(agents)},
        created_at=created_at,
    )


def alert_of_silence(session: str, rule: str, message: str, *, agent: str, created_at: int) -> Alert:
    """The alert of an agent that is not heard any more: UNHOOKED or UNHEARD. `session` is the recorder's."""
    return _own(
        session=session,
        rule=rule,
        message=message,
        evidence={"agent": agent},
        created_at=created_at,
    )


def alert_of_difference(call: Call, place: CallPlace, *, then: Decision, now: Decision, created_at: int) -> Alert:
    """The alert of a call that was answered otherwise than the record says.

    Args:
        then: what was answered. now: what follows from the record.
    """
    is_graver = _GRAVITY.index(now.effect) > _GRAVITY.index(then.effect)
    return Alert(
        session=call.session,
        severity="high" if is_graver else "medium",
        effect=Effect.WARN,
        rule=DISAGREEMENT,
        message=f"This call was answered {_said(then)}. Decided again from the record, the answer is {_said(now)}.",
        evidence={"call": place.name, "then": _answer(then), "now": _answer(now), "tool": call.tool},
        created_at=created_at,
        request_id=place.request_id,
        entity_kind="agent_event",
        entity_id=place.call_id,
        tool=call.tool,
        corr=call.call_id,
        source=Source.WATCH,
    )


_GRAVITY = (Effect.ALLOW, Effect.WARN, Effect.ASK, Effect.DENY)


def _said(decision: Decision) -> str:
    if decision.rules:
        return f"{decision.effect.value} ({', '.join(decision.rules[:_MOST_NAMED])})"
    return decision.effect.value


def _answer(decision: Decision) -> dict[str, Json]:
    said: dict[str, Json] = {
        "effect": decision.effect.value,
        "rules": list(decision.rules[:_MOST_RULES]),
        "reason": decision.reason,
        "policy": decision.policy,
        "would": None if decision.would is None else decision.would.value,
    }
    return {name: value for name, value in said.items() if value}


def _path_of(args: Json) -> str | None:
    """The one file that a native tool names, if it names one."""
    named = (args.get(name) for name in _PATHS) if isinstance(args, dict) else ()
    return next((value for value in named if isinstance(value, str)), None)


def _effect(value: Json) -> Effect | None:
    return next((effect for effect in Effect if effect.value == value), None)


def _text_or_none(value: Json) -> str | None:
    if isinstance(value, str):
        return value
    return None


# As a step ------------------------------------------------------------------------------------------------------------


def alert_step(alert: Alert) -> Step:
    """The step of an alert, without its place in the chain."""
    evidence = _plain(orjson.dumps(_plain_json(alert.evidence), option=orjson.OPT_SORT_KEYS).decode(), 1 << 30)
    if len(evidence) > _MOST_EVIDENCE:
        evidence = orjson.dumps({"bytes": len(evidence), "truncated": True}).decode()
    meta: dict[str, Json] = {
        "severity": alert.severity,
        "effect": alert.effect.value,
        "rule": _plain(alert.rule, _MOST_NAME),
        "created_at": alert.created_at,
        # Ids have 62 bits, a number of the format 53.
        "request_id": None if alert.request_id is None else str(alert.request_id),
        "entity": alert.entity_kind,
        "entity_id": None if alert.entity_id is None else str(alert.entity_id),
        "tool": alert.tool,
        "corr": alert.corr,
    }
    values = {
        "content.text": _plain(alert.message, _MOST_TEXT),
        "content.path": None if alert.path is None else _plain(alert.path, _MOST_TEXT),
        "content.evidence": evidence if alert.evidence else None,
    }
    return Step(
        session=alert.session,
        type=ALERT,
        source=alert.source,
        source_id=f"{alert.about}/alert" if alert.about is not None else None,
        ts=alert.ts,
        meta={name: value for name, value in meta.items() if value is not None},
        values={name: value for name, value in values.items() if value is not None},
        after=(Ref(alert.after),) if alert.after is not None else (),
        within=Ref(alert.about) if alert.about is not None else None,
    )


def chained_step(step: Step, prev_hash: str) -> tuple[Step, str]:
    """The step of an alert with its place in the chain, and its hash there: what the next one follows.

    `step` is as it will be sealed: with secrets replaced, or the hash would be that of other words.
    """
    digest = entry_hash(prev_hash, _finding(step.meta, step.values))
    values = {**step.values, _CHAIN: {"entry_hash": digest, "prev_hash": prev_hash}}
    return msgspec.structs.replace(step, values=values), digest


def sealed_alert(step: Recorded) -> Sealed | None:
    """The alert that a recorded step seals; None for any other step, one that an agent calls an alert among them."""
    chain = step.values.get(_CHAIN)
    if step.type != ALERT or not (isinstance(chain, dict) or _CHAIN in step.withheld):
        return None
    if isinstance(chain, dict):
        said = chain
    else:
        said = {}
    rest = step.values.get("content.meta")
    members = {**rest, **step.meta} if isinstance(rest, dict) else step.meta
    return Sealed(
        order=(_text_or_none(step.meta.get("recorded")) or "", step.session, step.n),
        prev_hash=_text_or_none(said.get("prev_hash")) or "",
        entry_hash=_text_or_none(said.get("entry_hash")) or "",
        finding=_finding(members, step.values),
        is_erased=any(name in step.withheld for name in WORDS),
    )


def _finding(meta: Mapping[str, Json], values: Mapping[str, Json]) -> Finding:
    """The members of a row, from those of a step. Whatever a journal may hold, it is one that the table takes."""
    severity, effect = meta.get("severity"), _effect(meta.get("effect"))
    kind, id_ = meta.get("entity"), _id(meta.get("entity_id"))
    is_whole = kind in _ENTITIES and id_ is not None
    created_at = meta.get("created_at")
    return Finding(
        request_id=_id(meta.get("request_id")),
        entity_kind=str(kind) if is_whole else None,
        entity_id=id_ if is_whole else None,
        severity=severity if isinstance(severity, str) and severity in SEVERITIES else "medium",
        action=_ACTIONS[effect or Effect.WARN],
        rule_id=_text_or_none(meta.get("rule")) or "",
        message=_text_or_none(values.get("content.text")) or "",
        path=_text_or_none(values.get("content.path")),
        evidence=_text_or_none(values.get("content.evidence")),
        created_at=created_at if type(created_at) is int else 0,
    )


def _id(value: Json) -> int | None:
    is_number = isinstance(value, str) and value.isascii() and value.removeprefix("-").isdigit() and len(value) <= 20
    if is_number and abs(int(value)) < 1 << 63:
        return int(value)
    return None


def _plain(text: str, most: int) -> str:
    """Text that is sealed, hashed and kept in a row as the same bytes."""
    return text[:most].translate(_REPLACED)


def _plain_json(value: Json) -> Json:
    """A value that can be written as JSON text, bounded well above what evidence needs."""
    if isinstance(value, str):
        return _plain(value, _MOST_TEXT)
    if isinstance(value, Mapping):
        return {_plain(str(name), _MOST_NAME): _plain_json(item) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain_json(item) for item in value]
    if type(value) is int and abs(value) >= 1 << 53:
        return str(value)
    return value


# What a person says of it ---------------------------------------------------------------------------------------------

ACKNOWLEDGED = "acknowledged"
VERDICTS = {"confirmed": "agree", "false-positive": "allow", "false-negative": "deny"}
"""What a person says of an alert, and the word that the table human_feedback has for it."""


class Review(msgspec.Struct, frozen=True, kw_only=True):
    """What a person said of an alert: `acknowledged` or one of VERDICTS, perhaps with a note.

    `session` (our id) and `n` name the alert's step; `action`, `rule`, `path` and `corr` are the alert's.
    """

    session: str
    n: int
    verdict: str
    action: str
    rule: str
    path: str | None = None
    corr: str | None = None
    note: str | None = None
    created_at: int


def review_step(review: Review) -> Step:
    """The step of a review, of the session `recorder`."""
    meta: dict[str, Json] = {
        "about": ALERT,
        "verdict": review.verdict,
        "alert": f"{review.session}:{review.n}",
        "alert_action": review.action,  # `action` would be that of this step
        "rule": review.rule,
        "corr": review.corr,
        "created_at": review.created_at,
    }
    values = {"content.text": review.note, "content.path": review.path}
    return Step(
        session="recorder",
        type=FEEDBACK,
        source=Source.SDK,
        meta={name: value for name, value in meta.items() if value is not None},
        values={name: _plain(value, _MOST_TEXT) for name, value in values.items() if value is not None},
    )


def sealed_review(step: Recorded) -> Review | None:
    """The review that a recorded step holds; None for any other step."""
    verdict, alert = step.member("verdict"), step.member("alert")
    if step.type != FEEDBACK or step.member("about") != ALERT or not isinstance(alert, str):
        return None
    session, _, number = alert.rpartition(":")
    n = _id(number)
    if n is None or not isinstance(verdict, str) or verdict not in (ACKNOWLEDGED, *VERDICTS):
        return None
    created_at = step.meta.get("created_at")
    return Review(
        session=session,
        n=n,
        verdict=verdict,
        action=_text_or_none(step.member("alert_action")) or "",
        rule=_text_or_none(step.member("rule")) or "",
        path=step.text("content.path"),
        corr=_text_or_none(step.member("corr")),
        note=step.text("content.text"),
        created_at=created_at if type(created_at) is int else 0,
    )

"""An alert → the policy that lets the same through from now on, for a person who was stopped and wants to go on.

Owns how narrow that is: the rule that spoke, the act, the target, and the project where it is wanted. What an alert says is
the words of an agent: they are only ever written in quotes. Must not know where the policy is kept.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

import msgspec

from tallystick.errors import PolicyError
from tallystick.guard.policy_text import Verb, id_of, policy_text, quoted, same_target
from tallystick.guard.suggest import ATTRIBUTES, type_of
from tallystick.model.step import Json
from tallystick.policy.cedar.parsing import Rule

_RISK = re.compile(r"([a-z][a-z.-]*): ")
_UNTOLD = ("…", "\ufffd")
_REASON = "The user let it through after an alert."


class _Said(NamedTuple):
    """What one rule said of one act."""

    rule: str
    action: str
    target: str
    because: tuple[str, ...]


def exceptions(evidence: str | None, rules: Mapping[str, Rule], *, folder: str | None) -> Iterator[str]:
    """The policies that lift what spoke in an alert.

    Args:
        evidence: of the alert, as it is kept. rules: those in force, by id. folder: where it is wanted; None: everywhere.

    Raises:
        PolicyError: nothing narrow would lift it.
    """
    said = list(_said(evidence))
    if not said:
        raise PolicyError("the alert does not say which rule stopped what", hint="`tally alert show` has all of it")
    for one in said:
        rule = rules.get(one.rule)
        if rule is not None and rule.holds_always:
            raise PolicyError(f"{one.rule} holds always: nothing lifts it", hint="make the call yourself")
        kind = type_of(one.action) or "Call"
        tests = [_target(kind, one)]
        if folder is not None:
            tests.append(_in_folder(folder))
        annotations = [
            ("id", f"mine.{id_of(one.rule, one.action, one.target, folder or '')}"),
            ("lifts", one.rule),
            ("reason", _REASON),
        ]
        yield policy_text(annotations, "permit", Verb((one.action,), kind), condition=" &&\n  ".join(tests))


def _said(evidence: str | None) -> Iterator[_Said]:
    try:
        found = msgspec.json.decode(evidence or "{}").get("found")
    except (msgspec.DecodeError, AttributeError):
        return
    for item in found if isinstance(found, list) else ():
        match item:
            case {"rule": str(rule), "action": str(action), "target": str(target)}:
                yield _Said(rule, action, target, tuple(_texts(item.get("because"))))
            case _:
                pass


def _texts(value: Json) -> Iterator[str]:
    yield from (text for text in value if isinstance(text, str)) if isinstance(value, list) else ()


def _target(kind: str, said: _Said) -> str:
    if kind != "Call":
        if not said.target or any(sign in said.target for sign in _UNTOLD):
            raise PolicyError(
                "the alert does not hold the whole name of what it is about", hint="use `tally policy add`"
            )
        return f"resource.{ATTRIBUTES[kind]} == {quoted(said.target)}"
    risks = sorted({found[1] for text in said.because if (found := _RISK.match(text))})
    if not risks:
        raise PolicyError(
            f"{said.rule} speaks of the call as a whole: nothing in it is narrow enough to be let through",
            hint="make the call yourself",
        )
    return f"resource.tool == {quoted(said.target)} && resource.risks == [{', '.join(map(quoted, risks))}]"


def _in_folder(folder: str) -> str:
    inside = same_target("folder", f"{folder}/*").replace("resource.", "context.")
    return f"(context.folder == {quoted(folder)} || {inside})"

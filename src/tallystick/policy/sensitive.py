"""What of a call is sensitive: which secrets it reads, has printed, or gives away.

Owns that answer for the record, which remembers it for the calls that follow. Must not know what follows from it.
"""

from __future__ import annotations

from tallystick.policy.facts import Action, CallFacts, Facts, FileFacts

_TAKING = frozenset((Action.READ, Action.EXECUTE, Action.USE, Action.MOVE))
_KINDS = frozenset(("secret", "credential", "environment"))
RISKS = frozenset(
    (
        "reads-secret",
        "reads-credential",
        "names-secret",
        "prints-secret",
        "prints-all-secrets",
        "prints-environment",
        "prints-secret-variable",
    )
)
"""Risks of a call that has secrets shown."""
_MOST = 20


def is_sensitive_read(facts: Facts) -> tuple[str, ...]:
    """What a call reads or has printed that is sensitive: paths, and what was found in it as `risk: what`; at most 20.

    A key that is used to log in is not read, and neither is a public key or a template.
    """
    found: dict[str, None] = {}
    for act in facts.acts:
        match act.resource:
            case FileFacts() as file if act.action in _TAKING and _is_sensitive(file):
                found[file.path] = None
            case CallFacts() as call if not RISKS.isdisjoint(call.risks):
                found |= dict.fromkeys(text for text in act.because if text.partition(":")[0] in RISKS)
            case _:
                pass
    return tuple(found)[:_MOST]


def _is_sensitive(file: FileFacts) -> bool:
    is_told = not _KINDS.isdisjoint(file.kinds) or "credentials" in file.tags or file.is_sensitive
    return is_told and not file.is_in_use

"""What a user was asked about, as a recorded decision tells: content that would run, hosts that data would go to.

Owns reading the evidence of such decisions. Must not know what the user answered: the call's result says that.
"""

from __future__ import annotations

import orjson

from tallystick.model.pattern import pattern_of
from tallystick.model.recorded import Recorded
from tallystick.model.step import Json

_DIGEST = pattern_of(r"sha256:[0-9a-f]{64}")


def asked_about(step: Recorded) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Of a decision: the digests of what would run, and the hosts that data would go to, as its evidence says."""
    digests: dict[str, None] = {}
    hosts: dict[str, None] = {}
    for one in _evidence(step):
        rule, because, target = one.get("rule"), one.get("because"), one.get("target")
        if isinstance(rule, str) and rule.startswith("provenance."):
            if isinstance(because, list):
                texts = because
            else:
                texts = []
            digests |= dict.fromkeys(found for text in texts for found in _DIGEST.findall(str(text)))
        elif isinstance(rule, str) and rule.startswith("exfiltration.") and isinstance(target, str):
            hosts[target] = None
    return tuple(digests), tuple(hosts)


def _evidence(step: Recorded) -> list[dict[str, Json]]:
    found = step.values.get("content.evidence")
    if isinstance(found, str):
        try:
            found = orjson.loads(found)
        except orjson.JSONDecodeError:
            return []
    if isinstance(found, list):
        return [one for one in found if isinstance(one, dict)]
    return []

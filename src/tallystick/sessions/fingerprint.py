"""Fingerprints: one digest for all that a session ran under.

Owns two profiles. Lango's is reproduced to the byte, with its text of the hooks that are registered, for who compares with
records of its own. Ours is by section, length-delimited, and keyed: who has no key can guess no input from it. Must not know
where inputs come from, nor where the key is kept. Sources: specs/lango.md 3 and 8.1; decision 0022.
"""

from __future__ import annotations

import hmac
from collections.abc import Collection, Iterable, Mapping
from hashlib import sha256

import msgspec

from tallystick.errors import UsageError
from tallystick.model.step import Json
from tallystick.seal.go_json import go_json

LANGO = "lango"
_AUTO = ("knowledge", "memory", "retrieval", "embedding")
_SWITCHES = ("enabled", "securityFilter", "accessControl", "eventPublishing", "knowledgeSave")
_BLOCKED = "blockedCommands"
_LABEL = "tallystick/configuration/1"
_INPUT_DIGITS = 32
"""Of an input's own digest so many are kept: it only says which input of a section is another one."""

# Lango's ----------------------------------------------------------------------------------------------------------------


def fingerprint(
    *,
    explicit: Collection[str] | None,
    auto_enabled: Mapping[str, bool] | Collection[str] | None,
    hooks: Mapping[str, Json] | None,
    profile: str = LANGO,
) -> str:
    """The digest of a configuration as Lango makes it: SHA-256 in hex, without a key.

    Args:
        explicit: the keys that are set; None and none of them differ.
        auto_enabled: which of knowledge, memory, retrieval and embedding were switched on by themselves: their names, or
            flags by name. None: none were.
        hooks: the section of hooks, by the names in Lango's file; what is left out is off, or null. None: all is.

    Raises:
        UsageError: a name that Lango does not have, a text where a list belongs, or another profile: ours is made section
            by section.
    """
    if profile != LANGO:
        raise UsageError(f"no profile {profile[:80]!r}", hint="lango; ours is `section_digest` and `overall_digest`")
    auto, switches = _listed(auto_enabled or ()), hooks or {}
    _refuse_unknown(auto, _AUTO)
    _refuse_unknown(switches, (*_SWITCHES, _BLOCKED))
    on = {name for name in auto if not isinstance(auto_enabled, Mapping) or auto_enabled[name]}
    blocked = switches.get(_BLOCKED)
    section: dict[str, Json] = {name: bool(switches.get(name, False)) for name in _SWITCHES}
    section[_BLOCKED] = None if blocked is None else list(_listed(blocked))
    text = ""
    if explicit is not None:
        text = go_json(dict.fromkeys(sorted(set(_listed(explicit))), True))
    text += go_json({name: True for name in _AUTO if name in on}) + go_json(section)
    return sha256(text.encode()).hexdigest()


def _listed(texts: Collection[str]) -> Collection[str]:
    if isinstance(texts, str | bytes):  # it would be taken for a list of its letters, and give another digest
        raise UsageError(f"{texts[:80]!r} is one text, where a list of texts belongs")
    return texts


def _refuse_unknown(given: Iterable[str], known: tuple[str, ...]) -> None:
    for name in given:
        if name not in known:
            raise UsageError(f"Lango's fingerprint has no {name[:80]!r}", hint="one of: " + ", ".join(known))


def lango_metadata(digest: str, registry: Iterable[Hook]) -> dict[str, str]:
    """What a checkpoint of Lango's says of a configuration: a map of strings, the hooks as compact JSON."""
    return {"config_fingerprint": digest, "hook_registry": lango_registry(registry)}


# Hooks ------------------------------------------------------------------------------------------------------------------


class Hook(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A hook that is registered. `digest` is keyed; None: only its name is known."""

    name: str
    priority: int = 0
    phase: str = "pre"
    """`pre`, `post`, or what else the agent calls it at."""
    enabled: bool = True
    digest: str | None = None

    def told(self) -> dict[str, Json]:
        """As the registry of a checkpoint has it."""
        told: dict[str, Json] = {
            "name": self.name,
            "priority": self.priority,
            "phase": self.phase,
            "enabled": self.enabled,
        }
        if self.digest is None:
            return told
        return {**told, "digest": self.digest}


def lango_registry(hooks: Iterable[Hook]) -> str:
    """Compact JSON of names and priorities, those before a call first; `[]` before any is registered."""
    return go_json([{"name": hook.name, "priority": hook.priority} for hook in in_order(hooks)])


def in_order(hooks: Iterable[Hook]) -> list[Hook]:
    """Hooks before a call, then those after it, then others; by priority, and where that is the same, by name."""
    return sorted(hooks, key=_order)


def _order(hook: Hook) -> tuple[int, str, int, str, str]:
    rank = {"pre": 0, "post": 1}.get(hook.phase, 2)
    return rank, hook.phase, hook.priority, hook.name, hook.digest or ""


# Ours -------------------------------------------------------------------------------------------------------------------


def section_key(key: bytes, section: str) -> bytes:
    """The key of one section: who is given it can compare that section, and no other."""
    return _keyed(key, "key", section.encode())


def key_name(key: bytes) -> str:
    """What a store's key is called, 16 hex digits: what was made under another key is compared with nothing."""
    return _keyed(key, "name").hex()[:16]


def input_digest(key: bytes, name: str, data: bytes) -> str:
    """The digest of one input under its section's key, 32 hex digits."""
    return _keyed(key, "input", name.encode("utf-8", "surrogatepass"), data).hex()[:_INPUT_DIGITS]


def section_digest(key: bytes, inputs: Iterable[tuple[str, str]]) -> str:
    """The digest of a section under its key, 64 hex digits: of the names and digests of its inputs, in whatever order."""
    parts = (part.encode("utf-8", "surrogatepass") for pair in sorted(inputs) for part in pair)
    return _keyed(key, "section", *parts).hex()


def overall_digest(key: bytes, sections: Mapping[str, str]) -> str:
    """The fingerprint: one digest of all sections under the store's key, 64 hex digits."""
    parts = (part.encode() for pair in sorted(sections.items()) for part in pair)
    return _keyed(key, "all", *parts).hex()


def _keyed(key: bytes, purpose: str, *parts: bytes) -> bytes:
    """HMAC-SHA256 over parts, each after its length, so that no two lists of parts are the same message."""
    message = hmac.new(key, digestmod=sha256)
    for part in (_LABEL.encode(), purpose.encode(), *parts):
        message.update(len(part).to_bytes(8, "big"))
        message.update(part)
    return message.digest()

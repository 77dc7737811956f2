"""Whether a write of a project's settings of an agent leaves our hook alone.

Owns what settings say that concerns hooks. Only a write whose text is known and that says nothing of them counts as such, and
only where the file holds no hook of ours. Must not know which files are settings: `places` does.
"""

from __future__ import annotations

from tallystick.intent.tools.arguments import strings
from tallystick.model.intent import Intent, Operation
from tallystick.model.pattern import pattern_of
from tallystick.policy.calls.reading import CallReading
from tallystick.policy.content.written import texts_after
from tallystick.policy.world import Content, FileKind, World

_WRITES = frozenset((Operation.WRITE, Operation.EDIT, Operation.APPEND))
_OF_HOOKS = pattern_of(r"(?i)hook|tally|disable|bypass|defaultmode|config_?dir|\benv\b|plugin|extension|\\u")
"""What makes an agent call hooks, keeps it from that, or moves its settings elsewhere; it may be spelled as `\\u0068`."""


def keeps_hook(intent: Intent, reading: CallReading, world: World) -> bool:
    """Whether a tool writes settings that neither hold a hook of ours nor say anything of hooks afterwards."""
    if intent.operation not in _WRITES or not intent.is_known or not reading.uses.is_told or reading.texts:
        return False
    before = ""
    if world.state(intent.target).kind is not FileKind.NOTHING:
        held = world.content(intent.target)
        if not isinstance(held, Content) or "tally" in held.text.lower():
            return False
        before = held.text
    elif intent.content is None:
        return False
    name = "/".join(intent.target.split("/")[-2:])
    said = [text for _, text in strings(reading.call.args) if text != intent.target]
    after = texts_after(intent, before, reading, world)  # an edit of letters may make a word that it does not say
    return bool(said) and not any(map(_OF_HOOKS.search, (name, *said, *after)))

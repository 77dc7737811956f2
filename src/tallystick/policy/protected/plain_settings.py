"""What a write of a project's settings of an agent means for our hook.

Owns what settings say that concerns hooks. Only a write whose text is known counts as harmless, and only where the file
holds no hook of ours: one that says nothing of hooks, or adds hooks of other programs. What those hooks run is for
`project_hooks`. Must not know which files are settings: `places` does.
"""

from __future__ import annotations

import posixpath

import msgspec

from tallystick.intent.tools.arguments import strings
from tallystick.model.intent import Intent, Operation
from tallystick.model.pattern import pattern_of
from tallystick.model.step import Json
from tallystick.policy.calls.reading import CallReading
from tallystick.policy.content.written import texts_after
from tallystick.policy.protected.project_hooks import HooksRead, Runs
from tallystick.policy.settings import Settings
from tallystick.policy.world import Content, FileKind, World

_WRITES = frozenset((Operation.WRITE, Operation.EDIT, Operation.APPEND))
_MEMBER = "hooks"
_OF_HOOKS = pattern_of(r"(?i)hook|tally|disable|bypass|defaultmode|config_?dir|\benv\b|plugin|extension|\\u")
"""What makes an agent call hooks, keeps it from that, or moves its settings elsewhere; it may be spelled as `\\u0068`."""
_SWITCHES = pattern_of(r"(?i)tally|disable|enable|bypass|defaultmode|config_?dir|\\u")
"""What switches hooks off where they are listed, or spells it so that it is not seen."""


def left_of_hook(intent: Intent, reading: CallReading, world: World, settings: Settings) -> Runs | None:
    """What a tool's write of settings leaves to run: nothing new, hooks of other programs; None: it may concern our hook."""
    if intent.operation not in _WRITES or not intent.is_known or not reading.uses.is_told or reading.texts:
        return None
    before = ""
    if world.state(intent.target).kind is not FileKind.NOTHING:
        held = world.content(intent.target)
        if not isinstance(held, Content) or "tally" in held.text.lower():
            return None
        before = held.text
    elif intent.content is None:
        return None
    name = "/".join(intent.target.split("/")[-2:])
    said = [text for _, text in strings(reading.call.args) if text != intent.target]
    after = list(texts_after(intent, before, reading, world))  # an edit of letters may make a word that it does not say
    if not said:
        return None
    if not any(map(_OF_HOOKS.search, (name, *said, *after))):
        return Runs.NOTHING
    if not intent.target.startswith("/") or len(after) != 1 or any(map(_SWITCHES.search, (name, *said, *after))):
        return None
    return _hooks_of(after[0], posixpath.dirname(posixpath.dirname(intent.target)), HooksRead(reading, world, settings))


def _hooks_of(text: str, project: str, read: HooksRead) -> Runs | None:
    """What the hooks of settings run, where nothing but their own member says anything of hooks."""
    try:
        members = msgspec.json.decode(text, type=dict[str, Json])
    except (msgspec.DecodeError, RecursionError, UnicodeEncodeError):
        return None
    rest = {key: value for key, value in members.items() if key != _MEMBER}
    if _OF_HOOKS.search(msgspec.json.encode(rest).decode()) is not None:
        return None
    return read.runs(members.get(_MEMBER), project)

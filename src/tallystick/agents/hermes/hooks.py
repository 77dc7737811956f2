"""Hermes' hooks: a plugin of ours (`tallystick.plugins.hermes`) that runs inside Hermes, in its folder of plugins.

Owns the two files of the plugin and the line of config.yaml that switches it on, what each payload says, and how a call
is refused: `pre_tool_call` gives a directive that blocks, or one that has a human asked. With --yolo and in scheduled
runs no one is asked and the call runs, so there we refuse it. Calls have the model's ids, as in state.db; prompts have
none here. Facts observed with version 0.19.0: docs/agents/hermes.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from msgspec.structs import replace

from tallystick.agents.hermes.rows import session_row
from tallystick.agents.hermes.session import Session, ending_steps
from tallystick.agents.hermes.steps import outcome
from tallystick.agents.hermes.tree import Relation, parent_id, relation
from tallystick.agents.hooks import HookCommand, Payload, Reply, SettingsFile, hook_files, hooks_of, plugin, yaml_list
from tallystick.agents.hooks.common_steps import Telling, known, unnamed
from tallystick.agents.hooks.payload import payload_of
from tallystick.agents.kit.reading import dict_of
from tallystick.errors import FormatError
from tallystick.model.decision import Decision
from tallystick.model.step import Json, Opening, Ref, SessionKind, Source, Step

NAME = "hermes"
EVENTS = hooks_of(NAME).events
_PLUGIN = "tallystick"
_SCHEDULED = ("cron", "webhook")
"""Surfaces whose prompts no one types."""
_CONFIG = ".hermes/config.yaml"
_FOLDER = f".hermes/plugins/{_PLUGIN}"
_MANIFEST = f"""\
# {plugin.MARK}. Made by `tally install hermes`; `tally uninstall hermes` removes it.
name: {_PLUGIN}
version: 0.1.0
description: {plugin.MARK}, and refuses what policy refuses.
"""
_CODE = '''\
"""@MARK@. Made by `tally install hermes`; `tally uninstall hermes` removes it."""

from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

_PLACE = Path(@PLACE@)


def register(context):
    """Have the plugin of the installed Tallystick register its hooks; nothing, where it was removed."""
    if _PLACE.is_file():
        spec = spec_from_file_location("tallystick_hermes", _PLACE)
        module = module_from_spec(spec)
        spec.loader.exec_module(module)
        module.use(@PYTHON@, @HOME@)
        module.register(context)
'''


def settings(*, project: bool) -> tuple[SettingsFile, ...]:
    """The plugin's two files, and the user's configuration. Hermes has no projects' plugins without a switch of their own."""
    return hook_files(NAME, project=project)


def configure(file: SettingsFile, content: bytes, hook: HookCommand) -> bytes:
    """A file of the plugin, or the configuration with the plugin enabled.

    Raises: FormatError: a file of that name is someone else's; the configuration cannot be edited.
    """
    if file.name == "config":
        text = yaml_list.removed(_text(file, content), "plugins", "disabled", _PLUGIN)  # that list would win
        return yaml_list.added(text, "plugins", "enabled", _PLUGIN).encode()
    return plugin.replaced(file, content, (_MANIFEST if file.name == "manifest" else _code(hook)).encode())


def _code(hook: HookCommand) -> str:
    """A module that loads the plugin of the installed Tallystick: it lies beside hook.py."""
    place = f"{hook.hook.rpartition('/')[0]}/plugins/hermes.py"
    filled = _CODE.replace("@MARK@", plugin.MARK).replace("@PLACE@", repr(place))
    return filled.replace("@PYTHON@", repr(hook.python)).replace("@HOME@", repr(hook.home))


def remove(file: SettingsFile, content: bytes) -> bytes:
    """A file of the plugin is emptied; the configuration loses the plugin's name. Raises what `configure` raises."""
    if file.name == "config":
        return yaml_list.removed(_text(file, content), "plugins", "enabled", _PLUGIN).encode()
    return plugin.emptied(content)


def hooked(file: SettingsFile, content: bytes) -> tuple[str, ...]:
    """All events, if the file is ours or enables our plugin. Raises what `configure` raises."""
    if file.name != "config":
        return plugin.hooked(content, EVENTS)
    enabled, disabled = (yaml_list.names(_text(file, content), "plugins", key) for key in ("enabled", "disabled"))
    if _PLUGIN in enabled and _PLUGIN not in disabled:
        return EVENTS
    return ()


def _text(file: SettingsFile, content: bytes) -> str:
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise FormatError(f"{file.path} is not UTF-8 at byte {error.start}", hint="mend the file") from error


# Payloads ------------------------------------------------------------------------------------------------------------


def parse(data: bytes, event: str | None) -> Payload:
    """What our plugin said: `{hook, at, session, cwd, database, asks_nobody, …}`, with the members of Hermes' own hook."""
    said = payload_of(data)
    name, session, cwd = said.need("hook"), said.need("session"), said.text("cwd")
    telling = Telling(said=said, agent=NAME, session=session, root=session, common=said.members(("turn_id", "run")))
    tool, args, call = said.text("tool_name"), said.json.get("args"), said.text("tool_call_id")
    began = _continued(telling)
    opening = _opening(telling, began, cwd)
    return Payload(
        event=name,
        session=session,
        events=(*_compaction(began), opening, *_child(telling), *telling.steps(_STEPS, name)),
        continues=began.row.id if began is not None else None,
        asks=telling.asks(tool, args, cwd=cwd, call_id=call) if name == "pre_tool_call" else None,
        transcript=said.text("database"),
        begins=name == "on_session_start",
        ends=name == "on_session_finalize",
        never_asks=said.json.get("asks_nobody") is True,
        timed=True,
    )


def _continued(telling: Telling) -> Session | None:
    """The session that this one continues, if it is one that Hermes goes on with under another id."""
    row = session_row(dict_of(telling.said.json.get("row")))
    parent = session_row(dict_of(telling.said.json.get("parent_row")))
    if row is None or parent is None or row.id != telling.session or parent_id(row) != parent.id:
        return None
    if relation(row, parent) in (Relation.COMPRESSION, Relation.ROLLOVER):
        return Session(parent)
    return None


def _compaction(ended: Session | None) -> Iterator[Step]:
    """The end of the session that was left, named as the reader of state.db names it."""
    for step in ending_steps(ended) if ended is not None else ():
        if step.type == "compaction":
            yield replace(step, source=Source.HOOK)


def _opening(telling: Telling, ended: Session | None, cwd: str | None) -> Opening:
    """The session itself; one that continues another belongs to the compaction of that one, or on its last step."""
    opening = telling.opening(telling.said.members(("model", "model"), ("platform", "surface")), cwd=cwd)
    if ended is None:
        return opening
    is_compacted = ended.row.end_reason == Relation.COMPRESSION
    parent = Ref(ended.compaction_id if is_compacted else None, ended.row.id)
    meta = {**opening.meta, "relation": (Relation.COMPRESSION if is_compacted else Relation.ROLLOVER).value}
    return replace(opening, kind=SessionKind.CONTINUATION, parent=parent, meta=meta)


def _child(telling: Telling) -> list[Opening]:
    """The session of a sub-agent, opened before its own first hook."""
    said = telling.said
    child = None
    if said.text("hook") == "subagent_start":
        child = said.text("child_session_id")
    if child is None:
        return []
    meta = said.members(("child_role", "agent_role"))
    return [
        Telling(said=said, agent=NAME, session=child, root=telling.session).child(Ref(session=telling.session), meta)
    ]


def _prompt(telling: Telling) -> Step:
    return telling.prompt(telling.said.text("user_message"), None, _origin(telling))


def _origin(telling: Telling) -> str | None:
    """Whose prompt it is, if no one typed it; as the reader of state.db has it."""
    surface = telling.said.text("platform")
    if surface == "subagent":
        if telling.said.json.get("is_first_turn") is True:
            return "parent"
        return None
    if surface in _SCHEDULED:
        return "injected"
    return None


def _tool_call(telling: Telling) -> Step:
    said = telling.said
    return telling.call(said.text("tool_name"), said.text("tool_call_id"), said.json.get("args"))


def _tool_result(telling: Telling) -> Step:
    """A result. Hermes calls a command that failed `ok`: what the result says itself counts first."""
    said, call, status = telling.said, telling.said.text("tool_call_id"), telling.said.text("status")
    result = said.json.get("result")
    found = outcome(result)
    meta = known(success=found.get("success"), exit_code=found.get("exit_code"))
    if status is not None:
        meta.setdefault("success", status == "ok")
    if status == "blocked":
        meta["decision"] = "deny"
    content: dict[str, Json] = {"output": result, "error": found.get("error")}
    if call is None:
        content["args"] = said.json.get("args")
    meta |= said.members(("duration_ms", "duration_ms"))
    return telling.result(said.text("tool_name"), call, meta, **content)


def _subagent(telling: Telling) -> Step:
    said = telling.said
    begins, child = said.text("hook") == "subagent_start", said.text("child_session_id")
    meta = said.members(("child_session_id", "agent_id"), ("child_role", "agent_role"), ("duration_ms", "duration_ms"))
    meta |= said.members(("child_status", "status"))
    if begins:
        text = said.text("child_goal")
    else:
        text = said.text("child_summary")
    source_id = unnamed(child, "start" if begins else "end")
    return telling.step("subagent_start" if begins else "subagent_end", source_id, meta, text=text)


def _approval(telling: Telling) -> Step:
    said = telling.said
    meta = said.members(("choice", "decision"), ("decided_by", "decided_by"), ("surface", "surface"))
    meta |= said.members(("tool_call_id", "corr"))
    return telling.step("permission", None, meta, text=said.text("description"), command=said.json.get("command"))


_STEPS: dict[str, Callable[[Telling], Step]] = {
    "pre_llm_call": _prompt,
    "pre_tool_call": _tool_call,
    "post_tool_call": _tool_result,
    "subagent_start": _subagent,
    "subagent_stop": _subagent,
    "post_approval_response": _approval,
}


def reply(payload: Payload, decision: Decision) -> Reply:
    """What our plugin makes a directive of: `block`, or `approve`, which has a human asked and blocks if none exists."""
    return plugin.reply(NAME, payload, decision)

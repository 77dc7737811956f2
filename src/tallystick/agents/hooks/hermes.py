"""Hermes' hooks: a plugin of ours (`tallystick.plugins.hermes`) that runs inside Hermes, in its folder of plugins.

Owns the two files of the plugin and the line of config.yaml that switches it on, what each payload says, and how a call is
refused: `pre_tool_call` gives a directive that blocks. Calls have the model's ids, as in state.db; prompts have none here.
Facts observed with version 0.19.0: docs/agents/hermes.md.
"""

from __future__ import annotations

from msgspec.structs import replace

from tallystick.agents._columns import parsed
from tallystick.agents.hooks import SILENT, HookCommand, Payload, Reply, SettingsFile, _yaml_list
from tallystick.agents.hooks._payload import Said, payload_of
from tallystick.agents.reading import dict_of, int_of, text_of
from tallystick.errors import FormatError
from tallystick.model.decision import Call, Decision, Effect
from tallystick.model.step import Event, Json, Opening, Ref, SessionKind, Source, Step
from tallystick.seal.canonical import canonical

NAME = "hermes"
EVENTS = (
    "pre_tool_call",
    "post_tool_call",
    "on_session_start",
    "on_session_finalize",
    "pre_llm_call",
    "subagent_start",
    "subagent_stop",
    "post_approval_response",
)
_PLUGIN = "tallystick"
_MARK = "Tallystick records what this agent does"
_CONFIG = ".hermes/config.yaml"
_FOLDER = f".hermes/plugins/{_PLUGIN}"
_MANIFEST = f"""\
# {_MARK}. Made by `tally install hermes`; `tally uninstall hermes` removes it.
name: {_PLUGIN}
version: 0.1.0
description: {_MARK}, and refuses what policy refuses.
"""
_CODE = '''\
"""Tallystick records what this agent does. Made by `tally install hermes`; `tally uninstall hermes` removes it."""

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
    if project:
        return ()
    return (
        SettingsFile(path=f"{_FOLDER}/plugin.yaml", ours=True, variable="HERMES_HOME", name="manifest"),
        SettingsFile(path=f"{_FOLDER}/__init__.py", ours=True, variable="HERMES_HOME", name="code"),
        SettingsFile(path=_CONFIG, variable="HERMES_HOME", name="config"),
    )


def configure(file: SettingsFile, content: bytes, hook: HookCommand) -> bytes:
    """A file of the plugin, or the configuration with the plugin enabled.

    Raises:
        FormatError: a file of that name is somebody else's; the configuration cannot be edited.
    """
    if file.name == "config":
        return _yaml_list.added(_text(file, content), "plugins", "enabled", _PLUGIN).encode()
    if content and not _is_ours(content):
        raise FormatError(f"{file.path} is not of a plugin of ours", hint="move it away, then install again")
    if file.name == "manifest":
        return _MANIFEST.encode()
    place = f"{hook.hook.rpartition('/')[0]}/plugins/hermes.py"
    filled = _CODE.replace("@PLACE@", repr(place)).replace("@PYTHON@", repr(hook.python))
    return filled.replace("@HOME@", repr(hook.home)).encode()


def remove(file: SettingsFile, content: bytes) -> bytes:
    """A file of the plugin is emptied; the configuration loses the plugin's name. Raises what `configure` raises."""
    if file.name == "config":
        return _yaml_list.removed(_text(file, content), "plugins", "enabled", _PLUGIN).encode()
    return b"" if _is_ours(content) else content


def hooked(file: SettingsFile, content: bytes) -> tuple[str, ...]:
    """All events, if the file is ours or enables our plugin. Raises what `configure` raises."""
    if file.name == "config":
        return EVENTS if _PLUGIN in _yaml_list.names(_text(file, content), "plugins", "enabled") else ()
    return EVENTS if _is_ours(content) else ()


def _is_ours(content: bytes) -> bool:
    return _MARK.encode() in content[:200]


def _text(file: SettingsFile, content: bytes) -> str:
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise FormatError(f"{file.path} is not UTF-8 at byte {error.start}", hint="mend the file") from error


# Payloads ------------------------------------------------------------------------------------------------------------


def parse(data: bytes, event: str | None) -> Payload:
    """What our plugin said: `{hook, at, session, cwd, database, …}`, with the members of Hermes' own hook."""
    said = payload_of(data)
    name, session = said.need("hook"), said.need("session")
    make = _STEPS.get(name)
    meta = said.members(("model", "model"), ("platform", "surface"))
    where = said.values(("cwd", "personal.cwd"))
    events: list[Event] = [Opening(session=session, agent=NAME, source=Source.HOOK, meta=meta, values=where)]
    if name == "subagent_start" and said.text("child_session_id"):
        events.append(_child(said, session))
    if make is not None:
        events.append(make(said, session))
    return Payload(
        event=name,
        session=session,
        events=tuple(events),
        asks=_call(said, session) if name == "pre_tool_call" else None,
        transcript=said.text("database"),
        begins=name == "on_session_start",
        ends=name == "on_session_finalize",
        timed=True,
    )


def _child(said: Said, session: str) -> Opening:
    return Opening(
        session=said.need("child_session_id"),
        agent=NAME,
        kind=SessionKind.CHILD,
        parent=Ref(session=session),
        source=Source.HOOK,
        meta=said.members(("child_role", "agent_role")),
    )


def _call(said: Said, session: str) -> Call:
    return Call(
        agent=NAME,
        session=session,
        tool=said.text("tool_name") or "?",
        args=said.json.get("args"),
        cwd=said.text("cwd"),
        call_id=said.text("tool_call_id"),
    )


def _step(session: str, kind: str, source_id: str | None, meta: dict[str, Json], **content: Json) -> Step:
    values = {f"content.{name}": value for name, value in content.items() if value is not None}
    return Step(session=session, type=kind, source=Source.HOOK, source_id=source_id, meta=meta, values=values)


def _prompt(said: Said, session: str) -> Step:
    step = _step(session, "user", None, said.members(("turn_id", "run")), text=said.text("user_message"))
    return replace(step, opens_request=True)


def _tool_call(said: Said, session: str) -> Step:
    meta = said.members(("tool_name", "tool"), ("tool_call_id", "corr"), ("turn_id", "run"))
    return _step(session, "tool_call", said.text("tool_call_id"), meta, args=said.json.get("args"))


def _tool_result(said: Said, session: str) -> Step:
    call, status = said.text("tool_call_id"), said.text("status")
    meta = said.members(("tool_name", "tool"), ("tool_call_id", "corr"), ("duration_ms", "duration_ms"))
    meta["success"] = status not in ("error", "blocked") and not _says_it_failed(said.json.get("result"))
    if status == "blocked":
        meta["decision"] = "deny"
    source_id = f"{call}/result" if call else None
    step = _step(session, "tool_result", source_id, meta, output=said.json.get("result"))
    if call is None:
        return replace(step, values={**step.values, "content.args": said.json.get("args")})
    return replace(step, after=(Ref(call),))


def _says_it_failed(result: Json) -> bool:
    """Whether the tool's own answer says so, as in the database; Hermes calls what was interrupted `ok` too."""
    found = dict_of(parsed(result))
    code, success = int_of(found.get("exit_code")), found.get("success")
    if isinstance(success, bool):
        return not success
    return code != 0 if code is not None else bool(text_of(found.get("error")))


def _subagent(said: Said, session: str) -> Step:
    begins = said.text("hook") == "subagent_start"
    child = said.text("child_session_id")
    meta = said.members(("child_session_id", "agent_id"), ("child_role", "agent_role"), ("duration_ms", "duration_ms"))
    meta |= said.members(("child_status", "status"))
    text = said.text("child_goal") if begins else said.text("child_summary")
    source_id = f"hook/{child}/{'start' if begins else 'end'}" if child else None
    return _step(session, "subagent_start" if begins else "subagent_end", source_id, meta, text=text)


def _approval(said: Said, session: str) -> Step:
    meta = said.members(("choice", "decision"), ("decided_by", "decided_by"), ("surface", "surface"))
    meta |= said.members(("tool_call_id", "corr"))
    return _step(session, "permission", None, meta, text=said.text("description"), command=said.json.get("command"))


_STEPS = {
    "pre_llm_call": _prompt,
    "pre_tool_call": _tool_call,
    "post_tool_call": _tool_result,
    "subagent_start": _subagent,
    "subagent_stop": _subagent,
    "post_approval_response": _approval,
}


def reply(payload: Payload, decision: Decision) -> Reply:
    """What our plugin makes a directive of: `block`, or `approve`, which has a human asked and blocks if there is none."""
    if payload.asks is None or decision.effect not in (Effect.ASK, Effect.DENY):
        return SILENT
    reason = decision.reason or "refused by policy"
    if decision.effect is Effect.ASK:
        return Reply(stdout=canonical({"ask": reason}))
    return Reply(stdout=canonical({"refuse": reason}))

"""gptme's hooks: a plugin of ours (`tallystick.plugins.gptme`) that runs inside gptme, found by a path in its settings.

Owns the settings, what each payload of the plugin says, and how a call is refused: `tool.confirm` skips it. Tools that
never ask (`read`, `complete`…) cannot be refused. Calls in gptme's native form have the model's ids; others have none,
neither here nor in the log, and are joined by tool, arguments and order. Facts observed with version 0.35.1:
docs/agents/gptme.md.
"""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from tallystick.agents._gptme_calls import arguments
from tallystick.agents.hooks import SILENT, HookCommand, Payload, Reply, SettingsFile
from tallystick.agents.hooks._payload import Said, payload_of
from tallystick.agents.reading import list_of, text_of
from tallystick.errors import FormatError
from tallystick.model.decision import Call, Decision, Effect
from tallystick.model.step import Event, Json, Opening, Ref, Source, Step
from tallystick.seal.canonical import canonical

NAME = "gptme"
EVENTS = ("session.start", "turn.pre", "tool.execute.pre", "tool.confirm", "tool.execute.post", "session.end")
_FOLDER = "plugins/gptme/tallystick_gptme"


def settings(*, project: bool) -> tuple[SettingsFile, ...]:
    """The user's config.toml, or the project's gptme.toml."""
    if project:
        return (SettingsFile(path="gptme.toml"),)
    return (SettingsFile(path=".config/gptme/config.toml", variable="XDG_CONFIG_HOME"),)


def configure(file: SettingsFile, content: bytes, hook: HookCommand) -> bytes:
    """The settings with our plugin's folder among `plugins.paths`. Raises what `_document` raises."""
    document = _document(file, content)
    wanted = _place(hook)
    paths = _paths(document)
    if paths.count(wanted) == 1 and sum(map(_is_ours, paths)) == 1:
        return content
    _set_paths(document, [*(path for path in paths if not _is_ours(path)), wanted])
    return _written(document, content)


def remove(file: SettingsFile, content: bytes) -> bytes:
    """The settings without our folder. Raises what `_document` raises."""
    document = _document(file, content)
    paths = _paths(document)
    rest = [path for path in paths if not _is_ours(path)]
    if len(rest) == len(paths):
        return content
    _set_paths(document, rest)
    return _written(document, content)


def hooked(file: SettingsFile, content: bytes) -> tuple[str, ...]:
    """All events, if our folder is among the paths. Raises what `_document` raises."""
    return EVENTS if any(map(_is_ours, _paths(_document(file, content)))) else ()


def _place(hook: HookCommand) -> str:
    """The plugin's folder: it lies beside hook.py."""
    return f"{hook.hook.rpartition('/')[0]}/{_FOLDER}"


def _is_ours(path: str) -> bool:
    return path.rstrip("/").endswith(_FOLDER)


def _document(file: SettingsFile, content: bytes) -> Any:
    """The settings, comments and order included.

    Raises:
        FormatError: it is no TOML; the message has the line.
    """
    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    try:
        return tomlkit.parse(content.decode("utf-8"))
    except (TOMLKitError, UnicodeDecodeError) as error:
        raise FormatError(f"{file.path}: {error}", hint="mend the file, then install again") from error


def _paths(document: Any) -> list[str]:
    table = document.get("plugins")
    found = table.get("paths") if isinstance(table, dict) else None
    return [str(path) for path in found if isinstance(path, str)] if isinstance(found, list) else []


def _set_paths(document: Any, paths: list[str]) -> None:
    import tomlkit

    table = document.get("plugins")
    if not isinstance(table, dict):
        table = document["plugins"] = tomlkit.table()
    if paths:
        table["paths"] = paths
    else:
        table.pop("paths", None)
        if not table:
            del document["plugins"]


def _written(document: Any, before: bytes) -> bytes:
    import tomlkit

    text = tomlkit.dumps(document).encode()
    return text if text.strip() or before.strip() else b""


# Payloads ------------------------------------------------------------------------------------------------------------


def parse(data: bytes, event: str | None) -> Payload:
    """What our plugin said: `{hook, at, session, transcript, workspace, tool, args, content, kwargs, call_id, format, …}`."""
    said = payload_of(data)
    name, session = said.need("hook"), said.need("session")
    make = _STEPS.get(name)
    where = said.values(("workspace", "personal.cwd"))
    events: list[Event] = [Opening(session=session, agent=NAME, source=Source.HOOK, values=where)]
    if make is not None:
        events.append(make(said, session))
    return Payload(
        event=name,
        session=session,
        events=tuple(events),
        asks=_call(said, session) if name == "tool.execute.pre" else None,
        transcript=said.text("transcript"),
        begins=name == "session.start",
        ends=name == "session.end",
        timed=True,
    )


def _args(said: Said) -> Json:
    """The arguments under the names that the native form gives them, as the reader of logs has them."""
    kwargs = said.json.get("kwargs")
    if isinstance(kwargs, dict) and kwargs:
        return kwargs
    words = " ".join(text for text in map(text_of, list_of(said.json.get("args"))) if text)
    tool = said.text("tool") or ""
    return arguments(tool, words.removeprefix(tool).strip(), said.text("content") or "")


def _call(said: Said, session: str) -> Call:
    return Call(
        agent=NAME,
        session=session,
        tool=said.text("tool") or "?",
        args=_args(said),
        cwd=said.text("workspace"),
        call_id=said.text("call_id"),
    )


def _step(session: str, kind: str, source_id: str | None, meta: dict[str, Json], **content: Json) -> Step:
    values = {f"content.{name}": value for name, value in content.items() if value is not None}
    return Step(session=session, type=kind, source=Source.HOOK, source_id=source_id, meta=meta, values=values)


def _tool_call(said: Said, session: str) -> Step:
    meta = said.members(("tool", "tool"), ("call_id", "corr"))
    return _step(session, "tool_call", said.text("call_id"), meta, args=_args(said))


def _tool_result(said: Said, session: str) -> Step:
    call = said.text("call_id")
    texts = [text for text in map(text_of, list_of(said.json.get("output"))) if text is not None]
    meta = said.members(("tool", "tool"), ("call_id", "corr"))
    if said.json.get("refused") is True:
        meta |= {"success": False, "decision": "deny"}
    output = "\n".join(texts)
    if call is None:
        return _step(session, "tool_result", None, meta, output=output, args=_args(said))
    return replace(_step(session, "tool_result", f"{call}/result", meta, output=output), after=(Ref(call),))


def _hooks_missing(said: Said, session: str) -> Step:
    meta = {"event": "hooks-missing", "hooks": list_of(said.json.get("missing"))}
    return _step(session, "warning", None, meta, text="hooks of the recorder were gone; they are registered again")


_STEPS = {"tool.execute.pre": _tool_call, "tool.execute.post": _tool_result, "hooks.missing": _hooks_missing}


def reply(payload: Payload, decision: Decision) -> Reply:
    """What our plugin answers `tool.confirm` with. Nobody is asked through it, so `ask` is a refusal that says so."""
    if payload.asks is None or decision.effect not in (Effect.ASK, Effect.DENY):
        return SILENT
    reason = decision.reason or "refused by policy"
    if decision.effect is Effect.ASK:
        reason += " (gptme has no way to ask for this call: do it yourself, or allow it by policy)"
    return Reply(stdout=canonical({"refuse": reason}))

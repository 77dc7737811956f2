"""gptme's hooks: a plugin of ours (`tallystick.plugins.gptme`) that runs inside gptme, found by a path in its settings.

Owns the settings, what each payload of the plugin says, and how a call is refused: `tool.confirm` skips it. Tools that
never ask (`read`, `complete`…) cannot be refused. Calls in gptme's native form have the model's ids; others have none,
neither here nor in the log, and are joined by tool, arguments and order. A tool that raises gives no result here.
Facts observed with version 0.35.1: docs/agents/gptme.md.

`plugins.enabled`, where it is not empty, names all plugins that gptme loads: ours must be among them. gptme joins the user's
list and the project's, so that a project which has one while the user has none leaves ours out. The store is named in
`plugin.tallystick`, a table that gptme leaves to plugins.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tallystick.agents.gptme.calls import arguments
from tallystick.agents.gptme.transcript import outcome
from tallystick.agents.hooks import HookCommand, Payload, Reply, SettingsFile, hook_files, hooks_of, plugin
from tallystick.agents.hooks.common_steps import Telling
from tallystick.agents.hooks.payload import Said, payload_of
from tallystick.agents.kit.outcomes import ended
from tallystick.agents.kit.reading import list_of, text_of
from tallystick.errors import FormatError
from tallystick.model.decision import Decision
from tallystick.model.step import Json, Step

NAME = "gptme"
EVENTS = hooks_of(NAME).events
_PLUGIN = "tallystick_gptme"
_FOLDER = f"plugins/gptme/{_PLUGIN}"
_OWN = "tallystick"
"""The name of our table below `plugin`: that of the plugin."""


def settings(*, project: bool) -> tuple[SettingsFile, ...]:
    """The user's config.toml, or the project's gptme.toml."""
    return hook_files(NAME, project=project)


def configure(file: SettingsFile, content: bytes, hook: HookCommand) -> bytes:
    """The settings with our plugin's folder among `plugins.paths`, allowed, and its store. Raises what `_Plugins` raises."""
    plugins = _Plugins(file, content)
    ours, wanted = [path for path in plugins.paths if _is_ours(path)], _place(hook)
    if ours == [wanted] and plugins.is_allowed and plugins.store == hook.home:
        return content
    if wanted not in ours:
        plugins.add("paths", wanted)
    for path in [*(path for path in ours if path != wanted), *[wanted] * (ours.count(wanted) - 1)]:
        plugins.take("paths", path)
    if not plugins.is_allowed:
        plugins.add("enabled", _PLUGIN)
    plugins.name_store(hook.home)
    return plugins.written()


def remove(file: SettingsFile, content: bytes) -> bytes:
    """The settings without our folder and our name. Raises what `_Plugins` raises.

    Our name stays where it is the only one: a list without names would allow all plugins.
    """
    plugins = _Plugins(file, content)
    ours = [path for path in plugins.paths if _is_ours(path)]
    named = _PLUGIN in plugins.enabled and len(plugins.enabled) > 1
    if not ours and not named and plugins.store is None:
        return content
    plugins.name_store(None)
    for path in ours:
        plugins.take("paths", path)
    if named:
        plugins.take("enabled", _PLUGIN)
    return plugins.written()


def hooked(file: SettingsFile, content: bytes) -> tuple[str, ...]:
    """All events, if our folder is among the paths and our plugin is allowed. Raises what `_Plugins` raises."""
    plugins = _Plugins(file, content)
    if plugins.is_allowed and any(map(_is_ours, plugins.paths)):
        return EVENTS
    return ()


def _place(hook: HookCommand) -> str:
    """The plugin's folder: it lies beside hook.py."""
    return f"{hook.hook.rpartition('/')[0]}/{_FOLDER}"


def _is_ours(path: str) -> bool:
    return path.rstrip("/").endswith(_FOLDER)


class _Plugins:
    """The table `[plugins]` of a settings file, and ours below `[plugin]`; comments and order stay.

    Raises: FormatError: the file is not TOML, and then the message has the line; or gptme would not read the table.
    """

    def __init__(self, file: SettingsFile, content: bytes) -> None:
        # Every hook of gptme comes this way, and most need no settings.
        import tomlkit
        from tomlkit.exceptions import TOMLKitError

        self._file, self._before, self._is_shorter = file, content, False
        try:
            self._document: Any = tomlkit.parse(content.decode("utf-8"))
        except (TOMLKitError, UnicodeDecodeError) as error:
            raise FormatError(f"{file.path}: {error}", hint="mend the file, then install again") from error
        table = self._document.get("plugins", {})
        if not isinstance(table, dict):
            raise self._wrong("plugins", "table")
        self.paths, self.enabled = self._names("paths"), self._names("enabled")

    def _names(self, key: str) -> list[str]:
        found = self._document.get("plugins", {}).get(key, [])
        if not isinstance(found, list) or not all(isinstance(item, str) for item in found):
            raise self._wrong(f"plugins.{key}", "list of texts")
        return [str(item) for item in found]

    def _wrong(self, key: str, kind: str) -> FormatError:
        return FormatError(f"{self._file.path}: {key} is no {kind}", hint="mend the file, then install again")

    @property
    def is_allowed(self) -> bool:
        """Whether gptme would load our plugin, as far as this file has a say."""
        return not self.enabled or _PLUGIN in self.enabled

    @property
    def store(self) -> str | None:
        """The store that our table names."""
        found = self._own.get("home")
        if isinstance(found, str):
            return str(found)
        return None

    @property
    def _own(self) -> Any:
        found = self._document
        for key in ("plugin", _OWN):
            found = found.get(key, {})
            if not isinstance(found, dict):
                raise self._wrong("plugin", "table of tables")
        return found

    def name_store(self, home: str | None) -> None:
        """Have our table name a store; None takes that away, and with it what we may have made."""
        import tomlkit

        own = self._own
        if home is None:
            self._drop_store(own)
            return
        if "plugin" not in self._document:
            self._document["plugin"] = tomlkit.table(is_super_table=True)
        if _OWN not in self._document["plugin"]:
            self._document["plugin"][_OWN] = tomlkit.table()
        self._own["home"] = home

    def _drop_store(self, own: Any) -> None:
        if self.store is None:
            return
        del own["home"]
        self._is_shorter = True
        _drop_if_empty(self._document["plugin"], _OWN)
        _drop_if_empty(self._document, "plugin")

    def add(self, key: str, name: str) -> None:
        """Put a name at the end of a list."""
        import tomlkit

        if "plugins" not in self._document:
            self._document["plugins"] = tomlkit.table()
        table = self._document["plugins"]
        if key not in table:
            table[key] = tomlkit.array()
        table[key].append(name)

    def take(self, key: str, name: str) -> None:
        """Take a name out of a list; with the last one of the paths goes what we may have made."""
        self._document["plugins"][key].remove(name)
        if key == "paths":
            _drop_if_empty(self._document["plugins"], key)
            _drop_if_empty(self._document, "plugins")

    def written(self) -> bytes:
        """The file as it is now."""
        import tomlkit

        text = tomlkit.dumps(self._document)
        if self._is_shorter and text.strip():
            text = f"{text.rstrip()}\n"  # of the line before our table
        if text.strip() or self._before.strip():
            return text.encode()
        return b""


def _drop_if_empty(table: Any, key: str) -> None:
    """Delete an item that holds nothing, and no comment either."""
    item = table[key]
    if not item and not item.trivia.comment and "#" not in item.as_string():
        del table[key]


# Payloads ------------------------------------------------------------------------------------------------------------


def parse(data: bytes, event: str | None) -> Payload:
    """What our plugin said: `{hook, at, session, transcript, workspace, tool, args, content, kwargs, call_id, format, …}`."""
    said = payload_of(data)
    name, session, cwd = said.need("hook"), said.need("session"), said.text("workspace")
    telling = Telling(said=said, agent=NAME, session=session, root=session)
    tool, call, asks = said.text("tool"), said.text("call_id"), name == "tool.execute.pre"
    return Payload(
        event=name,
        session=session,
        events=(telling.opening({}, cwd=cwd), *telling.steps(_STEPS, name)),
        asks=telling.asks(tool, _args(said), cwd=cwd, call_id=call) if asks else None,
        transcript=said.text("transcript"),
        begins=name == "session.start",
        ends=name == "session.end",
        timed=True,
    )


def _args(said: Said) -> Json:
    """The arguments under the names that the native form gives them, as the reader of logs has them."""
    kwargs = said.json.get("kwargs")
    if isinstance(kwargs, dict | list | str) and kwargs:
        return kwargs
    if said.text("call_id") is not None and said.json.get("content") is None:
        return {}
    words = " ".join(text for text in map(text_of, list_of(said.json.get("args"))) if text)
    tool = said.text("tool") or ""
    return arguments(tool, words.removeprefix(tool).strip(), said.text("content") or "")


def _tool_call(telling: Telling) -> Step:
    said = telling.said
    return telling.call(said.text("tool"), said.text("call_id"), _args(said))


def _tool_result(telling: Telling) -> Step:
    said, call = telling.said, telling.said.text("call_id")
    refused = said.json.get("refused") is True
    texts = [text for text in map(text_of, list_of(said.json.get("output"))) if text is not None]
    content: dict[str, Json] = {"output": "\n".join(texts) if texts else None}
    if call is None:
        content["args"] = _args(said)
    meta = ended(*outcome(content["output"] or ""))
    if refused:
        meta = {"success": False, "decision": "deny"}
    return telling.result(said.text("tool"), call, meta, **content)


def _hooks_missing(telling: Telling) -> Step:
    meta: dict[str, Json] = {"event": "hooks-missing", "hooks": list_of(telling.said.json.get("missing"))}
    return telling.step("warning", None, meta, text="hooks of the recorder were gone; they are registered again")


_STEPS: dict[str, Callable[[Telling], Step]] = {
    "tool.execute.pre": _tool_call,
    "tool.execute.post": _tool_result,
    "hooks.missing": _hooks_missing,
}


def reply(payload: Payload, decision: Decision) -> Reply:
    """What our plugin answers `tool.confirm` with. No one is asked through it, so `ask` is a refusal that says so."""
    return plugin.reply(NAME, payload, decision)

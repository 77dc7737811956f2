"""Codex's handlers in the [hooks] tables of config.toml.

Owns the text of our tables, which is added at the end and taken out again to the byte; the rest of the file is only read.
Must not know Codex's events.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

import tomlkit
import tomlkit.exceptions

from tallystick.agents.hooks.hook_identity import is_ours
from tallystick.errors import FormatError
from tallystick.model.step import Json

_TABLES = re.compile(
    r"(?:\r?\n|\A)\[\[hooks\.(?P<event>\w+)\]\]\r?\n\[\[hooks\.(?P=event)\.hooks\]\]\r?\n"
    r'type = "command"\r?\ncommand = (?P<command>"(?:[^"\\\r\n]|\\.)*")\r?\ntimeout = \d+(?:\r?\n|\Z)'
)
_STATE = "state"
"""What Codex itself keeps under [hooks]: which handlers the user trusts."""


def configure(content: bytes, events: Iterable[str], command: str, *, timeouts: Mapping[str, int]) -> bytes:
    """The file with our command as a handler of every event, at its end.

    Raises:
        FormatError: it is not TOML, or nothing can be added to its hooks; the message has the line.
    """
    wanted = tuple(events)
    line_end = "\n"
    if b"\r\n" in content:
        line_end = "\r\n"
    ours = "".join(_table(event, command, timeouts[event]) for event in wanted).replace("\n", line_end)
    text = _text(content)
    if ours in text and len(list(_TABLES.finditer(text))) == len(wanted):
        return content
    changed = remove(content).decode() + ours
    _parsed(changed)
    return changed.encode()


def remove(content: bytes) -> bytes:
    """The file without our tables. Raises FormatError: it is not TOML."""
    text = _text(content)
    _parsed(text)
    return _TABLES.sub(lambda found: "" if _is_ours(found) else found.group(), text).encode()


def hooked(content: bytes) -> tuple[str, ...]:
    """The events with a handler of ours. Raises FormatError: it is not TOML."""
    return tuple(event for event, groups in _events(content).items() if any(map(_calls_us, groups)))


def has_hooks(content: bytes) -> bool:
    """Whether there are handlers of any event. Raises FormatError: it is not TOML."""
    return bool(_events(content))


def _table(event: str, command: str, timeout: int) -> str:
    handler = f'type = "command"\ncommand = {tomlkit.string(command).as_string()}\ntimeout = {timeout}\n'
    return f"\n[[hooks.{event}]]\n[[hooks.{event}.hooks]]\n{handler}"


def _is_ours(found: re.Match[str]) -> bool:
    return is_ours(str(tomlkit.value(found["command"]).unwrap()))


def _calls_us(group: Json) -> bool:
    handlers = None
    if isinstance(group, dict):
        handlers = group.get("hooks")
    commands = [handler.get("command") for handler in handlers or () if isinstance(handler, dict)]
    return any(isinstance(command, str) and is_ours(command) for command in commands)


def _events(content: bytes) -> dict[str, Json]:
    hooks = _parsed(_text(content)).get("hooks")
    if isinstance(hooks, dict):
        groups = hooks
    else:
        groups = {}
    return {event: items for event, items in groups.items() if event != _STATE and isinstance(items, list) and items}


def _text(content: bytes) -> str:
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise FormatError(f"line {line}: not UTF-8", hint="mend the file, then try again") from error


def _parsed(text: str) -> dict[str, Json]:
    try:
        return tomlkit.parse(text).unwrap()
    except tomlkit.exceptions.ParseError as error:
        raise FormatError(
            f"line {error.line}, column {error.col}: no TOML", hint="mend the file, then try again"
        ) from error
    except tomlkit.exceptions.TOMLKitError as error:
        raise FormatError(f"no TOML that can be added to: {error}", hint="mend the file, then try again") from error

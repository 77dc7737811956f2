"""What a program may write into a session log: names of members, words of closed sets, times, and a success of three states.

Owns the refusal of what is none of them, with the right one in the message. Readers take what a file has, whatever it is:
they make values with `as_read`. Source: specs/headless_agent.md 1.1, 1.2 and 2.2.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from typing import Any, TypeVar

import msgspec

from tallystick.model.did_you_mean import nearest
from tallystick.sessions.session_words import EventType, RecordType, Status

_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)", re.ASCII)
_MOST_SHOWN = 60
_Value = TypeVar("_Value", bound=msgspec.Struct)


class Spelled(msgspec.StructMeta):
    """The class of a struct whose constructor refuses what is misspelt. Copies and `as_read` are not looked at."""

    def __call__(self, *values: Any, **members: Any) -> Any:
        """A new value. Raises TypeError: there is no such member. ValueError: a member cannot have such a value."""
        for name in members.keys() - set(self.__struct_fields__):
            raise _no_member(self.__name__, name, self.__struct_fields__)
        return super().__call__(*values, **written(members))


def as_read(struct: type[_Value], members: Mapping[str, Any]) -> _Value:
    """A value with these members as a file has them, with words and times that may be unknown."""
    made: _Value = msgspec.StructMeta.__call__(struct, **members)
    return made


def written(members: Mapping[str, Any]) -> dict[str, Any]:
    """Members that a program gave, those with a rule of their own checked. Raises ValueError: one cannot be written so."""
    return {name: _RULES[name](value) if name in _RULES else value for name, value in members.items()}


def refuse_misspelt_members(
    struct: type[msgspec.Struct], members: Mapping[str, Any], others: Iterable[str] = ()
) -> None:
    """Refuse members, and a type, that are nearly one that is known; others are of a later version of the agent.

    Args:
        members: in JSON's names. others: further names that are known.

    Raises:
        TypeError: a member is nearly a known one. ValueError: the type is; or a time or a success is not one.
    """
    names = {*(field.encode_name for field in msgspec.structs.fields(struct)), *others}
    for name in members.keys() - names:
        if name.lower() not in names and nearest(name, names):
            raise _no_member(struct.__name__, name, names)
    if isinstance(kind := members.get("type"), str) and nearest(kind, map(str, EventType)):
        event_type(kind)
    success(members.get("success"))
    event_time(members.get("timestamp"))


def _no_member(struct: str, name: str, known: Iterable[str]) -> TypeError:
    return TypeError(f"{struct} has no member {name[:_MOST_SHOWN]!r}{nearest(name, known)}")


def event_type(value: Any) -> Any:
    """A type of event. Raises ValueError: there is no such type."""
    return _word(value, EventType, "type of event")


def status(value: Any) -> Any:
    """The status of a session. Raises ValueError: there is no such status."""
    return _word(value, Status, "status of a session")


def _record_type(value: Any) -> Any:
    return _word(value, RecordType, "type of record")


def _word(value: Any, known: type[EventType] | type[Status] | type[RecordType], what: str) -> Any:
    """One of a closed set. Empty says nothing."""
    if not value or value in list(known):
        return value
    words = [word.value for word in known]
    near = nearest(str(value), words) or f": it is one of {', '.join(words)}"
    raise ValueError(f"{str(value)[:_MOST_SHOWN]!r} is not a {what}{near}")


def success(value: Any) -> Any:
    """Whether a call succeeded. Raises ValueError: it is not True, False or None."""
    if value is None or isinstance(value, bool):
        return value
    raise ValueError(f"success is True, False or None (in progress), not {str(value)[:_MOST_SHOWN]!r}")


def event_time(value: Any) -> Any:
    """A time of an event: a datetime, or a text of RFC 3339. Raises ValueError: it is neither, or there is no such day."""
    if not value or isinstance(value, datetime):
        return value
    try:
        datetime.fromisoformat(value)
    except (TypeError, ValueError) as error:
        shown = str(value)[:_MOST_SHOWN]
        raise ValueError(f"{shown!r} is not a time: RFC 3339, such as 2026-03-25T09:00:00Z ({error})") from None
    return value


def is_written_time(text: str) -> bool:
    """Whether a time is spelled as the agent's readers take it."""
    return _TIME.fullmatch(text) is not None


def error_text(value: Any) -> Any:
    """An exception by its class and what it says; anything else as it is."""
    if isinstance(value, BaseException):
        return f"{type(value).__name__}: {value}"
    return value


_RULES: Mapping[str, Callable[[Any], Any]] = {
    "type": event_type,
    "status": status,
    "record_type": _record_type,
    "success": success,
    "timestamp": event_time,
    "error": error_text,
}

"""JSON texts as people and programs write them, drawn at random."""

from __future__ import annotations

import json

from hypothesis import strategies as st

from tallystick.agents.kit.json_text import Dialect

_SPACES = ("", "", " ", "\n", "\n  ", "\t", "\r\n    ", " \n\n ")
_COMMENTS = (" // theirs\n", "/* theirs */", "  /* two\n   lines */ ", "\n// , } ]\n\t", '//"hooks": {  \n')
_SCALARS = ("1", "-0", "1e3", "0.10", "12345678901234567890", '"a"', '"\\u00e9\\/"', '"é, }"', '""', "true", "null")


@st.composite
def gaps(draw: st.DrawFn, dialect: Dialect) -> str:
    """White space, and comments where there may be some."""
    space = draw(st.sampled_from(_SPACES))
    return space + draw(st.sampled_from(("", "", *_COMMENTS))) if dialect.comments else space


@st.composite
def values(draw: st.DrawFn, dialect: Dialect, depth: int = 2) -> str:
    """The text of any value."""
    kind = draw(st.integers(0, 2)) if depth else 0
    if kind == 0:
        return draw(st.sampled_from(_SCALARS))
    if kind == 1:
        return draw(containers(dialect, (), depth))
    return draw(containers(dialect, ("a", "b", "hooks", "Stop", "é"), depth))


@st.composite
def containers(draw: st.DrawFn, dialect: Dialect, keys: tuple[str, ...], depth: int) -> str:
    """The text of an object with such keys, which may be doubled; without keys a list's."""
    entries = [
        _entry(
            draw(gaps(dialect)),
            draw(st.sampled_from(keys)) if keys else None,
            draw(gaps(dialect)),
            draw(values(dialect, depth - 1)),
            draw(gaps(dialect)),
        )
        for _ in range(draw(st.integers(0, 3)))
    ]
    inner = ",".join(entries) if entries else draw(gaps(dialect))
    if entries and dialect.trailing_commas and draw(st.booleans()):
        inner += "," + draw(gaps(dialect))
    return "{" + inner + "}" if keys else "[" + inner + "]"


def _entry(before: str, key: str | None, between: str, value: str, after: str) -> str:
    name = "" if key is None else f"{json.dumps(key)}{between}: "
    return before + name + value + after


@st.composite
def settings_files(draw: st.DrawFn, dialect: Dialect, events: tuple[str, ...]) -> bytes:
    """A settings file, with hooks of the user's own or without."""
    group = containers(dialect, ("matcher", "timeout", "x"), 1)
    lists: list[str] = []
    for event in draw(st.lists(st.sampled_from((*events, "Other")), unique=True, max_size=3)):
        items = [draw(gaps(dialect)) + draw(group) + draw(gaps(dialect)) for _ in range(draw(st.integers(0, 2)))]
        inner = ",".join(items) if items else draw(gaps(dialect))
        lists.append(_entry(draw(gaps(dialect)), event, draw(gaps(dialect)), f"[{inner}]", draw(gaps(dialect))))
    inner = ",".join(lists) if lists else draw(gaps(dialect))
    members = [draw(gaps(dialect)) + '"model"' + draw(gaps(dialect)) + ':"x"'] if draw(st.booleans()) else []
    if draw(st.booleans()):
        members.append(
            _entry(draw(gaps(dialect)), "hooks", draw(gaps(dialect)), "{" + inner + "}", draw(gaps(dialect)))
        )
    if draw(st.booleans()):
        members.insert(0, _entry(draw(gaps(dialect)), "env", "", draw(values(dialect)), draw(gaps(dialect))))
    body = ",".join(members) if members else draw(gaps(dialect))
    if members and dialect.trailing_commas and draw(st.booleans()):
        body += "," + draw(gaps(dialect))
    bom = draw(st.sampled_from(("", "", "\ufeff")))
    return (bom + draw(gaps(dialect)) + "{" + body + "}" + draw(gaps(dialect))).encode()

"""What was asked, in the words of who asked it: the text of a request without what the agent's program put around it.

Owns taking that away, and the title that a session has from it. Must not know which step holds the text.
"""

from __future__ import annotations

import re

from tallystick.catalog.loading import Entry, load

_TITLE_CHARACTERS = 200
_LOOKED_AT = 20_000
_MOST_TAGS = 20


class _Facts(Entry, frozen=True):
    """Facts of catalog/asked.toml."""

    leads: tuple[str, ...]
    command_name: str
    command_arguments: str
    erased: str


_FACTS: _Facts = load("asked", _Facts)

ERASED = _FACTS.erased
"""The title of a session whose first prompt was erased."""

_TAGGED = re.compile(r"\s*<([a-z]{1,40}(?:[-_][a-z]{1,40}){1,4})(?:\s[^<>]{0,2000})?>")
"""A tag with a hyphen or an underscore in its name: no element of HTML, so not what a person writes about."""


def asked_in(text: str) -> str:
    """The words of a request: `/name arguments` of a slash command, a plan without its lead, a prompt without tags."""
    command = _inner(text[:_LOOKED_AT], _FACTS.command_name)
    if command is not None and text.lstrip().startswith("<"):
        arguments = _inner(text, _FACTS.command_arguments) or ""
        return f"{command.strip()} {arguments.strip()}".strip()
    for lead in _FACTS.leads:
        if text.lstrip().startswith(lead):
            return text.lstrip()[len(lead) :].strip() or text
    return _without_tags(text)


def title_of(text: str) -> str:
    """One line that says what was asked."""
    lines = (line.strip().lstrip("#").strip() for line in asked_in(text).splitlines())
    return next((line for line in lines if line), "")[:_TITLE_CHARACTERS]


def _without_tags(text: str) -> str:
    """The text after the tagged blocks that it begins with; if nothing follows, what the first block holds."""
    rest, held = text, ""
    for _ in range(_MOST_TAGS):
        tag = _TAGGED.match(rest)
        if tag is None:
            break
        inner, end, after = rest[tag.end() :].partition(f"</{tag[1]}>")
        if not end:
            break
        held, rest = held or inner.strip(), after
    return rest.strip() or held or text


def _inner(text: str, tag: str) -> str | None:
    _, begin, rest = text.partition(f"<{tag}>")
    inner, end, _ = rest.partition(f"</{tag}>")
    return inner if begin and end else None

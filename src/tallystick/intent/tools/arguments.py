"""The arguments of a call, whatever an agent names them.

Owns one spelling for the names of members (`file_path`, `filePath` and `FilePath` are `filepath`) and finding texts and lists
by it. Must not know what a tool does with them.
"""

import json
from collections.abc import Iterator, Mapping
from functools import lru_cache

from tallystick.catalog.loading import Entry, load
from tallystick.model.step import Json

_MOST_MEMBERS = 2000
_MOST_NESTED = 12
_LONGEST_NAME = 128

Members = Mapping[str, Json]
"""Members by their plain names."""


class _Names(Entry, frozen=True):
    """Facts of catalog/tool_arguments.toml, which says what each list is of."""

    paths: tuple[str, ...]
    contents: tuple[str, ...]
    patches: tuple[str, ...]
    folders: tuple[str, ...]
    working_folders: tuple[str, ...]
    picks: tuple[str, ...]
    sources: tuple[str, ...]
    targets: tuple[str, ...]
    code: tuple[str, ...]
    changing: tuple[str, ...]
    many: tuple[str, ...]
    commands: tuple[str, ...]
    agents: tuple[str, ...]
    skills: tuple[str, ...]
    shells: tuple[str, ...]


NAMES = load("tool_arguments", _Names)


@lru_cache(maxsize=2048)
def plain_name(name: str) -> str:
    """A name as tables have it: lower case, letters and digits only, at most 128 of them."""
    return "".join(letter for letter in name[:_LONGEST_NAME].lower() if letter.isalnum())


def has_blank(text: str) -> bool:
    """Whether a text has a space or the end of a line, as prose has and names hardly. All else may be in a path."""
    return not _BLANKS.isdisjoint(text)


_BLANKS = frozenset(" \t\n")


def decoded(args: Json) -> Json:
    """Arguments that are the text of a JSON object, as that object."""
    if isinstance(args, str) and args.lstrip()[:1] == "{":
        try:
            found = json.loads(args, strict=False)
        except (ValueError, RecursionError):
            return args
        if isinstance(found, dict):
            return found
        return args
    return args


def members_of(value: Json) -> dict[str, Json]:
    """The members of an object by their plain names; the first of two that are alike."""
    found: dict[str, Json] = {}
    if isinstance(value, dict):
        for name, item in value.items():
            found.setdefault(plain_name(name) if isinstance(name, str) else "", item)
            if len(found) > _MOST_MEMBERS:
                break
    return found


def text_among(members: Members, *names: str) -> str | None:
    """The first of these members that is a text and not empty."""
    for name in names:
        found = members.get(name)
        if isinstance(found, str) and found:
            return found
    return None


def any_text(members: Members, *names: str) -> str | None:
    """The first of these members that is a text, even an empty one."""
    return next((found for name in names if isinstance(found := members.get(name), str)), None)


def texts_among(members: Members, *names: str) -> list[str]:
    """All texts in these members: themselves, items of lists, also where a list is given as JSON text."""
    found: list[str] = []
    for name in names:
        value = members.get(name)
        items = value
        if isinstance(value, str):
            items = _listed(value)
        if isinstance(items, list):
            found += [item for item in items if isinstance(item, str) and item]
    return found


def objects_among(members: Members, *names: str) -> list[dict[str, Json]]:
    """All objects in lists of these names, with plain names."""
    found: list[dict[str, Json]] = []
    for name in names:
        value = members.get(name)
        items = value
        if isinstance(value, str):
            items = _listed(value)
        if isinstance(items, list):
            found += [members_of(item) for item in items if isinstance(item, dict)]
    return found


def _listed(text: str) -> list[Json]:
    """A list that is given as JSON text; a text that is none is its only item."""
    if text.lstrip()[:1] == "[":
        try:
            found = json.loads(text, strict=False)
        except (ValueError, RecursionError):
            return [text]
        if isinstance(found, list):
            return found
    return [text]


def paths_among(members: Members) -> list[str]:
    """The paths that a file tool is given, in the order of the lists above: first the one, then the many."""
    one = text_among(members, *NAMES.paths)
    if one is not None:
        found = [one]
    else:
        found = []
    found += texts_among(members, *NAMES.many)
    for item in objects_among(members, *NAMES.many):
        path = text_among(item, *NAMES.paths)
        if path is not None:
            found += [path]
    return found or texts_among(members, "args")


def strings(value: Json, name: str = "", depth: int = 0) -> Iterator[tuple[str, str]]:
    """Every text in a JSON value with the plain name of the member that it is, or is an item, of; bounded."""
    if isinstance(value, str):
        yield name, value
    elif isinstance(value, dict) and depth < _MOST_NESTED:
        for key, item in list(value.items())[:_MOST_MEMBERS]:
            yield from strings(item, plain_name(key) if isinstance(key, str) else "", depth + 1)
    elif isinstance(value, list) and depth < _MOST_NESTED:
        for item in value[:_MOST_MEMBERS]:
            yield from strings(item, name, depth + 1)

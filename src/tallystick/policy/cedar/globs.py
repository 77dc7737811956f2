"""Which globs of policies a path falls under: the members `meets` and `within` of a file.

Cedar's `like` has one wildcard, which crosses folders, and no folder that a text is relative to. So a policy names a glob,
`resource.meets.contains("infra/prod/**")`, and here it is compared with what an act works on, which may be a pattern itself
or all that lies below a folder. Owns the notation. Must not know which policies name a glob, nor open a file.

The notation is that of .gitignore: `*`, `?` and `[a-z]` stay in one folder, `**` crosses folders, a glob without a slash is
a name anywhere in the project, any other is relative to the top of the project; `/…` and `~/…` are what they are. Where the
last part is a plain name, all below it is meant as well.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import TypeAlias

import msgspec

from tallystick.model.pattern import pattern_of

_Name: TypeAlias = tuple[str | frozenset[str], ...]
"""Characters, sets of them, `?any` and `*some`."""
_Form: TypeAlias = tuple[_Name, ...]
_ANY, _SOME = "?any", "*some"
_DEEP: _Name = ("**",)
_SIGNS = pattern_of(r"\\(.)|\[([^\]]+)\]|(.)")
_RANGES = pattern_of(r"(.)-(.)|(.)")
_MOST_RANGE = 256


class Anchors(msgspec.Struct, frozen=True, kw_only=True):
    """What globs are relative to."""

    home: str = ""
    projects: tuple[str, ...] = ()
    """The top of the project that is worked in: as it is spelled, and without links."""


class Reach(msgspec.Struct, frozen=True, kw_only=True):
    """What an act works on."""

    paths: tuple[str, ...]
    """As the call spells it, and without links."""
    is_pattern: bool = False
    is_deep: bool = False
    """With everything below it."""


def fault_of(glob: str) -> str | None:
    """Why a glob can never name a file; None: it can."""
    parts = glob.removeprefix("~").strip("/").split("/")
    if parts == [""]:
        return "it names no file"
    if glob.startswith("~") and not glob.startswith("~/"):
        return "only ~/ is known: write the folder of another user in full"
    if not {".", "..", ""}.isdisjoint(parts):
        return "it has a part that is empty, . or .., and paths are compared without these"
    return None


def is_anywhere(glob: str) -> bool:
    """Whether what a glob names may lie in folders that it does not name: `*.pem`, `src/**/keys/*`."""
    parts = glob.rstrip("/").split("/")
    return "**" in parts[:-1] or (len(parts) == 1 and parts != ["**"])


def meets(glob: str, reach: Reach, anchors: Anchors) -> bool:
    """Whether an act may do something to what a glob names: to a part of it, to a folder that holds it, through a link."""
    forms = _forms(glob, anchors)
    spelled = [_pattern(path) if reach.is_pattern else _literal(path) for path in reach.paths]
    is_met = [_covers, _leads_to] if reach.is_deep else [_covers]
    return any(told(form, path) for told in is_met for form in forms for path in spelled)


def within(glob: str, reach: Reach, anchors: Anchors) -> bool:
    """Whether a glob names all that an act works on."""
    if reach.is_pattern:
        return False
    forms = [form for form in _forms(glob, anchors) if form[-1] == _DEEP or not reach.is_deep]
    return all(any(_covers(form, _literal(path)) for form in forms) for path in reach.paths)


@lru_cache(maxsize=512)
def _forms(glob: str, anchors: Anchors) -> tuple[_Form, ...]:
    """A glob from the root on; what lies below a plain name is another."""
    text = glob.rstrip("/")
    if text.startswith("~/"):
        whole = [(*_literal(anchors.home), *_pattern(text[1:]))] if anchors.home else []
    elif text.startswith("/"):
        whole = [_pattern(text)]
    else:
        anywhere = () if "/" in text else (_DEEP,)
        whole = [(*_literal(top), *anywhere, *_pattern(text)) for top in anchors.projects]
    below = [(*form, _DEEP) for form in whole if _is_plain(form[-1]) or glob.endswith("/")]
    return (*whole, *below)


def _is_plain(name: _Name) -> bool:
    return name != _DEEP and all(isinstance(sign, str) and len(sign) == 1 for sign in name)


@lru_cache(maxsize=4096)
def _literal(path: str) -> _Form:
    return tuple(tuple(name) for name in path.split("/") if name)


@lru_cache(maxsize=1024)
def _pattern(text: str) -> _Form:
    return tuple(_DEEP if name == "**" else tuple(_signs(name)) for name in text.split("/") if name)


def _signs(name: str) -> Iterator[str | frozenset[str]]:
    wild = {"*": _SOME, "?": _ANY}
    for escaped, inside, sign in _SIGNS.findall(name):
        if inside:
            yield _set(inside)
        else:
            yield escaped or wild.get(sign, sign)


def _set(inside: str) -> str | frozenset[str]:
    """The characters of a bracket expression; of one that says what it leaves out, any."""
    if inside[0] in "!^":
        return _ANY
    found: set[str] = set()
    for low, high, one in _RANGES.findall(inside):
        first, last = ord(low or one), ord(high or one)
        found |= {chr(code) for code in range(first, min(last, first + _MOST_RANGE) + 1)}
    return frozenset(found)


# Comparing -----------------------------------------------------------------------------------------------------------


@lru_cache(maxsize=8192)
def _covers(form: _Form, path: _Form) -> bool:
    """Whether one path may have both forms."""
    return len(form) in _reached(form, path)


@lru_cache(maxsize=8192)
def _leads_to(form: _Form, path: _Form) -> bool:
    """Whether a folder is one that a glob names on the way to what it means: `infra` of `infra/prod/**`."""
    return len(path) < len(form) and _DEEP not in form[: len(path)] and len(path) in _reached(form, path)


def _reached(form: _Form, path: _Form) -> set[int]:
    """How many parts of a glob a path may have gone through."""
    at = _crossed({0}, form)
    for name in path:
        if name == _DEEP:
            at = set(range(min(at, default=len(form)), len(form) + 1))
            continue
        stays = {n for n in at if n < len(form) and form[n] == _DEEP}
        passes = {n + 1 for n in at - stays if n < len(form) and _names_meet(form[n], name)}
        at = _crossed(stays | passes, form)
    return at


def _crossed(at: set[int], form: _Form) -> set[int]:
    """The same, where `**` may stand for no folder at all."""
    found = set(at)
    for n in sorted(at):
        while n < len(form) and form[n] == _DEEP:
            n += 1
            found.add(n)
    return found


@lru_cache(maxsize=8192)
def _names_meet(one: _Name, other: _Name) -> bool:
    """Whether one name may have both forms."""
    if not one or not other:
        return all(sign == _SOME for sign in (*one, *other))
    if one[0] == _SOME:
        return _names_meet(one[1:], other) or _names_meet(one, other[1:])
    if other[0] == _SOME:
        return _names_meet(other, one)
    return _sign_meets(one[0], other[0]) and _names_meet(one[1:], other[1:])


def _sign_meets(one: str | frozenset[str], other: str | frozenset[str]) -> bool:
    if _ANY in (one, other):
        return True
    return not _choices(one).isdisjoint(_choices(other))


def _choices(sign: str | frozenset[str]) -> frozenset[str]:
    return sign if isinstance(sign, frozenset) else frozenset((sign,))

"""Policies that fit the schema and still never speak: each is a rule that its author believes in.

Owns which tests of an attribute are never true, by the form and the words that the attribute has, and which tests cannot be
true together. Reads the engine's JSON of a policy. Must not know what the words mean, nor refuse anything itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

import orjson

from tallystick.policy.cedar.globs import fault_of

Words: TypeAlias = Mapping[str, frozenset[str]]
"""The words that an attribute may have."""
_Node: TypeAlias = Any


class _Test(NamedTuple):
    """A part of a condition, and whether it has to be true for the policy to speak."""

    node: _Node
    wanted: bool


def reasons(tree: Mapping[str, _Node], words: Words) -> Iterator[str]:
    """Why a policy never does what it says, as the engine's JSON has it; nothing if it may."""
    tests = [_Test(one["body"], one["kind"] == "when") for one in tree["conditions"]]
    found = dict.fromkeys(_scope(tree["resource"]))
    for test in tests:
        found |= dict.fromkeys(_never_true(test.node, words))
    yield from found
    head = tree["resource"]
    if head["op"] == "is":
        tests.append(_Test({"is": {"left": {"Var": "resource"}, "entity_type": head["entity_type"]}}, wanted=True))
    if not found and not _is_possible(tests, ()):
        yield "its conditions contradict each other"


def _scope(resource: Mapping[str, _Node]) -> Iterator[str]:
    entity = resource.get("entity", {})
    form = {"File": "path", "Host": "host", "Program": "name of a program"}.get(entity.get("type", ""))
    if form is not None and resource["op"] == "==":
        yield from _misshaped(form, entity["id"], entity["id"])


def globs_in(node: object) -> Iterator[str]:
    """The globs that a policy names."""
    for member, text in _contained(node):
        if member in _GLOBS:
            yield text


_GLOBS = ("meets", "within")


def words_in(node: object) -> Iterator[tuple[str, str]]:
    """The words that a policy asks for, each with the attribute that may have it."""
    yield from _contained(node)
    yield from ((member, whole) for member, _, whole in _compared(node))


# Tests that are never true -------------------------------------------------------------------------------------------


def _never_true(node: object, words: Words) -> Iterator[str]:
    for member, text in _contained(node):
        if member in _GLOBS:
            fault = fault_of(text)
            if fault is not None:
                yield f'{member} never has "{text}": {fault}'
        elif text not in words.get(member, (text,)):
            yield f'{member} never has "{text}": `tally policy words` lists the words'
    for member, begin, whole in _compared(node):
        yield from _misshaped(member, begin, whole)
        if begin == whole and whole not in words.get(member, (whole,)):
            yield f'{member} is never "{whole}": it is one of {", ".join(sorted(words[member]))}'


def _misshaped(member: str, begin: str, whole: str) -> Iterator[str]:
    """Why an attribute never has a text that begins so, by the form that it has."""
    form = _FORMS.get(member)
    if form is not None and begin and not form.fits(begin):
        yield f'{member} is never like "{whole}": {form.why.replace("{}", whole)}'


class _Form(NamedTuple):
    fits: Callable[[str], bool]
    why: str


_FORMS = {
    "path": _Form(
        lambda text: text[0] == "/",
        'a path is absolute. For paths of the project use a glob: resource.meets.contains("{}")',
    ),
    "name": _Form(lambda text: "/" not in text, "a name is the last part of a path"),
    "name of a program": _Form(lambda text: "/" not in text, "a program is named without its folder"),
    "host": _Form(
        lambda text: text == text.lower() and "/" not in text,
        "a host is a name or an address in small letters, without scheme, path and port",
    ),
}


def _compared(node: object) -> Iterator[tuple[str, str, str]]:
    """Each attribute that is compared with a text: which, how the text begins, and all of it."""
    for part in _parts(node):
        match part:
            case {"like": {"left": {".": {"attr": str(member)}}, "pattern": list(pattern)}}:
                yield member, _beginning(pattern), _text(pattern)
            case {"==": {"left": {".": {"attr": str(member)}}, "right": {"Value": str(text)}}}:
                yield member, text, text
            case {"==": {"left": {"Value": str(text)}, "right": {".": {"attr": str(member)}}}}:
                yield member, text, text
            case {"contains": {"left": {"Set": list(values)}, "right": {".": {"attr": str(member)}}}}:
                yield from ((member, text, text) for text in _texts(values))
            case _:
                pass


def _contained(node: object) -> Iterator[tuple[str, str]]:
    """Each set of words that is asked for a word: which, and the word."""
    for part in _parts(node):
        match part:
            case {"contains": {"left": {".": {"attr": str(member)}}, "right": {"Value": str(text)}}}:
                yield member, text
            case {"containsAny": {"left": {".": {"attr": str(member)}}, "right": {"Set": list(values)}}} | {
                "containsAll": {"left": {".": {"attr": str(member)}}, "right": {"Set": list(values)}}
            }:
                yield from ((member, text) for text in _texts(values))
            case _:
                pass


def _parts(node: object) -> Iterator[object]:
    yield node
    inner: Sequence[object] = ()
    if isinstance(node, dict):
        inner = list(node.values())
    elif isinstance(node, list):
        inner = node
    for part in inner:
        yield from _parts(part)


def _texts(values: Sequence[object]) -> Iterator[str]:
    for value in values:
        match value:
            case {"Value": str(text)}:
                yield text
            case _:
                pass


def _beginning(pattern: Sequence[object]) -> str:
    """What a pattern begins with before its first wildcard."""
    found = ""
    for sign in pattern:
        if not isinstance(sign, dict):
            break
        found += sign["Literal"]
    return found


def _text(pattern: Sequence[object]) -> str:
    return "".join(sign["Literal"] if isinstance(sign, dict) else "*" for sign in pattern)


# Tests that are not true together ------------------------------------------------------------------------------------


def _is_possible(left: Sequence[_Test], known: tuple[_Test, ...]) -> bool:
    """Whether all tests can have what is wanted of them, as far as their text tells."""
    if not left:
        return _agree(known)
    (node, wanted), *rest = left
    match node:
        case {"!": {"arg": inner}}:
            return _is_possible([_Test(inner, not wanted), *rest], known)
        case {"&&": {"left": one, "right": other}} | {"||": {"left": one, "right": other}}:
            if ("&&" in node) is wanted:
                return _is_possible([_Test(one, wanted), _Test(other, wanted), *rest], known)
            return any(_is_possible([_Test(part, wanted), *rest], known) for part in (one, other))
        case _:
            return _is_possible(rest, (*known, _Test(node, wanted)))


def _agree(known: tuple[_Test, ...]) -> bool:
    required: dict[bytes, bool] = {}
    values: dict[bytes, bytes] = {}
    for node, wanted in known:
        if node == {"Value": not wanted}:
            return False
        if required.setdefault(orjson.dumps(node), wanted) is not wanted:
            return False
        about, value = _pinned(node) if wanted else (b"", b"")
        if about and values.setdefault(about, value) != value:
            return False
    return True


def _pinned(node: _Node) -> tuple[bytes, bytes]:
    """What a test says that something is; of one thing, no two such tests are true."""
    match node:
        case {"==": {"left": left, "right": {"Value": value}}} | {"==": {"left": {"Value": value}, "right": left}}:
            return orjson.dumps(left), orjson.dumps(value)
        case {"is": {"left": left, "entity_type": str(kind)}}:
            return b"is " + orjson.dumps(left), kind.encode()
        case _:
            return b"", b""

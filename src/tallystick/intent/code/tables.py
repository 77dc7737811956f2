"""Tables of functions that do one thing to an argument, for languages that are read by their calls.

Owns how such a table is written and what a line of it means. Must not know any language.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from tallystick.catalog.loading import Entry
from tallystick.intent.code.scanning import Argument, Call, Scan, words_of
from tallystick.model.intent import Operation
from tallystick.model.script import HOLE

_NETWORK = (Operation.FETCH, Operation.SEND, Operation.CONNECT, Operation.LISTEN)


class Functions(Entry, frozen=True):
    """What the catalogue has of such a language (`code/lua.toml`)."""

    calls: Mapping[str, tuple[str, ...]]
    """As `table` reads them."""
    inert: frozenset[str] = frozenset()
    """Modules that do nothing when they are loaded."""


class Rule(msgspec.Struct, frozen=True):
    """What a function does: an operation, or one of `copy link move shell program`; to which argument, or to all."""

    does: str
    place: int | None = 0
    """None: to every argument."""
    is_deep: bool = False


def table(calls: Mapping[str, tuple[str, ...]]) -> dict[str, Rule]:
    """Rules by the names of functions.

    A key is `DOES PLACE`: an operation of `model.intent` or a word of Rule (`/` after it: with all below), and the place of
    the argument or `*`. It lists the functions.
    """
    found: dict[str, Rule] = {}
    for what, names in calls.items():
        does, place = what.split()
        rule = Rule(does.rstrip("/"), None if place == "*" else int(place), does.endswith("/"))
        found |= dict.fromkeys(names, rule)
    return found


def apply(scan: Scan, call: Call, rule: Rule) -> None:
    """Take note of what a function does to the arguments of a call."""
    if rule.does in _SPECIAL:
        _SPECIAL[rule.does](scan, call, rule)
        return
    operation = Operation(rule.does)
    for argument in call.args if rule.place is None else (call.at(rule.place),):
        for text in argument.items if argument.items is not None else (argument.text,):
            if operation in _NETWORK:
                scan.found.network(operation, text)
            elif operation is Operation.SIGNAL:
                scan.found.process(operation, text)
            else:
                scan.found.file(operation, scan.placed(text), is_deep=rule.is_deep)


def writes(scan: Scan, path: Argument, content: Argument | None) -> None:
    """Take note of a file that is written whole with a text."""
    known = None
    if content is not None and content.text is not None and HOLE not in content.text:
        known = content.text
    scan.found.writes(scan.placed(path.text), known)


def operation_of(mode: str | None) -> Operation:
    """What a mode like that of C's `fopen` means for the file: `r w a x`, with a `+`."""
    if mode is None or HOLE in mode:
        return Operation.UNKNOWN
    first = mode.lstrip("b")[:1]
    if first in ("w", "x", "c"):
        return Operation.WRITE
    if first == "a":
        return Operation.APPEND
    if "+" in mode:
        return Operation.EDIT
    return Operation.READ


def shell(scan: Scan, call: Call) -> None:
    """A shell text, or, where there is more than one argument, a program and its words."""
    args = [argument for argument in call.args if not (argument.tokens and argument.tokens[0].text == "{")]
    if len(args) == 1 and args[0].items is None:
        scan.found.runs("sh", args[0].text)
    else:
        first = None
        if args:
            first = args[0]
        if first is not None:
            scan.found.runs_program(words_of(None, args)[1:])
        else:
            scan.found.runs_program(())


def _copy(scan: Scan, call: Call, rule: Rule) -> None:
    start = rule.place or 0
    scan.found.copies(scan.placed(call.text(start)), scan.placed(call.text(start + 1)), is_deep=rule.is_deep)


def _link(scan: Scan, call: Call, rule: Rule) -> None:
    scan.found.links(call.text(0), scan.placed(call.text(1)))


def _move(scan: Scan, call: Call, rule: Rule) -> None:
    scan.found.moves(scan.placed(call.text(0)), scan.placed(call.text(1)))


def _shell(scan: Scan, call: Call, rule: Rule) -> None:
    shell(scan, call)


def _folder(scan: Scan, call: Call, rule: Rule) -> None:
    scan.folder = scan.placed(call.text(0)) or HOLE


_SPECIAL = {"copy": _copy, "link": _link, "move": _move, "shell": _shell, "chdir": _folder}

"""go and cargo: which files of a project their verbs read, run and write.

Owns the verbs of both. Sources: go help, cargo help.
"""

from __future__ import annotations

import re
from collections.abc import Callable

import msgspec

from tallystick.intent.actions import Actions
from tallystick.intent.programs.arguments import Line, below, names, renamed, taken
from tallystick.intent.programs.packages import fetched
from tallystick.intent.programs.rules import Builder, Rule, grammar_of
from tallystick.model.intent import Operation
from tallystick.model.script import Command, Word

_HERE = Word(".")

_GO = grammar_of("go")


class _Call(msgspec.Struct):
    """One command, taken apart."""

    built: Builder
    line: Line
    verb: str
    operands: list[Word]
    folder: Word | None
    own: tuple[Word, ...]
    """The words of the verb."""


def _go(command: Command) -> Actions:
    """`go VERB`: `run` and `test` run code of the project, `build` makes a program, `get` fetches."""
    words = command.arguments
    line = taken(words[1:], _GO)
    verb = ""
    if words:
        verb = words[0].text
    call = _Call(Builder(), line, verb, line.operands, line.value("-C"), words[:1])
    known = _GO_VERBS.get(verb)
    if known is not None:
        known(call)
    else:
        call.built.is_unknown = verb not in _GO_SILENT
    return call.built.build()


_GO_SILENT = frozenset({"", "clean", "env", "list", "version", "doc", "help", "work", "bug", "telemetry"})


def _go_run(call: _Call) -> None:
    for n, word in enumerate(call.operands):
        is_file = word.text.endswith(".go")
        if is_file:
            call.built.run(below(call.folder, word))
        elif n == 0:
            call.built.add(Operation.EXECUTE, below(call.folder, word), words=(word,), deep=True)


def _package(word: Word) -> Word:
    """The folder that `./x/...` means."""
    if word.text.endswith("..."):
        return renamed(word, word.text.removesuffix("...").rstrip("/") or ".")
    return word


def _go_builds(call: _Call) -> None:
    if call.verb == "test":
        operation = Operation.EXECUTE
    else:
        operation = Operation.READ
    sources: list[int | None] = []
    for word in call.operands or [_HERE]:
        if call.verb == "install" and ("@" in word.text or re.match(r"\w[\w.-]*\.\w+/", word.text)):
            fetched(call.built, "golang", word)
            continue
        own = call.own
        if call.operands:
            own = (word,)
        is_deep = not word.text.endswith(".go")
        sources.append(call.built.add(operation, below(call.folder, _package(word)), words=own, deep=is_deep))
    for word in call.line.values("-o", "-coverprofile", "-cpuprofile", "-memprofile"):
        call.built.flow(sources, [call.built.write(below(call.folder, word), words=(word,))])


def _go_get(call: _Call) -> None:
    sources = [fetched(call.built, "golang", word) for word in call.operands]
    call.built.flow(sources, [call.built.add(Operation.EDIT, below(call.folder, Word("go.mod")), words=call.own)])


def _go_formats(call: _Call) -> None:
    for word in call.operands or [_HERE]:
        own = call.own
        if call.operands:
            own = (word,)
        is_deep = not word.text.endswith(".go")
        call.built.add(Operation.EDIT, below(call.folder, _package(word)), words=own, deep=is_deep)


def _go_mod(call: _Call) -> None:
    verb = call.line.operand(0)
    words = (*call.own, *call.operands[:1])
    if verb in ("init", "tidy", "edit", "vendor"):
        if verb == "init":
            operation = Operation.CREATE
        else:
            operation = Operation.EDIT
        call.built.add(operation, below(call.folder, Word("go.mod")), words=words)
    if verb == "vendor":
        call.built.add(Operation.WRITE, below(call.folder, Word("vendor")), words=words, deep=True)
    if verb == "download":
        call.built.add(Operation.FETCH, Word("pkg:golang"), words=words)


_GO_VERBS: dict[str, Callable[[_Call], None]] = {
    "run": _go_run,
    **dict.fromkeys(("build", "install", "test", "vet"), _go_builds),
    "get": _go_get,
    **dict.fromkeys(("fmt", "fix"), _go_formats),
    "mod": _go_mod,
}


_CARGO = grammar_of("cargo")


def _cargo(command: Command) -> Actions:
    """`cargo VERB`: building writes below `target`; `run` and `test` run code of the project."""
    line = taken(tuple(word for word in command.arguments if not word.text.startswith("+")), _CARGO)
    verb = line.operand(0)
    manifest = line.value("--manifest-path")
    folder = None
    if manifest is not None and "/" in manifest.text:
        folder = renamed(manifest, manifest.text.rpartition("/")[0] or "/")
    call = _Call(Builder(), line, verb, line.operands[1:], folder, tuple(line.operands[:1]))
    known = _CARGO_VERBS.get(verb)
    if known is not None:
        known(call)
    else:
        call.built.is_unknown = verb not in _CARGO_SILENT
    return call.built.build()


_CARGO_SILENT = names("tree metadata search info version help fetch login uninstall locate-project") | {""}


def _cargo_file(call: _Call, name: str = "Cargo.toml") -> Word:
    return below(call.folder, Word(name))


def _cargo_target(call: _Call) -> Word:
    return call.line.value("--target-dir") or below(call.folder, Word("target"))


def _cargo_builds(call: _Call) -> None:
    call.built.add(Operation.EXECUTE, _cargo_file(call), words=call.own)
    call.built.add(Operation.WRITE, _cargo_target(call), words=call.own, deep=True)
    if call.line.has("--fix"):
        call.built.add(Operation.EDIT, call.folder or _HERE, words=call.own, deep=True)


def _cargo_depends(call: _Call) -> None:
    if call.verb == "add":
        sources = [fetched(call.built, "cargo", word) for word in call.operands]
    else:
        sources = []
    target = _cargo_file(call, "Cargo.lock" if call.verb == "update" else "Cargo.toml")
    call.built.flow(sources, [call.built.add(Operation.EDIT, target, words=call.own)])


def _cargo_installs(call: _Call) -> None:
    for word in call.operands:
        fetched(call.built, "cargo", word)
    for word in call.line.values("--path"):
        call.built.add(Operation.READ, word, deep=True)
    for word in call.line.values("--git"):
        call.built.add(Operation.FETCH, word)
    for word in call.line.values("--root"):
        call.built.add(Operation.WRITE, below(word, Word("bin")), words=(word,), deep=True)


def _cargo_formats(call: _Call) -> None:
    if not call.line.has("--check"):
        call.built.add(Operation.EDIT, call.folder or _HERE, words=call.own, deep=True)


def _cargo_makes(call: _Call) -> None:
    for word in call.operands or [_HERE]:
        words = call.own
        if call.operands:
            words = (word,)
        call.built.add(Operation.CREATE, word, words=words, deep=True)


def _cargo_cleans(call: _Call) -> None:
    call.built.add(Operation.DELETE, _cargo_target(call), words=call.own, deep=True)


def _cargo_publishes(call: _Call) -> None:
    at = call.built.add(Operation.READ, call.folder or _HERE, words=call.own, deep=True)
    call.built.flow([at], [call.built.add(Operation.SEND, Word("pkg:cargo"), words=call.own)])


_CARGO_VERBS: dict[str, Callable[[_Call], None]] = {
    **dict.fromkeys(names("build b run r test t bench check c clippy doc d rustc nextest"), _cargo_builds),
    **dict.fromkeys(("add", "remove", "rm", "update"), _cargo_depends),
    "install": _cargo_installs,
    **dict.fromkeys(("fmt", "fix"), _cargo_formats),
    **dict.fromkeys(("new", "init"), _cargo_makes),
    "clean": _cargo_cleans,
    "publish": _cargo_publishes,
}


RULES: dict[str, Rule] = {
    "go": _go,
    "cargo": _cargo,
}

"""Programs that copy, move and link files, here or to another machine.

Owns where the pieces go: several sources, a trailing slash or `-t` make the target a folder, and then its names are
those of the sources. Of one source and a target that may be a folder, the target as it is written. Sources: the
manual pages of coreutils, rsync, OpenSSH `scp`, rename.
"""

from __future__ import annotations

import posixpath
import re

from tallystick.intent.actions import Actions
from tallystick.intent.programs.arguments import Line, below, grammar, inside, is_folder, last_part, renamed, taken
from tallystick.intent.programs.rules import Builder, Rules, grammar_of
from tallystick.model.intent import Operation
from tallystick.model.pattern import pattern_of
from tallystick.model.script import STAR, Command, Word

RULES = Rules()

_RECURSIVE = ("-r", "-R", "-a", "--recursive", "--archive")
_CP = grammar_of("cp")
_INSTALL = grammar_of("install")
_RSYNC = grammar_of("scp", "rsync")
_SCP = grammar_of("scp")
_HOST = pattern_of(r"(?:(?:scp|rsync|sftp)://.|\[[^\]/]*\]:|[^/:]+::?)", re.DOTALL)
"""`host:path`, `user@host:path`, `host::module`, and similar with a scheme."""


def _split(line: Line) -> tuple[list[Word], Word | None, bool]:
    """Sources, target, and whether the words say that the target is a folder."""
    into = line.value("-t", "--target-directory")
    if into is not None:
        return line.operands, into, True
    sources, target = line.operands[:-1], line.operands[-1] if len(line.operands) > 1 else None
    if target is None:
        return line.operands, None, False
    is_several = len(sources) > 1 or any(STAR in source.text for source in sources)
    is_plain = line.has("-T", "--no-target-directory")
    return sources, target, not is_plain and (is_several or is_folder(target.text))


def _target(source: Word, target: Word, *, is_below: bool) -> Word:
    """Where one source goes."""
    if not is_below or last_part(source.text) in (".", ".."):
        return target
    return inside(target, source)


def _cp(command: Command) -> Actions:
    """`cp`; with `-l` or `-s` the copies are links."""
    line = taken(command.arguments, _CP)
    built = Builder()
    sources, target, is_below = _split(line)
    deep = line.has(*_RECURSIVE)
    for source in sources:
        at = built.read(source, Operation.COPY_SOURCE, deep=deep)
        if target is not None:
            to = _target(source, _as_parents(line, source, target), is_below=is_below)
            made = built.add(Operation.COPY_DEST, to, words=(source, target), deep=deep)
            built.flow([at], [made])
            if source.text == "/dev/stdin":
                built.feed(made)
            if target.text in ("/dev/stdout", "/dev/fd/1"):
                built.show(at)
    return built.build()


def _as_parents(line: Line, source: Word, target: Word) -> Word:
    """With `--parents` the folders of the source are made below the target."""
    folder = ""
    if line.has("--parents"):
        folder = posixpath.dirname(source.text)
    if folder and not folder.startswith("/"):
        return below(target, renamed(source, folder))
    return target


def _install(command: Command) -> Actions:
    """`install`: copies with a mode; `-d` makes folders."""
    line = taken(command.arguments, _INSTALL)
    if not line.has("-d", "--directory"):
        if not line.has("-m", "-o", "-g", "--mode"):
            return _cp(command)
        return _copied(line)
    built = Builder()
    for word in line.operands:
        built.add(Operation.CREATE, word)
    return built.build()


def _copied(line: Line) -> Actions:
    built = Builder()
    sources, target, is_below = _split(line)
    for source in sources:
        at = built.read(source, Operation.COPY_SOURCE)
        if target is not None:
            to = _target(source, target, is_below=is_below)
            built.flow([at], [built.add(Operation.COPY_DEST, to, words=(source, target))])
    return built.build()


@RULES.of("mv")
def _mv(built: Builder, line: Line, command: Command) -> None:
    """`mv`: the old name is gone, the new one holds what it held; what becomes a device is gone altogether."""
    sources, target, is_below = _split(line)
    is_lost = target is not None and target.text == "/dev/null"
    for source in sources:
        if is_lost:
            built.add(Operation.DELETE, source, deep=True)
            continue
        at = built.add(Operation.RENAME, source)
        if target is not None:
            to = _target(source, target, is_below=is_below)
            built.flow([at], [built.add(Operation.COPY_DEST, to, words=(source, target))])


@RULES.of("ln")
def _ln(built: Builder, line: Line, command: Command) -> None:
    """`ln`: who reads the link reads what it names. A symbolic one names it from its own folder."""
    sources, target, is_below = _split(line)
    is_below = is_below and not (line.has("-n", "-T") and len(sources) == 1)
    for source in sources:
        at_name = target
        if at_name is None:
            at_name = renamed(source, last_part(source.text))
        made = at_name
        if target is not None and is_below:
            made = inside(at_name, source)
        named = source
        folder = posixpath.dirname(made.text)
        if line.has("-s", "--symbolic") and not line.has("-r", "--relative") and folder:
            named = below(renamed(made, folder), source)
        at = built.add(Operation.COPY_SOURCE, named, words=(source,))
        words: tuple[Word, ...] = (source,)
        if target is not None:
            words = (source, target)
        built.flow([at], [built.add(Operation.CREATE, made, words=words)])


def is_remote(word: Word) -> bool:
    """Whether a path of `scp` or `rsync` is on another machine."""
    return _HOST.match(word.text) is not None


def _transfers(command: Command) -> Actions:
    """`scp` and `rsync`: what comes from or goes to a host is fetched or sent."""
    is_rsync = command.program == "rsync"
    line = taken(command.arguments, _RSYNC if is_rsync else _SCP)
    built = Builder()
    deep = line.has(*_RECURSIVE)
    for name in ("-i", "-F", "--files-from", "--exclude-from", "--include-from", "--password-file"):
        if is_rsync == (len(name) > 2):
            for word in line.values(name):
                built.read(word)
    sources, target, is_below = _split(line)
    for source in sources:
        if is_remote(source):
            at = built.add(Operation.FETCH, source)
        else:
            at = built.read(source, Operation.COPY_SOURCE, deep=deep)
        if target is not None:
            built.flow([at], [_arrival(built, source, target, is_below=is_below, deep=deep)])
    if is_rsync and target is None and sources:
        built.actions = []  # it lists
        built.add(Operation.FETCH if is_remote(sources[0]) else Operation.LIST, sources[0], deep=deep)
    _removals(built, line, sources, target)
    if is_rsync:
        for word in line.values("--log-file"):
            built.add(Operation.APPEND, word)
    return built.build()


def _arrival(built: Builder, source: Word, target: Word, *, is_below: bool, deep: bool) -> int | None:
    if is_remote(target):
        return built.add(Operation.SEND, target)
    path = source
    if is_remote(source):
        path = renamed(source, source.text.rpartition(":")[2])
    is_contents = path.text.endswith("/") or not last_part(path.text)
    if is_contents:
        to = target
    else:
        to = _target(path, target, is_below=is_below)
    return built.add(Operation.COPY_DEST, to, words=(source, target), deep=deep)


def _removals(built: Builder, line: Line, sources: list[Word], target: Word | None) -> None:
    """`rsync --delete` removes at the target what the source has not; `--remove-source-files` the sources."""
    is_deleting = any(name.startswith("--delete") or name == "--del" for name, _ in line.options)
    if is_deleting and target is not None and not is_remote(target):
        built.add(Operation.DELETE, target, deep=True)
    if line.has("--remove-source-files"):
        for source in sources:
            if not is_remote(source):
                built.add(Operation.DELETE, source, deep=True)


@RULES.of("rename", grammar("-e"))
def _rename(built: Builder, line: Line, command: Command) -> None:
    """`rename`: Perl's takes an expression, util-linux's two texts; both change the names of the files after them."""
    first = line.operand(0)
    is_expression = line.has("-e") or bool(re.match(r"(?:s|y|tr)\W", first))
    if line.has("-e"):
        skipped = 0
    elif is_expression:
        skipped = 1
    else:
        skipped = 2
    for word in line.operands[skipped:]:
        built.add(Operation.RENAME, word)


RULES |= {
    "transfers": _transfers,
    "cp": _cp,
    "install": _install,
}

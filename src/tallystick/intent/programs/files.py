"""Programs that make, remove, mark and list files.

Owns `rm`, `mkdir`, `touch`, `chmod`, `ls`, `stat`, `dd`, `truncate`, `find` and similar. What `find -exec` runs is a
command of its own, and read as one. Sources: the manual pages of coreutils, findutils, acl, e2fsprogs, fd, tree.
"""

from __future__ import annotations

import re
from itertools import pairwise

import msgspec

from tallystick.catalog.programs import names_of, programs_with
from tallystick.intent.actions import Actions
from tallystick.intent.programs.arguments import Line, below, last_part, names, renamed, taken
from tallystick.intent.programs.rules import Builder, Rules, grammar_of
from tallystick.model.intent import Operation
from tallystick.model.pattern import pattern_of
from tallystick.model.script import ANY_ONE, CLASS, HOLE, STAR, Command, Word

RULES = Rules()

_RECURSIVE = "-R --recursive"
_MODE = pattern_of(r"-[rwxXstugoaAcCdDeFijmPSTu]+")
_OWN = names_of("chmod", "own")
_CHMOD = grammar_of("chmod")


def _chmod(command: Command) -> Actions:
    """`chmod`, `chown`, `chattr`: the first operand is the mode or owner, also where it looks like options (`-x`)."""
    words, mode = command.arguments, None
    if command.program in ("chmod", "gchmod", "chattr"):
        found = (n for n, word in enumerate(words[:8]) if _MODE.fullmatch(word.text) and word.text not in _OWN)
        mode = next(found, None)
    line = taken(words if mode is None else (*words[:mode], *words[mode + 1 :]), _CHMOD)
    built = Builder()
    skipped = 1
    if mode is not None or line.has("--reference"):
        skipped = 0
    for word in line.operands[skipped:]:
        built.add(Operation.METADATA, word, deep=line.has("-R", "--recursive"))
    return built.build()


def _dd(command: Command) -> Actions:
    """`dd if=… of=…`: operands are settings; with `conv=notrunc` or `seek=` the target changes in part."""
    settings = {
        word.text.partition("=")[0]: renamed(word, word.text.partition("=")[2]) for word in command.arguments[:64]
    }
    built = Builder()
    source, target = settings.get("if"), settings.get("of")
    at = None
    if source is not None:
        at = built.read(source)
    built.reads_input = built.reads_input or source is None
    if target is None:
        built.show(at)
        return built.build()
    is_part = "notrunc" in settings.get("conv", Word("")).text or "seek" in settings or "oseek" in settings
    operation = Operation.WRITE
    if is_part:
        operation = Operation.EDIT
    made = built.write(target, operation)
    built.flow([at], [made])
    if built.reads_input:
        built.feed(made)
    return built.build()


@RULES.of("truncate")
def _truncate(built: Builder, line: Line, command: Command) -> None:
    """`truncate`: to nothing is as good as written whole."""
    if line.said("-s", "--size") == "0":
        operation = Operation.WRITE
    else:
        operation = Operation.EDIT
    for word in line.operands:
        built.add(operation, word)


@RULES.of("touch")
def _touch(built: Builder, line: Line, command: Command) -> None:
    if line.has("-c", "-h", "--no-create", "--no-dereference"):
        operation = Operation.METADATA
    else:
        operation = Operation.CREATE
    for word in line.operands:
        built.add(operation, word)


@RULES.of("mktemp")
def _mktemp(built: Builder, line: Line, command: Command) -> None:
    """`mktemp`: a file or folder whose name is the template with other letters for its Xs."""
    if line.has("-u", "--dry-run"):
        return
    folder = line.value("-p", "--tmpdir")
    template = line.value("-t")
    if line.operands:
        template = line.operands[0]
    if template is None:
        template, folder = Word("tmp.XXXXXXXXXX"), folder if folder is not None and folder.text else Word("/tmp")
    elif line.has("-t", "--tmpdir") and (folder is None or not folder.text):
        folder = Word("/tmp")
    told = renamed(template, re.sub(r"X{3,}", STAR, template.text))
    words = command.words[:1]
    if line.operands:
        words = (template,)
    built.add(Operation.CREATE, below(folder, told), words=words)


# find -----------------------------------------------------------------------------------------------------------------

_FIND_FILES = ("-fprint", "-fprint0", "-fls", "-fprintf")
_WILD = str.maketrans({"*": STAR, "?": ANY_ONE, "[": CLASS})
_MOST_TARGETS = 64


def _find(command: Command) -> Actions:
    """`find`: lists what is below its starts; `-delete` removes what has one of the names asked for."""
    arguments = command.arguments[:2000]
    texts = [word.text for word in arguments]
    first = next((n for n, text in enumerate(texts) if text[:1] in ("(", "!") or _is_test(text)), len(texts))
    starts = [word for word in arguments[:first] if word.text[:1] != "-"] or [Word(".")]
    if not first:
        own = command.words[:1]
    else:
        own = ()
    built = Builder()
    for start in starts:
        built.add(Operation.LIST, start, words=own, deep="-maxdepth" not in texts)
    if "-delete" in texts and ("-empty" not in texts or "-o" in texts):  # what is empty is not a loss
        for start in starts[:_MOST_TARGETS]:
            named: list[Word | None] = [*_find_names(arguments, texts)]
            if not named and _picks(texts):  # by age, size or emptiness: some of what is there, and it is unknown which
                built.add(Operation.DELETE, renamed(start, f"{start.text.rstrip('/')}/{HOLE}"), words=own or (start,))
                continue
            for name in named or [None]:
                _deletion(built, start, name, own)
    for option, word in zip(texts, arguments[1:], strict=False):
        if option in _FIND_FILES:
            built.write(word)
    return built.build()


_PICKING = names_of("find", "picking")


def _picks(texts: list[str]) -> bool:
    """Whether only some files are meant. All but some is as good as all."""
    return any(text in _PICKING and texts[n - 1 : n] not in (["!"], ["-not"]) for n, text in enumerate(texts))


def _is_test(text: str) -> bool:
    return text[:1] == "-" and text not in ("-H", "-L", "-P", "-O1", "-O2", "-O3") and len(text) > 1


def _deletion(built: Builder, start: Word, name: Word | None, own: tuple[Word, ...]) -> None:
    if name is None:
        built.add(Operation.DELETE, start, words=own, deep=True)
    else:
        pattern = f"{start.text.rstrip('/')}/{STAR}{STAR}/{name.text.translate(_WILD)}"
        built.add(Operation.DELETE, Word(pattern, start.hidden), words=(start, name))


def _find_names(arguments: tuple[Word, ...], texts: list[str]) -> list[Word]:
    """The patterns of which every file that is removed has one; none if that cannot be said."""
    found: list[Word] = []
    begin = 0
    has_groups = "(" in texts or "," in texts
    ends = [n for n, text in enumerate(texts) if text in ("-o", "-or") and not has_groups]
    for end in (*ends, len(texts)):
        group = range(begin, end)
        begin = end + 1
        if any(texts[n] in _FIND_ACTS for n in group):
            named = [
                arguments[n + 1]
                for n in group
                if texts[n] in ("-name", "-iname") and n + 1 < end and texts[n - 1 : n] not in (["!"], ["-not"])
            ]
            if not named or (has_groups and not _is_each_named(texts, len(named))):
                return []
            found += named
    return found[:_MOST_TARGETS]


def _is_each_named(texts: list[str], names: int) -> bool:
    """Whether each branch of an expression in parentheses asks for a name: there is one more name than `-o`."""
    acts = next((n for n, text in enumerate(texts) if text in _FIND_ACTS), len(texts))
    before = texts[:acts]
    is_negated = any(text in ("!", "-not") and following == "(" for text, following in pairwise(before))
    return not is_negated and before.count("-o") + before.count("-or") <= names - 1


_FIND_ACTS = frozenset(("-delete", "-exec", "-execdir", "-ok", "-okdir"))


class Finding(msgspec.Struct, frozen=True):
    """What a `find` acts on."""

    starts: tuple[Word, ...]
    names: tuple[str, ...]
    """Patterns of which every file that it acts on has one; empty if that cannot be said."""
    is_deleting: bool
    runs: tuple[tuple[Word, ...], ...]
    """The programs that it runs on each, with their words."""
    asked: tuple[str, ...] = ()
    """All patterns for names that are asked for, whatever they are combined with."""
    paths: tuple[str, ...] = ()
    """All patterns for paths that are asked for, likewise."""
    is_by_path: bool = False
    """Whether it asks for a path in a way that cannot be compared: by an expression, by a link."""
    picks: bool = False
    """Whether it takes only some, by their age, size or owner: which, nothing tells."""
    is_without_content: bool = False
    """Whether it takes only what is empty, or only folders, and nothing else."""


def finding_of(command: Command) -> Finding | None:
    """What a `find` acts on; None if it acts on nothing, or the command is none."""
    if command.program not in ("find", "gfind"):
        return None
    arguments = command.arguments[:2000]
    texts = [word.text for word in arguments]
    if _FIND_ACTS.isdisjoint(texts):
        return None
    first = next((n for n, text in enumerate(texts) if text[:1] in ("(", "!") or _is_test(text)), len(texts))
    ends = _ends_of_runs(texts)
    return Finding(
        starts=tuple(word for word in arguments[:first] if word.text[:1] != "-") or (Word("."),),
        names=tuple(word.text for word in _find_names(arguments, texts)),
        is_deleting="-delete" in texts,
        runs=tuple(
            arguments[n + 1 : ends[n]] for n, text in enumerate(texts) if text in _FIND_ACTS and text != "-delete"
        ),
        asked=_asked(texts, ("-name", "-iname")),
        paths=_asked(texts, ("-path", "-ipath", "-wholename", "-iwholename")),
        is_by_path=any(text in _BY_PATH and texts[n - 1 : n] not in _NOT for n, text in enumerate(texts)),
        picks=_always_picks(texts),
        is_without_content=_is_without_content(texts),
    )


def _ends_of_runs(texts: list[str]) -> list[int]:
    """For each place, the next one where a command that `find` runs ends."""
    ends, end = [0] * len(texts), len(texts)
    for n in reversed(range(len(texts))):
        ends[n] = end
        if texts[n] in (";", "+"):
            end = n
    return ends


_BY_PATH = names("-regex -iregex -samefile -lname -ilname")
_NOT = (["!"], ["-not"])


def _asked(texts: list[str], tests: tuple[str, ...]) -> tuple[str, ...]:
    """What some tests are given, except where they are negated."""
    found = enumerate(pairwise(texts))
    return tuple(given for n, (text, given) in found if text in tests and texts[n - 1 : n] not in _NOT)


def _always_picks(texts: list[str]) -> bool:
    """Whether each part of an expression that acts has a test that takes only some: not `-name x -o -delete`."""
    if not {"(", ","}.isdisjoint(texts):
        return False
    parts: list[list[str]] = [[]]
    for text in texts:
        if text in ("-o", "-or"):
            parts.append([])
        else:
            parts[-1].append(text)
    return all(_picks(part) for part in parts if not _FIND_ACTS.isdisjoint(part))


def _is_without_content(texts: list[str]) -> bool:
    """`-empty`, or `-type d`, where every test must hold."""
    before = texts[: next((n for n, text in enumerate(texts) if text in _FIND_ACTS), len(texts))]
    if not {"-o", "-or", ",", "("}.isdisjoint(before):
        return False
    return any(
        (text == "-empty" or (text, following) == ("-type", "d")) and before[n - 1 : n] not in _NOT
        for n, (text, following) in enumerate(pairwise([*before, ""]))
    )


_FD = grammar_of("fd")


def _fd(command: Command) -> Actions:
    """`fd [PATTERN [PATH…]]`; what `-x` runs is unknown by its words alone."""
    ran = next((n for n, word in enumerate(command.arguments) if word.text in _FD_RUNS), None)
    line = taken(command.arguments[:ran], _FD)
    built = Builder()
    paths = [*line.operands[1:], *line.values("--search-path", "--base-directory", "-C")]
    for path in paths or [Word(".")]:
        words = command.words[:1]
        if paths:
            words = ()
        built.add(Operation.LIST, path, words=words, deep=True)
    if ran is not None:
        inner = last_part(" ".join(word.plain for word in command.arguments[ran + 1 : ran + 2]))
        if inner in _REMOVING:
            _removed(built, line, paths)
        built.is_unknown = inner not in _HARMLESS and inner not in _REMOVING
    return built.build()


def _removed(built: Builder, line: Line, paths: list[Word]) -> None:
    """What `fd … -x rm` removes: what has the ending or the name asked for."""
    ending, name = line.said("-e", "--extension"), line.operand(0)
    if ending:
        last = f"{STAR}.{ending}"
    elif re.search(r"\w", name):
        last = f"{STAR}{name}{STAR}"
    else:
        last = STAR
    for path in paths or [Word(".")]:
        built.add(Operation.DELETE, renamed(path, f"{path.text.rstrip('/')}/{STAR}{STAR}/{last}"), words=(path,))


_REMOVING = programs_with("removes-files")
_FD_RUNS = ("-x", "-X", "--exec", "--exec-batch")
_HARMLESS = names_of("fd", "harmless")


RULES |= {
    "dd": _dd,
    "chmod": _chmod,
    "find": _find,
    "fd": _fd,
}

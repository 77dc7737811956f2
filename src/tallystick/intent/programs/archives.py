"""Programs that pack files into one, and take them out again.

Owns tar, zip, the compressors, cpio, ar, 7z: members are read and the archive written, or the other way round.
Sources: the manual pages of GNU tar, Info-ZIP, gzip, xz, zstd, cpio, binutils `ar`, p7zip, the JDK's `jar`.
"""

from __future__ import annotations

from tallystick.catalog.programs import names_of, programs, words_of
from tallystick.intent.actions import Actions, Code
from tallystick.intent.programs.arguments import Line, below, grammar, renamed, split_lines, taken
from tallystick.intent.programs.rules import Builder, Rules, grammar_of
from tallystick.model.intent import Operation
from tallystick.model.script import Command, Word

RULES = Rules()

_HERE = Word(".")

# tar ------------------------------------------------------------------------------------------------------------------

_TAR = grammar_of("tar")
_TAR_LETTERS = names_of("tar", "letters")
_TAR_WRITES = words_of("tar", "writes")


def _tar(command: Command) -> Actions:
    """`tar`; the letters at the front may stand without a dash (`tar xzf a.tgz`), and take their values in turn."""
    line = taken(_dashed(command.arguments), _TAR)
    built = Builder()
    archive = line.value("-f", "--file")
    for word in line.values("-T", "--files-from", "-X", "--exclude-from"):
        built.read(word)
    built.is_unknown = line.has("-T", "--files-from") and line.has(*_TAR_WRITES)
    for word in line.values("--checkpoint-action"):
        if word.text.startswith("exec="):
            built.codes.append(Code("sh", renamed(word, word.text[5:])))
    if line.has(*_TAR_WRITES):
        _pack_tar(built, line, command.arguments, archive)
    else:
        _unpack_tar(built, line, archive)
    return built.build()


def _dashed(words: tuple[Word, ...]) -> tuple[Word, ...]:
    """The old form of arguments in the new one."""
    if not words or words[0].text.startswith("-"):
        return words
    letters, rest = words[0].text[:32], list(words[1:])
    found: list[Word] = []
    for letter in letters:
        found.append(Word(f"-{letter}"))
        if letter in _TAR_LETTERS and rest:
            found.append(rest.pop(0))
    return (*found, *rest)


def _pack_tar(built: Builder, line: Line, words: tuple[Word, ...], archive: Word | None) -> None:
    members = [built.read(below(folder, word), deep=True) for word, folder in _with_folders(_dashed(words))]
    listed = [at for at, action in enumerate(built.actions) if at not in members]
    if line.has("--remove-files"):
        for at in [at for at in members if at is not None]:
            built.add(Operation.DELETE, built.actions[at].target, deep=True)
    if archive is None or archive.text == "-":
        built.show(*members)
        return
    is_more = line.has("-r", "-u", "-A", "--append", "--update", "--concatenate", "--catenate")
    operation = Operation.WRITE
    if is_more:
        operation = Operation.APPEND
    made = built.write(archive, operation)
    built.flow([*members, *listed], [made])


def _with_folders(words: tuple[Word, ...]) -> list[tuple[Word, Word | None]]:
    """The members, each with the folder that `-C` before it names."""
    found: list[tuple[Word, Word | None]] = []
    folder: Word | None = None
    start = 0
    for at, word in enumerate(words):
        if word.text in ("-C", "--directory") or word.text.startswith("--directory="):
            found += [(member, folder) for member in taken(words[start:at], _TAR).operands]
            joined = word.text.partition("=")[2]
            if joined:
                value = renamed(word, joined)
            elif at + 1 < len(words):
                value = words[at + 1]
            else:
                value = None
            if value is not None:
                folder = below(folder, value)
            start = at + (1 if joined else 2)
    return found + [(member, folder) for member in taken(words[start:], _TAR).operands]


def _unpack_tar(built: Builder, line: Line, archive: Word | None) -> None:
    source = None
    if archive is not None:
        source = built.read(archive)
    built.reads_input = built.reads_input or archive is None
    if line.has("-t", "--list", "-O", "--to-stdout", "-d", "--diff", "--compare"):
        built.show(source)
    elif line.has("-x", "--extract", "--get"):
        folder = line.value("-C", "--directory")
        top = line.value("--one-top-level")
        if top is not None:
            into = below(folder, top)
        else:
            into = folder or _HERE
        members = [below(folder, member) for member in line.operands if not line.has("--strip-components", "--strip")]
        made = [built.write(member, deep=True) for member in members] or [_unpacked(built, into, archive)]
        built.flow([source], made)
        if built.reads_input:
            built.feed(*made)


def _unpacked(built: Builder, into: Word, archive: Word | None) -> int | None:
    if into is not _HERE or archive is None:
        words = (into,)
    else:
        words = (archive,)
    return built.add(Operation.WRITE, into, words=words, deep=True)


# zip, 7z, ar, cpio, jar ------------------------------------------------------------------------------------------------

_ZIP = grammar_of("zip")


def _zip(command: Command) -> Actions:
    """`zip ARCHIVE MEMBER…`: what follows `-x` or `-i` are patterns."""
    words = command.arguments
    end = next((n for n, word in enumerate(words) if word.text in ("-x", "-i", "--exclude", "--include")), len(words))
    line = taken(words[:end], _ZIP)
    built = Builder()
    deep = line.has("-r", "-R", "--recurse-paths")
    members = [built.read(word, deep=deep) for word in line.operands[1:]]
    if not line.operands:
        return built.build()
    archive = line.operands[0]
    if line.has("-d", "--delete"):
        built.actions = []
        built.add(Operation.EDIT, archive)
        return built.build()
    made = built.write(archive)
    built.flow(members, [made])
    if built.reads_input:
        built.feed(made)
    if archive.text == "-":
        built.show(*members)
    if line.has("-m", "--move"):
        for word in line.operands[1:]:
            built.add(Operation.DELETE, word, deep=deep)
    return built.build()


@RULES.of("unzip")
def _unzip(built: Builder, line: Line, command: Command) -> None:
    if not line.operands:
        return
    source = built.read(line.operands[0])
    if line.has("-l", "-t", "-v", "-z", "-p", "-c", "-Z") or command.program == "zipinfo":
        built.show(source)
        return
    folder = line.value("-d")
    if line.has("-x"):
        members = []
    else:
        members = [below(folder, word) for word in line.operands[1:]]
    made = [built.write(word) for word in members] or [_unpacked(built, folder or _HERE, line.operands[0])]
    built.flow([source], made)


def _seven(command: Command) -> Actions:
    """`7z COMMAND ARCHIVE [FILE…]`; `-oDIR` is where it unpacks."""
    words = [word for word in command.arguments if word.text[:1] != "-"]
    options = [word for word in command.arguments if word.text[:1] == "-"]
    verb = ""
    if words:
        verb = words[0].text
    built = Builder()
    if len(words) < 2:
        return built.build()
    if verb in ("a", "u"):
        members = [built.read(word, deep=True) for word in words[2:]]
        built.flow(members, [built.write(words[1])])
        if any(option.text == "-sdel" for option in options):
            for word in words[2:]:
                built.add(Operation.DELETE, word, deep=True)
    elif verb in ("x", "e"):
        into = next((renamed(word, word.text[2:]) for word in options if word.text.startswith("-o")), _HERE)
        source = built.read(words[1])
        built.flow([source], [_unpacked(built, into, words[1])])
    elif verb == "d":
        built.add(Operation.EDIT, words[1])
    else:
        built.show(built.read(words[1]))
    return built.build()


def _ar(command: Command) -> Actions:
    """`ar KEYS ARCHIVE MEMBER…`."""
    words = command.arguments
    keys = ""
    if words:
        keys = words[0].text.lstrip("-")
    built = Builder()
    if len(words) < 2:
        return built.build()
    if keys[:1] in ("r", "q", "m"):
        members = [built.read(word) for word in words[2:]]
        operation = Operation.WRITE
        if "c" not in keys:
            operation = Operation.EDIT
        built.flow(members, [built.add(operation, words[1])])
    elif keys[:1] == "x":
        source = built.read(words[1])
        built.flow([source], [built.write(word) for word in words[2:]] or [_unpacked(built, _HERE, words[1])])
    elif keys[:1] == "d":
        built.add(Operation.EDIT, words[1])
    else:
        built.show(built.read(words[1]))
    return built.build()


_MOST_LISTED = 64


@RULES.of("cpio")
def _cpio(built: Builder, line: Line, command: Command) -> None:
    """`cpio`: which files it packs is known by its input."""
    built.reads_input = True
    built.is_unknown = line.has("-o", "--create", "-p", "--pass-through")
    archive = line.value("-F", "--file", "-I", "-O")
    folder = line.value("-D", "--directory") or _HERE
    if command.input is not None:
        listed = split_lines(command.input.plain)[:_MOST_LISTED]
    else:
        listed = []
    members = [built.read(Word(path)) for path in listed if path and built.is_unknown]
    if line.has("-o", "--create"):
        if archive is not None:
            packed = [built.write(archive)]
        else:
            packed = []
        built.feed(*packed)
        built.flow(members, packed)
        built.show(*([] if packed else members))
    elif line.has("-p", "--pass-through"):
        copies = [built.write(word, deep=True) for word in line.operands[:1]]
        built.feed(*copies)
        built.flow(members, copies)
    elif line.has("-i", "--extract") and not line.has("-t", "--list"):
        source = None
        if archive is not None:
            source = built.read(archive)
        made = _unpacked(built, folder, archive)
        built.flow([source], [made])
        if source is None:
            built.feed(made)
    elif archive is not None:
        built.show(built.read(archive))


_BACKUP = grammar_of("restic")
_KEEPING = names_of("restic", "keeping")


@RULES.of("backs-up", _BACKUP)
def _backs_up(built: Builder, line: Line, command: Command) -> None:
    """`restic backup PATH…`, `borg create REPOSITORY::NAME PATH…`: what is kept is a copy."""
    words = line.operands
    verb = ""
    if words and words[0].text in _KEEPING:
        verb = words[0].text
    has_verbs = command.program in ("restic", "borg", "kopia", "bup")
    built.is_unknown = True
    if has_verbs and not verb:
        return
    if verb:
        words = words[1:]
    if command.program == "borg":
        words = words[1:]
    has_target = command.program in ("duplicity", "rdiff-backup")
    for word in words[:-1] if has_target else words:
        built.add(Operation.COPY_SOURCE, word, deep=True)
    for word in line.values("--password-file", "--files-from"):
        built.read(word)


@RULES.of("packs", grammar("-f -x -s -b -B -E -G -o -p -T -U"))
def _packs(built: Builder, line: Line, command: Command) -> None:
    """`pax -w FILE…`, `shar FILE…`: an archive on the output, or in the file of `-f`."""
    if command.program == "pax" and not line.has("-w"):
        built.is_unknown = True
        return
    members = [built.read(word, deep=True) for word in line.operands]
    made = [built.write(word) for word in line.values("-f")]
    built.flow(members, made)
    built.show(*([] if made else members))


def _jar(command: Command) -> Actions:
    """`jar`: the form of `tar`, with the manifest and the entry point among the letters."""
    words = command.arguments
    letters = ""
    if words:
        letters = words[0].text.lstrip("-")
    built = Builder()
    if not letters or words[0].text.startswith("--"):
        return Actions(is_unknown=bool(words))
    rest = list(words[1:])
    values = {letter: rest.pop(0) for letter in letters[:16] if letter in "fme" and rest}
    archive = values.get("f")
    if letters[0] in "cu":
        members = [
            built.read(word, deep=True)
            for word in [*rest, *([values["m"]] if "m" in values else [])]
            if word.text != "-C"
        ]
        if archive is not None:
            operation = Operation.WRITE
            if letters[0] == "u":
                operation = Operation.EDIT
            built.flow(members, [built.write(archive, operation)])
    elif archive is not None:
        source = built.read(archive)
        if letters[0] == "x":
            built.flow([source], [built.write(word) for word in rest] or [_unpacked(built, _HERE, archive)])
        else:
            built.show(source)
    return built.build()


# Compressors ----------------------------------------------------------------------------------------------------------

_PRESS = grammar_of("gzip")
_KEEPS = names_of("gzip", "keeps")


def _suffix(program: str) -> str:
    entry = programs().get(program)
    if entry is None:
        return ""
    return entry.suffix


@RULES.of("press", _PRESS)
def _press(built: Builder, line: Line, command: Command) -> None:
    """A compressor: each file becomes another of a longer or shorter name, and is gone unless it is to be kept."""
    name = command.program
    suffix = line.said("-S", "--suffix") or _suffix(name)
    is_un = name.startswith("un") or name in ("gunzip", "bunzip2") or line.has("-d", "--decompress", "--uncompress")
    to_output = line.has("-c", "--stdout", "--to-stdout", "-l", "--list", "-t", "--test")
    keeps = (name in _KEEPS and not line.has("--rm")) or line.has("-k", "--keep")
    target = line.value("-o")
    if not line.operands:
        built.reads_input = True
    for word in line.operands:
        at = built.read(word, deep=line.has("-r", "--recursive"))
        if to_output or at is None:
            built.show(at)
            continue
        made = target or renamed(word, word.text.removesuffix(suffix) if is_un else word.text + suffix)
        if made.text == word.text:  # `.tgz` and other names that the program knows
            made = renamed(word, f"{word.text.rpartition('.')[0] or word.text}.tar")
        built.flow([at], [built.write(made, words=(word,))])
        if not keeps:
            built.add(Operation.DELETE, word)


RULES |= {
    "tar": _tar,
    "zip": _zip,
    "seven": _seven,
    "ar": _ar,
    "jar": _jar,
}

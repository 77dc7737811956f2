"""What programs change: which of their arguments are files that they write, and which are code.

Owns one table of programs. Must not know which paths are protected. A program that is not in the table may write whatever
path is among its arguments; so may one of these names that is not the system's.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import msgspec

from tallystick.model.script import Command, Word


class Change(msgspec.Struct, frozen=True):
    """A file that a command changes."""

    word: Word
    deep: bool = False
    """With everything below it."""
    names: tuple[str, ...] = ()
    """Below it, only what has one of these names (patterns of `fnmatch`)."""


class Changes(msgspec.Struct, frozen=True):
    """What a command changes, as far as its words tell."""

    files: tuple[Change, ...] = ()
    code: tuple[Word, ...] = ()
    """Words that a program of its own kind runs: it may change whatever they name."""


Words = tuple[Word, ...]

_READER_NAMES = """
    : [ [[ ack ag arch b2sum base32 base64 basename bat batcat cal cat cd cksum cmp column comm cut date df diff diff3 dir
    dirname dirs du echo egrep env exa exit export expr eza factor false fd fdfind fgrep file fmt fold getent getopts grep
    groups hash head hexdump hostname id jobs join jq last less let locale locate logname look ls lsattr lsd lsof md5
    md5sum mdfind mediainfo more nl nm numfmt objdump od paste pathchk pgrep popd printenv printf ps pushd pwd read readlink
    readelf realpath return rg seq set sha1sum sha224sum sha256sum sha384sum sha512sum shasum shift shopt sleep stat
    strings sum tac tail test tldr tokei tr tree true tsort tty type ulimit uname unexpand unset uptime users vdir wait wc
    whatis whereis which who whoami zcat zgrep zless alias declare local typeset readonly mapfile readarray unalias umask man
"""
_READERS = frozenset(_READER_NAMES.split())
_INTERPRETER = re.compile(
    r"(?:.*/)?(?:python|pypy|ipython|perl|ruby|node|nodejs|deno|bun|php|lua|luajit|tclsh|osascript|julia|Rscript|R|ghci|"
    r"sqlite3?|duckdb|psql|mysql|vim?|nvim|view|ex|ed|emacs|nano|ssh|tmux|screen|expect|parallel|docker|podman|gdb|"
    r"awk|gawk|mawk|nawk|sed|gsed|at|batch|crontab|xonsh|pwsh|powershell|tclsh|jshell|groovy|scala|elixir|iex|erl|ocaml|"
    r"racket|sbcl|guile|m4|make|bc|dc)[\d.]*"
)


def changes(command: Command) -> Changes:
    """What a command changes. Redirects are not part of it."""
    if not command.words:
        return Changes()
    name, arguments = command.program, command.arguments
    if name.rpartition("/")[2] == "tally":  # what of it changes the record is known by name: `recorder`
        return Changes()
    known = _PROGRAMS.get(name)
    if known is not None:
        found = known(arguments)
        return Changes(found.files, (*found.code, *_input_code(name, command)))
    if name in _READERS:
        return Changes()
    files = tuple(Change(word) for word in arguments)
    if _INTERPRETER.fullmatch(name):
        return Changes(files, (*arguments, *_input_code(name, command)))
    return Changes(files, tuple(word for word in arguments if not word.is_known and not _BLANK.search(word.text)))


def _input_code(name: str, command: Command) -> tuple[Word, ...]:
    """What a program reads as code from its standard input; with code or a file of code among its words, that is data."""
    always = _CODE_ON_INPUT.fullmatch(name) is not None
    if not command.fed or not (always or _INTERPRETER.fullmatch(name)) or _TEXT_TOOLS.fullmatch(name):
        return ()
    has_code = any(word.text != "-" for word in command.arguments)
    return () if has_code and not always else (Word(command.fed),)


_CODE_ON_INPUT = re.compile(r"(?:.*/)?(?:sqlite3?|duckdb|psql|mysql|ex|ed|ssh|at|batch|crontab|parallel|patch)[\d.]*")
_TEXT_TOOLS = re.compile(r"[gmn]?awk|g?sed|docker|podman|make|tmux|screen|expect")
_BLANK = re.compile(r"\s")

# Arguments -----------------------------------------------------------------------------------------------------------


class _Line(msgspec.Struct):
    """Arguments taken apart."""

    operands: list[Word]
    options: list[tuple[str, Word | None]]

    def has(self, *names: str) -> bool:
        """Whether one of some options is there; one letter is found among joined ones as well."""
        letters = {name[1] for name in names if len(name) == 2}
        return any(
            text in names or (text[:1] == "-" and text[1:2] != "-" and letters & set(text[1:]))
            for text, _ in self.options
        )

    def values(self, *names: str) -> Iterator[Word]:
        """What follows some options: as the next word, after `=`, or joined to a letter."""
        for text, value in self.options:
            if value is not None and (text in names or f"-{text[-1]}" in names):
                yield value
            elif text.partition("=")[0] in names and "=" in text:
                yield Word(text.partition("=")[2])
            elif text[:2] in names and len(text) > 2 and text[1] != "-":
                yield Word(text[2:])


def _taken(arguments: Words, with_value: str = "") -> _Line:
    takes = frozenset(with_value.split())
    line, at, is_over = _Line([], []), 0, False
    while at < len(arguments):
        word = arguments[at]
        at += 1
        if is_over or not word.text.startswith("-") or word.text == "-":
            line.operands.append(word)
        elif word.text == "--":
            is_over = True
        else:
            value = arguments[at] if _takes_next(word.text, takes) and at < len(arguments) else None
            at += value is not None
            line.options.append((word.text, value))
    return line


def _takes_next(option: str, takes: frozenset[str]) -> bool:
    """Whether an option, or the last of several joined letters, takes the next word."""
    return option in takes or (option[1] != "-" and f"-{option[-1]}" in takes and option[:2] not in takes)


def _all(words: Words | list[Word], *, deep: bool = False) -> Changes:
    return Changes(tuple(Change(word, deep) for word in words))


# Programs ------------------------------------------------------------------------------------------------------------


def _removes(arguments: Words) -> Changes:
    return _all(_taken(arguments).operands, deep=True)


def _changes_operands(arguments: Words) -> Changes:
    line = _taken(arguments, "-s --size -r --reference -t -d -n -m --mode")
    return _all(line.operands, deep=line.has("-R", "--recursive"))


def _all_words(arguments: Words) -> Changes:
    return _all(arguments)


def _copies(arguments: Words) -> Changes:
    """`cp`, `install`, `rsync`, `scp`: the last operand, and in it the names of the others."""
    line = _taken(
        arguments, "-t --target-directory -S --suffix -m --mode -o -g --owner --group -e --rsh --exclude -P -i -F"
    )
    into = list(line.values("-t", "--target-directory"))
    sources, targets = (line.operands, into) if into else (line.operands[:-1], line.operands[-1:])
    deep = line.has("-r", "-R", "-a", "--recursive", "--archive", "--delete")
    found = [Change(target) for target in targets]
    found += [_inside(target, source, deep=deep) for target in targets for source in sources]
    if line.has("-l", "--link"):  # a hard link is another name for the same bytes
        found += [Change(source, deep) for source in sources]
    if line.has("--delete", "--remove-source-files"):
        found += [Change(word, deep=True) for word in line.operands]
    return Changes(tuple(found))


def _inside(folder: Word, source: Word, *, deep: bool) -> Change:
    """What a copy of `source` makes in a folder."""
    path = source.text
    if deep and path.endswith(("/.", "/")):
        return Change(folder, deep=True)
    name = path.rstrip("/").rpartition("/")[2]
    return Change(Word(f"{folder.text.rstrip('/')}/{name}", folder.hidden), deep)


def _moves(arguments: Words) -> Changes:
    line = _taken(arguments, "-t --target-directory -S --suffix")
    into = list(line.values("-t", "--target-directory"))
    sources, targets = (line.operands, into) if into else (line.operands[:-1], line.operands[-1:])
    found = [Change(source, deep=True) for source in sources] + [Change(target) for target in targets]
    return Changes((*found, *(_inside(target, source, deep=True) for target in targets for source in sources)))


def _links(arguments: Words) -> Changes:
    """`ln`: a symbolic link changes where it is made; what a hard link points to can be changed through it."""
    line = _taken(arguments, "-t --target-directory -S --suffix")
    found = [Change(word) for word in line.operands]
    found += [_inside(target, source, deep=False) for target in line.operands[-1:] for source in line.operands[:-1]]
    return Changes((*found, *(Change(word) for word in line.values("-t", "--target-directory"))))


def _find(arguments: Words) -> Changes:
    """`find`: with `-delete` or a command that changes, everything below; less if names are asked for."""
    texts = [word.text for word in arguments]
    starts = list(
        arguments[: next((n for n, text in enumerate(texts) if n and text[:1] in ("-", "(", "!")), len(texts))]
    )
    if starts and starts[0].text[:1] in ("-", "(", "!"):
        starts = []
    written = [
        Change(arguments[n + 1])
        for n, text in enumerate(texts[:-1])
        if text in ("-fprint", "-fls", "-fprintf", "-fprint0")
    ]
    if not _find_changes(arguments, texts):
        return Changes(tuple(written))
    names = _names(texts)
    below = [Change(word, deep=True, names=names) for word in starts or [Word(".")]]
    return Changes((*written, *below))


def _names(texts: list[str]) -> tuple[str, ...]:
    """Patterns, one of which every file that `find` acts on has as its name; all of them if that cannot be said."""
    groups: list[list[str]] = [[]]
    for text in texts:
        if text in ("-o", "-or") and "(" not in texts:
            groups.append([])
        else:
            groups[-1].append(text)
    found: list[str] = []
    for group in groups:
        if not _ACTIONS & set(group):
            continue
        named = [
            group[n + 1]
            for n, text in enumerate(group[:-1])
            if text in ("-name", "-iname") and group[n - 1 : n] not in (["!"], ["-not"])
        ]
        found += named or ["*"]
    return tuple(found) or ("*",)


_ACTIONS = frozenset({"-delete", "-exec", "-execdir", "-ok", "-okdir"})


def _find_changes(arguments: Words, texts: list[str]) -> bool:
    ran = [arguments[n + 1 : n + 2] for n, text in enumerate(texts) if text in ("-exec", "-execdir", "-ok", "-okdir")]
    return "-delete" in texts or any(Command(words=words).program not in _READERS | {"sh", "bash"} for words in ran)


def _writes_option(*names: str, also: Callable[[_Line], list[Word]] | None = None) -> Callable[[Words], Changes]:
    """Programs that read their operands and write the file of an option."""

    def changed(arguments: Words) -> Changes:
        line = _taken(arguments, " ".join(names))
        return _all([*line.values(*names), *(also(line) if also is not None else [])])

    return changed


def _second(arguments: Words) -> Changes:
    """Programs that read their first operand and write the second."""
    return _all(_taken(arguments).operands[1:2])


def _dd(arguments: Words) -> Changes:
    return _all([Word(word.text[3:], word.hidden) for word in arguments if word.text.startswith("of=")])


def _sed(arguments: Words) -> Changes:
    """`sed`: files are read unless `-i`; a script can write files of its own."""
    line = _taken(arguments, "-e -f -l --expression --file --line-length")
    scripts = [*line.values("-e", "--expression"), *line.operands[:1]]
    return Changes(_all(line.operands).files if line.has("-i", "--in-place") else (), tuple(scripts))


def _awk(arguments: Words) -> Changes:
    line = _taken(arguments, "-v -F -f -i --assign --field-separator --file --include")
    files = _all(line.operands[1:]).files if "inplace" in [word.text for word in line.values("-i", "--include")] else ()
    return Changes(files, (*line.operands[:1], *line.values("-v", "--assign")))


def _tar(arguments: Words) -> Changes:
    line = _taken(arguments, "-f -C --file --directory -T --exclude")
    bundled = line.operands[0].text if line.operands and not line.options else ""
    creates = line.has("-c", "-t", "--create", "--list") or "c" in bundled or "t" in bundled
    commands = tuple(word for word in arguments if word.text.startswith("--"))  # some options run one
    if creates and not line.has("--remove-files"):
        return Changes(_all([*line.values("-f", "--file"), *(line.operands[1:2] if bundled else [])]).files, commands)
    changed = (*line.values("-C", "--directory"), *arguments)
    return Changes(tuple(Change(word, deep=not creates) for word in changed), commands)


def _sqlite(arguments: Words) -> Changes:
    line = _taken(arguments, "-cmd -separator -nullvalue -init")
    is_reading = any(text in ("-readonly", "--readonly") for text, _ in line.options)
    codes = tuple(line.operands[1:])
    return Changes((), codes) if is_reading else Changes(_all(line.operands[:1]).files, (*codes, *line.values("-cmd")))


def _python(arguments: Words) -> Changes:
    """`python -m json.tool FILE` reads; everything else may do anything."""
    texts = [word.text for word in arguments]
    if texts[:2] == ["-m", "json.tool"] and len([text for text in texts[2:] if not text.startswith("-")]) < 2:
        return Changes()
    return Changes(_all(arguments).files, arguments)


_GIT_READ_NAMES = """
    add archive bisect blame branch bundle cat-file check-ignore commit config count-objects describe diff diff-tree fetch
    for-each-ref fsck grep help init log ls-files ls-remote ls-tree merge-base name-rev notes push reflog remote rev-list
    rev-parse shortlog show show-ref status tag var version whatchanged worktree stash
"""
_GIT_READS = frozenset(_GIT_READ_NAMES.split())


def _git(arguments: Words) -> Changes:
    line = _taken(arguments, "-C -c --git-dir --work-tree --namespace --exec-path")
    command = next(
        (n for n, word in enumerate(arguments) if line.operands and word is line.operands[0]), len(arguments)
    )
    name = line.operands[0].text if line.operands else ""
    settings = tuple(line.values("-c"))  # some of them are commands
    is_index = name == "rm" and "--cached" in [word.text for word in arguments]
    if name in _GIT_READS or not name or is_index:
        written = _taken(arguments[command + 1 :], "-o --output").values("-o", "--output")
        return Changes(tuple(Change(word) for word in written), settings)
    within = next(_taken(arguments[:command], "-C -c --git-dir --work-tree").values("-C"), None)
    words = [word if within is None else _inside_of(within, word) for word in arguments[command + 1 :]]
    return Changes(_all(words, deep=name in ("rm", "mv")).files, settings)


def _inside_of(folder: Word, word: Word) -> Word:
    is_relative = not word.text.startswith(("/", "-", "~"))
    return Word(f"{folder.text}/{word.text}", f"{folder.hidden} {word.hidden}".strip()) if is_relative else word


def _downloads(line: _Line) -> list[Word]:
    return [Word(word.text.rstrip("/").rpartition("/")[2]) for word in line.operands if line.has("-O", "--remote-name")]


_PROGRAMS: dict[str, Callable[[Words], Changes]] = {
    **dict.fromkeys(("rm", "unlink", "rmdir", "shred", "srm", "trash", "trash-put", "rimraf", "wipe"), _removes),
    **dict.fromkeys(
        ("chmod", "chown", "chgrp", "chattr", "setfacl", "chflags", "xattr", "touch", "truncate"), _changes_operands
    ),
    **dict.fromkeys(("mkdir", "mkfifo", "mknod", "tee", "sponge", "split", "csplit"), _all_words),
    **dict.fromkeys(("cp", "gcp", "install", "rsync", "scp", "ditto", "pax"), _copies),
    **dict.fromkeys(("mv", "gmv", "rename", "exch"), _moves),
    **dict.fromkeys(("ln", "link"), _links),
    **dict.fromkeys(("sed", "gsed"), _sed),
    **dict.fromkeys(("awk", "gawk", "mawk", "nawk"), _awk),
    **dict.fromkeys(("python", "python3", "python2"), _python),
    **dict.fromkeys(("tar", "bsdtar", "gtar"), _tar),
    **dict.fromkeys(("sqlite3", "sqlite"), _sqlite),
    **dict.fromkeys(("uniq", "xxd"), _second),
    "curl": _writes_option("-o", "--output", "-D", "--dump-header", "-c", "--cookie-jar", "--trace", also=_downloads),
    "wget": _writes_option("-O", "--output-document", "-o", "--output-file", "-P", "--directory-prefix", "-a"),
    "sort": _writes_option("-o", "--output"),
    "yq": _writes_option("-i", also=lambda line: line.operands if line.has("-i", "--inplace") else []),
    "dd": _dd,
    "find": _find,
    "gfind": _find,
    "git": _git,
}

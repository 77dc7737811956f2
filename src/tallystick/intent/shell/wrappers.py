"""Programs that run the program in their arguments.

Owns what `sudo`, `env`, `xargs` and similar leave of a command line, and which words are shell text. Must not know the
grammar. Sources: the manual pages of coreutils, findutils, sudo, util-linux; POSIX for `sh`.
"""

from __future__ import annotations

import re
from itertools import pairwise

from msgspec.structs import replace

from tallystick.catalog.loads import LOADING
from tallystick.catalog.programs import names_of, programs, programs_with
from tallystick.intent.programs.arguments import split_lines, split_words
from tallystick.intent.shell.feeds import Feed
from tallystick.intent.shell.starters import (
    FOLDERS,
    TOUCHED,
    WRAPPERS,
    after_options,
    lines,
    started,
    started_text,
    takes_next,
    within,
)
from tallystick.model.intent import Operation
from tallystick.model.pattern import pattern_of
from tallystick.model.script import HOLE, Word

Words = tuple[Word, ...]

_PARALLEL_OPTIONS = "-j --jobs -a --arg-file --joblog --results -N -n --delay"
_MOST_WORDS = 64
_ELEVATES = programs_with("wrapper-elevates")
_SHELLS = programs_with("text-shell")
SHELL_OPTION = pattern_of(r"[-+][a-zA-Z]{0,30}[oO][a-zA-Z]{0,30}|--(?:rcfile|init-file)")
"""Options of shells that take the next word, also among joined letters: `-euo pipefail`."""
_ASSIGNMENT = pattern_of(r"[A-Za-z_]\w*\+?=", re.ASCII)
_REPLACES = frozenset({"-I", "--replace"})
_NULL_FLAG = pattern_of(r"-[rtxop]{0,4}0[rtxop]{0,4}|--null")
_COMMAND_FLAG = pattern_of(r"-[a-zA-Z]*c[a-zA-Z]*")


def unwrapped(name: str, arguments: Words, feed: Feed) -> Words | None:
    """The command line in the arguments of a wrapper; None if the program is none, empty if it runs nothing.

    `feed` is what reaches its standard input: `xargs` makes arguments of it.
    """
    if name.rpartition("/")[2] == "tally":
        return _after_dashes(arguments)
    if name == "parallel":
        return _parallel(arguments, feed)
    if name == "direnv":
        if arguments[:1] and arguments[0].text == "exec":
            return arguments[2:]
        return None
    if name == "command" and arguments and arguments[0].text in ("-v", "-V"):
        return None
    rest = within(name, arguments)
    if rest is None:
        return started(name, arguments)
    if name == "xargs" and rest:
        return _with_input(arguments, rest, feed)
    return rest if name in WRAPPERS else _renamed(name, rest)


def _renamed(name: str, rest: Words) -> Words:
    """`uv run x.py` runs Python with the file; `cmake -E` has words of its own for common programs."""
    if name == "cmake" and rest:
        return (*map(Word, _OF_CMAKE.get(rest[0].text, rest[0].text).split()), *rest[1:])
    if rest and rest[0].text.endswith(".py"):
        return (Word("python"), *rest)
    return rest


def assigned(words: Words) -> dict[str, Word]:
    """Variables that a wrapper sets for what it runs, of those that make programs load something: `env BASH_ENV=x sh y`."""
    pairs = [(word.text.partition("=")[0], word) for word in words]
    return {name: replace(word, text=word.text.partition("=")[2]) for name, word in pairs if name in LOADING}


_OF_CMAKE = {
    "remove": "rm",
    "remove_directory": "rm -r",
    "copy": "cp",
    "copy_if_different": "cp",
    "copy_directory": "cp -r",
    "make_directory": "mkdir -p",
    "rename": "mv",
    "create_symlink": "ln -s",
    "create_hardlink": "ln",
}


_GIT_PROGRAM = pattern_of(r"(?:.*[/\\]git-core[/\\]|\0/)?git-([a-z][a-z-]{1,40})(?:\.exe)?")


def as_git(words: Words) -> Words:
    """`git-reset`, `/usr/lib/git-core/git-reset` and `$(git --exec-path)/git-reset` are `git reset`."""
    if not words or "git-" not in words[0].text:
        return words
    found = _GIT_PROGRAM.fullmatch(words[0].text)
    is_other = found is None or (HOLE in words[0].text and "--exec-path" not in words[0].hidden)
    if found is None or is_other or f"git-{found[1]}" in programs():
        return words
    return (Word("git"), Word(found[1]), *words[1:])


def is_wrapper(name: str) -> bool:
    """Whether a program does nothing but run another one."""
    return name in WRAPPERS or name in _ELEVATES or name == "parallel"


def elevates(name: str) -> bool:
    """Whether a wrapper runs the program with other rights."""
    return name in _ELEVATES


def touched(name: str, arguments: Words) -> list[tuple[Operation, Word]]:
    """What a wrapper itself does to files."""
    if name == "script":
        rest = after_options(arguments, frozenset(("-c", "--command")))
        return [(Operation.WRITE, rest[0] if rest else Word("typescript"))]
    if name not in TOUCHED:
        return []
    operation, options = TOUCHED[name]
    if options:
        return [(operation, file) for flag, file in pairwise(arguments) if flag.text in options]
    rest = after_options(arguments, WRAPPERS[name])
    return [(operation, word) for word in rest[:1] if not word.text.isdecimal()]


def folder(name: str, arguments: Words) -> Word | None:
    """The folder that a wrapper changes to before it runs the program."""
    options = FOLDERS.get(name, frozenset())
    return next((value for flag, value in pairwise(arguments) if flag.text in options), None)


def _parallel(arguments: Words, feed: Feed) -> Words:
    """The command line that `parallel` runs, with a hole for each argument that it gives."""
    rest = after_options(arguments, frozenset(_PARALLEL_OPTIONS.split()))
    end = next((n for n, word in enumerate(rest) if word.text in (":::", "::::")), len(rest))
    given = rest[end + 1 :]
    said = " ".join(f"{word.text} {word.hidden}" for word in given)
    is_told = bool(given) and rest[end].text == ":::" and all(word.is_known and word.text != ":::" for word in given)
    if len(given) == 1 and is_told:
        read = given[0]
    else:
        read = Word(HOLE, said or feed.text, feed.inputs)
    if any("{}" in word.text for word in rest[:end]):
        return replaced(rest[:end], "{}", read)
    if rest[:end] and is_told and len(given) <= _MOST_WORDS:
        return (*rest[:end], *given)
    if rest[:end]:
        return (*rest[:end], read)
    return ()


_TMUX_RUNS = names_of("tmux", "runs")
_TMUX_TAKES = frozenset(["-s", "-n", "-c", "-t", "-F", "-x", "-y", "-e", "-p", "-T", "-w"])
_KEYS = frozenset({"Enter", "C-m", "KPEnter", "C-c", "C-l", "C-d", "Space"})


def _typed(arguments: Words) -> Word | None:
    """What `tmux` starts in a terminal, or types into one."""
    rest = after_options(arguments, frozenset({"-L", "-S", "-f"}))
    if not rest or rest[0].text not in _TMUX_RUNS:
        return None
    words = tuple(word for word in after_options(rest[1:], _TMUX_TAKES) if word.text not in _KEYS)
    if words:
        return _sentence(words)
    return None


_MEASURING = """
-w -m -M -r -s -p -c -n -L -P -D -S -u --warmup --min-runs --max-runs --runs --setup --prepare --cleanup --shell --output
--export-json --export-csv --export-markdown --command-name --parameter-list --parameter-scan --style --sort
"""
_HYPERFINE = frozenset(_MEASURING.split())


def _measured(arguments: Words) -> Word | None:
    """The texts that `hyperfine` runs one after the other."""
    found = [
        text
        for flag, text in pairwise(arguments)
        if flag.text in ("-s", "-p", "-c", "--setup", "--prepare", "--cleanup")
    ]
    rest = arguments
    while rest := after_options(rest, _HYPERFINE):
        found, rest = [*found, rest[0]], rest[1:]
    if found:
        return Word("\n".join(word.text for word in found), " ".join(word.hidden for word in found if word.hidden))
    return None


def _one_text(arguments: Words) -> Word | None:
    """A whole command line in one word of `parallel`, with the first of the arguments that it gives; those, without one."""
    rest = after_options(arguments, frozenset(_PARALLEL_OPTIONS.split()))
    if rest and rest[0].text == ":::":
        return lines(rest[1 : _MOST_WORDS + 1])
    if not rest or " " not in rest[0].text.strip():
        return None
    given = next((rest[n + 1] for n, word in enumerate(rest[:-1]) if word.text == ":::"), None)
    if given is None or not given.is_known:
        return None
    if "{}" in rest[0].text:
        text = rest[0].text
    else:
        text = f"{rest[0].text} {{}}"
    return Word(text.replace("{}", given.text), f"{rest[0].hidden} {given.hidden}".strip(), given.commands)


def _after_dashes(words: Words) -> Words | None:
    """What `tally run -- PROGRAM…` runs."""
    at = next((n for n, word in enumerate(words) if word.text == "--"), None)
    if at is None or not {"run", "acp", "mcp"} & {word.text for word in words[:at]}:
        return None
    return words[at + 1 :]


def _with_input(arguments: Words, command: Words, feed: Feed) -> Words:
    """The command line that xargs makes, with a hole for what it reads where that is unknown."""
    mark = next((b.text for a, b in pairwise(arguments) if takes_next(a.text, _REPLACES)), None)
    mark = mark or next((word.text[2:] for word in arguments if word.text.startswith("-I") and word.text != "-I"), None)
    read = Word(HOLE, feed.text, feed.inputs)
    told = ""
    if feed.word is not None and feed.word.is_known:
        told = feed.word.text
    if mark is not None:
        given = split_lines(told)
        return replaced(command, mark, Word(given[0].strip()) if len(given) == 1 else read)
    mark = next((b.text for a, b in pairwise(arguments) if a.text in ("-d", "--delimiter")), None)
    is_lines = mark in ("\n", "\\n", "\\0") or any(_NULL_FLAG.fullmatch(word.text) for word in arguments)
    # `told` has lines for NULs
    if is_lines:
        given = [part for part in told.split("\n") if part]
    else:
        given = split_words(told)
    is_plain = is_lines or (mark is None and not set("'\"\\") & set(told))
    if given and is_plain and len(given) <= _MOST_WORDS:
        return (*command, *map(Word, given))
    return (*command, read)


def replaced(words: Words, mark: str, value: Word) -> Words:
    """Words with a placeholder filled."""
    return tuple(
        Word(word.text.replace(mark, value.text), f"{word.hidden} {value.hidden}".strip(), value.commands)
        if mark in word.text
        else word
        for word in words
    )


def split_string(name: str, arguments: Words) -> Word | None:
    """The text that `env -S` splits into words, with the words after it."""
    if name != "env":
        return None
    for at, word in enumerate(arguments):
        if word.text[:1] != "-" and not (at and arguments[at - 1].text in WRAPPERS[name]):
            return None  # an assignment, or the program: what follows is not for `env`
        if word.text in ("-S", "--split-string") and at + 1 < len(arguments):
            return Word(" ".join(word.text for word in arguments[at + 1 :]), arguments[at + 1].hidden)
        for prefix in ("-S", "--split-string="):
            if word.text.startswith(prefix) and word.text != prefix:
                return Word(word.text.removeprefix(prefix), word.hidden)
    return None


def positional(name: str, arguments: Words) -> Words:
    """What `$0`, `$1` and so on are in the text that `sh -c` runs."""
    text = None
    if name in _SHELLS:
        text = _after_flag(arguments)
    at = next((n for n, word in enumerate(arguments) if word is text), len(arguments))
    return arguments[at + 1 :]


def shell_text(name: str, arguments: Words) -> Word | None:
    """What a program takes as shell text from its arguments: `sh -c`, `eval`, `trap`, `su -c`, `watch`."""
    if name in _SHELLS:
        return _after_flag(arguments)
    if name in ("eval", "watch"):
        words = arguments if name == "eval" else after_options(arguments, frozenset({"-n", "--interval"}))
        return _sentence(words) if words else None
    if name == "trap":
        return (
            None
            if arguments and arguments[0].text in ("-", "-p", "-l")
            else next((word for word in arguments if not word.text.startswith("-")), None)
        )
    if name == "sg" and len(arguments) == 2:
        return arguments[1]
    if name == "tmux":
        return _typed(arguments)
    if name == "hyperfine":
        return _measured(arguments)
    if name == "parallel":
        return _one_text(arguments)
    return started_text(name, arguments)


def _after_flag(arguments: Words) -> Word | None:
    at = 0
    seen = False
    while at < len(arguments) and arguments[at].text[:1] in ("-", "+") and len(arguments[at].text) > 1:
        text = arguments[at].text
        seen = seen or (_COMMAND_FLAG.fullmatch(text) is not None)
        if SHELL_OPTION.fullmatch(text):
            at += 2
        else:
            at += 1
    if seen and at < len(arguments):
        return arguments[at]
    return None


def reads_its_input(name: str, arguments: Words) -> bool:
    """Whether a shell runs what reaches its standard input."""
    if name in ("source", "."):
        return bool(arguments) and (arguments[0].text in ("/dev/stdin", "/proc/self/fd/0") or not arguments[0].is_known)
    if name not in _SHELLS or shell_text(name, arguments) is not None:
        return False
    if any(word.text in ("--version", "--help") for word in arguments):
        return False
    options = frozenset(word.text for word in arguments if SHELL_OPTION.fullmatch(word.text))
    operands = [word for word in after_options(arguments, options) if word.text != "-"]
    is_s = any(word.text == "-s" for word in arguments)
    return is_s or not operands or not operands[0].is_known or operands[0].text in ("/dev/stdin", "/proc/self/fd/0")


def executed(arguments: Words) -> list[Words]:
    """The command lines after `-exec` and its like in the arguments of `find`, `{}` being a hole."""
    starts = " ".join(f"{word.text} {word.hidden}" for word in arguments[: _first_test(arguments)])
    found, at = [], 0
    while at < len(arguments):
        if arguments[at].text in ("-exec", "-execdir", "-ok", "-okdir"):
            end = next((n for n in range(at + 1, len(arguments)) if arguments[n].text in (";", "+")), len(arguments))
            found.append(replaced(arguments[at + 1 : end], "{}", Word(HOLE, starts)))
            at = end
        at += 1
    return found


def _first_test(arguments: Words) -> int:
    return next((n for n, word in enumerate(arguments) if n and word.text[:1] in ("-", "(", "!")), len(arguments))


def _sentence(words: Words) -> Word:
    commands = tuple(dict.fromkeys(n for word in words for n in word.commands))
    return Word(" ".join(word.text for word in words), " ".join(word.hidden for word in words if word.hidden), commands)

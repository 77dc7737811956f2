"""Programs that run the program in their arguments.

Owns what `sudo`, `env`, `xargs` and their like leave of a command line, and which words are shell text. Must not know the
grammar. Sources: the manual pages of coreutils, findutils, sudo, util-linux; POSIX for `sh`.
"""

from __future__ import annotations

import re
from itertools import pairwise

from tallystick.model.script import HOLE, Word

Words = tuple[Word, ...]

# Each wrapper: its options that take the next word, and how many words of its own stand before the program.
_WRAPPERS: dict[str, tuple[frozenset[str], int]] = {
    name: (frozenset(options.split()), own)
    for name, options, own in (
        ("env", "-u --unset -C --chdir", 0),
        ("sudo", "-u -g -h -p -C -r -t -T -U -D -R --user --group --host --prompt --chdir --chroot", 0),
        ("doas", "-u -C", 0),
        ("nice", "-n --adjustment", 0),
        ("ionice", "-c -n -p --class --classdata", 0),
        ("nohup", "", 0),
        ("setsid", "", 0),
        ("time", "-f -o --format --output", 0),
        ("timeout", "-k -s --kill-after --signal", 1),
        ("stdbuf", "-i -o -e --input --output --error", 0),
        ("command", "", 0),
        ("builtin", "", 0),
        ("exec", "-a", 0),
        ("coproc", "", 0),
        ("chronic", "", 0),
        ("unbuffer", "", 0),
        ("caffeinate", "-t -w", 0),
        ("busybox", "", 0),
        ("toybox", "", 0),
        ("fakeroot", "", 0),
        ("flock", "-w -E --timeout", 1),
        ("chroot", "", 1),
        ("strace", "-o -e -p -s -u", 0),
        ("xargs", "-I -i -n -P -L -d -E -s -a --max-args --max-procs --max-lines --delimiter --arg-file --replace", 0),
    )
}
_SHELLS = frozenset({"sh", "bash", "zsh", "dash", "ksh", "mksh", "ash", "fish", "rbash"})
_SHELL_OPTIONS = frozenset({"-o", "+o", "-O", "+O", "--rcfile", "--init-file"})
_TEXT_AFTER = dict.fromkeys(("su", "runuser", "script", "flock", "sg"), ("-c", "--command"))
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*\+?=", re.ASCII)
_COMMAND_FLAG = re.compile(r"-[a-zA-Z]*c[a-zA-Z]*")


def unwrapped(name: str, arguments: Words, fed: str) -> Words | None:
    """The command line in the arguments of a wrapper; None if the program is none, empty if it runs nothing.

    `fed` is what reaches its standard input: `xargs` makes arguments of it.
    """
    if name.rpartition("/")[2] == "tally":
        return _after_dashes(arguments)
    if name not in _WRAPPERS or (name == "command" and arguments and arguments[0].text in ("-v", "-V")):
        return None
    options, own = _WRAPPERS[name]
    rest = _after_options(arguments, options)
    while name in ("env", "sudo", "doas") and rest and _ASSIGNMENT.match(rest[0].text):
        rest = rest[1:]
    rest = rest[own:]
    return _with_input(arguments, rest, fed) if name == "xargs" and rest else rest


def _after_dashes(words: Words) -> Words | None:
    """What `tally run -- PROGRAM…` runs."""
    at = next((n for n, word in enumerate(words) if word.text == "--"), None)
    return None if at is None or not {"run", "acp", "mcp"} & {word.text for word in words[:at]} else words[at + 1 :]


def _after_options(words: Words, with_value: frozenset[str]) -> Words:
    at = 0
    while at < len(words) and words[at].text.startswith("-") and words[at].text != "-":
        if words[at].text == "--":
            return words[at + 1 :]
        at += 2 if words[at].text in with_value else 1
    return words[at:]


def _with_input(arguments: Words, command: Words, fed: str) -> Words:
    """The command line that xargs makes, with a hole for what it reads."""
    read = Word(HOLE, fed)
    mark = next((b.text for a, b in pairwise(arguments) if a.text in ("-I", "--replace")), None)
    mark = mark or next((word.text[2:] for word in arguments if word.text.startswith("-I") and word.text != "-I"), None)
    if mark is None:
        return (*command, read)
    return replaced(command, mark, read)


def replaced(words: Words, mark: str, value: Word) -> Words:
    """Words with a placeholder filled."""
    return tuple(
        Word(word.text.replace(mark, value.text), f"{word.hidden} {value.hidden}") if mark in word.text else word
        for word in words
    )


def split_string(name: str, arguments: Words) -> Word | None:
    """The text that `env -S` splits into words."""
    if name != "env":
        return None
    for at, word in enumerate(arguments):
        if word.text in ("-S", "--split-string") and at + 1 < len(arguments):
            return arguments[at + 1]
        for prefix in ("-S", "--split-string="):
            if word.text.startswith(prefix) and word.text != prefix:
                return Word(word.text.removeprefix(prefix), word.hidden)
    return None


def positional(name: str, arguments: Words) -> Words:
    """What `$0`, `$1` and so on are in the text that `sh -c` runs."""
    text = _after_flag(arguments) if name in _SHELLS else None
    at = next((n for n, word in enumerate(arguments) if word is text), len(arguments))
    return arguments[at + 1 :]


def shell_text(name: str, arguments: Words) -> Word | None:
    """What a program takes as shell text from its arguments: `sh -c`, `eval`, `trap`, `su -c`, `watch`."""
    if name in _SHELLS:
        return _after_flag(arguments)
    if name in ("eval", "watch"):
        words = arguments if name == "eval" else _after_options(arguments, frozenset({"-n", "--interval"}))
        return _sentence(words) if words else None
    if name == "trap":
        return next((word for word in arguments if not word.text.startswith("-")), None)
    if name == "sg" and len(arguments) == 2:
        return arguments[1]
    return next((text for flag, text in pairwise(arguments) if flag.text in _TEXT_AFTER.get(name, ())), None)


def _after_flag(arguments: Words) -> Word | None:
    at = 0
    seen = False
    while at < len(arguments) and arguments[at].text[:1] in ("-", "+") and len(arguments[at].text) > 1:
        text = arguments[at].text
        seen = seen or (_COMMAND_FLAG.fullmatch(text) is not None)
        at += 2 if text in _SHELL_OPTIONS else 1
    return arguments[at] if seen and at < len(arguments) else None


def reads_its_input(name: str, arguments: Words) -> bool:
    """Whether a shell runs what reaches its standard input."""
    if name in ("source", "."):
        return bool(arguments) and (arguments[0].text in ("/dev/stdin", "/proc/self/fd/0") or not arguments[0].is_known)
    if name not in _SHELLS or shell_text(name, arguments) is not None:
        return False
    operands = [word for word in _after_options(arguments, _SHELL_OPTIONS) if word.text != "-"]
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
    return Word(" ".join(word.text for word in words), " ".join(word.hidden for word in words if word.hidden))

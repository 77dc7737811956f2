"""Commands that would stop the recorder or weaken the record.

Owns which signals, service commands and commands of `tally` those are. Must not know paths or policies.
"""

from __future__ import annotations

import re
from collections.abc import Callable

import msgspec

from tallystick.catalog.programs import programs_with
from tallystick.model.pattern import pattern_of
from tallystick.model.script import Command, Word


class Recorder(msgspec.Struct, frozen=True, kw_only=True):
    """The resident recorder, as a process."""

    process: Callable[[], int | None]
    """Its process id, asked only when a command sends a signal; None if it does not run."""
    line: str = "python -I -m tallystick.service"
    """Its command line, as `pkill -f` sees it."""


_OWN = pattern_of(r"(?<![\w.-])(?:tally(?:stick)?(?![\w-])|recorder\.(?:pid|sock)(?!\w))")
_OWN_PATH = pattern_of(r"(?<![\w-])\.?tally(?:stick)?(?![\w-])")
_BRACKETED = pattern_of(r"\[(\w)\]")
"""`ps | grep '[t]ally'` finds the process and not itself."""
_LOOKED_UP = pattern_of(r"\b(?:which|whence|command\s{1,3}-[vV]|type\s{1,3}-[pP]{1,2})\s{1,3}tally(?:stick)?(?![\w-])")
_MOST_HIDDEN = 400
_OWN_FOLDER = pattern_of(r"\.tally(?![\w-])")
_META = pattern_of(r"\\?[^\w\s/:.,=-]+|\\\w|\.\*|\.\+")
_TALLY = {
    "erase": None,
    "uninstall": None,
    "secrets": None,
    "retention": None,
    "key": ("show", "list"),
    "signer": ("status",),
    "trust": ("list", "show"),
    "policy": ("list", "show", "words", "schema", "check", "test", "explain", "backtest", "suggest"),
    "alert": ("show",),
    "config": ("show", "get", "path"),
    "service": ("status", "run", "start"),
}
"""Commands that agents may not run; of those with a tuple, these are harmless."""
_LAUNCHER = pattern_of(r"python[\d.]*|pypy[\d.]*|npx|uvx|uv|pipx|poetry|pdm|hatch|rye")
_NAME = pattern_of(r"(?:.*/)?(?:tally|tallystick(?:\.cli)?)")
_INSTALLERS = programs_with("installs")
_STOPPING = frozenset({"stop", "disable", "mask", "kill", "restart", "unload", "bootout", "remove"})


def stops(command: Command, recorder: Recorder) -> bool:
    """Whether a command ends the recorder's process or takes Tallystick away."""
    name = command.program.rpartition("/")[2]
    texts = [word.text for word in command.arguments]
    match name:
        case "kill" | "skill":
            return _kills(command.arguments, recorder)
        case "pkill" | "killall" | "killall5":
            return any(_is_meant(text, recorder, whole="-f" in texts) for text in texts if not text.startswith("-"))
        case "fuser":
            return any(text[:1] == "-" and "k" in text for text in texts) and any(map(_OWN_PATH.search, texts))
        case "gdb" | "lldb":
            process = recorder.process()
            return process is not None and any(str(process) in text for text in texts)
        case "rm" | "mv" | "chmod" | "chown" | "truncate" | "shred" | "unlink" | "ln" | "cp" | "tee" | "install" | "dd":
            return any(_LOOKED_UP.search(word.hidden[:_MOST_HIDDEN]) for word in command.arguments[:50])
        case "systemctl" | "launchctl" | "service":
            return bool(_STOPPING & set(texts)) and any("tally" in text for text in texts)
        case _:
            return name in _INSTALLERS and "uninstall" in texts and any("tallystick" in text for text in texts)


def weakens(command: Command) -> bool:
    """Whether a command is one of Tallystick's own that agents may not run."""
    words = [word.plain for word in command.words]
    launched = None
    if words:
        launched = _LAUNCHER.fullmatch(words[0].rpartition("/")[2])
    at = next((n for n, word in enumerate(words[: 6 if launched else 1]) if _NAME.fullmatch(word)), None)
    if at is None:
        return False
    rest = _after_home(words[at + 1 :])
    if not rest or rest[0] not in _TALLY or "--help" in rest:
        return False
    harmless = _TALLY[rest[0]]
    return harmless is None or (len(rest) > 1 and rest[1] not in harmless)


def _after_home(words: list[str]) -> list[str]:
    while words and words[0].startswith("-"):
        if words[0] == "--home":
            words = words[2:]
        else:
            words = words[1:]
    return words


def names_process(code: str, recorder: Recorder) -> bool:
    """Whether code in any language sends a signal to the recorder, as far as its text tells."""
    if "kill" not in code:
        return False
    if _FINDS.search(code) is not None and _OWN.search(code) is not None:
        return True
    process = recorder.process()
    return process is not None and re.search(rf"(?<!\d){process}(?!\d)", code) is not None


_FINDS = pattern_of(r"\b(?:pgrep|pidof|process_iter|\bps\b)")


def weakens_by_code(code: str) -> bool:
    """Whether Python code calls one of Tallystick's own commands that agents may not run, as far as its text tells."""
    return _IMPORTS.search(code) is not None and any(
        harmless is None and re.search(rf"\b{name}\b", code) for name, harmless in _TALLY.items()
    )


_IMPORTS = pattern_of(r"\b(?:from|import)\s{1,9}tallystick\b|import_module\(.tallystick|run_module\(.tallystick")


def _kills(arguments: tuple[Word, ...], recorder: Recorder) -> bool:
    targets = [word for n, word in enumerate(arguments) if not (n == 0 and word.text.startswith("-"))]
    said = [_BRACKETED.sub(r"\1", f"{word.text} {word.hidden}") for word in targets]
    if any(_OWN.search(text) or _OWN_FOLDER.search(text) for text in said):
        return True
    numbers = {word.text.lstrip("-") for word in targets}
    if "-1" in {word.text for word in targets}:
        return True
    process = recorder.process()
    return process is not None and str(process) in numbers


def _is_meant(pattern: str, recorder: Recorder, *, whole: bool) -> bool:
    """Whether `pkill PATTERN` would find the recorder.

    Expressions are compared by their plain pieces, in order: one that an agent wrote is never run, it may take forever.
    """
    if _OWN.search(pattern):
        return True
    line = "python"
    if whole:
        line = recorder.line
    at = 0
    for piece in _META.split(pattern):
        found = line.find(piece, at)
        if found < 0:
            return False
        at = found + len(piece)
    return True

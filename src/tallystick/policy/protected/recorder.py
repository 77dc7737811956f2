"""Commands that would stop the recorder or take it away.

Owns which signals and service commands those are. Must not know paths or policies.
"""

from __future__ import annotations

import re
from collections.abc import Callable

import msgspec

from tallystick.model.pattern import pattern_of
from tallystick.model.script import Command, Word
from tallystick.policy.protected.own_package import removes_package


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
            return removes_package(command)


def names_process(code: str, recorder: Recorder) -> bool:
    """Whether code in any language sends a signal to the recorder, as far as its text tells."""
    if "kill" not in code:
        return False
    if _FINDS.search(code) is not None and _OWN.search(code) is not None:
        return True
    process = recorder.process()
    return process is not None and re.search(rf"(?<!\d){process}(?!\d)", code) is not None


_FINDS = pattern_of(r"\b(?:pgrep|pidof|process_iter|\bps\b)")


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

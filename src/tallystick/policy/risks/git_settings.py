"""Git's settings that name a program which git runs, or a place that it trusts.

Owns the names of these settings, and how git and others write them. The user's own settings count whatever they are, since
they hold in every project. Must not know what follows. Source: git-config(1), gitattributes(5).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from tallystick.model.intent import Domain, Operation
from tallystick.policy.reading import CallReading
from tallystick.policy.risks.programs import Started, programs
from tallystick.policy.risks.risk import Risk
from tallystick.policy.settings import Settings

RISKS: dict[str, str] = {
    "changes-git": "Git's settings name a program that it runs or a place that it trusts, or are for all projects.",
}


def risks(reading: CallReading, settings: Settings) -> Iterator[Risk]:
    """What a call does as a whole, of RISKS."""
    for started in programs(reading):
        if started.name == "git" and _git(started):
            yield Risk("changes-git", started.spelled)
    yield from _written(reading)


_GIT_RUNS = re.compile(
    r"core\.(?:hookspath|fsmonitor|sshcommand|editor|pager|askpass|gitproxy|attributesfile|worktree|alternaterefscommand)|"
    r"sequence\.editor|alias\..*|credential\..*|diff\.external|diff\..*\.(?:command|textconv)|merge\..*\.driver|"
    r"filter\..*\.(?:clean|smudge|process)|gpg\.(?:.*\.)?program|gpg\.ssh\.defaultkeycommand|pager\..*|interactive\.difffilter|"
    r"init\.templatedir|include\.path|includeif\..*|url\..*\.(?:push)?insteadof|https?\..*|protocol\..*|"
    r"(?:difftool|mergetool|browser|man)\..*\.(?:cmd|path)|(?:web|help)\.browser|sendemail\..*|trailer\..*\.(?:command|cmd)|"
    r"remote\..*\.(?:uploadpack|receivepack|vcs|proxy)|submodule\..*\.update|uploadpack\.packobjectshook|safe\..*|notes\..*cmd"
)
_SHOWS = re.compile(
    r"cat|less(?: -\w+)*|more|bat|delta|true|vi|vim|nvim|nano|emacs|code --wait|false|cache(?: --timeout[= ]\d+)?|"
)
_GIT_READS = (
    "--get", "--get-all", "--get-regexp", "--get-urlmatch", "--get-color", "--get-colorbool", "-l", "--list", "--show-origin",
    "--show-scope", "--name-only", "--unset", "--unset-all", "--remove-section", "get", "list", "unset", "remove-section",
)  # fmt: skip
_GIT_TAKES = ("-C", "-c", "--git-dir", "--work-tree", "--namespace", "--exec-path", "--config-env")


def _git(started: Started) -> bool:
    words = started.words
    at = _verb(words)
    if at < len(words):
        verb, rest = words[at], words[at + 1 :]
    else:
        verb, rest = "", ()
    if verb == "config":
        return _git_config(rest)
    if verb in ("clone", "init"):
        kept = [word for flag, word in pairwise(rest) if flag in ("-c", "--config") and verb == "clone"]
        is_template = (
            any(word.startswith("--template=") and word != "--template=" for word in rest) or "--template" in rest
        )
        return is_template or any(_GIT_RUNS.fullmatch(word.partition("=")[0].lower()) for word in kept)
    return False


def _verb(words: tuple[str, ...]) -> int:
    at = 0
    while at < len(words) and words[at].startswith("-"):
        if words[at] in _GIT_TAKES:
            at += 2
        else:
            at += 1
    return at


def _git_config(words: tuple[str, ...]) -> bool:
    verb = next((word for word in words if word[:1] != "-"), "")
    if verb in _GIT_READS or any(word in _GIT_READS for word in words if word[:1] == "-"):
        return False
    if any(word in ("-e", "--edit", "edit") for word in words[:3]):
        return True
    operands = _operands(words)
    if len(operands) < 2:
        return False
    key, value = operands[0].lower(), operands[1]
    if any(word in ("--global", "--system") for word in words):
        return True
    is_plain = _SHOWS.fullmatch(value) is not None and not key.startswith(("http", "protocol", "safe"))
    return _GIT_RUNS.fullmatch(key) is not None and not is_plain


def _operands(words: tuple[str, ...]) -> list[str]:
    found: list[str] = []
    takes = ("-f", "--file", "--blob", "--type", "-t", "--default", "--comment", "--value")
    for before, word in zip(("", *words), words, strict=False):
        if (word[:1] != "-" or found) and before not in takes and word not in ("set", "add", "--add", "--replace-all"):
            found.append(word)
    return found


def _written(reading: CallReading) -> Iterator[Risk]:
    """A repository's settings that are written by something else than git."""
    ran = ""
    for intent in reading.effects.intents:
        if intent.domain is Domain.PROCESS and intent.operation is Operation.RUN:
            ran = intent.target
        elif intent.domain is Domain.FILE and intent.operation in _WRITES and _GIT_FILE.search(intent.target):
            is_redirect = bool(intent.words) and ">" in intent.words[0]
            if ran != "git" or is_redirect:
                yield Risk("changes-git", intent.target[:200])


_WRITES = frozenset((Operation.WRITE, Operation.APPEND, Operation.EDIT, Operation.COPY_DEST))
_GIT_FILE = re.compile(r"\.git/(?:(?:modules|worktrees)/.{1,200}/)?(?:config(?:\.worktree)?|info/attributes)\Z")

"""Version control that loses something, and settings of git that name a program which git runs or a place that it trusts.

Owns what the options of git, Mercurial, Subversion and similar mean for history that is rewritten and work that is
thrown away, and the names of such settings, however they are written. What becomes of single files of the working tree
is judged by the files themselves; the user's own settings count whatever they are, since they hold in every project.
Must not know what follows. Sources: git(1) and the pages of its commands, git-config(1), gitattributes(5); `hg help`;
the Subversion book, "svn Reference".
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from tallystick.intent.programs.git_call import GitCall
from tallystick.model.intent import Domain, Operation
from tallystick.model.pattern import pattern_of
from tallystick.model.script import HOLE, Command, Role, Word
from tallystick.policy.calls.reading import CallReading
from tallystick.policy.kinds.system import is_build_output
from tallystick.policy.risks.call_forms import Forms
from tallystick.policy.risks.programs import Started, called, programs, shown
from tallystick.policy.risks.risk import Risk
from tallystick.policy.settings import Settings

_SHARED = pattern_of(
    r"(?:main|master|trunk|dev|devel|develop|development|staging|stable|next|prod|production|live|release|releases|gh-pages"
    r"|head|@|default|integration|qa|uat|(?:release|releases|hotfix|support|v\d[\w.]*|stable|prod|maint)[-/].*|v?\d+(?:\.[\dx]+)+.*)",
    re.IGNORECASE,
)
"""Names of branches that more than one works on."""


def of_version_control(reading: CallReading) -> Iterator[Risk]:
    """What a call does to history and to work that is not committed."""
    yield from _OTHERS.found(programs(reading))
    for script in reading.scripts:
        calls = (one for one in script.commands if one.role is Role.PROGRAM and called(one) == "git")
        yield from _HISTORY.found(map(_taken, calls))


def _taken(command: Command) -> Started:
    """A call of git as a form reads it: `git-VERB`, its options, of which long ones keep their values, then its operands."""
    call = GitCall(command)
    options = [
        Word(f"{name}={value.text}") if value is not None and name[:2] == "--" else Word(name)
        for name, value in call.line.options
    ]
    return Started(f"git-{call.verb}", (*options, *call.line.operands), shown(command.words))


def _refs(started: Started) -> list[str]:
    return [word.text for word in started.given if word.text[:1] != "-"]


def _is_shared(name: str) -> bool:
    """Whether a branch is one that others work on; one whose name is unknown may be."""
    short = name.removeprefix("refs/heads/").removeprefix("refs/remotes/").removeprefix("origin/")
    return not short or HOLE in name or "*" in name or _SHARED.fullmatch(short) is not None


def _shared(started: Started, most: str) -> bool:
    return any(map(_is_shared, _refs(started)[: int(most)]))


def _loses_refs(started: Started) -> bool:
    """Whether a push takes from a shared branch, or from a tag, what others may have."""
    is_forced, has_lease = started.has("-f", "--force"), started.has("--force-with-lease", "--force-if-includes")
    # With a lease no one's work is lost that was not seen, so the branch that one is on may be pushed.
    named = [ref for ref in _refs(started)[1:] if not (has_lease and not is_forced and ref in ("HEAD", "@"))]
    return any(_is_ref_lost(ref, is_forced or has_lease, started.has("-d", "--delete")) for ref in named)


def _is_ref_lost(ref: str, is_forced: bool, is_deleting: bool) -> bool:
    is_forced = is_forced or ref.startswith("+")
    source, colon, target = ref.removeprefix("+").partition(":")
    name = target if colon else source
    if is_deleting or (colon and not source):
        return name.startswith("refs/tags/") or _is_shared(name)
    return is_forced and _is_shared(name)


def _only_built(started: Started) -> bool:
    """Whether all that is cleaned is what a build makes."""
    paths = [word for word in started.given if word.text[:1] != "-"]
    return bool(paths) and all(word.is_known and is_build_output(_parts(word.plain)) for word in paths)


def _parts(path: str) -> list[str]:
    return path.lower().rstrip("/").removeprefix("./").split("/")


_HISTORY = Forms("history", _loses_refs, _only_built, _shared)
_OTHERS = Forms("versions")


RISKS: dict[str, str] = {
    "changes-git": "Git's settings name a program that it runs or a place that it trusts, or are for all projects.",
}


def risks(reading: CallReading, settings: Settings) -> Iterator[Risk]:
    """What a call does as a whole, of RISKS."""
    for started in programs(reading):
        if started.name == "git" and _git(started):
            yield Risk("changes-git", started.spelled)
    yield from _written(reading)


_GIT_RUNS = pattern_of(
    r"core\.(?:hookspath|fsmonitor|sshcommand|editor|pager|askpass|gitproxy|attributesfile|worktree|alternaterefscommand)|"
    r"sequence\.editor|alias\..*|credential\..*|diff\.external|diff\..*\.(?:command|textconv)|merge\..*\.driver|"
    r"filter\..*\.(?:clean|smudge|process)|gpg\.(?:.*\.)?program|gpg\.ssh\.defaultkeycommand|pager\..*|interactive\.difffilter|"
    r"init\.templatedir|include\.path|includeif\..*|url\..*\.(?:push)?insteadof|https?\..*|protocol\..*|"
    r"(?:difftool|mergetool|browser|man)\..*\.(?:cmd|path)|(?:web|help)\.browser|sendemail\..*|trailer\..*\.(?:command|cmd)|"
    r"remote\..*\.(?:uploadpack|receivepack|vcs|proxy)|submodule\..*\.update|uploadpack\.packobjectshook|safe\..*|notes\..*cmd"
)
_SHOWS = pattern_of(
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
_GIT_FILE = pattern_of(r"\.git/(?:(?:modules|worktrees)/.{1,200}/)?(?:config(?:\.worktree)?|info/attributes)\Z")

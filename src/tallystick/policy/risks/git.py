"""Version control that loses something, and settings of git that name a program which git runs or a place that it trusts.

Owns what the options of git, Mercurial, Subversion and similar mean for history that is rewritten and work that is
thrown away, and the names of such settings, however they are written. What becomes of single files of the working tree
is judged by the files themselves; the user's own settings count whatever they are, since they hold in every project.
Must not know what follows. Sources: git(1) and the pages of its commands, git-config(1), gitattributes(5); `hg help`;
the Subversion book, "svn Reference".
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import pairwise

from tallystick.intent.programs.git_call import GitCall
from tallystick.model.intent import Domain, Operation
from tallystick.model.pattern import pattern_of
from tallystick.model.script import HOLE, Command, Role
from tallystick.policy.calls.reading import CallReading
from tallystick.policy.kinds.system import is_build_output
from tallystick.policy.risks.call_forms import Forms
from tallystick.policy.risks.programs import Started, name_of, programs, shown
from tallystick.policy.risks.risk import Risk
from tallystick.policy.settings import Settings

_REWRITES = "rewrites-history"
_DISCARDS = "discards-work"
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
        for command in script.commands:
            if command.role is not Role.PROGRAM or not command.words:
                continue
            name = name_of(command.words[0].plain)
            if name == "git":
                yield from _of_git(command)


def _of_git(command: Command) -> Iterator[Risk]:
    call = GitCall(command)
    rule = _RULES.get(call.verb)
    word = None
    if rule is not None:
        word = rule(call)
    if word is not None:
        yield Risk(word, shown(command.words))


# git -----------------------------------------------------------------------------------------------------------------


def _is_shared(name: str) -> bool:
    """Whether a branch is one that others work on; one whose name is unknown may be."""
    short = name.removeprefix("refs/heads/").removeprefix("refs/remotes/").removeprefix("origin/")
    return not short or HOLE in name or "*" in name or _SHARED.fullmatch(short) is not None


def _push(call: GitCall) -> str | None:
    line = call.line
    if line.has("-n", "--dry-run"):
        return None
    if line.has("--mirror", "--prune"):
        return _REWRITES
    refs = line.operands[1:]
    is_forced = line.has("-f", "--force")
    if is_forced and (not refs or line.has("--all", "--tags", "--branches")):
        return _REWRITES
    is_deleting, has_lease = line.has("-d", "--delete"), line.has("--force-with-lease", "--force-if-includes")
    # With a lease no one's work is lost that was not seen, so the branch that one is on may be pushed.
    named = [ref.text for ref in refs if not (has_lease and not is_forced and ref.text in ("HEAD", "@"))]
    if any(_is_ref_lost(ref, is_forced or has_lease, is_deleting) for ref in named):
        return _REWRITES
    return None


def _is_ref_lost(ref: str, is_forced: bool, is_deleting: bool) -> bool:
    is_forced = is_forced or ref.startswith("+")
    source, colon, target = ref.removeprefix("+").partition(":")
    name = source
    if colon:
        name = target
    if is_deleting or (colon and not source):
        return name.startswith("refs/tags/") or _is_shared(name)
    return is_forced and _is_shared(name)


def _branch(call: GitCall) -> str | None:
    line = call.line
    is_forced = line.has("-D") or (line.has("-d", "--delete") and line.has("-f", "--force"))
    moves = line.has("-f", "--force") and not line.has("-d", "--delete", "-m", "-M", "-c", "-C")
    if is_forced:
        named = line.operands
    elif moves:
        named = line.operands[:1]
    else:
        named = []
    if any(_is_shared(word.text) for word in named):
        return _REWRITES
    return None


def _clean(call: GitCall) -> str | None:
    line = call.line
    if line.has("-n", "--dry-run", "-i", "--interactive"):
        return None
    paths = call.paths()
    if paths and all(word.is_known and is_build_output(_parts(word.plain)) for word in paths):
        return None
    return _DISCARDS


def _parts(path: str) -> list[str]:
    return path.lower().rstrip("/").removeprefix("./").split("/")


def _when(word: str, *options: str) -> Callable[[GitCall], str | None]:
    return lambda call: word if call.line.has(*options) else None


def _verbs(word: str, *verbs: str) -> Callable[[GitCall], str | None]:
    return lambda call: word if call.line.operand(0) in verbs else None


def _always(word: str) -> Callable[[GitCall], str | None]:
    return lambda call: None if call.line.has("-h", "--help", "--dry-run", "--analyze") else word


def _prunes(call: GitCall) -> str | None:
    """`gc --prune=now`, `prune`: what no branch leads to is gone at once, and with it the way back."""
    if call.line.has("-n", "--dry-run"):
        return None
    until = call.line.said("--prune", "--expire")
    if until in ("now", "all", "0") or (call.verb == "prune" and not until):
        return _REWRITES
    return None


def _update_ref(call: GitCall) -> str | None:
    if call.line.has("-d", "--delete", "--stdin"):
        return _REWRITES
    if len(call.line.operands) > 1 and _is_shared(call.line.operand(0)):
        return _REWRITES
    return None


def _submodule(call: GitCall) -> str | None:
    is_removal = call.line.operand(0) == "deinit" and call.line.has("-f", "--force")
    if is_removal:
        return _DISCARDS
    return None


_RULES: dict[str, Callable[[GitCall], str | None]] = {
    "push": _push,
    "branch": _branch,
    "clean": _clean,
    "reset": _when(_DISCARDS, "--hard"),
    "checkout": _when(_DISCARDS, "-f", "--force"),
    "switch": _when(_DISCARDS, "-f", "--force", "--discard-changes"),
    "checkout-index": _when(_DISCARDS, "-f", "--force"),
    "read-tree": _when(_DISCARDS, "--reset"),
    "stash": _verbs(_DISCARDS, "drop", "clear"),
    "submodule": _submodule,
    "reflog": _verbs(_REWRITES, "expire", "delete"),
    "gc": _prunes,
    "prune": _prunes,
    "update-ref": _update_ref,
    "symbolic-ref": _when(_REWRITES, "-d", "--delete"),
    "filter-branch": _always(_REWRITES),
    "filter-repo": _always(_REWRITES),
}
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

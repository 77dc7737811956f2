"""What projects may switch rules on for: publishing, resets of data, skipped hooks, pushes to a new repository.

Owns what git's own grammar is needed for; the rest is `catalog/call_forms.toml`. The rules are those of shipped/packs, off by
default: to many projects this is daily work. Sources: git-commit(1), git-push(1), githooks(5); husky's and lefthook's pages.
"""

from __future__ import annotations

from collections.abc import Iterator

from tallystick.intent.programs.git_call import GitCall
from tallystick.model.pattern import pattern_of
from tallystick.model.script import Command, Role, Script
from tallystick.policy.calls.reading import CallReading
from tallystick.policy.risks.call_forms import Forms
from tallystick.policy.risks.programs import Started, called, programs_and_run, shown
from tallystick.policy.risks.risk import Risk
from tallystick.policy.settings import Settings

RISKS: dict[str, str] = {
    "publishes": "A package, an image or a release is published.",
    "resets-data": "Volumes are removed with their data, or a framework empties the project's database.",
    "skips-hooks": "The hooks are skipped with which a project checks a commit or a push.",
    "pushes-elsewhere": "Commits are pushed to a repository that was named in this call, not to one that the project has.",
}
_FORMS = Forms("packs")
_OFF = {
    "HUSKY": ("0",),
    "LEFTHOOK": ("0", "false"),
    "HUSKY_SKIP_HOOKS": ("1", "true"),
    "HUSKY_SKIP_INSTALL": ("1",),
    "OVERCOMMIT_DISABLE": ("1",),
}
"""Variables that switch hooks off, and the values that do."""
_CHECKED = frozenset(("commit", "push", "merge", "am", "rebase", "cherry-pick"))
_HOOKS_OFF = pattern_of(r"(?i)core\.hookspath(?:=(?:/dev/null|/tmp\b.*|/var/tmp\b.*|)|)")
_NOWHERE = pattern_of(r"/dev/null|/tmp\b.*|/var/tmp\b.*|")
_UNSETS = frozenset(("--unset", "--unset-all", "unset"))
_ADDRESS = pattern_of(r"[a-z][a-z+]{1,10}://.+|[\w.-]+@[\w.-]+:.+")


def risks(reading: CallReading, settings: Settings) -> Iterator[Risk]:
    """What a call does as a whole, of RISKS."""
    yield from _FORMS.found(programs_and_run(reading))
    for script in reading.scripts:
        commands = [command for command in script.commands if command.role is Role.PROGRAM and command.words]
        for command in commands:
            yield from _of_project(command)
        yield from _of_git([GitCall(command) for command in commands if called(command) == "git"], script)


def _of_git(calls: list[GitCall], script: Script) -> Iterator[Risk]:
    """What the calls of git in one text do, one after the other."""
    named: set[str] = set()
    for call in calls:
        if _skips(call):
            yield Risk("skips-hooks", shown(call.command.words))
        named |= set(_names(call))
        if call.verb == "push" and _is_new(call, named):
            yield Risk("pushes-elsewhere", shown(call.command.words))
    if any(call.verb in _CHECKED for call in calls):
        yield from (Risk("skips-hooks", f"{name}={value}") for name, value in script.assigned if _is_off(name, value))


def _of_project(command: Command) -> Iterator[Risk]:
    """A program by a path in the project: `bin/rails`, `./gradlew`."""
    path = command.words[0].plain
    if "/" not in path or path.startswith("/"):
        return
    yield from _FORMS.found([Started(path.rpartition("/")[2].lower(), command.words[1:200], shown(command.words))])


def _is_off(name: str, value: str) -> bool:
    return value.lower() in _OFF.get(name, ()) or (name == "SKIP" and bool(value))


# git -----------------------------------------------------------------------------------------------------------------


def _skips(call: GitCall) -> bool:
    if any(_HOOKS_OFF.fullmatch(word.text) for word in call.settings):
        return True
    if call.verb == "config":
        words = [word.text for word in call.arguments]
        key = next((n for n, word in enumerate(words) if word.lower() == "core.hookspath"), None)
        is_unset = not _UNSETS.isdisjoint(words)
        return key is not None and (is_unset or any(_NOWHERE.fullmatch(word) for word in words[key + 1 : key + 2]))
    spelled = [word.text for word in call.arguments]
    if "--" in spelled:
        spelled = spelled[: spelled.index("--")]
    is_long = any(len(word) > len("--no-ve") and "--no-verify".startswith(word) for word in spelled)
    return call.verb in _CHECKED and (
        call.line.has("--no-verify") or is_long or (call.verb == "commit" and call.line.has("-n"))
    )


def _names(call: GitCall) -> Iterator[str]:
    """The remotes that a command makes, or gives another address."""
    words = [word.text for word in call.line.operands]
    if call.verb == "remote" and words[:1] in (["add"], ["set-url"], ["rename"]):
        yield from words[1:] if words[0] == "rename" else words[1:2]
    if call.verb == "config":
        yield from (word.split(".")[1] for word in words[:2] if word.startswith("remote.") and word.count(".") > 1)


def _is_new(call: GitCall, named: set[str]) -> bool:
    remote = call.line.operand(0) or "origin"
    return remote in named or _ADDRESS.fullmatch(remote) is not None

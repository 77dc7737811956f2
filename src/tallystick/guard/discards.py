"""Work that git would throw away: in a clean tree nothing is asked.

Owns which folders of working trees a call empties or puts back, and taking back what is said against that where version
control has all that is there. Must not know what is asked, nor of what else a call does.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from tallystick.intent.programs.git_call import GitCall
from tallystick.intent.shell.names import canonical
from tallystick.intent.shell.targets import path_of
from tallystick.model.script import Command, Role, Word
from tallystick.policy.calls.reading import CallReading
from tallystick.policy.facts import Act, Action, CallFacts, Facts, FileFacts
from tallystick.policy.world import Maker, World

RISK = "discards-work"
_OWN = frozenset((Maker.REQUEST, Maker.SESSION))
_BESIDE_MOVES = frozenset(
    ("clean", "describe", "diff", "fetch", "log", "ls-files", "reset", "rev-parse", "show", "status")
)
"""Those that neither make a commit nor move or remove a branch, but for what comes from the other repository."""
_BESIDE = frozenset(
    (
        *("branch", "checkout", "clean", "commit", "describe", "diff", "fetch", "log", "ls-files", "pull", "push"),
        *("remote", "reset", "rev-parse", "show", "status", "switch", "tag"),
    )
)
"""Subcommands that put nothing into a working tree that is in no commit."""


class Discard(Struct, frozen=True):
    """A folder or file of a working tree, and what of it would be gone."""

    path: str
    changes: bool = False
    """Changes to tracked files."""
    files: bool = False
    """Files that version control does not know."""
    commits: bool = False
    """Commits of the branch, where no other branch or tag has them."""


def discards(reading: CallReading) -> tuple[Discard, ...] | None:
    """What the git commands of a call throw away; None where the call does not tell all of it."""
    found: list[Discard] = []
    calls: list[GitCall] = []
    for script in reading.scripts:
        for command in script.commands:
            if command.role is not Role.PROGRAM or not command.words or canonical(command.program) != "git":
                continue
            call = GitCall(command)
            told = _told(call, command)
            if told is None or not (call.verb in _BESIDE or call.line.has("--abort")):
                return None
            found += told
            calls.append(call)
    if any(one.commits for one in found) and not all(map(_leaves_branches, calls)):
        return None
    return tuple(found)


def _leaves_branches(call: GitCall) -> bool:
    """Whether what a branch or a tag names before a command is still named after it."""
    is_pruned = any(name in ("-p", "--prune", "-P", "--prune-tags", "-f", "--force") for name, _ in call.line.options)
    is_renamed = any(":" in word.text for word in call.line.operands)
    return call.verb in _BESIDE_MOVES and (call.verb != "fetch" or not (is_pruned or is_renamed))


def _told(call: GitCall, command: Command) -> list[Discard] | None:
    """What one command throws away; None where it does not tell."""
    line, verb = call.line, call.verb
    if verb == "reset" and line.has("--hard"):
        moves = [word for word in line.operands if word.text not in ("HEAD", "@")]
        if len(moves) > 1 or not all(word.is_known for word in moves):
            return None
        found = _at(call, command, [], changes=True, files=bool(moves))
        if found is None or not moves:
            return found
        return [replace(one, commits=True) for one in found]
    if verb in ("checkout", "switch") and line.has("-f", "--force", "--discard-changes"):
        return _at(call, command, [], changes=True, files=bool(line.operands))
    if verb == "clean" and not line.has("-n", "--dry-run", "-i", "--interactive"):
        short = "".join(word.text for word in call.arguments if word.text[:1] == "-" and word.text[:2] != "--")
        if line.has("-x", "-X") or short.count("f") > 1:
            return None
        return _at(call, command, call.paths(), files=True)
    return []


def _at(
    call: GitCall, command: Command, paths: list[Word], *, changes: bool = False, files: bool = False
) -> list[Discard] | None:
    if any(word.text.startswith(("--git-dir", "--work-tree")) for word in command.arguments):
        return None
    targets = [path_of(word, command.folder) for word in paths or [call.folder or Word(".")]]
    if not all(target.is_known and target.text.startswith("/") for target in targets):
        return None
    return [Discard(target.text, changes, files) for target in targets]


def without_needless(reading: CallReading, facts: Facts, world: World) -> Facts:
    """The facts of a call, without the discarding of work where nothing could be lost."""
    said = {
        text for act in facts.acts if isinstance(act.resource, CallFacts) for text in act.because if _is_of_risk(text)
    }
    if not said:
        return facts
    found = discards(reading)
    if not found or len(said) > len(found) or _brings_more(facts) or any(loses(one, world) for one in found):
        return facts
    cleaned = {one.path for one in found}
    return replace(facts, acts=tuple(_lossless(act, cleaned) for act in facts.acts))


def _is_of_risk(text: str) -> bool:
    return text.startswith(f"{RISK}:")


def _brings_more(facts: Facts) -> bool:
    """Whether the call itself may put something into the tree that is then thrown away, or does not tell all that it does."""
    return any(
        act.action is Action.MOVE or (isinstance(act.resource, CallFacts) and bool(act.resource.opaque))
        for act in facts.acts
    )


def loses(discard: Discard, world: World) -> bool:
    """Whether something would be lost: what is in no commit. New files that the session made are its own to remove."""
    place = discard.path
    if discard.commits and not world.keeps_commits(world.real(place)):
        return True
    if discard.changes:
        root = world.repository(world.real(place))
        if root is None:
            return True
        place = root
    tracking = world.tracking(world.real(place))
    if tracking.root is None or (discard.changes and tracking.changed):
        return True
    return discard.files and any(not _is_made(path, world) for path in tracking.untracked)


def _is_made(path: str, world: World) -> bool:
    past = world.provenance(path)
    return past.maker in _OWN and past.is_new


def _lossless(act: Act, cleaned: set[str]) -> Act:
    resource = act.resource
    if isinstance(resource, CallFacts) and RISK in resource.risks:
        because = tuple(text for text in act.because if not _is_of_risk(text))
        return replace(act, resource=replace(resource, risks=resource.risks - {RISK}), because=because)
    if isinstance(resource, FileFacts) and resource.program == "git" and resource.path in cleaned:
        return replace(act, resource=replace(resource, loses_changes=False, loses_files=False))
    return act


def threatened(reading: CallReading, acts: Sequence[Act]) -> Iterator[Discard]:
    """What would be gone by a call: by the acts that are given, and by git."""
    by_git: tuple[Discard, ...] = ()
    if any(isinstance(act.resource, CallFacts) and RISK in act.resource.risks for act in acts):
        by_git = discards(reading) or ()
    yield from by_git
    for act in acts:
        file = act.resource
        if isinstance(file, FileFacts) and file.is_known and file.path not in {one.path for one in by_git}:
            yield Discard(file.path, changes=True, files=file.program != "git" or act.action is Action.DELETE)

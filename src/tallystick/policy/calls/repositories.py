"""Commands of git → the repositories that they change without naming a file (`git -C ../other commit`), and working trees.

Owns which subcommands change branches, tags, the index or what is stored, and which working trees lie beside the one that the
agent works in. Must not know whose repository it is: the folder is
judged as a file that is written. What they do to the working tree, `shell` tells. Source: git(1).
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator

from tallystick.intent.programs.arguments import names
from tallystick.intent.programs.git_call import GitCall
from tallystick.intent.shell.names import canonical
from tallystick.intent.shell.targets import path_of, spelled
from tallystick.model.intent import Domain, Intent, Operation
from tallystick.model.script import Command, Role, Word
from tallystick.policy.calls.reading import CallReading
from tallystick.policy.world import Content, FileKind, World

_CHANGING = names(
    "commit add stage merge rebase cherry-pick revert reset stash am update-ref tag branch notes replace gc prune reflog "
    "filter-branch filter-repo rm mv push remote"
)
_LEAST = 2
"""Operands of `git worktree add PATH`."""
_MAY_LIST = names("tag branch notes reflog stash remote")
_LISTING = names(
    "list show exists get-url --list -l -n --dry-run -a --all -r --remotes -v -vv --show-current --contains --merged"
)


def changed_repositories(reading: CallReading) -> Iterator[Intent]:
    """The folders of repositories that a call changes, as files that are written."""
    seen: set[str] = set()
    for command in _of_git(reading):
        folder = _folder(command)
        if folder is not None and folder not in seen:
            seen.add(folder)
            words = spelled(command.words[:8])
            yield Intent(domain=Domain.FILE, operation=Operation.EDIT, target=folder, is_deep=True, words=words)


def trees_beside(reading: CallReading, world: World) -> Iterator[str]:
    """The working trees that a call makes beside the repository it works in, or takes away without force: `../fix`.

    So is a repository that `git init ../x` makes where nothing was, with what git keeps in it.

    Beside a repository that lies in the home folder itself is only what is named from there: `~/fix` may be anything.
    """
    around = posixpath.dirname(reading.workspace or "")
    for command in _of_git(reading) if around not in ("", "/") else ():
        call = GitCall(command)
        named = _tree_named(call)
        if named is None:
            continue
        target = path_of(call.path(named), command.folder)
        path = posixpath.normpath(target.text)
        is_named_from_here = around != reading.home or named.text.startswith("../")
        if target.is_known and is_named_from_here and path.startswith(f"{around}/") and "/." not in path[len(around) :]:
            if call.verb == "worktree":
                yield path
            elif world.state(path).kind is FileKind.NOTHING:
                yield from (path, f"{path}/.git")


def _tree_named(call: GitCall) -> Word | None:
    """The word for a working tree that `git worktree` or `git init` is given."""
    operands = call.line.operands
    if call.verb == "init" and len(operands) == 1 and not call.line.has("--separate-git-dir", "--template", "--bare"):
        return operands[0]
    if call.verb == "worktree" and len(operands) >= _LEAST and not call.line.has("-f", "--force"):
        return operands[1]
    return None


def is_tree_of(top: str, workspace: str, world: World) -> bool:
    """Whether a folder is a linked working tree of the repository that the workspace belongs to: each names the other.

    Both folders are without links. To make one out of another folder takes a write to it and one to the repository.
    """
    named = _text(world, f"{workspace}/.git")
    common = f"{workspace}/.git" if named is None else named.rpartition("/worktrees/")[0]
    own = _text(world, f"{top}/.git") or ""
    return bool(common) and own.startswith(f"{common}/worktrees/") and _text(world, f"{own}/gitdir") == f"{top}/.git"


def _text(world: World, path: str) -> str | None:
    found = world.content(path)
    if isinstance(found, Content):
        return found.text.removeprefix("gitdir:").strip()
    return None


def _of_git(reading: CallReading) -> Iterator[Command]:
    for script in reading.scripts:
        for command in script.commands:
            if command.role is Role.PROGRAM and command.words and canonical(command.program) == "git":
                yield command


def _folder(command: Command) -> str | None:
    call = GitCall(command)
    if call.verb not in _CHANGING or (call.verb in _MAY_LIST and not _changes(call)):
        return None
    target = path_of(call.folder or _git_dir(command) or Word("."), command.folder)
    if target.is_known and target.text.startswith("/"):
        return target.text
    return None


def _changes(call: GitCall) -> bool:
    """Whether a subcommand that lists by itself is told to do more."""
    first = ""
    if call.arguments:
        first = call.arguments[0].text
    if not first:
        return call.verb == "stash"
    return first not in _LISTING


def _git_dir(command: Command) -> Word | None:
    words = command.arguments[:50]
    for n, word in enumerate(words):
        if word.text.startswith("--git-dir="):
            return Word(word.text[len("--git-dir=") :])
        if word.text == "--git-dir" and n + 1 < len(words):
            return words[n + 1]
    return None

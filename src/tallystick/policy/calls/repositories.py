"""Commands of git → the repositories that they change without naming a file: `git -C ../other commit`.

Owns which subcommands change branches, tags, the index or what is stored. Must not know whose repository it is: the folder is
judged as a file that is written. What they do to the working tree, `shell` tells. Source: git(1).
"""

from __future__ import annotations

from collections.abc import Iterator

from tallystick.intent.programs.arguments import names
from tallystick.intent.programs.git_call import GitCall
from tallystick.intent.shell.names import canonical
from tallystick.intent.shell.targets import path_of, spelled
from tallystick.model.intent import Domain, Intent, Operation
from tallystick.model.script import Command, Role, Word
from tallystick.policy.calls.reading import CallReading

_CHANGING = names(
    "commit add stage merge rebase cherry-pick revert reset stash am update-ref tag branch notes replace gc prune reflog "
    "filter-branch filter-repo rm mv push remote"
)
_MAY_LIST = names("tag branch notes reflog stash remote")
_LISTING = names(
    "list show exists get-url --list -l -n --dry-run -a --all -r --remotes -v -vv --show-current --contains --merged"
)


def changed_repositories(reading: CallReading) -> Iterator[Intent]:
    """The folders of repositories that a call changes, as files that are written."""
    seen: set[str] = set()
    for script in reading.scripts:
        for command in script.commands:
            if command.role is Role.PROGRAM and command.words and canonical(command.program) == "git":
                folder = _folder(command)
                if folder is not None and folder not in seen:
                    seen.add(folder)
                    words = spelled(command.words[:8])
                    yield Intent(domain=Domain.FILE, operation=Operation.EDIT, target=folder, is_deep=True, words=words)


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

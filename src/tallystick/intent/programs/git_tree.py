"""git's subcommands that read or change the working tree.

Owns `checkout`, `restore`, `reset`, `rm`, `mv`, `clean`, `stash`, `apply`, `diff` and similar. Which files a branch or
a stash changes is in the repository: the whole tree is claimed. Sources: their manual pages.
"""

from __future__ import annotations

import re

from tallystick.intent.programs.arguments import inside, is_folder
from tallystick.intent.programs.git_call import HERE, GitCall
from tallystick.intent.programs.patches import patched
from tallystick.model.intent import Operation
from tallystick.model.pattern import pattern_of
from tallystick.model.script import Word

_NEW_BRANCH = ("-b", "-B", "-c", "-C", "--create", "--force-create", "--orphan")
_LIKE_FILE = pattern_of(r"(?:.*/)?[\w-][\w.-]*\.[A-Za-z]\w{0,5}|\.{1,2}/.*|.*/|\.", re.DOTALL)


def checkout(call: GitCall) -> None:
    """`checkout`: named files are written again; a branch changes the tree; a new branch from here changes nothing."""
    if call.line.has(*_NEW_BRANCH):
        if call.line.operands:
            call.tree()
        return
    operands = call.line.operands
    if call.has_dashes():
        named = call.paths()
    else:
        first = ""
        if operands:
            first = operands[0].text
        is_file = _LIKE_FILE.fullmatch(first) is not None and not first.startswith("origin/")
        named = [call.path(word) for word in operands[0 if is_file else 1 :]]
    for word in named:
        call.built.add(Operation.WRITE, word, deep=is_folder(word.text))
    if not named and operands:
        call.tree()


def switch(call: GitCall) -> None:
    """`switch`: as `checkout` of a branch."""
    created = call.line.has(*_NEW_BRANCH)
    if not created or call.line.operands:
        call.tree()


def restore(call: GitCall) -> None:
    """`restore`: named files are written again; with `--staged` alone only the index is."""
    if call.line.has("--staged", "-S") and not call.line.has("--worktree", "-W"):
        return
    for word in call.paths():
        call.built.add(Operation.WRITE, word, deep=is_folder(word.text))


def reset(call: GitCall) -> None:
    """`reset`: changes files with `--hard` and its like only."""
    if call.line.has("--hard", "--merge", "--keep"):
        call.tree()


def rm(call: GitCall) -> None:
    """`rm`: with `--cached` the files stay."""
    if not call.line.has("--cached", "-n", "--dry-run"):
        for word in call.paths():
            call.built.add(Operation.DELETE, word, deep=call.line.has("-r"))


def mv(call: GitCall) -> None:
    """`mv`: as the program of that name."""
    operands = call.line.operands
    if len(operands) < 2 or call.line.has("-n", "--dry-run"):
        return
    target = operands[-1]
    for source in operands[:-1]:
        to = target
        if len(operands) > 2 or is_folder(target.text):
            to = inside(target, source)
        at = call.built.add(Operation.RENAME, call.path(source))
        call.built.flow([at], [call.built.add(Operation.COPY_DEST, call.path(to), words=(source, target))])


def clean(call: GitCall) -> None:
    """`clean`: which files git does not know, it knows itself."""
    if call.line.has("-n", "--dry-run"):
        return
    paths = call.paths()
    if not paths:
        call.tree(Operation.DELETE)
    for word in paths:
        call.built.add(Operation.DELETE, word, deep=True)


def stash(call: GitCall) -> None:
    """`stash`: changes go away, or with `pop` and `apply` come back."""
    if call.line.operand(0) not in ("list", "show", "drop", "clear", "create", "store"):
        call.tree()


def apply(call: GitCall) -> None:
    """`apply`, `am`: the patch is an operand or the input; which files it changes, it says itself."""
    if call.line.has("--check", "--stat", "--numstat", "--summary", "--abort", "--quit", "--show-current-patch"):
        for word in call.line.operands:
            call.built.read(call.path(word))
        return
    is_index = call.line.has("--cached")
    sources = [call.built.read(call.path(word)) for word in call.line.operands]
    call.built.reads_input = call.built.reads_input or not call.line.operands
    if is_index:
        return
    if call.built.reads_input:
        told = patched(call.command, strip=1)
    else:
        told = []
    made = [call.built.author(operation, call.path(word), words=call.own) for operation, word in told]
    made = made or [call.tree()]
    call.built.flow(sources, made)
    if call.built.reads_input:
        call.built.feed(*made)


def shows(call: GitCall) -> None:
    """`diff`, `blame`, `grep`, `show`: files of the tree are read where they are named; `--output` is written."""
    line, built = call.line, call.built
    paths: list[Word] = []
    if call.has_dashes() or line.has("--no-index"):
        paths = call.paths()
    elif call.verb in ("blame", "annotate"):
        paths = [call.path(word) for word in line.operands[-1:]]
    elif call.verb == "hash-object":
        paths = [call.path(word) for word in line.operands]
    elif call.verb == "grep":
        paths = [call.folder or HERE]
    elif call.verb == "diff":
        paths = [
            call.path(word) for word in line.operands if _LIKE_FILE.fullmatch(word.text) and ".." not in word.text[1:]
        ]
    sources = [
        built.add(Operation.READ, word, words=() if word is not call.folder else call.own, deep=call.verb == "grep")
        for word in paths
    ]
    made = [built.write(call.path(word)) for word in line.values("--output")]
    built.flow(sources, made)
    if not made:
        built.show(*sources)

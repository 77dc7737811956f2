"""git, Subversion and Mercurial: what they do to the working tree, to their settings and to other repositories.

Owns which subcommands change files of the working tree, which fetch and which send. What is stored in `.git` is
unknown, but for the settings. Which files `checkout`, `reset --hard`, `merge` or `stash` change is in the repository:
the whole tree is claimed. Sources: the manual pages of git, svn help, hg help.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable

from tallystick.catalog.programs import names_of
from tallystick.intent.actions import Actions, Code
from tallystick.intent.programs import git_tree
from tallystick.intent.programs.arguments import at_home, below, grammar, is_folder, last_part, renamed, taken
from tallystick.intent.programs.git_call import HERE, GitCall
from tallystick.intent.programs.rules import NOTHING, UNTOLD, Builder, Rule
from tallystick.model.intent import Operation
from tallystick.model.script import Command, Word

_HERE = Word(".")


def _svn(command: Command) -> Actions:
    """`svn` and `hg`: the same few kinds of subcommands."""
    line = taken(command.arguments, grammar("-m -r -F -u -R --message --file --username --password --cwd --rev"))
    verb, operands = line.operand(0), line.operands[1:]
    built = Builder()
    if verb in ("checkout", "co", "clone", "export") and operands:
        source = built.add(Operation.FETCH, operands[0])
        if len(operands) > 1:
            into = operands[1]
        else:
            into = renamed(operands[0], last_part(operands[0].text))
        built.flow([source], [built.add(Operation.WRITE, into, words=tuple(operands), deep=True)])
    elif verb in (
        "update",
        "up",
        "revert",
        "merge",
        "switch",
        "pull",
        "rebase",
        "shelve",
        "unshelve",
        "patch",
        "import",
    ):
        for word in operands or [_HERE]:
            built.add(Operation.EDIT, word, words=() if operands else tuple(line.operands[:1]), deep=True)
    elif verb in ("delete", "rm", "remove", "purge"):
        for word in operands or [_HERE]:
            built.add(Operation.DELETE, word, words=() if operands else tuple(line.operands[:1]), deep=True)
    elif (verb in ("commit", "ci") and command.program == "svn") or verb == "push":
        built.add(
            Operation.SEND,
            operands[0] if verb == "push" and operands else Word("default"),
            words=tuple(line.operands[:1]),
        )
    elif verb == "cat":
        built.show(*[built.read(word) for word in operands])
    else:
        if verb in _VCS_SILENT or not verb:
            return NOTHING
        return UNTOLD
    return built.build()


_VCS_SILENT = names_of("svn", "silent")


def _git(command: Command) -> Actions:
    call = GitCall(command)
    built = call.built
    if not call.verb:
        return built.build()
    known = _VERBS.get(call.verb)
    if known is not None:
        known(call)
    elif call.verb not in _SILENT:
        built.is_unknown = True  # an alias, or a program `git-NAME`
    return built.build()


_SILENT = names_of("git", "silent")


def _clone(call: GitCall) -> None:
    operands = call.line.operands
    if not operands:
        return
    url = operands[0]
    is_local = re.match(r"(?:\w+://|[^/]+:)", url.text) is None
    if is_local:
        source = call.built.read(call.path(url), deep=True)
    else:
        source = call.built.add(Operation.FETCH, url)
    name = last_part(url.text.replace(":", "/")).removesuffix(".git")
    if len(operands) > 1:
        into = operands[1]
    else:
        into = renamed(url, f"{name}.git" if call.line.has("--bare", "--mirror") else name)
    target = call.built.add(Operation.WRITE, call.path(into), words=(operands[-1],), deep=True)
    call.built.flow([source], [target])


def _init(call: GitCall) -> None:
    if call.line.operands:
        folder = call.path(call.line.operands[0])
    else:
        folder = call.folder or HERE
    if call.line.has("--bare"):
        target = folder
    else:
        target = below(folder, Word(".git"))
    if call.line.operands and target is not folder:
        call.built.add(Operation.CREATE, folder, words=tuple(call.line.operands[:1]))
    call.built.add(Operation.CREATE, target, words=tuple(call.line.operands[:1]) or call.own, deep=True)


def _pull(call: GitCall) -> None:
    source = call.remote(Operation.FETCH)
    call.built.flow([source], [call.tree()])


_STASHES = ("refs/stash", "stash@{", "stash:")


def _push(call: GitCall) -> None:
    if call.line.has("-n", "--dry-run"):
        return
    sent = call.remote(Operation.SEND)
    if any(word.text.lstrip("+").startswith(_STASHES) for word in call.line.operands[1:]):
        # What was put aside is the whole tree, and with `stash -a` what is left out of commits as well.
        call.built.flow([call.tree(Operation.COPY_SOURCE)], [sent])


def _fetch(call: GitCall) -> None:
    call.remote(Operation.FETCH)


def _add(call: GitCall) -> None:
    """`add`, `stage`: what is added is read. `-A` and `-u` mean the whole tree."""
    paths = call.paths()
    if not paths and call.line.has("-A", "--all", "-u", "--update", "-p", "--patch"):
        call.tree(Operation.READ)
    for word in paths:
        call.built.add(
            Operation.READ, word, deep=is_folder(word.text) or not re.search(r"\.\w+$", last_part(word.text))
        )


def _commit(call: GitCall) -> None:
    for word in call.line.values("-F", "--file", "-t", "--template"):
        call.built.read(call.path(word))
    if call.line.has("-a", "--all"):
        call.tree(Operation.READ)
    for word in call.line.operands:
        call.built.add(Operation.READ, call.path(word))


def _message(call: GitCall) -> None:
    """`tag -F`, `notes add -F`: a file becomes a message, which is kept and sent like a commit."""
    for word in call.line.values("-F", "--file"):
        call.built.read(call.path(word))


def _config(call: GitCall) -> None:
    """`config`: a name alone is asked for, a name with a value is set."""
    line = taken(call.arguments, grammar("-f --file --default --type --blob"))
    settings = line.value("-f", "--file")
    if settings is not None:
        target = call.path(settings)
    else:
        target = below(call.folder, Word(".git/config"))
    if line.has("--global"):
        target = at_home(".gitconfig")
    elif line.has("--system"):
        target = Word("/etc/gitconfig")
    if line.operand(0) in ("get", "set", "unset", "list", "edit"):
        operands = line.operands[1:]
    else:
        operands = line.operands
    asks = line.has("--get", "--get-all", "--get-regexp", "-l", "--list", "--get-urlmatch") or line.operand(0) in (
        "get",
        "list",
    )
    changes = line.has(
        "--add", "--unset", "--unset-all", "--replace-all", "--remove-section", "--rename-section", "-e", "--edit"
    )
    words = tuple(operands) or call.own
    if changes or (not asks and (len(operands) > 1 or line.operand(0) in ("set", "unset", "edit"))):
        call.built.author(Operation.EDIT, target, words=words)
    else:
        call.built.show(call.built.add(Operation.READ, target, words=words))


def _remote(call: GitCall) -> None:
    verb = call.line.operand(0)
    if verb in ("add", "set-url", "remove", "rm", "rename", "set-head", "set-branches", "prune"):
        target = below(call.folder, Word(".git/config"))
        call.built.author(Operation.EDIT, target, words=tuple(call.line.operands))
    elif verb in ("update", "show"):
        if len(call.line.operands) > 1:
            name = call.line.operands[1]
        else:
            name = Word("origin")
        call.built.add(Operation.FETCH, name, words=call.own)


def _worktree(call: GitCall) -> None:
    verb, names = call.line.operand(0), call.line.operands[1:]
    if verb == "add" and names:
        call.built.add(Operation.WRITE, call.path(names[0]), deep=True)
    elif verb == "remove" and names:
        call.built.add(Operation.DELETE, call.path(names[0]), deep=True)
    elif verb == "move" and len(names) > 1:
        at = call.built.add(Operation.RENAME, call.path(names[0]))
        call.built.flow([at], [call.built.add(Operation.COPY_DEST, call.path(names[1]), deep=True)])


def _packs(call: GitCall) -> None:
    """`archive`, `bundle create`, `format-patch`: commits become a file."""
    line = call.line
    if call.verb == "archive":
        made = [call.built.write(call.path(word)) for word in line.values("-o", "--output")]
        sources = [call.built.add(Operation.FETCH, word) for word in line.values("--remote")]
        call.built.flow(sources, made)
        if not made:
            call.built.show(*sources)
    elif call.verb == "bundle":
        if line.operand(0) == "create":
            operation = Operation.WRITE
        else:
            operation = Operation.READ
        for word in line.operands[1:2]:
            call.built.add(operation, call.path(word))
    elif not line.has("--stdout"):
        folder = line.value("-o", "--output-directory") or call.folder or HERE
        words = call.own
        if folder is not HERE:
            words = (folder,)
        call.built.add(
            Operation.WRITE, call.path(folder) if folder is not call.folder else folder, words=words, deep=True
        )


def _moves_history(call: GitCall) -> None:
    """`merge`, `rebase`, `cherry-pick`, `revert`, `bisect`, `filter-branch`: the tree follows."""
    for word in call.line.values("--exec", "-x", "--tree-filter", "--index-filter", "--env-filter", "--msg-filter"):
        call.built.codes.append(Code("sh", word))
    words = call.arguments
    if call.verb == "bisect" and words and words[0].text == "run" and all(word.is_known for word in words):
        call.built.codes.append(Code("sh", Word(shlex.join(word.plain for word in words[1:]))))
    call.tree()


def _submodule(call: GitCall) -> None:
    verb, names = call.line.operand(0), call.line.operands[1:]
    if verb == "add" and names:
        source = call.built.add(Operation.FETCH, names[0])
        if len(names) > 1:
            into = names[1]
        else:
            into = renamed(names[0], last_part(names[0].text).removesuffix(".git"))
        call.built.flow([source], [call.built.add(Operation.WRITE, call.path(into), words=tuple(names), deep=True)])
    elif verb == "update":
        source = call.built.add(Operation.FETCH, Word("origin"), words=call.own)
        call.built.flow([source], [call.tree()])
    elif verb == "foreach":
        call.built.codes.append(Code("sh", Word(" ".join(word.text for word in names))))


def _lfs(call: GitCall) -> None:
    operation = {"push": Operation.SEND, "pull": Operation.FETCH, "fetch": Operation.FETCH}.get(call.line.operand(0))
    if operation is not None:
        call.built.add(
            operation, call.line.operands[1] if len(call.line.operands) > 1 else Word("origin"), words=call.own
        )


def _credential(call: GitCall) -> None:
    if call.line.operand(0) in ("fill", "get"):
        call.built.show(call.built.add(Operation.READ, at_home(".git-credentials"), words=call.own))


def _sends(call: GitCall) -> None:
    for word in call.line.operands:
        call.built.add(Operation.SEND, call.path(word))


_VERBS: dict[str, Callable[[GitCall], None]] = {
    "clone": _clone,
    "init": _init,
    "pull": _pull,
    "push": _push,
    **dict.fromkeys(("fetch", "ls-remote"), _fetch),
    **dict.fromkeys(("add", "stage"), _add),
    "commit": _commit,
    **dict.fromkeys(("tag", "notes"), _message),
    "checkout": git_tree.checkout,
    "switch": git_tree.switch,
    "restore": git_tree.restore,
    "reset": git_tree.reset,
    "rm": git_tree.rm,
    "mv": git_tree.mv,
    "clean": git_tree.clean,
    "stash": git_tree.stash,
    **dict.fromkeys(("apply", "am"), git_tree.apply),
    **dict.fromkeys(
        ("diff", "show", "blame", "annotate", "grep", "hash-object", "difftool", "diff-files"), git_tree.shows
    ),
    "config": _config,
    "remote": _remote,
    "worktree": _worktree,
    **dict.fromkeys(("archive", "bundle", "format-patch"), _packs),
    **dict.fromkeys(
        (
            "merge",
            "rebase",
            "cherry-pick",
            "revert",
            "bisect",
            "filter-branch",
            "filter-repo",
            "checkout-index",
            "subtree",
            "mergetool",
        ),
        _moves_history,
    ),
    "submodule": _submodule,
    "lfs": _lfs,
    "credential": _credential,
    "send-email": _sends,
}


RULES: dict[str, Rule] = {
    "svn": _svn,
    "git": _git,
}

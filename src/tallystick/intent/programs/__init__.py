"""What each common program does with its words.

Owns the way from a command to its rule: names, aliases of the same tool, versions (`python3.12`), programs by their
path. The rules stand in the modules, by concern. Must not know pipes, redirects and wrappers: `effects` puts those
around it.
"""

from __future__ import annotations

import re

import msgspec

from tallystick.intent.programs import (
    archives,
    builds,
    builtins,
    checks,
    cloud,
    clusters,
    containers,
    copying,
    databases,
    documents,
    editors,
    files,
    forges,
    git,
    infrastructure,
    interpreters,
    keys,
    machine_packages,
    network,
    packages,
    patches,
    sharing,
    system,
    text,
    toolchains,
    transfer,
    versions,
)
from tallystick.intent.programs.arguments import HOME, MOST_WORDS, names, renamed
from tallystick.intent.programs.rules import NOTHING, UNTOLD, Rule
from tallystick.intent.shell.actions import Action, Actions
from tallystick.model.intent import Domain, Operation
from tallystick.model.script import Command, Word

__all__ = ["actions_of", "known_programs"]

_TABLES = (
    builtins, text, files, copying, archives, transfer, network, sharing, git, versions, forges, patches, interpreters,
    packages, machine_packages, builds, toolchains, checks, containers, clusters, infrastructure, databases, cloud, system,
    keys, editors, documents,
)  # fmt: skip
_RULES: dict[str, Rule] = {name: rule for table in _TABLES for name, rule in table.TABLE.items()}
_GNU = files.TABLE | text.TABLE
_VERSION = re.compile(r"-?\d+(?:\.\d+)*$")
_PROGRAM_FOLDERS = names("bin sbin .bin Scripts shims")
"""Folders below which a name means the program that is usually called so."""
_LONGEST_NAME = 64

_AS_MODULES = names("pip pytest black ruff mypy isort flake8 pylint bandit uv poetry coverage")
packages.run_by_name({name: rule for name, rule in _RULES.items() if name not in packages.RUNNERS})
interpreters.run_as_modules({name: _RULES[name] for name in _AS_MODULES})


def known_programs() -> frozenset[str]:
    """The names that the tables hold."""
    return frozenset(_RULES)


def actions_of(command: Command, *, home: str | None = None) -> Actions:
    """What a simple command does, as far as its words tell. Redirects and pipes are not part of it. Never raises.

    Args:
        command: its words are resolved, and wrappers taken off.
        home: the home folder, for programs that keep files there; None leaves `~`.
    """
    name = command.program
    if not name:
        return NOTHING if not command.words else UNTOLD
    rule = _RULES.get(name) or _found(name) or _by_path
    done = rule(command)
    if len(command.words) > MOST_WORDS and not done.is_unknown:
        done = msgspec.structs.replace(done, is_unknown=True)  # the rest was not looked at
    is_home = any(action.target.text[:1] == HOME for action in done.actions)
    return _with_home(done, home or "~") if is_home else done


def _with_home(done: Actions, home: str) -> Actions:
    """Actions with the home folder put in its place."""
    actions = tuple(
        msgspec.structs.replace(action, target=renamed(action.target, home + action.target.text[1:]))
        if action.target.text[:1] == HOME
        else action
        for action in done.actions
    )
    return msgspec.structs.replace(done, actions=actions)


def _found(name: str) -> Rule | None:
    """The rule of a name with a version, or of a GNU tool under its name on other systems."""
    if len(name) > _LONGEST_NAME or "/" in name:
        return None
    bare = _VERSION.sub("", name)
    return _RULES.get(bare) or (_GNU.get(name[1:]) if name[:1] == "g" else None)


def _by_path(command: Command) -> Actions:
    """A program in a folder of its own is a file that is run; one that is usually called so is also that program."""
    name = command.program
    if "/" not in name:
        return UNTOLD
    folder, _, last = name.rpartition("/")
    word = command.words[0]
    action = Action(domain=Domain.FILE, operation=Operation.EXECUTE, target=word)
    is_usual = folder.rpartition("/")[2] in _PROGRAM_FOLDERS or last in _OF_PROJECTS
    rule = _RULES.get(last) or _found(last) if is_usual else None
    if rule is None:
        return Actions(actions=(action,), scripts=(word,))
    done = rule(msgspec.structs.replace(command, words=(Word(last), *command.arguments)))
    return _after(action, done)


_OF_PROJECTS = frozenset({"gradlew", "mvnw"})


def _after(action: Action, done: Actions) -> Actions:
    """Actions with one put before them."""
    return msgspec.structs.replace(
        done,
        actions=(action, *done.actions),
        flows=tuple((a + 1, b + 1) for a, b in done.flows),
        prints=tuple(at + 1 for at in done.prints),
    )

"""What each common program does with its words.

Owns the way from a command to its rule: names, aliases of the same tool, versions (`python3.12`), programs by their
path. The rules are in the modules, by concern. Must not know pipes, redirects and wrappers: `effects` puts those around
it.
"""

from __future__ import annotations

from functools import cache

import msgspec

from tallystick.catalog.programs import (
    Program,
    modules_of_python,
    programs,
    programs_in,
    programs_with,
)
from tallystick.intent.actions import Action, Actions
from tallystick.intent.programs import (
    archives,
    builds,
    builtins,
    cloud,
    containers,
    copying,
    databases,
    documents,
    editors,
    files,
    forges,
    git,
    interpreters,
    keys,
    network,
    packages,
    patches,
    system,
    text,
    toolchains,
    transfer,
)
from tallystick.intent.programs.arguments import HOME, MOST_WORDS, names, renamed
from tallystick.intent.programs.rules import NOTHING, UNTOLD, Maker, Rule, filtering, plain, silent
from tallystick.model.intent import Domain, Operation
from tallystick.model.pattern import pattern_of
from tallystick.model.script import Command, Word

__all__ = ["actions_of", "arguments", "files", "git_call", "known_programs", "network", "packages", "rules"]

_MODULES = (
    builtins,
    text,
    files,
    copying,
    archives,
    transfer,
    network,
    git,
    forges,
    patches,
    interpreters,
    packages,
    builds,
    toolchains,
    containers,
    cloud,
    databases,
    system,
    keys,
    editors,
    documents,
)
_RULES: dict[str, Rule] = {
    "silent": silent,
    **{name: rule for module in _MODULES for name, rule in module.RULES.items()},
}
"""The rules of programs that their entry does not describe in full, by the names that entries give them."""
_MAKERS: dict[str, Maker] = {
    "plain": plain,
    "filter": filtering,
    "searcher": text.searcher,
    "checker": builds.checker,
    "test-runner": builds.test_runner,
    "interpreter": interpreters.interpreter,
    "manager": packages.manager,
    "platform": cloud.platform,
    "database-client": databases.client,
    "session": network.session,
    "converter": documents.converter,
}
_GNU = programs_in("files") | programs_in("text")
_VERSION = pattern_of(r"-?\d+(?:\.\d+)*$")
_PROGRAM_FOLDERS = names("bin sbin .bin Scripts shims")
"""Folders below which a name means the program that is usually called so."""
_LONGEST_NAME = 64

_AS_MODULES = programs_with("runs-as-module")


@cache
def known_programs() -> frozenset[str]:
    """The names of which the catalogue says what the program does with its words."""
    return frozenset(programs())


@cache
def _rule_of(name: str) -> Rule | None:
    entry = programs().get(name)
    return _made(entry) if entry is not None else None


def _made(entry: Program) -> Rule:
    maker = _MAKERS.get(entry.rule)
    if maker is not None:
        return maker(entry)
    return _RULES[entry.rule]


def _by_name(name: str) -> Rule | None:
    if name in packages.RUNNERS:
        return None
    return _rule_of(name)


@cache
def _as_module(name: str) -> Rule | None:
    entry = modules_of_python().get(name)
    if entry is not None:
        return _made(entry)
    if name in _AS_MODULES:
        return _rule_of(name)
    return None


packages.run_by_name(_by_name)
interpreters.run_as_modules(_as_module)


def actions_of(command: Command, *, home: str | None = None) -> Actions:
    """What a simple command does, as far as its words tell. Redirects and pipes are not part of it. Never raises.

    Args:
        command: its words are resolved, and wrappers taken off.
        home: the home folder, for programs that keep files there; None leaves `~`.
    """
    name = command.program
    if not name:
        if not command.words:
            return NOTHING
        return UNTOLD
    rule = _rule_of(name) or _found(name) or _by_path
    done = rule(command)
    if len(command.words) > MOST_WORDS and not done.is_unknown:
        done = msgspec.structs.replace(done, is_unknown=True)  # the rest was not looked at
    is_home = any(action.target.text[:1] == HOME for action in done.actions)
    if is_home:
        return _with_home(done, home or "~")
    return done


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
    return _rule_of(bare) or (_rule_of(name[1:]) if name[:1] == "g" and name[1:] in _GNU else None)


def _by_path(command: Command) -> Actions:
    """A program in a folder of its own is a file that is run; one that is usually called so is also that program."""
    name = command.program
    if "/" not in name:
        return UNTOLD
    folder, _, last = name.rpartition("/")
    word = command.words[0]
    action = Action(domain=Domain.FILE, operation=Operation.EXECUTE, target=word)
    is_usual = folder.rpartition("/")[2] in _PROGRAM_FOLDERS or last in _OF_PROJECTS
    rule = None
    if is_usual:
        rule = _rule_of(last) or _found(last)
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

"""Tools of developers that run a program, or a text, from their arguments: `mise exec --`, `doppler run --`, `concurrently`.

Owns what keepers of versions and of secrets, watchers and debuggers leave of a command line. Must not know the grammar, nor
what any program does. Sources: the manuals of each. The system's own wrappers are in `wrappers`.
"""

import re
from collections.abc import Mapping
from itertools import pairwise

from tallystick.catalog.loading import Entry, load
from tallystick.model.intent import Operation
from tallystick.model.pattern import pattern_of
from tallystick.model.script import Word

Words = tuple[Word, ...]

_OWN_WORDS = {("chamber", "exec"): 1}


class _Facts(Entry, frozen=True):
    """Facts of catalog/starters.toml."""

    after_dashes: frozenset[str]
    operands: frozenset[str]
    in_packages: frozenset[str]
    after_verb: Mapping[str, tuple[str, ...]]
    after_option: Mapping[str, tuple[str, ...]]
    texts: Mapping[str, str]
    folders: Mapping[str, str]
    files: Mapping[Operation, Mapping[str, str]]
    sets_variables: frozenset[str]
    wrappers: Mapping[str, str]
    wrappers_after_a_word: Mapping[str, str]
    under: Mapping[str, Mapping[str, str]]


def _by_program(listed: Mapping[str, str]) -> dict[str, frozenset[str]]:
    return {name: frozenset(takes.split()) for takes, names in listed.items() for name in names.split()}


_FACTS = load("starters", _Facts)
_SKIPPING = _by_program(_FACTS.wrappers_after_a_word)
WRAPPERS = {**_by_program(_FACTS.wrappers), **_SKIPPING}
"""Programs that run the program in their words: by name, their options that take the next word."""
UNDER = {(name, verb): takes for verb, listed in _FACTS.under.items() for name, takes in _by_program(listed).items()}
"""The same of those that do so after a verb."""
_FROM_PACKAGES = frozenset(("npx", "bunx", "pnpx"))
_ASSIGNMENT = pattern_of(r"[A-Za-z_]\w*\+?=", re.ASCII)


_TEXTS = _by_program(_FACTS.texts)
FOLDERS = _by_program(_FACTS.folders)
"""By wrapper: the options whose value is the folder in which the program is run."""
TOUCHED = {
    name: (operation, options)
    for operation, listed in _FACTS.files.items()
    for name, options in _by_program(listed).items()
}
"""By wrapper: what it does to files itself, those that options name, or its first word."""


def started(name: str, arguments: Words) -> Words | None:
    """The command line that such a tool runs, or None, or it is none of them."""
    if name in _FROM_PACKAGES:
        rest = after_options(arguments, frozenset(("-p", "--package")))
        if rest and (rest[0].text in _FACTS.in_packages or rest[0].text in _FACTS.operands):
            return rest
        return None
    at = next((n for n, word in enumerate(arguments) if word.text == "--"), None)
    if at is not None and name in _FACTS.after_dashes and (name != "cargo" or arguments[0].text == "watch"):
        return arguments[at + 1 :] or None
    flags = _FACTS.after_option.get(name, ())
    option = next((n for n, word in enumerate(arguments) if word.text in flags), None)
    if option is not None:
        return arguments[option + 1 :] or None
    verb = ""
    if arguments:
        verb = arguments[0].text
    if verb not in _FACTS.after_verb.get(name, ()) or name == "nix":
        return None
    return (
        after_options(arguments[1:], frozenset(("-o", "-p", "-r", "-e", "-c", "--env", "--path")))[
            _OWN_WORDS.get((name, verb), 0) :
        ]
        or None
    )


def started_text(name: str, arguments: Words) -> Word | None:
    """What such a tool runs as a text of the shell."""
    if name in _FACTS.operands:
        return lines(tuple(word for word in arguments if " " in word.text.strip() and word.text[:1] != "-"))
    if name == "sops" and len(arguments) > 2 and arguments[0].text in ("exec-env", "exec-file"):
        return arguments[-1]
    options = _TEXTS.get(name, frozenset())
    found = [text for flag, text in pairwise(arguments) if options and takes_next(flag.text, options)]
    if options:
        for word in arguments:
            option, joint, value = word.text.partition("=")
            if joint and option in options:
                found.append(Word(value, word.hidden, word.commands))
    is_one = name != "cargo" or (bool(arguments) and arguments[0].text == "watch")
    if is_one:
        return lines(tuple(found))
    return None


def lines(words: Words) -> Word | None:
    """Texts that are run, as one text."""
    commands = tuple(dict.fromkeys(n for word in words for n in word.commands))
    hidden = " ".join(word.hidden for word in words if word.hidden)
    if words:
        return Word("\n".join(word.text for word in words), hidden, commands)
    return None


_TWO_AFTER = frozenset({"--bind", "--ro-bind", "--dev-bind", "--symlink", "--setenv"})


def after_options(words: Words, with_value: frozenset[str]) -> Words:
    """What follows the options at the front, of which some take the next word."""
    at = 0
    while at < len(words) and words[at].text.startswith("-") and words[at].text != "-":
        if words[at].text == "--":
            return words[at + 1 :]
        if words[at].text in _TWO_AFTER:
            at += 3
        elif takes_next(words[at].text, with_value):
            at += 2
        else:
            at += 1
    return words[at:]


def takes_next(option: str, with_value: frozenset[str]) -> bool:
    """Whether the next word belongs to an option, also to the last of joined letters: `-nHu root`."""
    if option in with_value or option[:1] != "-" or not option[1:].isalpha() or len(option) < 3:
        return option in with_value
    return next((n for n, letter in enumerate(option[1:], 2) if f"-{letter}" in with_value), 0) == len(option)


def within(name: str, arguments: Words) -> Words | None:
    """The words of the program that a wrapper runs, itself or after a verb; None: it is none."""
    if arguments and (name, arguments[0].text) in UNDER:
        return after_options(arguments[1:], UNDER[name, arguments[0].text])
    if name not in WRAPPERS:
        return None
    rest = after_options(arguments, WRAPPERS[name])
    while name in _FACTS.sets_variables and rest and _ASSIGNMENT.match(rest[0].text):
        rest = rest[1:]
    return rest[name in _SKIPPING :]

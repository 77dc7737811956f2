"""Tools of developers that run a program, or a text, from their arguments: `mise exec --`, `doppler run --`, `concurrently`.

Owns what keepers of versions and of secrets, watchers and debuggers leave of a command line. Must not know the grammar, nor
what any program does. Sources: the manuals of each. The system's own wrappers are in `wrappers`.
"""

import re
from collections.abc import Mapping
from itertools import pairwise

from tallystick.catalog.loading import Entry, load
from tallystick.catalog.programs import Wrapper
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
    texts: Mapping[str, tuple[str, ...]]
    plain: Mapping[str, Wrapper]


_FACTS = load("starters", _Facts)
_PLAIN = {name: (frozenset(entry.takes.split()), entry.skips) for name, entry in _FACTS.plain.items()}
_FROM_PACKAGES = frozenset(("npx", "bunx", "pnpx"))
_ASSIGNMENT = pattern_of(r"[A-Za-z_]\w*=", re.ASCII)


def started(name: str, arguments: Words) -> Words | None:
    """The command line that such a tool runs, or None, or it is none of them."""
    if name in _FROM_PACKAGES:
        rest = _after_options(arguments, frozenset(("-p", "--package")))
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
    if name in _PLAIN:
        options, own = _PLAIN[name]
        rest = _after_options(arguments, options)[own:]
        while rest and name == "cross-env" and _ASSIGNMENT.match(rest[0].text):
            rest = rest[1:]
        return rest or None
    verb = ""
    if arguments:
        verb = arguments[0].text
    if verb not in _FACTS.after_verb.get(name, ()) or name == "nix":
        return None
    return (
        _after_options(arguments[1:], frozenset(("-o", "-p", "-r", "-e", "-c", "--env", "--path")))[
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
    options = _FACTS.texts.get(name, ())
    found = [text for flag, text in pairwise(arguments) if flag.text in options]
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


def _after_options(words: Words, with_value: frozenset[str]) -> Words:
    at = 0
    while at < len(words) and words[at].text[:1] == "-" and words[at].text != "-":
        if words[at].text == "--":
            return words[at + 1 :]
        if words[at].text in with_value:
            at += 2
        else:
            at += 1
    return words[at:]

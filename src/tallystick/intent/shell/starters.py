"""Tools of developers that run a program, or a text, from their arguments: `mise exec --`, `doppler run --`, `concurrently`.

Owns what keepers of versions and of secrets, watchers and debuggers leave of a command line. Must not know the grammar, nor
what any program does. Sources: the manuals of each. The system's own wrappers are in `wrappers`.
"""

from __future__ import annotations

import re
from itertools import pairwise

from tallystick.model.script import Word

Words = tuple[Word, ...]

_DASHED = """
aws-vault aws-sso doppler infisical teller chamber vault-env envconsul sops op dotenv dotenvx env-cmd mise rtx devbox guix
schroot distrobox toolbox reflex watchexec py-spy memray scalene samply pueue lldb tini catatonit cargo devenv pixi
"""
_AFTER_DASHES = frozenset(_DASHED.split())
"""What stands after `--` is run."""
_AFTER_VERB = frozenset(
    [
        *(
            ("devbox", "run"),
            ("pixi", "run"),
            ("dotenv", "run"),
            ("asdf", "exec"),
            ("perf", "trace"),
            ("samply", "record"),
        ),
        *(("heaptrack", ""), ("nix", "develop"), ("nix", "shell"), ("chamber", "exec"), ("infisical", "run")),
    ]
)
"""Without `--`, what follows the verb and its options is run; where a program has no verb, what follows its options."""
_OWN_WORDS = {("chamber", "exec"): 1}
_AFTER_OPTION = {"gdb": ("--args", "-args"), "nix": ("-c", "--command")}
# Each plain one: its options that take the next word, and how many words of its own stand before the program.
_PLAIN: dict[str, tuple[frozenset[str], int]] = {
    name: (frozenset(options.split()), own)
    for name, options, own in (
        ("dumb-init", "-r --rewrite", 0),
        ("tini", "-p -e", 0),
        ("catatonit", "", 0),
        ("steam-run", "", 0),
        ("heaptrack", "-o -p", 0),
        ("softlimit", "-a -c -d -f -l -m -o -p -r -s -t", 0),
        ("daemonize", "-a -e -o -c -p -u -l -E", 0),
        ("prlimit", "", 0),
        ("choom", "-n", 0),
        ("uclampset", "-m -M", 0),
        ("cgexec", "-g", 0),
        ("chpst", "-u -U -e -n -l -L -m -d -o -p -f -c", 0),
        ("systemd-cat", "-t -p --identifier --priority", 0),
        ("tsp", "-L -D -N", 0),
        ("envchain", "", 1),
        ("arch", "-arch -e", 0),
        ("cross-env", "", 0),
        ("env-cmd", "-f -e -r", 0),
    )
}
_TEXT_OPTIONS = {
    "nodemon": ("-x", "--exec"),
    "doppler": ("--command",),
    "cargo": ("-s", "--shell"),
    "watchmedo": ("-c", "--command"),
}
_ALL_TEXTS = frozenset(("concurrently", "start-server-and-test", "run-p", "run-s", "cross-env-shell"))
"""Each operand that has a space is a text of the shell; one without is the name of a script."""
_FROM_PACKAGES = frozenset(("npx", "bunx", "pnpx"))
_LOCAL = frozenset(("cross-env", "cross-env-shell", "dotenv", "dotenvx", "env-cmd", "nodemon", "concurrently"))
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=", re.ASCII)


def started(name: str, arguments: Words) -> Words | None:
    """The command line that such a tool runs, or None, or it is none of them."""
    if name in _FROM_PACKAGES:
        rest = _after_options(arguments, frozenset(("-p", "--package")))
        if rest and (rest[0].text in _LOCAL or rest[0].text in _ALL_TEXTS):
            return rest
        return None
    at = next((n for n, word in enumerate(arguments) if word.text == "--"), None)
    if at is not None and name in _AFTER_DASHES and (name != "cargo" or arguments[0].text == "watch"):
        return arguments[at + 1 :] or None
    flags = _AFTER_OPTION.get(name, ())
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
    if (name, verb) not in _AFTER_VERB or name == "nix":
        return None
    return (
        _after_options(arguments[1:], frozenset(("-o", "-p", "-r", "-e", "-c", "--env", "--path")))[
            _OWN_WORDS.get((name, verb), 0) :
        ]
        or None
    )


def started_text(name: str, arguments: Words) -> Word | None:
    """What such a tool runs as a text of the shell."""
    if name in _ALL_TEXTS:
        return _lines(tuple(word for word in arguments if " " in word.text.strip() and word.text[:1] != "-"))
    if name == "sops" and len(arguments) > 2 and arguments[0].text in ("exec-env", "exec-file"):
        return arguments[-1]
    options = _TEXT_OPTIONS.get(name, ())
    found = [text for flag, text in pairwise(arguments) if flag.text in options]
    for word in arguments if options else ():
        option, joint, value = word.text.partition("=")
        if joint and option in options:
            found.append(Word(value, word.hidden, word.commands))
    is_one = name != "cargo" or (bool(arguments) and arguments[0].text == "watch")
    if is_one:
        return _lines(tuple(found))
    return None


def _lines(words: Words) -> Word | None:
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

"""Shell texts that build tools run for a target.

Owns what `make TARGET` takes from a Makefile and `npm run NAME` from a package.json. Must not know the shell's grammar, nor
read files: their text is given. Sources: the GNU Make manual, chapters 3 to 6; npm-run-script(1).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

import msgspec

from tallystick.catalog.programs import programs_with
from tallystick.model.paths import placed
from tallystick.model.pattern import pattern_of

Read = Callable[[str], str | None]
_MOST_LINES = 100
_MOST_TARGETS = 20
_MOST_EXPANDED = 4096
_MAKEFILES = ("GNUmakefile", "makefile", "Makefile")
_RULE = pattern_of(r"([^\s:#=][^:#=]*?)\s*::?(?!=)\s*([^;#]*)(?:;(.*))?")
_VARIABLE = pattern_of(r"(?:export\s+|override\s+)?([\w.-]+)\s*(?:[:?+!]|::)?=\s*(.*)")
_INCLUDE = pattern_of(r"^[ ]*[-s]?include[ \t]+([^\n#]{1,1000})", re.MULTILINE)
_REFERENCE = pattern_of(r"\$(?:\$|[({]([^(){}]*)[)}]|(.))")
_RUNNERS = {"npm": ("run", "run-script", "rum"), "pnpm": ("run",), "yarn": ("run",), "bun": ("run",)}
_MAKES = programs_with("make")
BUILD_TOOLS = programs_with("build-tool")
_OWN = frozenset({"test", "start", "stop", "restart", "t", "tst"})
_UNTOLD = "${MAKE_DOES_NOT_TELL}"


class Recipe(msgspec.Struct, frozen=True):
    """What a target runs."""

    file: str
    """Where it stands, absolute."""
    target: str
    texts: tuple[str, ...]
    """Each is run by a shell of its own, in order."""
    folder: str


def recipe_of(name: str, arguments: Sequence[str], folder: str, read: Read) -> Recipe | None:
    """What a build tool runs; None if the program is none, or its file or target is not found."""
    if name in _MAKES:
        return _of_make(arguments, folder, read)
    if name in _RUNNERS:
        return _of_package(name, arguments, folder, read)
    return None


# make -----------------------------------------------------------------------------------------------------------------


def _of_make(arguments: Sequence[str], folder: str, read: Read) -> Recipe | None:
    folder = placed(_after(arguments, ("-C", "--directory")) or ".", folder)
    named = _after(arguments, ("-f", "--file", "--makefile"))
    for name in (named,) if named else _MAKEFILES:
        path = placed(name, folder)
        text = read(path)
        if text is not None:
            given = dict(word.split("=", 1) for word in arguments if "=" in word and not word.startswith("-"))
            rules, variables = _rules(_with_includes(text, folder, read))
            wanted = _operands(arguments, _OF_MAKE) or [next((rule for rule in rules if not rule.startswith(".")), "")]
            lines = _lines(wanted, rules, {**variables, **given})
            if lines:
                return Recipe(path, " ".join(wanted)[:200], tuple(lines), folder)
            return None
    return None


def _with_includes(text: str, folder: str, read: Read) -> str:
    """A Makefile with what it includes in the place where it does."""
    parts = [text]
    for found in _INCLUDE.finditer(text):
        for name in found[1].split()[:_MOST_TARGETS]:
            if "$" not in name and "*" not in name and len(parts) < _MOST_TARGETS:
                parts.append(read(placed(name, folder)) or "")
    return "\n".join(parts)


def _after(arguments: Sequence[str], options: tuple[str, ...]) -> str | None:
    for n, word in enumerate(arguments):
        if word in options and n + 1 < len(arguments):
            return arguments[n + 1]
        for option in options:
            if option.startswith("--") and word.startswith(f"{option}="):
                return word.partition("=")[2]
            if not option.startswith("--") and word.startswith(option) and len(word) > 2:
                return word[2:]
    return None


_OF_MAKE = frozenset(("-C", "-f", "-o", "-W", "-I", "--directory", "--file", "--makefile"))
_OF_PACKAGES = frozenset(("--prefix", "--cwd", "--dir", "-C", "-w", "--workspace", "--filter", "-F", "--userconfig"))


def _operands(arguments: Sequence[str], takes: frozenset[str]) -> list[str]:
    found: list[str] = []
    is_value = False
    for word in arguments:
        if is_value:
            is_value = False
        elif word in takes:
            is_value = True
        elif not word.startswith("-") and "=" not in word and not (word.isdecimal() and found == []):
            found.append(word)
    return found


def _rules(text: str) -> tuple[dict[str, tuple[list[str], list[str]]], dict[str, str]]:
    """Prerequisites and recipe lines by target, and the variables."""
    rules: dict[str, tuple[list[str], list[str]]] = {}
    variables: dict[str, str] = {}
    current: list[str] = []
    for line in text.replace("\r\n", "\n").replace("\\\n", "\\\r").split("\n"):
        if line.startswith("\t"):
            for target in current:
                rules[target][1].append(line[1:])
            continue
        if (found := _VARIABLE.fullmatch(line.strip())) is not None:
            variables[found[1]] = found[2]
        elif (found := _RULE.fullmatch(line.rstrip())) is not None:
            current = found[1].split()[:_MOST_TARGETS]
            for target in current:
                needs, lines = rules.setdefault(target, ([], []))
                needs += found[2].split()
                if found[3]:
                    lines += [found[3]]
        elif line.strip() and not line.startswith("#"):
            current = []
    return rules, variables


def _lines(
    wanted: Sequence[str], rules: dict[str, tuple[list[str], list[str]]], variables: dict[str, str]
) -> list[str]:
    """The lines that a shell runs for targets, those of their prerequisites first."""
    found: list[str] = []
    done: set[str] = set()

    def take(target: str) -> None:
        if target in done or target not in rules or len(done) >= _MOST_TARGETS:
            return
        done.add(target)
        needs, lines = rules[target]
        for need in needs:
            take(need)
        own = {**variables, "@": target, "<": needs[0] if needs else "", "^": " ".join(needs)}
        found.extend(_expanded(line, own).lstrip(" \t@+-").replace("\\\r", "\\\n") for line in lines)

    for target in wanted:
        take(target)
    return found[:_MOST_LINES]


def _expanded(line: str, variables: dict[str, str], depth: int = 0) -> str:
    def value(found: re.Match[str]) -> str:
        if found[0] == "$$":
            return "$"
        if found[1] is not None:
            name = found[1]
        else:
            name = found[2]
        if name not in variables or depth > 4:
            return _UNTOLD
        return _expanded(variables[name], variables, depth + 1).replace("$$", "$")

    return _REFERENCE.sub(value, line)[:_MOST_EXPANDED]


# npm and its like -----------------------------------------------------------------------------------------------------


class _Package(msgspec.Struct):
    scripts: dict[str, str] = {}


def package_scripts(text: str) -> dict[str, str]:
    """The scripts of a package.json; none, if it is none."""
    try:
        return msgspec.json.decode(text, type=_Package).scripts
    except (msgspec.DecodeError, RecursionError):
        return {}


def _of_package(program: str, arguments: Sequence[str], folder: str, read: Read) -> Recipe | None:
    words = _operands(arguments, _OF_PACKAGES)
    if not words:
        return None
    if words[0] in _RUNNERS[program] and len(words) > 1:
        name = words[1]
    else:
        name = words[0]
    if name == words[0] and program == "npm" and name not in _OWN:
        return None
    if name in ("t", "tst") and program == "npm":
        name = "test"
    folder = placed(_after(arguments, ("--prefix", "--cwd", "--dir", "-C")) or ".", folder)
    path = f"{folder.rstrip('/')}/package.json"
    text = read(path)
    if text is None:
        return None
    scripts = package_scripts(text)
    if name not in scripts:
        return None
    more = [scripts[key] for key in (f"pre{name}", name, f"post{name}") if key in scripts]
    return Recipe(path, name, tuple(more), folder)

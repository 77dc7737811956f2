"""Environment variables that are printed as a whole.

Owns recognizing that in commands. `env FOO=1 make` sets one and `printenv PATH` shows one: both are work. Code is looked at
by `environments_in_code`, single variables by `variables`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from tallystick.catalog.programs import programs_with
from tallystick.model.script import Command, Script
from tallystick.policy.reading import CallReading
from tallystick.policy.risks.entries import rules_of
from tallystick.policy.risks.environments_in_code import prints_environment
from tallystick.policy.risks.programs import Started, programs
from tallystick.policy.risks.risk import Risk
from tallystick.policy.settings import Settings

RISKS: dict[str, str] = {"prints-environment": "It prints all environment variables."}
_SHOWN = 120


def risks(reading: CallReading, settings: Settings) -> Iterator[Risk]:
    """What a call does, of RISKS."""
    for program in programs(reading):
        rule = _RULES.get(program.name)
        if rule is not None and rule(program) and not _is_picked(program, reading):
            yield Risk("prints-environment", program.spelled)
    for snippet in reading.snippets:
        if prints_environment(snippet.language, snippet.text):
            yield Risk("prints-environment", snippet.text[:_SHOWN])


# Programs ------------------------------------------------------------------------------------------------------------

_SHOWING = ("env", "printenv")
_ALL_OF_DECLARED = frozenset(("-p", "-x", "-px", "-xp", "-gx", "-xg"))
_BSD = frozenset("aAxuewfljmopvgrcTSnt")
_JQ = re.compile(r"(?:^|[|(,\[{:\s])(?:env|\$ENV)(?:$|[|)\],}\s])")


def _env(program: Started) -> bool:
    """`env` without a program to run: it has options and settings only."""
    is_other = program.has("-i", "--ignore-environment", "--help", "--version")
    return not is_other and all(word.startswith("-") or "=" in word for word in program.words)


def _printenv(program: Started) -> bool:
    return not program.operands and not program.has("--help", "--version")


def _set(program: Started) -> bool:
    return not program.words


def _declares(program: Started) -> bool:
    return not program.operands and _ALL_OF_DECLARED.issuperset(program.words)


def _compgen(program: Started) -> bool:
    return program.has("-e", "-v") or "export" in program.words or "variable" in program.words


def _cmd(program: Started) -> bool:
    return [word.lower() for word in program.words] in (["/c", "set"], ["/k", "set"])


def _ps(program: Started) -> bool:
    """`ps eww`, `ps auxe`: of options in the style of BSD, `e` adds the environment; on macOS `-E` does."""
    return any(word == "-E" or ("e" in word and _BSD.issuperset(word)) for word in program.words[:2])


def _manager(program: Started) -> bool:
    return program.operands[:1] in (("show-environment",), ("export",))


def _script_runner(program: Started) -> bool:
    """`npm run env`: a script that is always there."""
    return program.operands[:2] in (("run", "env"), ("exec", "env")) or (
        program.operands[:1] == ("env",) and program.name == "yarn"
    )


def _terminal(program: Started) -> bool:
    return program.operands[:1] in (("show-environment",), ("showenv",), ("dump",))


def _jq(program: Started) -> bool:
    return any(_JQ.search(word) for word in program.words)


def _cmake(program: Started) -> bool:
    return program.words[:2] == ("-E", "environment")


_NO_VALUES = (
    "-q",
    "--quiet",
    "--services",
    "--images",
    "--volumes",
    "--profiles",
    "--networks",
    "--hash",
    "--no-interpolate",
)


def _elsewhere(program: Started) -> bool:
    """The environment of a container or of another machine."""
    operands = program.operands
    if operands:
        last = operands[-1].split()
    else:
        last = []
    is_run_there = any(verb in operands for verb in ("exec", "run", "ssh", "rsh"))
    if last and last[-1] in _SHOWING and (is_run_there or (program.name == "ssh" and len(last) == 1 < len(operands))):
        return True
    if "config" in operands and (
        program.has("--environment") or (program.has("--env-file") and not program.has(*_NO_VALUES))
    ):
        return True
    return "inspect" in operands and ".Env" in program.value("-f", "--format")


_RULES: dict[str, Callable[[Started], bool]] = rules_of(
    "environments",
    written={
        "cmake": _cmake,
        "cmd": _cmd,
        "compgen": _compgen,
        "declares": _declares,
        "elsewhere": _elsewhere,
        "env": _env,
        "jq": _jq,
        "manager": _manager,
        "printenv": _printenv,
        "ps": _ps,
        "script_runner": _script_runner,
        "set": _set,
        "terminal": _terminal,
    },
    made={},
)

# What is shown of it -------------------------------------------------------------------------------------------------

_SEARCHERS = programs_with("greps")
_INVERTED = re.compile(r"--invert-match|-[a-zA-Z]*v[a-zA-Z]*")
_NAME = re.compile(r"[A-Za-z_]{3,}")
_ANY = re.compile(r"[.*\[]{2}|\A\.\Z")
_PROMISES = re.compile(
    r"(?i)key|tok|secr|pass|pwd|cred|auth|api|aws|azure|gcp|github|gh_|private|cert|sign|database|dsn|_url|login|user"
)


def _is_picked(program: Started, reading: CallReading) -> bool:
    """Whether only those are shown whose names match words that promise no secret: `env | grep NODE`."""
    for script in reading.scripts:
        for n, command in enumerate(script.commands):
            if command.words[1:] == program.given and command.program == program.name:
                return _is_searched(n, script)
    return False


def _is_searched(n: int, script: Script, left: int = 3) -> bool:
    readers = [(m, command) for m, command in enumerate(script.commands) if n in command.inputs]
    return bool(readers) and all(
        _picks_harmless(command)
        or (command.program in ("sort", "uniq", "cat") and left > 0 and _is_searched(m, script, left - 1))
        for m, command in readers
    )


def _picks_harmless(command: Command) -> bool:
    words = [word.plain for word in command.arguments]
    if command.program == "wc":
        return True
    if command.program not in _SEARCHERS or any(map(_INVERTED.fullmatch, words)):
        return False
    asked = next((word for word in words if not word.startswith("-")), "")
    names = _NAME.findall(asked)
    return bool(names) and not _ANY.search(asked) and not any(map(_PROMISES.search, names))

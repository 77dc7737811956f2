"""Environment variables that are printed: as a whole, or single ones whose names promise a secret.

Owns recognizing that in commands and in code, and which names promise a secret (`echo $API_KEY`). `env FOO=1 make` sets
one and `printenv PATH` shows one: both are work. The values are unknown before a call runs.
"""

import re
from collections.abc import Iterator

from tallystick.catalog.loading import Entry, load
from tallystick.catalog.programs import programs_with
from tallystick.model.pattern import pattern_of
from tallystick.model.script import HOLE, Command, Role, Script
from tallystick.policy.calls.reading import CallReading
from tallystick.policy.risks.call_forms import Forms
from tallystick.policy.risks.programs import Started, programs
from tallystick.policy.risks.risk import Risk
from tallystick.policy.settings import Settings

_MOST_CODE = 48 << 10
_WHOLE: dict[str, re.Pattern[str]] = {
    "python": pattern_of(
        r"\benviron\b(?!\s*(?:\[|=[^=]|\.(?:get|setdefault|pop|update|copy\(\)\s*[\n;]|__contains__)\b"
        r"|\.keys\(\)(?!(?s:.*)environ)))"
    ),
    "javascript": pattern_of(
        r"\bprocess\.env\b(?!\s*(?:\??\.|\[|=[^=]))|\bDeno\.env\.toObject\(|\bBun\.env\b(?!\s*(?:\??\.|\[|=))"
    ),
    "ruby": pattern_of(
        r"\bENV\b(?!\s*(?:\[|\.|=[^=]))|\bENV\.(?:to_h|to_a|to_hash|each|map|inspect|sort|select|filter|values|reject)\b"
    ),
    "perl": pattern_of(r"%ENV\b"),
    "php": pattern_of(
        r"\bgetenv\(\s*\)|\bphpinfo\(|\b(?:print_r|var_dump|var_export|json_encode|foreach|implode)\s*\(\s*\$_(?:ENV|SERVER)\b(?!\s*\[)"
    ),
    "awk": pattern_of(r"\bin\s+ENVIRON\b"),
    "powershell": pattern_of(
        r"(?i)\b(?:get-childitem|gci|dir|ls|get-item|gi)\s+(?:-path\s+)?['\"]?env:[\\/]?\*?['\"]?(?:$|[\s|;)}])"
        r"|GetEnvironmentVariables\("
    ),
    "r": pattern_of(r"\bSys\.getenv\(\s*\)"),
    "tcl": pattern_of(r"\bparray\s+(?:::)?env\b|\barray\s+get\s+(?:::)?env\b"),
}
_NAMED = {
    "python": "environ",
    "javascript": "env",
    "ruby": "ENV",
    "perl": "ENV",
    "php": "",
    "awk": "ENVIRON",
    "powershell": "",
    "r": "Sys.getenv",
    "tcl": "env",
}
"""What must be in code that shows it, to be looked for first."""
_HANDED_ON = {
    "python": pattern_of(
        r"(?:\*\*\s*(?:os\.)?|env\s*=\s*(?:dict\()?\s*(?:os\.)?|['\"\w]\s+(?:not\s+)?in\s+(?:os\.)?|import\s+)\Z"
    ),
    "javascript": pattern_of(r"(?:\.\.\.|env\s*:\s*|\}\s*=\s*)\Z"),
}
_LOOPS = pattern_of(r"\bfor\s+[\w, ()]{1,80}\s+in\s+(?:os\.)?\Z")
_SHOWS = pattern_of(r"(?i)print|dump|write|stdout|console\.|stringify|fetch\(|post|send|log|urlencode")
_MOST_BEFORE = 100


def prints_environment(language: str, text: str) -> bool:
    """Whether code takes the environment as a whole, not by names, and shows something."""
    whole = _WHOLE.get(language)
    if whole is None or _NAMED[language] not in text:
        return False
    cut = text[:_MOST_CODE]
    handed_on = _HANDED_ON.get(language)
    for found in whole.finditer(cut):
        before = cut[max(0, found.start() - _MOST_BEFORE) : found.start()]
        if handed_on is None or _LOOPS.search(before) or not handed_on.search(before):
            # The last line may be an expression whose value is shown: `node -p process.env`, a cell of a notebook.
            return handed_on is None or "\n" not in cut[found.end() :].strip() or _SHOWS.search(cut) is not None
    return False


RISKS: dict[str, str] = {
    "prints-environment": "It prints all environment variables.",
    "prints-secret-variable": "It prints a variable whose name promises a token or a password.",
}
_SHOWN = 120


def risks(reading: CallReading, settings: Settings) -> Iterator[Risk]:
    """What a call does, of RISKS."""
    for program in programs(reading):
        if _FORMS.of(program) is not None and not _is_picked(program, reading):
            yield Risk("prints-environment", program.spelled)
    for snippet in reading.snippets:
        if prints_environment(snippet.language, snippet.text):
            yield Risk("prints-environment", snippet.text[:_SHOWN])


# Programs ------------------------------------------------------------------------------------------------------------

_SHOWING = ("env", "printenv")
_BSD = frozenset("aAxuewfljmopvgrcTSnt")
_JQ = pattern_of(r"(?:^|[|(,\[{:\s])(?:env|\$ENV)(?:$|[|)\],}\s])")


def _environment_letter(program: Started) -> bool:
    """`ps eww`, `ps auxe`: of options in the style of BSD, `e` adds the environment; on macOS `-E` does."""
    return any(word == "-E" or ("e" in word and _BSD.issuperset(word)) for word in program.words[:2])


def _filter(program: Started) -> bool:
    return any(_JQ.search(word) for word in program.words)


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


_FORMS = Forms("environments", _elsewhere, _environment_letter, _filter)

# What is shown of it -------------------------------------------------------------------------------------------------

_SEARCHERS = programs_with("greps")
_INVERTED = pattern_of(r"--invert-match|-[a-zA-Z]*v[a-zA-Z]*")
_NAME = pattern_of(r"[A-Za-z_]{3,}")
_PASSING_ON = _SEARCHERS | {"sort", "uniq", "cat"}
_NAMES_ALONE = {
    "cut": pattern_of(r"-d ?= -f ?1|-f ?1 -d ?="),
    "sed": pattern_of(r"(?:-[Ee] )?s/=\.\*\$?/[^/&\\]*/"),
    "awk": pattern_of(r"-F ?= \{ ?print \$1 ?\}"),
}
"""What leaves the names of variables alone: `env | cut -d= -f1`."""
_ANY = pattern_of(r"[.*\[]{2}|\A\.\Z")
_PROMISES = pattern_of(
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
        _picks_harmless(command) or (command.program in _PASSING_ON and left > 0 and _is_searched(m, script, left - 1))
        for m, command in readers
    )


def _picks_harmless(command: Command) -> bool:
    words = [word.plain for word in command.arguments]
    if command.program == "wc":
        return True
    names_alone = _NAMES_ALONE.get(command.program)
    if names_alone is not None and names_alone.fullmatch(" ".join(words)):
        return True
    if command.program not in _SEARCHERS or any(map(_INVERTED.fullmatch, words)):
        return False
    asked = next((word for word in words if not word.startswith("-")), "")
    names = _NAME.findall(asked)
    return bool(names) and not _ANY.search(asked) and not any(map(_PROMISES.search, names))


_MOST_CHARACTERS = 64 << 10
_MOST_STEPS = 4


class _Variables(Entry, frozen=True):
    """Facts of catalog/secret_variables.toml."""

    words: frozenset[str]
    endings: tuple[str, ...]
    about: frozenset[str]


_VARIABLES = load("secret_variables", _Variables)
_VARIABLE = pattern_of(r"\$\{?([A-Za-z_][A-Za-z0-9_]{1,80})(?![A-Za-z0-9_])(?!:?\+)")
_PRINTED = pattern_of(r"(?:^|[\s;&|({`\"'])(?:echo|printf|print)\s([^\n;|&<>]{1,500})")
_PASSING = programs_with("passes-value")


def variable_risks(reading: CallReading, settings: Settings) -> Iterator[Risk]:
    """What a call does, of RISKS."""
    for program in programs(reading):
        is_printed = program.name == "printenv" or (
            program.name in ("declare", "typeset", "export") and program.has("-p")
        )
        if is_printed:
            yield from (Risk("prints-secret-variable", name) for name in program.operands if is_secret_variable(name))
    if any(_prints_hole(script) for script in reading.scripts):
        yield from (Risk("prints-secret-variable", name) for text in reading.texts for name in _echoed(text))


def is_secret_variable(name: str) -> bool:
    """Whether the name of a variable promises a token, a password, or an address with one in it."""
    upper = name.upper()
    if upper.endswith(_VARIABLES.endings):
        return True
    words = upper.split("_")
    return (
        not _VARIABLES.words.isdisjoint(words)
        and words[-1] not in _VARIABLES.about
        and words[0] not in _VARIABLES.about
    )


def _echoed(text: str) -> Iterator[str]:
    """The variables in what `echo` prints: a value that is unknown leaves no name among the words that were read."""
    if "$" not in text:
        return
    for printed in _PRINTED.finditer(text[:_MOST_CHARACTERS]):
        yield from (found[1] for found in _VARIABLE.finditer(printed[1]) if is_secret_variable(found[1]))


def _prints_hole(script: Script) -> bool:
    return any(
        _is_echo_of_hole(command) and _is_shown(n, script, _MOST_STEPS) for n, command in enumerate(script.commands)
    )


def _is_echo_of_hole(command: Command) -> bool:
    return (
        command.role is Role.PROGRAM
        and command.program in ("echo", "printf", "print")
        and any(HOLE in word.text and not word.commands for word in command.arguments)
        and not any(redirect.writes for redirect in command.redirects)
    )


def _is_shown(n: int, script: Script, left: int) -> bool:
    """Whether what a command prints is shown: by itself, or by filters that pass it on."""
    if n in script.outputs:
        return True
    return left > 0 and any(
        (command.role is not Role.PROGRAM or command.program in _PASSING) and _is_shown(m, script, left - 1)
        for m, command in enumerate(script.commands)
        if n in command.inputs
    )

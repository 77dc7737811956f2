"""Single variables that are printed and whose names promise a secret: `echo $API_KEY`, `printenv DATABASE_URL`.

Owns which names do. The values are unknown before a call runs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from tallystick.catalog.programs import programs_with
from tallystick.model.script import HOLE, Command, Role, Script
from tallystick.policy.reading import CallReading
from tallystick.policy.risks.programs import programs
from tallystick.policy.risks.risk import Risk
from tallystick.policy.settings import Settings

RISKS: dict[str, str] = {"prints-secret-variable": "It prints a variable whose name promises a token or a password."}
_MOST_CHARACTERS = 64 << 10
_MOST_STEPS = 4
_SECRET = frozenset(
    ("TOKEN", "SECRET", "PASSWORD", "PASSWD", "PASS", "CREDENTIALS", "CREDENTIAL", "APIKEY", "PASSPHRASE", "PAT")
)
_ENDINGS = (
    "API_KEY", "ACCESS_KEY", "SECRET_KEY", "PRIVATE_KEY", "SIGNING_KEY", "ENCRYPTION_KEY", "MASTER_KEY", "ACCOUNT_KEY",
    "AUTH_KEY", "SERVICE_KEY", "DATABASE_URL", "DATABASE_URI", "REDIS_URL", "MONGO_URL", "MONGODB_URI", "MONGO_URI",
    "AMQP_URL", "_DSN", "CONNECTION_STRING", "WEBHOOK_URL", "DB_URL", "POSTGRES_URL",
)  # fmt: skip
_ABOUT_IT = frozenset(
    (
        "COUNT",
        "LIMIT",
        "LENGTH",
        "LEN",
        "PATH",
        "FILE",
        "DIR",
        "NAME",
        "ID",
        "TTL",
        "TYPE",
        "URL",
        "EXPIRY",
        "MAX",
        "MIN",
    )
)
_VARIABLE = re.compile(r"\$\{?([A-Za-z_][A-Za-z0-9_]{1,80})(?![A-Za-z0-9_])(?!:?\+)")
_PRINTED = re.compile(r"(?:^|[\s;&|({`\"'])(?:echo|printf|print)\s([^\n;|&<>]{1,500})")
_PASSING = programs_with("passes-value")


def risks(reading: CallReading, settings: Settings) -> Iterator[Risk]:
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
    if upper.endswith(_ENDINGS):
        return True
    words = upper.split("_")
    return not _SECRET.isdisjoint(words) and words[-1] not in _ABOUT_IT and words[0] not in _ABOUT_IT


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

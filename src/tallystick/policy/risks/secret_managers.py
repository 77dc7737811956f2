"""Programs that keep secrets and print them: password stores, clouds' command lines, clusters.

Owns which of their commands print one. What only names secrets (`kubectl get secrets`, `vault list`) is work, and so is a
password that goes straight into another program's log-in. Sources: the programs' manuals.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from tallystick.catalog.programs import programs_with
from tallystick.model.pattern import pattern_of
from tallystick.policy.calls.reading import CallReading
from tallystick.policy.risks.call_forms import Forms
from tallystick.policy.risks.programs import Started, programs
from tallystick.policy.risks.risk import Risk
from tallystick.policy.settings import Settings

RISKS: dict[str, str] = {
    "prints-secret": "A program that keeps secrets prints one.",
    "prints-all-secrets": "A program that keeps secrets prints all of them.",
}


_PROMISES = r"(?i)secret|token|password|passwd|credential|private|_auth|api_?key|access_?key"
_HELPERS = ("docker-credential-", "git-credential-")
_DATABASES = pattern_of(r"(?i)\b(?:pg_shadow|pg_authid|mysql\.user|sys\.sql_logins|dba_users)\b")
_SECRET_OBJECT = pattern_of(r"(?i)(?:[a-z]+,)*secrets?(?:[/,.].*)?")
_NO_VERB = frozenset(("--help", "-h", "--version", "help"))


def risks(reading: CallReading, settings: Settings) -> Iterator[Risk]:
    """What a call does, of RISKS."""
    for program in programs(reading):
        word = _printed(program)
        if word is not None and not _goes_into_a_login(program, reading):
            yield Risk(word, program.spelled)
        if program.name in ("history", "fc") and _is_searched(program, reading):
            yield Risk("prints-secret", program.spelled)
    if _is_tool_of_keeper(reading.call.tool):
        yield Risk("prints-secret", reading.call.tool[:200])
    for snippet in reading.snippets:
        if snippet.language == "sql" and _DATABASES.search(snippet.text):
            yield Risk("prints-secret", snippet.text[:200])


def _printed(program: Started) -> str | None:
    if program.name.startswith(_HELPERS):
        return "prints-secret" if program.operands[:1] in (("get",), ("list",)) else None
    return _FORMS.of(program) if _NO_VERB.isdisjoint(program.words) else None


def _secret_objects(program: Started) -> bool:
    """`kubectl get secret` with a form that shows the data; the usual table has only names and counts."""
    operands = program.operands
    objects = operands[operands.index("get") + 1 :] if "get" in operands else ()
    if "/secrets" in program.value("--raw"):
        return True
    is_asked = any(_SECRET_OBJECT.fullmatch(word) for word in objects)
    form = program.value("-o", "--output") or next(
        (word[2:] for word in program.words if word.startswith("-o") and len(word) > 2), ""
    )
    return is_asked and (
        form.lstrip("=").startswith(("yaml", "json", "go-template", "template", "custom-columns", "jsonpath"))
    )


_FORMS = Forms("secret_managers", _secret_objects)
_TOOL = pattern_of(r"mcp__(.{1,100}?)__(.{1,200})", re.DOTALL)
_WORDS = pattern_of(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_KEEPERS = frozenset(
    ("1password", "onepassword", "bitwarden", "lastpass", "keepass", "keychain", "vault", "doppler", "infisical")
)
_SHOWING = frozenset(("get", "read", "fetch", "show", "reveal", "decrypt", "lookup", "export", "access"))
_SECRETS = frozenset(("secret", "secrets", "credential", "credentials", "password", "passwords", "apikey"))
_ABOUT = frozenset(("scanning", "alert", "alerts", "policy", "policies", "metadata", "version", "versions", "rotation"))


def _is_tool_of_keeper(tool: str) -> bool:
    """Whether a tool of an MCP server shows a secret, by its name: `get_secret`, or any that reads from a password store."""
    found = _TOOL.fullmatch(tool[:400])
    if found is None:
        return False
    words = [word.lower() for word in _WORDS.findall(found[2])]
    if _SHOWING.isdisjoint(words) or not _ABOUT.isdisjoint(words):
        return False
    return not _SECRETS.isdisjoint(words) or any(name in found[1].lower() for name in _KEEPERS)


_SEARCHERS = programs_with("picks-lines")


def _is_searched(program: Started, reading: CallReading) -> bool:
    """Whether what was typed before is searched for secrets: `history | grep password`."""
    for script in reading.scripts:
        for n, command in enumerate(script.commands):
            if command.words[:1] and command.words[1:] == program.given and command.program == program.name:
                readers = [other for other in script.commands if n in other.inputs and other.program in _SEARCHERS]
                return any(re.search(_PROMISES, word.plain) for other in readers for word in other.arguments)
    return False


_LOGINS = frozenset(("--password-stdin", "--with-token", "--token-stdin", "--stdin", "--passphrase-fd", "--passin"))


def _goes_into_a_login(program: Started, reading: CallReading) -> bool:
    """Whether all that is printed goes to the standard input of a log-in: `… | docker login --password-stdin`."""
    for script in reading.scripts:
        for n, command in enumerate(script.commands):
            if command.words[1:] == program.given and command.words[:1]:
                readers = [other for other in script.commands if n in other.inputs]
                return bool(readers) and all(
                    not _LOGINS.isdisjoint(word.plain for word in other.words) for other in readers
                )
    return False

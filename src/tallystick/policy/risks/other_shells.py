"""What calls do in the way of Windows: secrets that are read, and programs that fetch or run what a host sends.

Owns the names of what reads, copies and packs files there, and the programs that are there for something else and fetch
a file with some arguments. No reader of `intent.shell` knows those languages; cmdlets that fetch are read as commands,
and scripts from a URL are `remote`'s. Source: the LOLBAS project; MITRE ATT&CK T1105, T1197 and T1218.
"""

from __future__ import annotations

from collections.abc import Iterator

from tallystick.catalog.programs import programs_with
from tallystick.intent.code.characters import spelled
from tallystick.model.pattern import pattern_of
from tallystick.model.script import Command
from tallystick.policy.calls.reading import CallReading
from tallystick.policy.risks.call_forms import Forms
from tallystick.policy.risks.programs import Started, called, programs, reaching, shown
from tallystick.policy.risks.risk import Risk
from tallystick.policy.risks.secret_names_passed import secrets_in
from tallystick.policy.settings import Settings

RISKS: dict[str, str] = {
    "reads-secret": "It looks for secrets and reads what it finds.",
    "odd-download": "A program that is there for something else fetches a file: certutil, bitsadmin.",
    "remote-code": "What a host sends runs at once, before anybody can look at it.",
}
_MOST_CODE = 48 << 10
_SHELLS = programs_with("shell-of-windows")
_CMDLETS = frozenset(
    (
        "get-content", "gc", "select-string", "sls", "copy-item", "cpi", "move-item", "compress-archive", "import-csv",
        "import-clixml", "format-hex", "findstr", "xcopy", "robocopy", "certutil", "esentutl",
    )
)  # fmt: skip
_COPYING = pattern_of(r"(?i)(?:x|robo)?copy|copy-item|cpi|move(?:-item)?|mi")
"""Of those, the ones whose last word is where it goes."""
_READING = pattern_of(
    r"(?i)(?:^|[\s&|(\"'])(?:type|more|copy|xcopy|robocopy|move|findstr|certutil|get-content|gc|cat|select-string|sls"
    r"|copy-item|compress-archive)\s([^&|\n]{1,500})"
)


def risks(reading: CallReading, settings: Settings) -> Iterator[Risk]:
    """What a call does, of RISKS."""
    for text in _given(reading):
        for path in secrets_in(text, home=reading.home, folder=reading.folder):
            yield Risk("reads-secret", path[:200])


def _given(reading: CallReading) -> Iterator[str]:
    """What follows a name that reads files."""
    codes = [snippet.text for snippet in reading.snippets if snippet.language == "powershell"]
    for program in programs(reading):
        if _COPYING.fullmatch(program.name):
            yield _without_target(" ".join(program.words))
        elif program.name in _CMDLETS:
            yield from program.words
        elif program.name in _SHELLS:
            codes += reading.texts  # the words have lost their backslashes, for they were read by another shell
    for each in dict.fromkeys(each for code in codes for each in spelled("powershell", code)):
        for found in _READING.finditer(each[:_MOST_CODE]):
            name, _, given = found[0].strip("\"'(&| \t\n").partition(" ")
            yield _without_target(given) if _COPYING.fullmatch(name) else found[1]


def _without_target(given: str) -> str:
    """The words of a copy without where it goes: what is there is not read."""
    words = given.partition(";")[0].split()
    named = [n for n, word in enumerate(words) if word.lower().startswith("-dest")]
    if named:
        return " ".join(words[: named[0]] + words[named[0] + 2 :])
    operands = [n for n, word in enumerate(words) if word[:1] not in ("-", "/")]
    return " ".join(words[: operands[-1]]) if len(operands) > 1 else given


_URL = pattern_of(r"(?i)https?:|ftp:|\\\\[\w.-]+\\")
_FED_SHELLS = frozenset(("powershell", "pwsh", "cmd"))
_TEXT_OPTIONS = frozenset(("c", "command", "file", "f", "k", "e", "enc", "encodedcommand"))
_FETCHERS = programs_with("fetches-to-shell")
_SCRIPT = pattern_of(r"(?i)^\"?(?:javascript|vbscript|script):|scrobj\.dll|mshtml|openurl|filesprotocolhandler")


def download_risks(reading: CallReading, settings: Settings) -> Iterator[Risk]:
    """What a call does as a whole, of RISKS."""
    yield from _FORMS.found(programs(reading))
    for script in reading.scripts:
        for command in script.commands:
            if command.inputs and called(command) in _FED_SHELLS and _is_fed(command, script.commands):
                yield Risk("remote-code", shown(command.words))


def _is_fed(command: Command, commands: tuple[Command, ...]) -> bool:
    """Whether a shell runs its input, and a program that fetches writes it: `curl … | powershell -`."""
    operands = [word.plain for word in command.words[1:] if word.plain[:1] not in ("-", "/")]
    takes_text = any(word.plain.lower().lstrip("-/") in _TEXT_OPTIONS for word in command.words[1:])
    if operands or (takes_text and command.words[-1].plain != "-"):
        return False
    return any(called(maker) in _FETCHERS for maker in reaching(command.inputs, commands))


def _begins_with_address(started: Started) -> bool:
    return any(map(_URL.match, started.words))


def _has_address(started: Started) -> bool:
    return any(map(_URL.search, started.words))


def _runs_script(started: Started) -> bool:
    return any(map(_SCRIPT.search, started.words))


_FORMS = Forms("other_shells", _begins_with_address, _has_address, _runs_script)

"""What a command sets up that stays after the session, where no file of it shows: schedules, services, accounts, settings.

Owns those words, and which programs, verbs and names of settings make one. Files are `kinds.persistence`, git's settings are
`git_settings`. Must not know what follows. Sources: the programs' manual pages, MITRE ATT&CK TA0003.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from tallystick.catalog.programs import programs_with
from tallystick.model.intent import Operation
from tallystick.model.pattern import pattern_of
from tallystick.policy.calls.reading import CallReading
from tallystick.policy.content.unasked import sets_life_cycle
from tallystick.policy.risks.call_forms import Forms
from tallystick.policy.risks.programs import Started, programs
from tallystick.policy.risks.quoted_text import without_talk
from tallystick.policy.risks.risk import Risk
from tallystick.policy.settings import Settings

RISKS: dict[str, str] = {
    "schedules": "Something will run at a time or again and again.",
    "adds-service": "Something will run at every start of the machine or of the user's session.",
    "adds-account": "An account is made or changed, or another key may log in.",
    "changes-user-settings": "Settings of a program that count in all of the user's projects: what it loads and runs.",
    "adds-life-cycle": "A package runs code from a host, or code in its settings, when it is installed.",
    "adds-extension": "An editor or a browser gets code that it loads in every session.",
}


def risks(reading: CallReading, settings: Settings) -> Iterator[Risk]:
    """What a call does as a whole, of RISKS."""
    for intent in reading.uses.intents:
        if intent.operation is Operation.SCHEDULE and "wake" not in intent.target.lower():
            yield Risk("schedules", " ".join((intent.target, *intent.words))[:200])
    yield from _FORMS.found(programs(reading))
    yield from _of_windows(reading)


# Settings ------------------------------------------------------------------------------------------------------------


_TELLING = pattern_of(
    r"registry|index|url|proxy|shell|node.?options|prefix|cafile|\bca\b|ssl|trusted|userconfig|globalconfig|plugin|yarn.?path|unsafe|"
    r"^git\b|editor|pager|browser|auth|token|password|init.?module|ignore.?scripts|find.?links|channel|target|hook|command|python|socket|"
    r"^goflags|^goproxy|^go(?:no)?sum|^goinsecure|^gonoproxy|^goenv|^goroot|^gobin|^gotool|^cc$|^cxx$|^ar$|^cgo_",
    re.IGNORECASE,
)
"""What a setting is called that says what is run, or where something is loaded from. Most are about looks."""


def _telling(started: Started, at: str) -> bool:
    """Whether the setting that is changed, at a place among the operands, is one that matters."""
    return _is_telling(started.operands[int(at) :])


def _telling_word(started: Started, at: str) -> bool:
    return _is_telling(started.words[int(at) :])


def _is_telling(given: tuple[str, ...]) -> bool:
    """Whether a setting that is changed, `name value` or `name=value`, is one that matters; so is one that is not named."""
    key = ""
    if given:
        key = given[0].partition("=")[0]
    return not key or _TELLING.search(key) is not None


def _life_cycle(started: Started) -> bool:
    return any(map(sets_life_cycle, started.words[2:]))


_FORMS = Forms("persistence", _life_cycle, _telling, _telling_word)


# Windows -------------------------------------------------------------------------------------------------------------

_WINDOWS = pattern_of(
    r"(?P<schedules>\b(?:register-scheduledtask|new-scheduledtask|set-scheduledtask|register-scheduledjob)\b)|"
    r"(?P<service>\bnew-service\b|currentversion\\{0,4}run(?:once)?\b|\bset-service\b[^\n;|]{0,80}-startuptype automatic|"
    r"currentversion\\{0,4}winlogon\b|__eventfilter\b)|(?P<account>\b(?:new-localuser|add-localgroupmember)\b)",
    re.IGNORECASE,
)
_CHANGES_KEYS = pattern_of(
    r"\breg(?:\.exe)?\s+(?:add|import|copy|restore|load)\b|\b(?:new|set|copy|rename|move)-item|setvalue|createsubkey|regwrite|\bs?p\s|\bni\s",
    re.IGNORECASE,
)
_OF_WINDOWS = {"schedules": "schedules", "service": "adds-service", "account": "adds-account"}
_SHELLS_OF_WINDOWS = programs_with("registry-shell")


def _of_windows(reading: CallReading) -> Iterator[Risk]:
    """PowerShell and the registry, which are not read word by word."""
    texts = [snippet.text for snippet in reading.snippets if snippet.language == "powershell"]
    texts += [code.text for code in reading.uses.codes if code.language == "powershell"]
    texts += [started.spelled for started in programs(reading) if started.name in _SHELLS_OF_WINDOWS]
    for text in texts:
        text = without_talk(text[: 64 << 10])
        found = _WINDOWS.search(text)
        is_key = found is not None and found[0][:14].lower() == "currentversion"
        if is_key and _CHANGES_KEYS.search(text) is None:
            continue
        if found is not None and found.lastgroup is not None:
            yield Risk(_OF_WINDOWS[found.lastgroup], found[0][:200])

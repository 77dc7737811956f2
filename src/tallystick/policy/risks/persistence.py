"""What a command sets up that stays after the session, where no file of it shows: schedules, services, accounts, settings.

Owns those words, and which programs, verbs and names of settings make one. Files are `kinds.persistence`, git's settings are
`git_settings`. Must not know what follows. Sources: the programs' manual pages, MITRE ATT&CK TA0003.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from tallystick.catalog.programs import RiskRule, programs_with
from tallystick.model.intent import Operation
from tallystick.model.pattern import pattern_of
from tallystick.policy.calls.reading import CallReading
from tallystick.policy.content.unasked import sets_life_cycle
from tallystick.policy.risks.entries import Rule, judged, rules_of
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
    for started in programs(reading):
        name = judged("persistence", _RULES, started)
        if name is not None:
            yield Risk(name, started.spelled)
    yield from _of_windows(reading)


# Settings ------------------------------------------------------------------------------------------------------------


_TELLING = pattern_of(
    r"registry|index|url|proxy|shell|node.?options|prefix|cafile|\bca\b|ssl|trusted|userconfig|globalconfig|plugin|yarn.?path|unsafe|"
    r"^git\b|editor|pager|browser|auth|token|password|init.?module|ignore.?scripts|find.?links|channel|target|hook|command|python|socket|"
    r"^goflags|^goproxy|^go(?:no)?sum|^goinsecure|^gonoproxy|^goenv|^goroot|^gobin|^gotool|^cc$|^cxx$|^ar$|^cgo_",
    re.IGNORECASE,
)
"""What a setting is called that says what is run, or where something is loaded from. Most are about looks."""
_KEYED = (
    ("config", "set"),
    ("config", "unset"),
    ("config", "delete"),
    ("config", "--add"),
    ("config", "--set"),
    ("set",),
    ("c", "set"),
)
"""What is followed by the name of a setting."""


def _package_settings(test: RiskRule) -> Rule:
    """A program that keeps settings for its user, by the words that change them; not those that it keeps in the project."""
    verbs = [tuple(verb.split()) for verb in test.words.split(",")]

    def judged(started: Started) -> str | None:
        operands, words = started.operands, started.words
        is_local = started.has("--local", "--site") or started.value("--location", "-L") == "project"
        for verb in verbs if not is_local else ():
            given = next((given for given in (operands, words) if given[: len(verb)] == verb), None)
            if given is not None and (verb not in _KEYED or _is_telling(given[len(verb) :])):
                return "changes-user-settings"
        return None

    return judged


def _is_telling(given: tuple[str, ...]) -> bool:
    """Whether a setting that is changed, `name value` or `name=value`, is one that matters; so is one that is not named."""
    key = ""
    if given:
        key = given[0].partition("=")[0]
    return not key or _TELLING.search(key) is not None


def _life_cycle(started: Started) -> str | None:
    words = started.words
    is_set = words[:2] == ("pkg", "set") and any(map(sets_life_cycle, words[2:]))
    if is_set:
        return "adds-life-cycle"
    return None


def _go(started: Started) -> str | None:
    is_set = started.operands[:1] == ("env",) and started.has("-w", "-u")
    if is_set and _is_telling(started.operands[1:]):
        return "changes-user-settings"
    return None


_RULES: dict[str, Rule] = rules_of(
    "persistence", written={"go": _go, "life_cycle": _life_cycle}, made={"settings": _package_settings}
)


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

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
from tallystick.policy.risks.entries import Rule, has, rules_of
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
        rule = _RULES.get(started.name)
        name = None
        if rule is not None:
            name = rule(started)
        if name is not None:
            yield Risk(name, started.spelled)
    yield from _of_windows(reading)


# Schedules and services ----------------------------------------------------------------------------------------------


def _crontab(started: Started) -> str | None:
    if started.has("-l") and not started.has("-r"):
        return None
    return "schedules"


def _at(started: Started) -> str | None:
    if started.has("-l", "-c", "-V") or (started.has("-r", "-d")):
        return None
    return "schedules"


_LASTING = frozenset(
    ("enable", "reenable", "link", "preset", "preset-all", "edit", "unmask", "set-default", "add-wants", "add-requires")
)


def _systemctl(started: Started) -> str | None:
    verb = next(iter(started.operands), "")
    if verb in _LASTING:
        return "adds-service"
    return None


def _systemd_run(started: Started) -> str | None:
    timed = any(
        word.startswith(("--on-", "--timer-property", "--path-property", "--socket-property")) for word in started.words
    )
    if timed:
        return "schedules"
    return None


def _launchctl(started: Started) -> str | None:
    verb = next(iter(started.operands), "")
    if verb in ("load", "bootstrap", "enable", "submit", "setenv", "config"):
        return "adds-service"
    return None


def _with_verb(test: RiskRule) -> Rule:
    """A program that sets something up if one of its first three operands is one of some verbs."""
    known = frozenset(test.words.split())

    def judged(started: Started) -> str | None:
        if known.intersection(word.lower() for word in started.operands[:3]):
            return test.risk
        return None

    return judged


def _always(test: RiskRule) -> Rule:
    """A program that does nothing else, unless it only tells about itself."""

    def judged(started: Started) -> str | None:
        if started.has("--help", "--version", "-h", "-V") and len(started.words) == 1:
            return None
        return test.risk

    return judged


def _loginctl(started: Started) -> str | None:
    if "enable-linger" in started.operands:
        return "adds-service"
    return None


def _defaults(started: Started) -> str | None:
    """macOS: hooks of the login window."""
    text = " ".join(started.operands[:4]).lower()
    if text.startswith("write") and ("loginhook" in text or "loginwindow" in text):
        return "adds-service"
    return None


def _osascript(started: Started) -> str | None:
    if "login item" in " ".join(started.words).lower():
        return "adds-service"
    return None


def _passwd(started: Started) -> str | None:
    if started.has("-S", "--status", "--help"):
        return None
    return "adds-account"


def _dscl(started: Started) -> str | None:
    changing = ("-create", "-append", "-passwd", "-merge", "-change", "create", "append", "passwd", "merge", "change")
    if any(word in changing for word in started.words[:3]):
        return "adds-account"
    return None


def _net(started: Started) -> str | None:
    words = [word.lower() for word in started.words]
    is_account = words[:1] in (["user"], ["localgroup"], ["group"])
    if is_account and ("/add" in words or len(words) > 2):
        return "adds-account"
    return None


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


def _editor(started: Started) -> str | None:
    if started.has("--install-extension", "--add-mcp"):
        return "adds-extension"
    return None


def _globally(started: Started) -> str | None:
    is_set = started.operands[:1] == ("config",) and started.has("--global", "-g") and len(started.operands) > 2
    if is_set:
        return "changes-user-settings"
    return None


_RULES: dict[str, Rule] = rules_of(
    "persistence",
    written={
        "at": _at,
        "crontab": _crontab,
        "defaults": _defaults,
        "dscl": _dscl,
        "editor": _editor,
        "globally": _globally,
        "go": _go,
        "launchctl": _launchctl,
        "life_cycle": _life_cycle,
        "loginctl": _loginctl,
        "net": _net,
        "osascript": _osascript,
        "passwd": _passwd,
        "systemctl": _systemctl,
        "systemd_run": _systemd_run,
    },
    made={"always": _always, "has": has, "settings": _package_settings, "verb": _with_verb},
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

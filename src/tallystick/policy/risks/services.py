"""Which services a program stops, disables or removes.

Owns how that is said to systemd, SysV and BSD init, OpenRC, launchd, runit, s6, Windows and package managers. Must not know
which services matter.
"""

from __future__ import annotations

from collections.abc import Callable

from tallystick.intent.programs.arguments import names
from tallystick.model.pattern import pattern_of
from tallystick.policy.risks.entries import rules_of
from tallystick.policy.risks.programs import Started

_STOPS = names("stop disable mask kill unload bootout remove delete off zap")
_SCRIPTS = ("/etc/init.d/", "/etc/rc.d/", "/usr/local/etc/rc.d/", "/lib/systemd/")
_NAME = pattern_of(r"[\w.-]{3,60}")
_Rule = Callable[[Started], tuple[str, ...]]


def stopped(started: Started) -> tuple[str, ...]:
    """The names of services, units and processes, as they are spelled."""
    if started.spelled.startswith(_SCRIPTS):
        if _STOPS.intersection(started.operands[:1]):
            return (started.name,)
        return ()
    rule = _RULES.get(started.name)
    if rule is None:
        return ()
    return rule(started)


def _verb_first(started: Started) -> tuple[str, ...]:
    """`systemctl stop NAME…`, `launchctl unload FILE`."""
    words = [word for word in started.operands if word not in ("--now", "user", "system")]
    if words and words[0].lower() in _STOPS:
        return tuple(words[1:])
    return ()


def _name_first(started: Started) -> tuple[str, ...]:
    """`service NAME stop`, `chkconfig NAME off`."""
    words = started.operands
    if _STOPS.intersection(words[1:3]):
        return words[:1]
    return ()


def _either(started: Started) -> tuple[str, ...]:
    """`rc-update del NAME`, `update-rc.d NAME disable`, `sc config NAME start= disabled`."""
    words = [word.lower() for word in started.operands]
    said = {"del", "delete", "disable", "disabled", "remove", "stop", "off", "down", "pause"}
    if said.intersection(words):
        return tuple(started.operands)
    return ()


def _off(started: Started) -> tuple[str, ...]:
    """`sv down NAME`, `s6-svc -d DIR`, `svcadm disable NAME`."""
    is_down = started.has("-d", "-k", "-x") or {"down", "stop", "d", "exit", "disable", "kill"} & set(
        started.operands[:1]
    )
    if is_down:
        return tuple(word.rstrip("/") for word in started.operands)
    return ()


def _killed(started: Started) -> tuple[str, ...]:
    """`pkill NAME`, `taskkill /IM NAME`, `Stop-Process -Name NAME`."""
    if not started.has("-0", "-l", "-L"):
        return tuple(started.operands)
    return ()


def _by_id(started: Started) -> tuple[str, ...]:
    """`kill $(pidof NAME)`: what is in the substitution."""
    return tuple(_NAME.findall(started.hidden))


def _removed(started: Started) -> tuple[str, ...]:
    """`apt-get purge NAME`, `dnf remove NAME`."""
    words = started.operands
    if words and words[0].lower() in _REMOVES:
        return tuple(words[1:])
    return ()


def _named(started: Started) -> tuple[str, ...]:
    """PowerShell: the name with or without `-Name`."""
    if started.name == "set-service" and not {"disabled", "stopped"} & {word.lower() for word in started.words}:
        return ()
    return tuple(started.operands)


_REMOVES = names("remove purge uninstall erase autoremove del rm -r -rns")
_RULES: dict[str, _Rule] = rules_of(
    "services",
    written={
        "by_id": _by_id,
        "either": _either,
        "killed": _killed,
        "name_first": _name_first,
        "named": _named,
        "off": _off,
        "removed": _removed,
        "verb_first": _verb_first,
    },
    made={},
)

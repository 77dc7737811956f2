"""What protects the machine and is switched off: firewalls, audits, logs, mandatory access control, guards against malware.

Owns their programs, services, settings and logs on Linux, macOS, the BSDs and Windows, and in clouds. Asking for a
state is work. Sources: the manual pages of iptables, nft, ufw, firewalld, pfctl, auditd, SELinux, AppArmor, systemd;
Apple's and Microsoft's references of the programs named here; specs/gensee.md 5.3.
"""

from collections.abc import Iterator, Mapping

from tallystick.catalog.loading import Entry, inverted, load
from tallystick.catalog.programs import programs_with
from tallystick.model.intent import Domain, Intent, Operation
from tallystick.model.pattern import pattern_of
from tallystick.policy.calls.reading import CallReading
from tallystick.policy.risks.call_forms import Forms, group
from tallystick.policy.risks.programs import Started, programs
from tallystick.policy.risks.risk import Risk
from tallystick.policy.settings import Settings

RISKS = {
    "disables-firewall": "A firewall is switched off, emptied, or opened as a whole.",
    "changes-firewall": "Rules of a firewall are added or replaced.",
    "disables-audit": "What keeps an audit or log of the machine, or of a cloud account, is switched off.",
    "clears-logs": "Logs of the system are emptied, removed or rewritten.",
    "trims-logs": "Old parts of the system's logs are thrown away.",
    "disables-protection": "Mandatory access control, integrity protection or a guard against malware is switched off.",
    "changes-protection": "Something that protects the machine, or reports on it, is stopped or made more lenient.",
    "clears-history": "A shell's history of commands is emptied or removed.",
    "hides-history": "A shell's history of commands is switched off, or a part of it is taken out.",
}
_CHANGES = frozenset(
    (
        Operation.WRITE,
        Operation.EDIT,
        Operation.COPY_DEST,
        Operation.DELETE,
        Operation.RENAME,
    )
)


class _Facts(Entry, frozen=True):
    """Facts of catalog/defences.toml."""

    logs: tuple[str, ...]
    of_system: frozenset[str]
    records: frozenset[str]
    settings: Mapping[str, tuple[str, ...]]
    histories: frozenset[str]
    firewalls: frozenset[str]
    audits: frozenset[str]
    protections: frozenset[str]
    guards: frozenset[str]


_FACTS = load("defences", _Facts)
_FORMS = Forms("defences")
_SETTINGS = inverted(_FACTS.settings)
_EMPTIES = programs_with("empties-found-logs")
"""Programs that `find` hands logs over to."""
_HISTORY_OFF = frozenset(("HISTFILE", "HISTSIZE", "HISTFILESIZE", "SAVEHIST"))
_NO_HISTORY = frozenset(("", "0", "/dev/null"))


def risks(reading: CallReading, settings: Settings) -> Iterator[Risk]:
    """What a call does to the machine's defences, of RISKS."""
    for intent in reading.effects.intents:
        if intent.domain is Domain.FILE:
            yield from _of_file(intent)
        elif intent.operation is Operation.SIGNAL:
            yield from _of_service(intent.target, "")
    for started in programs(reading):
        yield from _of_program(started)
    for script in reading.scripts:
        for name, value in script.assigned:
            if name in _HISTORY_OFF and value in _NO_HISTORY:
                yield Risk("hides-history", f"{name}={value}")


def _of_program(started: Started) -> Iterator[Risk]:
    for unit in stopped(started):
        yield from _of_service(unit, started.spelled)
    if started.name in _EMPTIES and started.hidden and _is_log(started.hidden.split()[0]):
        yield Risk("clears-logs", started.spelled)
    word = _FORMS.of(started)
    if word is not None:
        yield Risk(word, started.spelled)


# Files ---------------------------------------------------------------------------------------------------------------


def _of_file(intent: Intent) -> Iterator[Risk]:
    path, operation = intent.target, intent.operation
    is_change = operation in _CHANGES or (operation is Operation.CREATE and "/dev/null" in intent.words)
    if path.rpartition("/")[2] in _FACTS.histories:
        if is_change or operation is Operation.CREATE:
            yield Risk("clears-history" if operation in _CHANGES else "hides-history", path[:200])
    elif not is_change and operation not in (Operation.APPEND, Operation.METADATA):
        return
    elif path.startswith(("/var/", "/run/", "/private/var/", "/etc/utmp")) and _is_log(path):
        if is_change:
            yield Risk("clears-logs" if _is_of_system(path) else "trims-logs", path[:200])
    elif path.startswith(("/etc/", "/private/etc/", "/sys/", "/Library/", "/opt/", "/var/ossec")):
        word = next((word for place, word in _SETTINGS.items() if path == place or path.startswith(place + "/")), None)
        if word is not None:
            yield Risk(word if is_change else "changes-protection", path[:200])


def _is_log(path: str) -> bool:
    return path in _FACTS.records or any(path == place or path.startswith(place + "/") for place in _FACTS.logs)


def _is_of_system(path: str) -> bool:
    """Whether a log tells of the system, not of one program."""
    place = next((place for place in _FACTS.logs if path == place or path.startswith(place + "/")), path)
    first = path[len(place) :].strip("/").partition("/")[0]
    stem = first
    if first.partition(".")[0] in _FACTS.of_system:
        stem = first.partition(".")[0]
    return (
        (place != "/var/log" and place != "/private/var/log") or not first or stem in _FACTS.of_system or "*" in first
    )


# Services ------------------------------------------------------------------------------------------------------------

_SERVICES = Forms("services")
"""Which of its words name services that a program stops, instead of a risk."""
_STOPS = group("stop")
_SCRIPTS = ("/etc/init.d/", "/etc/rc.d/", "/usr/local/etc/rc.d/", "/lib/systemd/")
_NAME = pattern_of(r"[\w.-]{3,60}")


def stopped(started: Started) -> tuple[str, ...]:
    """The names of services, units and processes that a program stops, disables or removes, as they are spelled."""
    if started.spelled.startswith(_SCRIPTS):
        return (started.name,) if _STOPS.intersection(started.operands[:1]) else ()
    match _SERVICES.of(started):
        case "all":
            return tuple(word.rstrip("/") for word in started.operands)
        case "first":
            return started.operands[:1]
        case "rest":
            return started.operands[1:]
        case "hidden":  # `kill $(pidof NAME)`
            return tuple(_NAME.findall(started.hidden))
    return ()


def _of_service(unit: str, spelled: str) -> Iterator[Risk]:
    name = unit.lower().rpartition("/")[2].rpartition("\\")[2]
    for ending in (".service", ".socket", ".plist", ".exe", ".timer"):
        name = name.removesuffix(ending)
    last = name.rpartition(".")[2]
    for known, word in (
        (_FACTS.firewalls, "disables-firewall"),
        (_FACTS.audits, "disables-audit"),
        (_FACTS.protections, "disables-protection"),
        (_FACTS.guards, "changes-protection"),
    ):
        if name in known or (last != name and last in known):
            yield Risk(word, (spelled or unit)[:200])
            return

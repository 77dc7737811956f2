"""What protects the machine and is switched off: firewalls, audits, logs, mandatory access control, guards against malware.

Owns their programs, settings and logs on Linux, macOS, the BSDs and Windows, and in clouds; `services` has their
services. Asking for a state is work. Sources: the manual pages of iptables, nft, ufw, firewalld, pfctl, auditd,
SELinux, AppArmor, systemd; Apple's and Microsoft's references of the programs named here; specs/gensee.md 5.3.
"""

from collections.abc import Iterator, Mapping
from itertools import pairwise

from tallystick.catalog.loading import Entry, inverted, load
from tallystick.catalog.programs import RiskRule, programs_with
from tallystick.model.intent import Domain, Intent, Operation
from tallystick.policy.calls.reading import CallReading
from tallystick.policy.risks.entries import Rule, rules_of, says
from tallystick.policy.risks.programs import Started, programs
from tallystick.policy.risks.risk import Risk
from tallystick.policy.risks.services import stopped
from tallystick.policy.settings import Settings


def _iptables(started: Started) -> str | None:
    """Flushing, deleting and accepting all opens; adding may close or open."""
    if started.has("-F", "--flush", "-X", "--delete-chain", "-D", "--delete"):
        return "disables-firewall"
    if started.has("-P", "--policy"):
        if "accept" in map(str.lower, started.words):
            return "disables-firewall"
        return "changes-firewall"
    is_change = started.has(
        "-A", "--append", "-I", "--insert", "-R", "--replace", "-N", "--new-chain", "-E", "--rename-chain"
    )
    if is_change:
        return "changes-firewall"
    return None


def _nft(started: Started) -> str | None:
    verbs = set(" ".join(started.operands[:4]).split())
    if verbs & {"flush", "delete", "destroy", "reset"}:
        return "disables-firewall"
    if verbs & {"add", "insert", "replace", "create", "rename"} or started.has("-f", "--file"):
        return "changes-firewall"
    return None


def _ufw(started: Started) -> str | None:
    verbs = started.operands[:3]
    if "disable" in verbs or "reset" in verbs or ("default" in verbs and "allow" in started.operands):
        return "disables-firewall"
    is_asking = not verbs or verbs[0] in ("status", "show", "version", "help", "app") or "--dry-run" in started.words
    if is_asking:
        return None
    return "changes-firewall"


def _firewall_cmd(started: Started) -> str | None:
    words = started.words
    if any(word.startswith(("--panic-off", "--set-default-zone=trusted", "--set-target=ACCEPT")) for word in words):
        return "disables-firewall"
    if "--set-target=accept" in map(str.lower, words) or (started.has("--set-default-zone") and "trusted" in words):
        return "disables-firewall"
    is_change = any(
        word.startswith(
            ("--add-", "--remove-", "--set-", "--new-", "--delete-", "--change-", "--reload", "--complete-reload")
        )
        for word in words
    )
    if is_change:
        return "changes-firewall"
    return None


def _pfctl(started: Started) -> str | None:
    if started.has("-d", "-F"):
        return "disables-firewall"
    is_asking = started.has("-s", "-n", "-v") and not started.has("-f", "-e", "-t")
    if started.has("-f", "-e", "-t", "-a", "-k", "-X") and not is_asking:
        return "changes-firewall"
    return None


def _socketfilter(started: Started) -> str | None:
    words = [word.lower() for word in started.words]
    if "off" in words or any(word.startswith(("--remove", "--unblock")) for word in words):
        return "disables-firewall"
    if any(word.startswith(("--set", "--add", "--block")) for word in words):
        return "changes-firewall"
    return None


def _netsh(started: Started) -> str | None:
    words = [word.lower() for word in started.words]
    if not {"advfirewall", "firewall"} & set(words[:2]):
        return None
    if {"off", "disable", "reset", "delete"} & set(words) or "mode=disable" in words:
        return "disables-firewall"
    if {"set", "add", "import"} & set(words):
        return "changes-firewall"
    return None


def _ever(test: RiskRule) -> Rule:
    def rule(started: Started) -> str | None:
        if {"--help", "--version", "-h", "-V", "-?"}.intersection(started.words):
            return None
        return test.risk

    return rule


def _auditctl(started: Started) -> str | None:
    is_never = any(rule.startswith("never,") or rule.endswith(",never") for rule in (started.value("-a", "-A"),))
    is_off = is_never or started.has("-D", "-d", "-W") or (started.has("-e") and started.value("-e") in ("0", ""))
    if is_off:
        return "disables-audit"
    if started.has("-a", "-w", "-A", "-R", "-b", "-r"):
        return "changes-protection"
    return None


def _setenforce(started: Started) -> str | None:
    said = {word.lower() for word in started.operands}
    if said and not said & {"1", "enforcing"}:
        return "disables-protection"
    return None


def _journalctl(started: Started) -> str | None:
    is_trimming = any(
        word.startswith(("--vacuum-", "--rotate", "--flush", "--relinquish-var")) for word in started.words
    )
    if is_trimming:
        return "trims-logs"
    return None


def _history(started: Started) -> str | None:
    """`history -c`, `history -d N`; `history 5` lists."""
    if started.has("-c") or "clear" in started.words[:1]:
        return "clears-history"
    if started.has("-d", "--delete") or "delete" in started.words[:1]:
        return "hides-history"
    return None


def _set(started: Started) -> str | None:
    words = started.words
    if any((a, b) == ("+o", "history") for a, b in pairwise(words)):
        return "hides-history"
    return None


def _reg(started: Started) -> str | None:
    text = " ".join(started.words).lower()
    is_change = started.operands[:1] and started.operands[0].lower() in ("add", "delete", "import")
    if is_change and any(
        name in text
        for name in ("windows defender", "windowsfirewall", "disableantispyware", "\\eventlog", "\\lsa", "enablelua")
    ):
        return "disables-protection"
    return None


def _registry(started: Started) -> str | None:
    """The same by PowerShell, for which the registry is a drive."""
    text = " ".join(started.words).lower()
    is_key = "hklm:" in text or "hkcu:" in text or "registry::" in text
    if is_key and any(name in text for name in _GUARDED_KEYS):
        return "disables-protection"
    return None


_GUARDED_KEYS = ("windows defender", "windowsfirewall", "disableantispyware", "/eventlog", "/lsa", "enablelua")


def _defaults(started: Started) -> str | None:
    words = started.words
    if words[:1] not in (("write",), ("delete",)):
        return None
    if any("com.apple.alf" in word for word in words):
        return "disables-firewall"
    if any("LSQuarantine" in word or "XProtect" in word for word in words):
        return "changes-protection"
    return None


def _cloud(started: Started) -> str | None:
    """Audits of cloud accounts: `aws cloudtrail stop-logging` and its like."""
    words = started.operands
    for service, verbs in _FACTS.cloud_audits.items():
        if service in words[:4] and any(word.startswith(verbs) for word in words):
            return "disables-audit"
    if {"0.0.0.0/0", "::/0"}.intersection(started.words) or any("0.0.0.0/0" in word for word in started.words):
        is_open = any(
            word.startswith(("authorize-security-group-ingress", "firewall-rules", "nsg", "create-network-acl"))
            for word in words
        )
        if is_open:
            return "changes-firewall"
        return None
    return None


def _mp_preference(started: Started) -> str | None:
    words = [word.lower() for word in started.words]
    if any(word.startswith(("-disable", "-exclusion", "-mapsreporting", "-submitsamples")) for word in words):
        return "disables-protection"
    return None


def _execution_policy(started: Started) -> str | None:
    """For the machine or the user; of one process it ends with it."""
    said = {word.lower() for word in started.words}
    if said & {"unrestricted", "bypass"} and "process" not in said:
        return "changes-protection"
    return None


_BOOT_WEAK = frozenset(
    (
        ("recoveryenabled", "no"), ("recoveryenabled", "off"), ("testsigning", "on"), ("testsigning", "yes"),
        ("nointegritychecks", "on"), ("nointegritychecks", "yes"), ("bootstatuspolicy", "ignoreallfailures"),
        ("nx", "alwaysoff"), ("disableelamdrivers", "yes"), ("loadoptions", "ddisable_integrity_checks"),
    )
)  # fmt: skip


def _bcdedit(started: Started) -> str | None:
    words = [word.lower() for word in started.words]
    if not _BOOT_WEAK.isdisjoint(pairwise(words)):
        return "disables-protection"
    return None


_BOOT_OFF = ("selinux=0", "enforcing=0", "apparmor=0", "audit=0", "mitigations=off", "lockdown=none")


def _quarantine(started: Started) -> str | None:
    if any("quarantine" in w for w in started.words) and started.has("-d", "-c", "-w"):
        return "changes-protection"
    return None


def _boots_without(started: Started) -> str | None:
    if any(word.endswith(_BOOT_OFF) for word in started.words):
        return "disables-protection"
    return None


RULES: dict[str, Rule] = rules_of(
    "defences",
    written={
        "auditctl": _auditctl,
        "bcdedit": _bcdedit,
        "boots_without": _boots_without,
        "cloud": _cloud,
        "defaults": _defaults,
        "execution_policy": _execution_policy,
        "firewall_cmd": _firewall_cmd,
        "history": _history,
        "iptables": _iptables,
        "journalctl": _journalctl,
        "mp_preference": _mp_preference,
        "netsh": _netsh,
        "nft": _nft,
        "pfctl": _pfctl,
        "quarantine": _quarantine,
        "reg": _reg,
        "registry": _registry,
        "set": _set,
        "setenforce": _setenforce,
        "socketfilter": _socketfilter,
        "ufw": _ufw,
    },
    made={"ever": _ever, "says": says},
)


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
    cloud_audits: Mapping[str, tuple[str, ...]]


_FACTS = load("defences", _Facts)
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
    rule = RULES.get(started.name)
    word = None
    if rule is not None:
        word = rule(started)
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

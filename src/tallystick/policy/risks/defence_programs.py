"""Programs that switch off what protects the machine, by their words.

Owns the rules for firewalls, mandatory access control, audits, logs, guards against malware, and clouds' audits. The words
that they give are those of `defences.RISKS`. Asking for a state is work.
"""

from __future__ import annotations

from itertools import pairwise

from tallystick.catalog.programs import RiskRule
from tallystick.policy.risks.entries import Rule, rules_of, says
from tallystick.policy.risks.programs import Started


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
    for service, verbs in _CLOUD_AUDITS.items():
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


_CLOUD_AUDITS = {
    "cloudtrail": ("stop-logging", "delete-trail", "update-trail", "put-event-selectors", "delete-event-data-store"),
    "guardduty": ("delete-detector", "update-detector", "stop-monitoring", "disassociate"),
    "securityhub": ("disable-security-hub", "batch-disable"),
    "configservice": ("stop-configuration-recorder", "delete-configuration-recorder", "delete-delivery-channel"),
    "macie2": ("disable-macie",),
    "inspector2": ("disable",),
    "logs": ("delete-log-group", "delete-log-stream", "put-retention-policy"),
    "ec2": ("delete-flow-logs",),
    "logging": ("delete", "sinks-delete"),
    "diagnostic-settings": ("delete",),
    "activity-log": ("delete",),
}


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
    "defence_programs",
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

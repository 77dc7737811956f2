"""What protects the machine and is switched off: firewalls, audits, logs, mandatory access control, guards against malware.

Owns their services, settings and logs on Linux, macOS, the BSDs and Windows; `defence_programs` has their programs. Sources:
the manual pages of iptables, nft, ufw, firewalld, pfctl, auditd, SELinux, AppArmor, systemd; Apple's and Microsoft's
references of the programs named here; specs/gensee.md 5.3.
"""

from __future__ import annotations

from collections.abc import Iterator

from tallystick.intent.programs.arguments import names
from tallystick.model.intent import Domain, Intent, Operation
from tallystick.policy.reading import CallReading
from tallystick.policy.risks.defence_programs import RULES
from tallystick.policy.risks.programs import Started, programs
from tallystick.policy.risks.risk import Risk
from tallystick.policy.risks.services import stopped
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
_LOGS = (
    "/var/log",
    "/private/var/log",
    "/run/log/journal",
    "/var/audit",
    "/private/var/audit",
    "/var/adm",
)
_OF_SYSTEM = names(
    "audit auth.log secure syslog messages kern.log journal wtmp btmp lastlog faillog ufw.log firewalld sudo.log sudo cron "
    "cron.log daemon.log user.log debug dmesg boot.log maillog mail.log system.log install.log asl security.log tallylog "
    "auditd pflog wtmpx utmpx btmpx sulog loginlog DiagnosticMessages unified"
)
_EMPTIES = names("rm truncate shred dd cp tee mv unlink srm sed perl")
"""Programs that `find` hands logs over to."""
_RECORDS = names("/run/utmp /var/run/utmp /run/utmpx /etc/utmp")
_SETTINGS = {
    "/etc/selinux": "disables-protection",
    "/etc/apparmor": "disables-protection",
    "/etc/apparmor.d": "disables-protection",
    "/sys/fs/selinux": "disables-protection",
    "/sys/kernel/security": "disables-protection",
    "/etc/audit": "disables-audit",
    "/etc/auditd.conf": "disables-audit",
    "/etc/libaudit.conf": "disables-audit",
    "/etc/security/audit_control": "disables-audit",
    "/etc/rsyslog.conf": "disables-audit",
    "/etc/rsyslog.d": "disables-audit",
    "/etc/syslog.conf": "disables-audit",
    "/etc/syslog-ng": "disables-audit",
    "/etc/systemd/journald.conf": "disables-audit",
    "/etc/systemd/journald.conf.d": "disables-audit",
    "/etc/iptables": "disables-firewall",
    "/etc/sysconfig/iptables": "disables-firewall",
    "/etc/sysconfig/ip6tables": "disables-firewall",
    "/etc/nftables.conf": "disables-firewall",
    "/etc/nftables": "disables-firewall",
    "/etc/ufw": "disables-firewall",
    "/etc/default/ufw": "disables-firewall",
    "/etc/firewalld": "disables-firewall",
    "/etc/pf.conf": "disables-firewall",
    "/private/etc/pf.conf": "disables-firewall",
    "/etc/ipfw.rules": "disables-firewall",
    "/Library/Preferences/com.apple.alf.plist": "disables-firewall",
    "/etc/fail2ban": "changes-protection",
    "/etc/osquery": "changes-protection",
    "/etc/falco": "changes-protection",
    "/etc/aide": "changes-protection",
    "/etc/tripwire": "changes-protection",
    "/var/ossec": "changes-protection",
    "/opt/CrowdStrike": "changes-protection",
}
_HISTORIES = names(
    ".bash_history .zsh_history .zhistory .sh_history .ash_history .ksh_history .histfile fish_history "
    "ConsoleHost_history.txt"
)
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
    word = rule(started) if rule is not None else None
    if word is not None:
        yield Risk(word, started.spelled)


# Files ---------------------------------------------------------------------------------------------------------------


def _of_file(intent: Intent) -> Iterator[Risk]:
    path, operation = intent.target, intent.operation
    is_change = operation in _CHANGES or (operation is Operation.CREATE and "/dev/null" in intent.words)
    if path.rpartition("/")[2] in _HISTORIES:
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
    return path in _RECORDS or any(path == place or path.startswith(place + "/") for place in _LOGS)


def _is_of_system(path: str) -> bool:
    """Whether a log tells of the system, not of one program."""
    place = next((place for place in _LOGS if path == place or path.startswith(place + "/")), path)
    first = path[len(place) :].strip("/").partition("/")[0]
    stem = first.partition(".")[0] if first.partition(".")[0] in _OF_SYSTEM else first
    return (place != "/var/log" and place != "/private/var/log") or not first or stem in _OF_SYSTEM or "*" in first


# Services ------------------------------------------------------------------------------------------------------------

_FIREWALLS = names(
    "firewalld ufw nftables iptables ip6tables netfilter-persistent shorewall pf ipfw firewall mpssvc "
    "com.apple.alf com.apple.alf.agent socketfilterfw csf lfd windows-firewall"
)
_AUDITS = names(
    "auditd auditbeat rsyslog rsyslogd syslog syslogd syslog-ng systemd-journald journald sysmon sysmon64 "
    "sysklogd auditd.socket "
    "com.apple.auditd com.apple.syslogd eventlog laurel go-audit systemd-journal-remote kauditd"
)
_PROTECTIONS = names(
    "apparmor selinux setroubleshootd windefend msmpeng securityhealthservice sense tomoyo yama com.apple.mrt xprotect"
)
_GUARDS = names(
    "fail2ban fail2ban-server crowdsec falcon-sensor falcond csagent csfalconservice osqueryd osquery wazuh "
    "wazuh-agent wazuh-agentd "
    "ossec ossec-agentd sentinelone sentinelagent sentinelctl s1-agent cbdaemon cbagentd carbonblack cbdefense "
    "mdatp ds_agent eset esets "
    "eea sophos sav-protect savd sophosscand clamav clamd clamav-daemon clamav-freshclam freshclam aide aidecheck "
    "tripwire samhain "
    "rkhunter chkrootkit falco falco-modern-bpf sysdig tetragon tracee filebeat winlogbeat packetbeat "
    "elastic-agent splunk splunkd "
    "splunkforwarder fluentd fluent-bit td-agent promtail datadog-agent newrelic-infra qualys-cloud-agent "
    "nessusagent nessusd taniumclient "
    "xagt traps_pmd cortex-xdr littlesnitch lulu blockblock santa santad com.google.santad jamf rapid7 ir_agent "
    "amazon-cloudwatch-agent amazon-ssm-agent google-cloud-ops-agent usbguard opensnitchd opensnitch snort suricata zeek "
    "velociraptor velociraptor_client limacharlie rphcpd kolide launcher-kolide"
)


def _of_service(unit: str, spelled: str) -> Iterator[Risk]:
    name = unit.lower().rpartition("/")[2].rpartition("\\")[2]
    for ending in (".service", ".socket", ".plist", ".exe", ".timer"):
        name = name.removesuffix(ending)
    last = name.rpartition(".")[2]
    for known, word in (
        (_FIREWALLS, "disables-firewall"),
        (_AUDITS, "disables-audit"),
        (_PROTECTIONS, "disables-protection"),
        (_GUARDS, "changes-protection"),
    ):
        if name in known or (last != name and last in known):
            yield Risk(word, (spelled or unit)[:200])
            return

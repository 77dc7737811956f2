"""Programs that open this machine, a port of it, or what a database holds, to others.

Owns what `ssh` needs to be asked; the rest is `catalog/call_forms.toml`. Sources: the programs' manuals; ssh(1) for `-R`.
"""

from __future__ import annotations

from collections.abc import Iterator

from tallystick.intent.programs.network import ssh_line
from tallystick.policy.calls.reading import CallReading
from tallystick.policy.risks.call_forms import Forms
from tallystick.policy.risks.programs import Started, programs_and_run
from tallystick.policy.risks.risk import Risk
from tallystick.policy.settings import Settings

RISKS: dict[str, str] = {
    "tunnel": "A port of this machine is opened to the network outside: ssh -R, ngrok, cloudflared and their like.",
    "shared-shell": "A shell of this machine is offered to others: ttyd, tmate, sshx and their like.",
    "login-unchecked": "A login is sent to a host whose certificate is not checked: `curl -k -u me:pass`.",
    "hands-rows-on": "A database hands its rows to a program that sends them: `COPY t TO PROGRAM 'curl …'`.",
}


def risks(reading: CallReading, settings: Settings) -> Iterator[Risk]:
    """What a call does as a whole, of RISKS."""
    return _FORMS.found(programs_and_run(reading))


def _forwards_back(started: Started) -> bool:
    """Whether ssh lets the other machine reach ports of this one: `-R`, `-o RemoteForward=…`, `-w`."""
    given = started.given
    if started.name == "autossh" and started.words[:1] == ("-M",):  # a port of its own
        given = given[2:]
    line = ssh_line(given)
    if line.has("-R", "-w"):
        return True
    return any(word.text.lower().lstrip().startswith("remoteforward") for word in line.values("-o"))


_FORMS = Forms("tunnels", _forwards_back)

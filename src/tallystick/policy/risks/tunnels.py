"""Programs that open this machine, or a port of it, to others.

Owns their names. Sources: their manuals; ssh(1) for `-R`.
"""

from __future__ import annotations

from collections.abc import Iterator

from tallystick.catalog.programs import fact_of_programs, programs_with
from tallystick.intent.programs.network import ssh_line
from tallystick.intent.programs.packages import RUNNERS
from tallystick.policy.calls.reading import CallReading
from tallystick.policy.risks.programs import Started, name_of, programs
from tallystick.policy.risks.risk import Risk
from tallystick.policy.settings import Settings

RISKS: dict[str, str] = {
    "tunnel": "A port of this machine is opened to the network outside: ssh -R, ngrok, cloudflared and their like.",
    "shared-shell": "A shell of this machine is offered to others: ttyd, tmate, sshx and their like.",
}
_SHARED = programs_with("shares-shell")
_TUNNELS = fact_of_programs("tunnel")
"""Programs, and the commands of them with which they open something; none: always."""
_ASKS_NAMES = """
--version -v version --help -h help list login config authtoken update upgrade show status
"""
_ASKS = frozenset(_ASKS_NAMES.split())
_SSH = frozenset(("ssh", "autossh", "dbclient"))


def risks(reading: CallReading, settings: Settings) -> Iterator[Risk]:
    """What a call does as a whole, of RISKS."""
    for started in programs(reading):
        name, words = _meant(started)
        if name in _SHARED and words[:1] not in (("--version",), ("--help",), ("-h",)):
            yield Risk("shared-shell", started.spelled)
        elif (name in _TUNNELS and _opens(name, words)) or (name in _SSH and _forwards_back(started)):
            yield Risk("tunnel", started.spelled)


def _meant(started: Started) -> tuple[str, tuple[str, ...]]:
    """The program; of `npx NAME` and its like the one that is named."""
    words = started.words
    if started.name not in RUNNERS:
        return started.name, words
    at = next((n for n, word in enumerate(words) if word[:1] != "-" and word != "run"), len(words))
    if at < len(words):
        return name_of(words[at].partition("@")[0]), words[at + 1 :]
    return "", ()


def _opens(name: str, words: tuple[str, ...]) -> bool:
    operands = [word for word in words if word[:1] != "-"]
    if operands:
        first = operands[0]
    elif words:
        first = words[0]
    else:
        first = ""
    if first in _ASKS or (len(operands) > 1 and operands[1] in _ASKS):
        return False
    return not _TUNNELS[name] or first in _TUNNELS[name]


def _forwards_back(started: Started) -> bool:
    """Whether ssh lets the other machine reach ports of this one: `-R`, `-o RemoteForward=…`, `-w`."""
    given = started.given
    if started.name == "autossh" and started.words[:1] == ("-M",):  # a port of its own
        given = given[2:]
    line = ssh_line(given)
    if line.has("-R", "-w"):
        return True
    return any(word.text.lower().lstrip().startswith("remoteforward") for word in line.values("-o"))

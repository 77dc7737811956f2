"""What a call does as a whole: formats a disk, opens a shell to a host, runs what it fetched.

Owns the list of modules that recognize risks. Each has RISKS, its words with what they mean, and `risks(reading)`. They see
the call as it was read, never a file; nothing here knows what follows from a risk.
"""

from __future__ import annotations

from collections.abc import Iterator

from tallystick.policy.reading import CallReading
from tallystick.policy.risks import (
    agents,
    attaching,
    bombs,
    broad_scans,
    concealed,
    defences,
    destruction,
    disks,
    environments,
    firewall_rules,
    git_settings,
    hidden,
    machine,
    metadata,
    opaque,
    other_shells,
    packages,
    persistence,
    privilege,
    remote,
    reverse_shell_fd,
    reverse_shell_net,
    searches,
    secret_managers,
    secret_names_passed,
    tunnels,
    unresolved_program,
    variables,
    windows,
)
from tallystick.policy.risks.risk import Risk
from tallystick.policy.settings import Settings

__all__ = [
    "RISKS",
    "Risk",
    "environments",
    "risks_of",
    "searches",
    "secret_managers",
    "secret_names_passed",
    "variables",
]

_MODULES = (
    agents,
    attaching,
    bombs,
    concealed,
    defences,
    reverse_shell_fd,
    destruction,
    disks,
    environments,
    firewall_rules,
    git_settings,
    hidden,
    secret_managers,
    persistence,
    machine,
    metadata,
    secret_names_passed,
    other_shells,
    packages,
    privilege,
    remote,
    searches,
    reverse_shell_net,
    broad_scans,
    tunnels,
    unresolved_program,
    opaque,
    variables,
    windows,
)
RISKS: dict[str, str] = {risk: meaning for module in _MODULES for risk, meaning in module.RISKS.items()}
"""Every risk and what it means."""


def risks_of(reading: CallReading, settings: Settings) -> Iterator[Risk]:
    """What a call does as a whole."""
    for module in _MODULES:
        yield from module.risks(reading, settings)

"""What a call does as a whole: formats a disk, opens a shell to a host, runs what it fetched.

Owns the list of modules that recognize risks. Each has RISKS, its words with what they mean, and finders of them. They
see the call as it was read, never a file; nothing here knows what follows from a risk.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from tallystick.policy.calls.reading import CallReading
from tallystick.policy.risks import (
    agents,
    attaching,
    bombs,
    concealed,
    defences,
    destruction,
    disks,
    environments,
    firewall_rules,
    git,
    machine,
    metadata,
    opaque,
    other_shells,
    packages,
    packs,
    persistence,
    privilege,
    remote,
    reverse_shells,
    searches,
    secret_managers,
    secret_names_passed,
    tunnels,
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
]

_MODULES = (
    agents,
    attaching,
    bombs,
    concealed,
    defences,
    reverse_shells,
    destruction,
    disks,
    environments,
    firewall_rules,
    git,
    secret_managers,
    persistence,
    machine,
    metadata,
    secret_names_passed,
    other_shells,
    packages,
    packs,
    privilege,
    remote,
    searches,
    tunnels,
    opaque,
)
_FINDERS: tuple[Callable[[CallReading, Settings], Iterator[Risk]], ...] = (
    *(module.risks for module in _MODULES),
    concealed.hidden_risks,
    environments.variable_risks,
    opaque.program_risks,
    other_shells.download_risks,
    reverse_shells.descriptor_risks,
    searches.scan_risks,
)
RISKS: dict[str, str] = {risk: meaning for module in _MODULES for risk, meaning in module.RISKS.items()}
"""Every risk and what it means."""


def risks_of(reading: CallReading, settings: Settings) -> Iterator[Risk]:
    """What a call does as a whole."""
    for find in _FINDERS:
        yield from find(reading, settings)

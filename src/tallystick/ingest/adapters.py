"""Which agents can be imported: ours, and those that other packages offer.

Owns looking for `tallystick.agents` entry points. The list of ours is `agents`'.
"""

from __future__ import annotations

from typing import cast

from tallystick.agents import Adapter
from tallystick.agents import adapters as own_adapters
from tallystick.errors import SourceError, UsageError
from tallystick.model.did_you_mean import nearest
from tallystick.workspace.entry_points import entry_points


def adapters() -> dict[str, Adapter]:
    """All adapters by name: ours, then those of other packages; a name that is taken stays taken.

    Raises:
        SourceError: an offered adapter fails to load; the message says whose.
    """
    found = dict(own_adapters())
    for point in entry_points("tallystick.agents"):
        try:
            offered = cast("Adapter", point.load())
        except Exception as error:
            raise SourceError(f"the agent adapter {point.name!r} ({point.value}) fails to load: {error}") from error
        found.setdefault(offered.NAME, offered)
    return found


def only(known: dict[str, Adapter], names: tuple[str, ...]) -> dict[str, Adapter]:
    """The adapters that a person named; all, if none was named.

    Raises: UsageError: a name is not an agent's.
    """
    for name in names:
        if name not in known:
            raise UsageError(f"no agent {name!r}{nearest(name, known)}", hint=f"known agents: {', '.join(known)}")
    return {name: adapter for name, adapter in known.items() if not names or name in names}

"""The process of a hook: the variables that an agent gave it, and the home folder among them.

Owns which process that is and what of its environment counts. Must not know what follows from a home folder.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec.structs import replace

from tallystick.capture.surroundings import environment_of
from tallystick.live.delivery import Delivery
from tallystick.live.watched_places import working_folder
from tallystick.model.decision import Call
from tallystick.model.raw import legible


def environment_of_hook(delivery: Delivery) -> Mapping[str, str] | None:
    """The environment that an agent gave the process of its hook, which is its own but for little; None: it is not seen.

    The kernel says which process is at the other end; its own number, in the id, may be one of another namespace.
    """
    pid = delivery.peer or _own_number(delivery.id)
    if delivery.spooled or pid is None:
        return None
    return environment_of(pid)


def home_in(environment: Mapping[str, str] | None) -> str | None:
    """The home folder in an environment, if it is one that can be looked at."""
    return working_folder(str(legible((environment or {}).get("HOME", ""))))


def at_home(call: Call, delivery: Delivery) -> Call:
    """A call with the home folder that the process of the hook has, where that is seen."""
    return replace(call, home=home_in(environment_of_hook(delivery)))


def _own_number(id: str) -> int | None:
    """The process that a delivery says it is of."""
    said = id.partition(".")[0]
    if said.isascii() and said.isdigit() and len(said) < 10:
        return int(said)
    return None

"""Containers that a tool starts by the members of its arguments, and not by words of a command.

Owns which tools that are, and which members ask for the machine around a container. Which folders of the machine count,
`privilege` knows. Sources: the API of Docker Engine (HostConfig), the MCP servers for Docker and Podman.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from tallystick.intent.tools.arguments import plain_name
from tallystick.model.decision import Call
from tallystick.model.step import Json

_TOOL = re.compile(r"docker|podman|container|nerdctl|kubernetes|k8s|\bpod\b", re.IGNORECASE)
_SHARED = frozenset(
    ("pid", "pidmode", "ipc", "ipcmode", "uts", "utsmode", "userns", "usernsmode", "hostpid", "hostipc")
)
_MOUNTS = frozenset(("volumes", "volume", "binds", "bind", "mounts", "mount", "source", "src", "hostpath"))
_MOST = 200
_MOST_NESTED = 6


def machine_asked_for(call: Call, is_of_machine: Callable[[str], bool]) -> str | None:
    """What a call of such a tool asks for of the machine, as `name: value`; None: nothing."""
    if _TOOL.search(call.tool[:200]) is None:
        return None
    for n, (name, value) in enumerate(_members(call.args, "", 0)):
        if n >= _MOST:
            return None
        said = value
        if isinstance(value, str):
            said = value.lower()
        is_yes = said is True or said == "true"
        is_shared = name in _SHARED and (is_yes or said == "host")
        is_mount = name in _MOUNTS and isinstance(value, str) and is_of_machine(value.partition(":")[0])
        if (name == "privileged" and is_yes) or is_shared or is_mount:
            return f"{name}: {value}"[:200]
    return None


def _members(value: Json, name: str, depth: int) -> Iterator[tuple[str, Json]]:
    """Every plain value with the name that it stands under; the names of what is mounted stand for paths as well."""
    if depth > _MOST_NESTED:
        return
    if isinstance(value, dict):
        for key, item in list(value.items())[:_MOST]:
            if name in _MOUNTS:
                yield name, str(key)
            yield from _members(item, plain_name(str(key)), depth + 1)
    elif isinstance(value, list):
        for item in value[:_MOST]:
            yield from _members(item, name, depth + 1)
    else:
        yield name, value

"""What code does to files and hosts that no ordinary program has to do: a word for it.

Owns which intents are grave by the path or host alone. Must not know whose code it is, nor what follows. Modules, tests
and configurations that a call loads do all sorts of things that concern no one; of those only what is grave is judged.
"""

from __future__ import annotations

from tallystick.model.intent import Domain, Intent, Operation
from tallystick.policy.kinds import Named, kinds_of
from tallystick.policy.network.hosts import host_of
from tallystick.policy.settings import Settings

GRAVE: dict[str, str] = {
    "reads-secret": "It reads keys, credentials or other secrets.",
    "deletes-home": "It deletes a home folder, or what belongs to the system.",
    "writes-start": "It writes what runs at every start, or says who may log in.",
    "reaches-metadata": "It asks a cloud's metadata service.",
}
"""Words and what they mean."""

_DELETED = frozenset(("home", "root", "system"))
_STARTS = frozenset(
    (
        "shell-start",
        "schedule",
        "service",
        "autostart",
        "ssh-access",
        "account",
        "loader",
        "shadows-program",
        "git-hook",
    )
)
_READS = frozenset((Operation.READ, Operation.COPY_SOURCE, Operation.RENAME))
_WRITES = frozenset((Operation.WRITE, Operation.APPEND, Operation.EDIT, Operation.COPY_DEST, Operation.CREATE))


def grave(intent: Intent, settings: Settings, *, home: str, workspace: str) -> str | None:
    """What is grave about an intent, of GRAVE. What is not known to be meant is not."""
    if not intent.is_known:
        return None
    if intent.domain is Domain.NETWORK:
        if "metadata" in host_of(intent.target, settings).kinds:
            return "reaches-metadata"
        return None
    if intent.domain is not Domain.FILE or intent.is_pattern or not intent.target.startswith("/"):
        return None
    named = Named(path=intent.target, real=intent.target, home=home, workspace=workspace, is_deep=intent.is_deep)
    kinds = kinds_of(named, settings)
    if intent.operation in _READS and "secret" in kinds:
        return "reads-secret"
    if intent.operation is Operation.DELETE and not _DELETED.isdisjoint(kinds):
        return "deletes-home"
    if intent.operation in _WRITES and not _STARTS.isdisjoint(kinds):
        return "writes-start"
    return None

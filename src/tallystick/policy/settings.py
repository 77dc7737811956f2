"""What the user sets about policy: the profile, and the places, hosts and limits that facts are measured against.

Owns the values and their defaults. Must not know where they are kept: `guard.policies` reads `config.toml`.
"""

from __future__ import annotations

import enum

import msgspec


class Profile(enum.StrEnum):
    """How much is refused."""

    OBSERVE = "observe"
    """Nothing but what would change the record itself; what `standard` would have said is recorded."""
    STANDARD = "standard"
    STRICT = "strict"
    """`standard`, and the policies of shipped/strict: less is let through, and more is asked about."""
    DEFAULT_DENY = "default-deny"
    """`strict` without the policy that permits all: what no policy of the user permits is denied."""


class OutsideWrites(enum.StrEnum):
    """What is said to a write outside the workspace."""

    ASK = "ask"
    DENY = "deny"


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """More than this is warned of. Defaults are those of specs/gensee.md 5.3."""

    read_bytes: int = 10 << 20
    write_bytes: int = 10 << 20
    files_in_call: int = 50
    commands_in_call: int = 25
    calls_in_session: int = 500
    network_calls_in_session: int = 100
    file_calls_a_minute: int = 120
    network_calls_a_minute: int = 30


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """All settings of policy. Paths may begin with `~`."""

    profile: Profile = Profile.STANDARD
    write_outside_workspace: OutsideWrites = OutsideWrites.ASK
    is_interactive: bool = True
    """False: no one can be asked, so an ask is a denial."""
    sensitive: tuple[str, ...] = ()
    """Folders and files that are secrets, besides those in `kinds.secrets`."""
    not_sensitive: tuple[str, ...] = ()
    """Paths that are not, whatever they are called."""
    trusted: tuple[str, ...] = ()
    """Folders that an agent may write to as to its workspace."""
    hosts: tuple[str, ...] = ()
    """Hosts that data may go to, with those below them. Empty: any, as long as nothing sensitive goes along."""
    packs: tuple[str, ...] = ()
    """Rules that are off by default: names of files in shipped/packs."""
    registries: tuple[str, ...] = ()
    """Package registries besides the public ones."""
    keep_megabytes: int = 100
    answers_allow: bool = False
    limits: Limits = Limits()

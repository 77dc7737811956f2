"""What is known of a call before it runs, as policies see it: what it does, one by one, and what it does it to.

Owns Act, Facts and their form for Cedar, which shipped/tallystick.cedarschema describes, and which of them the record
remembers as sensitive: the secrets that a call reads, has printed, or gives away. Must not know how a fact is found, nor what
follows from it: the policies say that.
"""

from __future__ import annotations

import enum
from typing import TypeAlias

import msgspec

from tallystick.policy.cedar.globs import Anchors
from tallystick.policy.network.hosts import HostFacts
from tallystick.policy.settings import OutsideWrites
from tallystick.policy.world import Maker, Marker, Trust


class Action(enum.StrEnum):
    """What is done."""

    READ = "read"
    LIST = "list"
    """Names are read, not contents."""
    WRITE = "write"
    """Made, changed, or replaced."""
    DELETE = "delete"
    MOVE = "move"
    """The old name of what moves: it is gone afterwards."""
    METADATA = "metadata"
    """Mode, owner, times, attributes."""
    EXECUTE = "execute"
    """A file is run, or read as code."""
    USE = "use"
    """It is given to something, and it is unknown what that does with it."""
    FETCH = "fetch"
    SEND = "send"
    CONNECT = "connect"
    """Data goes and comes, or it is unknown which."""
    LISTEN = "listen"
    RUN = "run"
    """A program is started, by its name."""
    CALL = "call"
    """The call as a whole."""


class Place(enum.StrEnum):
    """Where a path lies."""

    WORKSPACE = "workspace"
    TRUSTED = "trusted"
    """A folder that the user trusts agents with."""
    TEMPORARY = "temporary"
    HOME = "home"
    OUTSIDE = "outside"
    UNKNOWN = "unknown"
    """It is unknown."""


class FileFacts(msgspec.Struct, frozen=True, kw_only=True):
    """A file or folder that something is done to."""

    path: str
    name: str
    place: Place
    kinds: frozenset[str] = frozenset()
    tags: frozenset[str] = frozenset()
    """What its content tells: of what is written, or of what will run."""
    is_known: bool = True
    is_pattern: bool = False
    is_deep: bool = False
    is_edit: bool = False
    """Of a write: what it holds afterwards comes from what it held."""
    is_whole: bool = False
    """Of a write: all that it held is replaced."""
    is_emptied: bool = False
    """Of a write: nothing of worth is left in it."""
    program: str = ""
    """The program that does it; empty for a tool."""
    is_in_use: bool = False
    """A program uses it for what it is for, a key to log in with, its own settings, and does not show it."""
    exists: bool = False
    maker: Maker = Maker.UNKNOWN
    author: Maker = Maker.UNKNOWN
    """Of what is run: who wrote what it holds."""
    is_tested: bool = False
    """Of what is run: a test runner runs it."""
    is_new: bool = False
    """The maker made it where nothing was."""
    is_tracked: bool = False
    is_ignored: bool = False
    is_committed: bool = False
    loses_changes: bool = False
    """Of a write or delete: at or below it are changes to tracked files that the session did not make and no commit has."""
    loses_files: bool = False
    """The same of files that version control neither has nor ignores."""
    is_approved: bool = False
    is_download: bool = False
    """It is what a host sent, as it came or unpacked, and not one of many files that came together."""
    trust: Trust = Trust.TRUSTED
    is_sensitive: bool = False
    evidence: tuple[str, ...] = ()
    """Steps that tell of its past. Policies do not see it."""
    real: str = ""
    """The path without links, for globs; empty: as `path`. Policies do not see it, nor the next."""
    is_folder: bool = False


class ProgramFacts(msgspec.Struct, frozen=True):
    """A program that is started."""

    name: str


class CallFacts(msgspec.Struct, frozen=True, kw_only=True):
    """The call as a whole."""

    tool: str
    kind: str
    """Of the tool: shell, code, write, read or other."""
    risks: frozenset[str] = frozenset()
    opaque: frozenset[str] = frozenset()
    """Why its text does not tell all that will run: `model.script.Script.opaque`."""
    touches: frozenset[str] = frozenset()
    may_touch: frozenset[str] = frozenset()
    mentions: frozenset[str] = frozenset()
    """Places that protect the record (`places.Kind`) that it changes, that an unknown tool is given, that its text names."""


Resource: TypeAlias = FileFacts | HostFacts | ProgramFacts | CallFacts


class Act(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that a call does."""

    action: Action
    resource: Resource
    because: tuple[str, ...] = ()
    """For people: the words of the command that it comes from."""


class Context(msgspec.Struct, frozen=True, kw_only=True):
    """What holds for everything that a call does."""

    tool: str
    session: str
    """The agent's own id of it."""
    folder: str = ""
    markers: frozenset[Marker] = frozenset()
    over: frozenset[str] = frozenset()
    """Limits that are passed: the names of `settings.Limits`."""
    write_outside_workspace: OutsideWrites = OutsideWrites.ASK
    limits_egress: bool = False
    """Hosts that data may go to are listed."""


class Facts(msgspec.Struct, frozen=True, kw_only=True):
    """All that is known of a call."""

    agent: str
    context: Context
    acts: tuple[Act, ...]
    root: str | None = None
    """The top of the repository that the agent works in."""
    anchors: Anchors = Anchors()
    """What globs of policies are relative to."""
    evidence: tuple[str, ...] = ()
    """What was found before this call that speaks against it, for people: what was read, and where it went."""


# For Cedar -----------------------------------------------------------------------------------------------------------

_TYPES: dict[type, str] = {FileFacts: "File", HostFacts: "Host", ProgramFacts: "Program", CallFacts: "Call"}
_UNSEEN = ("evidence", "real", "is_folder")
Plain: TypeAlias = str | int | bool | list[str]


def type_of(resource: Resource) -> str:
    """The resource's entity type in the schema."""
    return _TYPES[type(resource)]


def name_of(resource: Resource) -> str:
    """What the resource is called: a path, a host, a program, a tool. It is its entity's id."""
    match resource:
        case FileFacts():
            return _encodable(resource.path)
        case HostFacts():
            return _encodable(resource.host)
        case ProgramFacts():
            return _encodable(resource.name)
        case CallFacts():
            return _encodable(resource.tool)


def attributes(value: Resource | Context) -> dict[str, Plain]:
    """A resource's or the context's members as the schema has them."""
    found: dict[str, Plain] = {}
    for name in value.__struct_fields__:
        if name not in _UNSEEN:
            member = getattr(value, name)
            found[name] = sorted(map(_encodable, member)) if isinstance(member, frozenset) else _plain(member)
    return found


def _plain(member: str | bool | int) -> Plain:
    if isinstance(member, str):
        return _encodable(str(member))
    return member


def _encodable(text: str) -> str:
    """The text with `?` for halves of surrogate pairs, which the engine cannot hold."""
    if text.isascii():
        return text
    return text.encode("utf-8", "replace").decode("utf-8")


_TAKING = frozenset((Action.READ, Action.EXECUTE, Action.USE, Action.MOVE))
_KINDS = frozenset(("secret", "credential", "environment"))
RISKS = frozenset(
    (
        "reads-secret",
        "reads-credential",
        "names-secret",
        "prints-secret",
        "prints-all-secrets",
        "prints-environment",
        "prints-secret-variable",
    )
)
"""Risks of a call that has secrets shown."""
_MOST = 20


def is_sensitive_read(facts: Facts) -> tuple[str, ...]:
    """What a call reads or has printed that is sensitive: paths, and what was found in it as `risk: what`; at most 20.

    A key that is used to log in is not read, and neither is a public key or a template.
    """
    found: dict[str, None] = {}
    for act in facts.acts:
        match act.resource:
            case FileFacts() as file if act.action in _TAKING and _is_sensitive(file):
                found[file.path] = None
            case CallFacts() as call if not RISKS.isdisjoint(call.risks):
                found |= dict.fromkeys(text for text in act.because if text.partition(":")[0] in RISKS)
            case _:
                pass
    return tuple(found)[:_MOST]


def _is_sensitive(file: FileFacts) -> bool:
    is_told = not _KINDS.isdisjoint(file.kinds) or "credentials" in file.tags or file.is_sensitive
    return is_told and not file.is_in_use

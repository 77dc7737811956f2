"""What an agent did, before it is sealed.

Owns Step, Opening and Loss: what importers, hooks and the API hand to the recorder. Must not know how a step is
hashed or kept. Sources: docs/format.md 6, 7 and 13.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from typing import Any, TypeAlias

import msgspec

from tallystick.model.raw import Raw

Json: TypeAlias = Any
"""A JSON value: None, bool, int, float, str, list, or dict with string keys."""


class Source(enum.StrEnum):
    """By which way a step reached us (docs/format.md 6.4)."""

    HOOK = "hook"
    TRANSCRIPT = "transcript"
    ACP = "acp"
    SDK = "sdk"
    WATCH = "watch"
    OTEL = "otel"
    IMPORT = "import"


class SessionKind(enum.StrEnum):
    """How a session hangs in the tree (docs/format.md 7)."""

    ROOT = "root"
    CHILD = "child"
    CONTINUATION = "continuation"
    FORK = "fork"


class Input(enum.StrEnum):
    """What is known of the input of a model call."""

    PATH = "path"
    """The steps on the main-parent path that leads to the call."""
    HIDDEN = "not-visible"
    """This source does not show it."""


class Ref(msgspec.Struct, frozen=True):
    """A step named by its source: `source_id` in the session with that source id.

    `session` None is the step's own session; `source_id` None is the last step recorded in the session; `agent` None is
    the agent of the session that refers. A recorder that keeps count itself names the step by the number of its entry, `n`.
    """

    source_id: str | None = None
    session: str | None = None
    agent: str | None = None
    n: int | None = None


class Step(msgspec.Struct, frozen=True, kw_only=True):
    """One thing an agent did: a prompt, a model call, a tool call, its result.

    `session` is the agent's own session id (for a sub-agent `<id>/<agent id>`, for the k-th continuation `<id>~k`).
    `meta` holds the members of docs/format.md 6.2 other than `type`, `source`, `source_id`, `ts` and those the recorder
    fills in (`recorded`, `request`, `parent`, `revises`…); members that do not fit the format go to `content.meta` by
    themselves. `values` are field values by full name (`content.text`, `personal.cwd`), `raw` are bytes kept as blobs.
    """

    session: str
    type: str
    source: Source = Source.TRANSCRIPT
    source_id: str | None = None
    ts: str | None = None
    """When it happened, as the source writes it (RFC 3339, epoch text is the adapter's to convert)."""
    meta: Mapping[str, Json] = {}
    values: Mapping[str, Raw] = {}
    raw: Mapping[str, bytes] = {}
    after: tuple[Ref, ...] = ()
    """What it follows from, main parent first; empty: the step before it in its session."""
    within: Ref | None = None
    """The enclosing step: becomes `meta.parent`."""
    input: Input | None = None
    """For a model call: what the model was given."""
    opens_request: bool = False
    """True for a prompt that a human gave: the steps after it carry its number as `meta.request`."""


class Opening(msgspec.Struct, frozen=True, kw_only=True):
    """The start of a session: becomes `session_start`, unless the session is already recorded."""

    session: str
    agent: str
    kind: SessionKind = SessionKind.ROOT
    parent: Ref | None = None
    """The step this session belongs to; its `session` is set. Recorded as a sealed edge if known, else as a claim."""
    source: Source = Source.TRANSCRIPT
    ts: str | None = None
    meta: Mapping[str, Json] = {}
    values: Mapping[str, Raw] = {}


class Loss(msgspec.Struct, frozen=True, kw_only=True):
    """Something of the source that is not in the record, counted by kind and never silent."""

    kind: str
    """A short word: `unknown_line`, `duplicate_line`, `progress`…"""
    detail: str | None = None
    """For a person: where and what, of one example."""
    fault: bool = False
    """True if the source is damaged there (half a line, wrong encoding), not merely richer than the record."""


Event: TypeAlias = Opening | Step | Loss

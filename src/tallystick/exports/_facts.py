"""What foreign formats call things, from `catalog/export_formats.toml`.

Owns the schema of that file. Must not know how a step becomes a record of any format.
"""

from functools import cache

from tallystick.catalog import Entry, load


class Otel(Entry, frozen=True, kw_only=True):
    """Spans of OpenTelemetry."""

    event_members: tuple[str, ...]
    """Members of a step that become attributes of an event."""


class Ledger(Entry, frozen=True, kw_only=True):
    """Records of a hash-chain ledger."""

    order: tuple[str, ...]
    """The members of a record as they are written."""


class Formats(Entry, frozen=True, kw_only=True):
    """All formats."""

    otel: Otel
    ledger: Ledger


@cache
def facts() -> Formats:
    """The facts of all formats."""
    return load("export_formats", Formats)

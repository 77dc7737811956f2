"""Foreign formats that the record can be written in. One module a format, pure functions from steps to bytes.

Owns the list of formats and the Protocol that each satisfies. Nothing here opens a file. `local.*` values never leave
the store, so no format carries them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from importlib import import_module
from typing import Protocol, cast

from tallystick.errors import SourceError
from tallystick.exports.lineage import Lineage
from tallystick.model.recorded import Recorded

__all__ = ["headless", "jsonl", "ledger", "lineage"]


class Exporter(Protocol):
    """One foreign format."""

    NAME: str
    LOSSES: tuple[str, ...]
    """What of the record the format cannot carry, each as a phrase for a person."""

    def write(self, steps: Iterable[Recorded], *, session: str, with_content: bool) -> Iterator[bytes]:
        """The lines of an export, each with its LF.

        Args: steps: one session's, in order, with what is kept in blobs loaded. Gone through twice if it is not an
        iterator. session: what the session is called in the export. with_content: whether what was said, asked and
        returned may be shown.
        """
        ...


class LineageExporter(Protocol):
    """A format that shows the graph too. It also has the members of an Exporter."""

    WANTS_LINEAGE: bool

    def write(
        self, steps: Iterable[Recorded], *, session: str, with_content: bool, lineage: Lineage
    ) -> Iterator[bytes]:
        """As Exporter.write.

        Args:
            lineage: the confirmed relations of the session.
        """
        ...


def wants_lineage(exporter: Exporter) -> bool:
    """Whether a format is a LineageExporter."""
    return getattr(exporter, "WANTS_LINEAGE", False) is True


NAMES: tuple[str, ...] = ("jsonl", "ledger", "headless", "otel", "prov_json")
"""The modules of this package that are formats."""


def exporters() -> dict[str, Exporter]:
    """All formats by name: ours, then those that other packages offer as `tallystick.exports` entry points.

    Raises:
        SourceError: an offered format fails to load; the message says whose.
    """
    from importlib.metadata import entry_points  # slow to load, and most commands need no format

    found: dict[str, Exporter] = {}
    for module in NAMES:
        exporter = cast("Exporter", import_module(f"tallystick.exports.{module}"))
        found[exporter.NAME] = exporter
    for point in entry_points(group="tallystick.exports"):
        try:
            offered = cast("Exporter", point.load())
        except Exception as error:
            raise SourceError(f"the export format {point.name!r} ({point.value}) fails to load: {error}") from error
        found.setdefault(offered.NAME, offered)
    return found

from __future__ import annotations

from collections.abc import Iterable, Iterator
from importlib.metadata import EntryPoint

import pytest

from tallystick import exports
from tallystick.errors import SourceError
from tallystick.model.recorded import Recorded


class Other:
    NAME = "other"
    LOSSES: tuple[str, ...] = ("all",)

    def write(self, steps: Iterable[Recorded], *, session: str, with_content: bool) -> Iterator[bytes]:
        return iter(())


def offer(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    found = [EntryPoint("other", value, "tallystick.exports")]
    monkeypatch.setattr(
        "importlib.metadata.entry_points", lambda *, group: found if group == "tallystick.exports" else []
    )


def test_each_format_has_the_name_of_its_module_and_says_what_it_loses() -> None:
    found = exports.exporters()
    assert tuple(name.replace("-", "_") for name in found) == exports.NAMES
    assert exports.NAMES == ("jsonl", "ledger", "headless", "otel", "prov_json")
    assert all(exporter.LOSSES for exporter in found.values())


def test_one_format_is_handed_the_graph() -> None:
    assert [name for name, exporter in exports.exporters().items() if exports.wants_lineage(exporter)] == ["prov-json"]


def test_other_packages_can_offer_formats(monkeypatch: pytest.MonkeyPatch) -> None:
    offer(monkeypatch, f"{__name__}:Other")
    assert "other" in exports.exporters()


def test_a_format_that_fails_to_load_says_whose_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    offer(monkeypatch, "no.such.module")
    with pytest.raises(SourceError, match=r"'other' \(no\.such\.module\)"):
        exports.exporters()

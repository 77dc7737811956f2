"""What had been read before something was written."""

from __future__ import annotations

from pathlib import Path

from tallystick.graph.changes import changes_of, thing_id
from tallystick.graph.inflows import into, out_of
from tallystick.graph.resources import Named
from tallystick.journal.home import Home
from tallystick.journal.read import read_at
from tallystick.workspace.indexing import open_index
from tests.support.shop import PRICES, shop


def test_both_ends_of_a_flow_are_found_with_the_places_of_their_words(tmp_path: Path) -> None:
    told = shop(tmp_path / "store", tmp_path)
    home = Home(tmp_path / "store")
    with open_index(home) as index:
        page, sheet = (
            thing_id(index.graph, Named("file", f"file://{tmp_path}/{name}")) for name in ("page.md", "prices.txt")
        )
        assert page is not None
        assert sheet is not None
        (change,) = (one for one in changes_of(index.graph, page).newest if one.session == told.writer)
        found = {flow.uri.rpartition("/")[2]: flow for flow in into(index.graph, change.step, change.k)}
        (away,) = out_of(index.graph, sheet)
    assert set(found) == {"prices.txt", "style.css"}
    assert not found["prices.txt"].is_seen
    assert (away.uri, away.writer, away.writer_n) == (f"file://{tmp_path}/page.md", told.writer, told.write)
    path, flow = home.journal(told.writer), found["prices.txt"]
    assert path is not None
    assert flow.shown_at is not None
    shown = read_at(home, path, flow.shown_at)
    assert shown is not None
    assert (shown.hash, shown.values["content.output"]) == (flow.shown_hash, PRICES)

from __future__ import annotations

from pathlib import Path

from tallystick.graph.newest import newest_time
from tallystick.journal.home import Home
from tallystick.model.step import Opening, Source, Step
from tallystick.recording.session_writer import SessionWriter
from tallystick.workspace.indexing import open_index


def test_the_newest_step_of_an_agent_and_a_source_is_found(tmp_path: Path) -> None:
    home = Home(tmp_path / "store")
    session_writer = SessionWriter(home)
    try:
        session_writer.open(Opening(session="s", agent="a", source=Source.TRANSCRIPT))
        for number, source in enumerate((Source.HOOK, Source.TRANSCRIPT, Source.HOOK, Source.TRANSCRIPT)):
            session_writer.add(
                "a",
                Step(
                    session="s",
                    type="system",
                    source=source,
                    source_id=f"e{number}",
                    ts=f"2026-01-0{number + 1}T00:00:00Z",
                ),
            )
    finally:
        session_writer.close()
    with open_index(home) as index:
        (hook,) = index.graph.rows("SELECT recorded FROM steps WHERE source_id = 'e2'")
        assert newest_time(index.graph, "a", "hook") == hook[0]
        assert newest_time(index.graph, "a", "acp") is None
        assert newest_time(index.graph, "b", "hook") is None

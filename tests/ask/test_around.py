"""What happened just before and after a step."""

from tallystick.ask.around import around
from tallystick.graph.timeline import Spot
from tallystick.journal.home import Home
from tallystick.recording.recorder import Recorder
from tallystick.workspace.indexing import open_index


def test_as_many_acts_as_asked_for_are_on_both_sides(home: Home) -> None:
    with Recorder(home.folder) as recorder:
        session = recorder.session("demo", "one")
        steps = [session.prompt(f"prompt {n}") for n in range(9)]
    asked = steps[4].n
    with open_index(home) as index:
        found = around(home, index.graph, Spot(session.id, asked), 2)
        assert [act.row.asked for act in found] == ["prompt 2", "prompt 3", "prompt 4", "prompt 5", "prompt 6"]
        assert [act.numbers for act in found if act.is_asked] == [(asked,)]
        assert around(home, index.graph, Spot(session.id, 99), 2) == ()

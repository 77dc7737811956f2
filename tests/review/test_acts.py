"""Sessions act by act."""

from tallystick.journal.home import Home
from tallystick.review.acts import beat_of, replay_acts
from tallystick.review.replay import Asked, Wanted
from tallystick.review.replay_sources import open_cast
from tallystick.sessions.timeline import Below


def test_an_act_is_wanted_as_a_whole_if_one_of_its_steps_is(indexed_samples: Home) -> None:
    with open_cast(indexed_samples, ["a42b3437"]) as cast:
        acts = list(replay_acts(cast, Asked(wanted=Wanted(failed=True), below=Below.HIDE)))
    assert [[step.type for step in act.steps] for act in acts] == [["tool_call", "tool_result"]] * 2


def test_a_folded_session_is_one_act(indexed_samples: Home) -> None:
    with open_cast(indexed_samples, ["a42b3437"]) as cast:
        acts = list(replay_acts(cast, Asked()))
    (folded,) = [beat_of(act) for act in acts if beat_of(act).folded is not None]
    assert folded.depth == 1
    times = [act.at for act in acts]
    assert times == sorted(times)

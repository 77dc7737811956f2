"""What is known of the machine as it was when a recorded call was made."""

from tallystick.guard.historical_world import HistoricalWorld
from tallystick.policy.world import Past, Provenance, Unread


def test_without_a_story_nothing_is_known_but_where_the_session_works() -> None:
    then = HistoricalWorld()
    then.folder = "/w"
    assert then.provenance("/w/a") == Provenance()
    assert then.past() == Past(workspace="/w")
    assert then.content("/w/a") is Unread.MISSING
    assert then.tracking("/w/a").is_committed
    assert not then.tracking("/v/a").is_committed

"""Times as they are shown."""

from datetime import timedelta, timezone

from tallystick.display.clock import shown_text, zone_name

EAST = timezone(timedelta(hours=5, minutes=30))


def test_a_time_is_shown_in_the_zone_that_is_asked_for() -> None:
    assert shown_text("2026-11-21T22:00:00.000000Z", None) == "2026-11-21T22:00:00.000000"
    assert shown_text("2026-11-21T22:00:00.000000Z", EAST) == "2026-11-22T03:30:00.000000"
    assert (zone_name(None), zone_name(EAST)) == ("UTC", "local time")


def test_what_is_no_time_is_unchanged() -> None:
    assert shown_text("soon", EAST) == "soon"
    assert shown_text(None, None) == ""

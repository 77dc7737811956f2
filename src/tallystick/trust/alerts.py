"""Alerts: finding them, and saying something of them.

Owns what is known of an alert beside its row. How alerts are sealed is alert_chain's, the table store.alerts'.
"""

from __future__ import annotations

import msgspec

from tallystick.ask.show import Shown, show_step
from tallystick.ask.why import Why, why
from tallystick.errors import NotFoundError
from tallystick.graph.alerts import AlertEntry, AlertFilter, ReviewEntry, alert_at, get_alert, list_alerts, reviews_of
from tallystick.graph.lookup import Place
from tallystick.guard import own_rules
from tallystick.guard.own_rules import Allowed
from tallystick.journal.home import Home
from tallystick.policy.alert import Review, review_step
from tallystick.recording.own_session import RECORDER
from tallystick.recording.session_writer import SessionWriter, Taken
from tallystick.workspace.index import Index
from tallystick.workspace.indexing import open_index
from tallystick.workspace.names import find_session, find_step

# Finding --------------------------------------------------------------------------------------------------------------


class Told(msgspec.Struct, frozen=True, kw_only=True):
    """An alert with its step, what people said of it, and what led to the call that it is about.

    `shown` is None where no step stands behind the row, `lineage` where the call is not in the index.
    """

    alert: AlertEntry
    shown: Shown | None
    reviews: tuple[ReviewEntry, ...]
    lineage: Why | None


def read_alerts(index: Index, wanted: AlertFilter) -> tuple[AlertEntry, ...]:
    """The newest alerts that a filter takes; its `session` is any name of one.

    Raises:
        NotFoundError, AmbiguousError: the session. UsageError: the time.
    """
    if wanted.session is not None:
        wanted = msgspec.structs.replace(wanted, session=find_session(index, wanted.session))
    return list_alerts(index.graph, wanted)


def find_alert(index: Index, text: str) -> AlertEntry:
    """The alert that `text` names: its number, or its step.

    Raises:
        NotFoundError, AmbiguousError, UsageError: it names none, or several.
    """
    if text.isascii() and text.isdigit() and len(text) < 16:
        found = get_alert(index.graph, int(text))
    else:
        place = find_step(index, text)
        found = alert_at(index.graph, place.session, place.n)
    if found is None:
        raise NotFoundError(f"no alert {text}", hint="`tally alerts` lists them")
    return found


def tell_alert(home: Home, index: Index, text: str, *, folder: str) -> Told:
    """Everything about one alert. Raises what `find_alert` raises."""
    alert = find_alert(index, text)
    place = None
    if alert.session is not None:
        place = find_step(index, f"{alert.session}:{alert.n}")
    if place is None:
        return Told(alert=alert, shown=None, reviews=(), lineage=None)
    shown = show_step(home, place.session, place.n, place.offset)
    return Told(
        alert=alert,
        shown=shown,
        reviews=reviews_of(index.graph, place.session, place.n),
        lineage=_lineage(home, index, place, shown, folder),
    )


def _lineage(home: Home, index: Index, place: Place, shown: Shown, folder: str) -> Why | None:
    call = shown.step.meta.get("parent")
    if type(call) is not int:
        return None
    try:
        return why(home, index, f"{place.session}:{call}", folder=folder)
    except NotFoundError:
        return None


def allow_alert(home: Home, text: str, *, folder: str | None) -> Allowed:
    """Let through from now on what an alert stopped, in a project or everywhere.

    Raises: PolicyError: nothing narrow would lift it. What `find_alert` raises.
    """
    with open_index(home) as index:
        return own_rules.allow_alert(home, find_alert(index, text).evidence, folder=folder)


# Saying something of one ----------------------------------------------------------------------------------------------


def review_alert(home: Home, alert: AlertEntry, verdict: str, note: str | None, *, now_ms: int) -> Taken:
    """Seal what someone says of an alert, in the recorder's own session.

    Args:
        verdict: policy.alert.ACKNOWLEDGED, or one of its VERDICTS.

    Raises:
        NotFoundError: no step stands behind the alert. JournalError: the store cannot be written.
    """
    if alert.session is None or alert.n is None:
        raise NotFoundError(f"no sealed step exists for alert {alert.alert_id}", hint="run `tally verify-log`")
    review = Review(
        session=alert.session,
        n=alert.n,
        verdict=verdict,
        action=alert.action,
        rule=alert.rule,
        path=alert.path,
        corr=alert.corr,
        note=note,
        created_at=now_ms,
    )
    with SessionWriter(home) as session_writer:
        return session_writer.add(RECORDER, review_step(review))

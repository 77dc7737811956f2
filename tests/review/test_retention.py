"""What old checkpoints say is dropped; what they mark stays."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from tallystick.errors import CheckpointError, NotFoundError
from tallystick.graph.checkpoints import CheckpointFilter, list_checkpoints
from tallystick.graph.journals import Depth
from tallystick.journal.home import Home
from tallystick.journal.read import read_session
from tallystick.model.recorded import Recorded
from tallystick.model.step import Opening, Ref, SessionKind, Source, Step
from tallystick.recording.checkpoints.write import Mark, mark
from tallystick.recording.session_writer import SessionWriter
from tallystick.review.retention import due, prune
from tallystick.sessions.checkpoints import Trigger
from tallystick.trust.rebuild import rebuild
from tallystick.trust.verify import verify_store
from tallystick.trust.verify_checkpoints import verify_checkpoints
from tallystick.workspace.indexing import open_index
from tallystick.workspace.settings import set_setting

SECRET = "quite a secret label"
LATER = datetime.now(UTC) + timedelta(days=31)


def grow(home: Home, number: int, *, marks: int = 2) -> str:
    """A session with a mark of its start, one that is kept, and `marks` others; its id."""
    name = f"s{number}"
    with SessionWriter(home) as session_writer:
        record = session_writer.open(Opening(session=name, agent="demo", source=Source.SDK))
        session_writer.add_to(
            record, Step(session=name, type="user", source=Source.SDK, values={"content.text": "stays"})
        )
        registry = {"content.hook_registry": [{"name": "h", "priority": 1}]}
        mark(session_writer, record, Mark(trigger=Trigger.SESSION_START, label="start", position=0, values=registry))
        mark(session_writer, record, Mark(trigger=Trigger.MANUAL, label="kept", meta={"keep": True}))
        for n in range(marks):
            session_writer.add_to(record, Step(session=name, type="assistant", source=Source.SDK))
            mark(session_writer, record, Mark(trigger=Trigger.MANUAL, label=f"{SECRET} {n}", git={"head": "ab" * 20}))
        session_writer.add_to(record, Step(session=name, type="session_end", source=Source.SDK))
    return record.sid


def checkpoints(home: Home, sid: str) -> list[Recorded]:
    return [step for step in read_session(home, sid) if step.type == "checkpoint"]


def holders(home: Home) -> list[str]:
    files = [path for path in home.folder.rglob("*") if path.is_file()]
    return sorted(path.name for path in files if SECRET.encode() in path.read_bytes())


def test_what_is_old_is_dropped_and_the_record_verifies_as_before(home: Home) -> None:
    sid = grow(home, 1)
    before = checkpoints(home, sid)
    assert due(home, now=datetime.now(UTC)) == ()
    found = due(home, now=LATER)
    assert [(each.n, each.names) for each in found] == [
        (5, ("content.git", "content.label")),
        (7, ("content.git", "content.label")),
    ]
    pruned = prune(home, found)
    assert (pruned.checkpoints, pruned.sessions, pruned.values) == (2, 1, 4)
    after = checkpoints(home, sid)
    assert [step.hash for step in after] == [step.hash for step in before]
    assert [step.meta for step in after] == [step.meta for step in before]  # position, hash, trigger, tokens
    assert [sorted(step.values) for step in after] == [
        ["content.hook_registry", "content.label"],
        ["content.label"],
        [],
        [],
    ]
    verdict = verify_store(home)
    assert (verdict.exit_code, verdict.disclosure.withheld, verdict.remarks) == (0, 4, ())
    assert verify_checkpoints(home).broken == ()
    assert holders(home) == []
    assert due(home, now=LATER) == ()


def test_the_index_says_what_a_new_one_says_and_search_need_not_begin_anew(home: Home) -> None:
    sid = grow(home, 1)
    with open_index(home, depth=Depth.TEXT):
        pass
    prune(home, due(home, now=LATER))
    with open_index(home) as index:
        assert index.graph.rows("SELECT text_size = size FROM sessions") == [(1,)]
    with open_index(home) as index:
        rows = list_checkpoints(index.graph, CheckpointFilter(session=sid))
    assert [(row.label, row.is_pruned) for row in rows] == [
        (None, True),
        (None, True),
        ("kept", False),
        ("start", False),
    ]
    assert rebuild(home).differing == ()


def test_replaced_ones_go_whatever_their_age(home: Home) -> None:
    set_setting(home, "checkpoints.max_per_session", "1")
    with SessionWriter(home) as session_writer:
        record = session_writer.open(Opening(session="one", agent="demo", source=Source.SDK))
        for n in range(3):
            mark(session_writer, record, Mark(trigger=Trigger.STEP_COMPLETE, label=f"auto {n}"))
            session_writer.add_to(record, Step(session="one", type="assistant", source=Source.SDK))
    set_setting(home, "checkpoints.retention_days", "0")
    found = due(home, now=LATER)
    assert [each.label for each in found] == ["auto 0", "auto 1"]
    assert due(home, now=LATER, older_than_days=0) == found
    assert len(due(home, now=LATER, older_than_days=10)) == 3


def test_a_mark_that_another_session_hangs_on_is_kept(home: Home) -> None:
    sid = grow(home, 1, marks=3)
    hung_on, marking, free = checkpoints(home, sid)[2:]
    with SessionWriter(home) as session_writer:
        for name, n in (("fork", hung_on.n), ("other", marking.meta["position"])):
            parent = Ref(session="s1", n=n)
            session_writer.open(
                Opening(session=name, agent="demo", kind=SessionKind.FORK, parent=parent, source=Source.SDK)
            )
    assert [each.hash for each in due(home, now=LATER)] == [free.hash]


def test_what_a_headless_agent_marks_itself_is_not_ours_to_drop(samples: Home) -> None:
    with open_index(samples) as index:
        assert {row.trigger for row in list_checkpoints(index.graph, CheckpointFilter())} == {"phase", "compaction"}
    assert due(samples, now=LATER + timedelta(days=10_000)) == ()


def test_a_recorder_that_has_the_session_open_goes_on(home: Home) -> None:
    with SessionWriter(home) as session_writer:
        record = session_writer.open(Opening(session="one", agent="demo", source=Source.SDK))
        taken = mark(session_writer, record, Mark(trigger=Trigger.MANUAL, label=SECRET))
        session_writer.seal()
        prune(home, due(home, now=LATER))
        step = Step(session="one", type="assistant", source=Source.SDK, values={"content.text": "goes on"})
        assert session_writer.add_to(record, step).n == taken.n + 1
        dropped = record.read(taken.n)
        assert dropped is not None
        assert dropped.withheld == ("content.label",)
    assert verify_store(home).exit_code == 0


def test_any_number_of_days_is_a_number_of_days(home: Home) -> None:
    grow(home, 1)
    set_setting(home, "checkpoints.retention_days", "99999999999")
    assert due(home, now=LATER) == ()


def test_nothing_is_due_where_checkpoints_are_off_or_there_is_no_store(home: Home, tmp_path: object) -> None:
    with pytest.raises(NotFoundError):
        due(Home(home.folder / "none"), now=LATER)
    set_setting(home, "checkpoints.enabled", "off")
    with pytest.raises(CheckpointError):
        due(home, now=LATER)


def test_values_that_other_rows_are_made_of_are_read_anew(home: Home) -> None:
    with SessionWriter(home) as session_writer:
        record = session_writer.open(Opening(session="one", agent="demo", source=Source.SDK))
        mark(
            session_writer, record, Mark(trigger=Trigger.MANUAL, label="a label", meta={"run": "no word of the format"})
        )
    with open_index(home):
        pass
    (found,) = due(home, now=LATER)
    assert found.names == ("content.label", "content.meta")
    prune(home, (found,))
    assert rebuild(home).differing == ()


def test_of_many_sessions_each_is_rewritten_and_few_heads_are_signed(home: Home) -> None:
    """300 sessions, of which 256 share one signed head; bench.checkpoints does it with 10,000."""
    with SessionWriter(home) as session_writer:
        for number in range(300):
            record = session_writer.open(Opening(session=f"s{number}", agent="demo", source=Source.SDK))
            mark(session_writer, record, Mark(trigger=Trigger.MANUAL, label=f"{SECRET} {number}"))
    seen: list[int] = []
    assert prune(home, due(home, now=LATER), progress=seen.append).sessions == 300
    assert sum(seen) == 300
    assert verify_store(home).exit_code == 0
    assert holders(home) == []

from __future__ import annotations

from datetime import UTC, timedelta, timezone
from hashlib import sha256

import pytest

from tallystick.errors import FormatError
from tallystick.journal.archive import Archive
from tallystick.journal.erase import Grounds
from tallystick.journal.home import Home
from tallystick.journal.read import read_session
from tallystick.model.recorded import Recorded
from tallystick.model.step import Input, Opening, Ref, Source, Step
from tallystick.recording.event_dedup import Outcome
from tallystick.recording.record import SessionRecord, normal_ts
from tallystick.recording.writer import Writer
from tallystick.trust.verify import verify_store


def said(text: str, source_id: str | None = None, **rest: object) -> Step:
    return Step(session="s", type="assistant", source_id=source_id, values={"content.text": text}, **rest)  # type: ignore[arg-type]


def recorded(home: Home, record: SessionRecord) -> list[Recorded]:
    return list(read_session(home, record.sid))


def test_the_same_event_from_the_same_source_is_recorded_once(home: Home, record: SessionRecord) -> None:
    assert record.add(said("a", "1")) == (Outcome.RECORDED, 1)
    assert record.add(said("a", "1")) == (Outcome.KNOWN, 1)
    assert len(recorded(home, record)) == 2


def test_times_do_not_make_an_event_another_one(record: SessionRecord) -> None:
    record.add(said("a", "1", ts="2026-01-01T00:00:00Z"))
    assert record.add(said("a", "1", ts="2026-01-01T00:00:05Z"))[0] is Outcome.KNOWN


@pytest.mark.parametrize(
    "changed",
    [said("b", "1"), said("a", "1", meta={"tokens": {"output": 5}}), said("a", "1", meta={"success": False})],
)
def test_other_values_from_the_same_source_are_a_revision(home: Home, record: SessionRecord, changed: Step) -> None:
    record.add(said("a", "1"))
    assert record.add(changed) == (Outcome.REVISED, 2)
    assert recorded(home, record)[2].meta["revises"] == 1
    assert record.add(changed) == (Outcome.KNOWN, 2)


def test_what_is_added_to_a_session_that_has_ended_leaves_it_ended(home: Home, record: SessionRecord) -> None:
    record.add(Step(session="s", type="session_end", meta={"status": "failed", "error_code": 7}))
    with record.reopened("watch", "second thoughts"):
        record.add(said("late"))
    start, late, end = recorded(home, record)[-3:]
    assert (start.type, start.meta["resumed"], start.member("reason")) == ("session_start", True, "second thoughts")
    assert late.type == "assistant"
    assert (end.type, end.meta["status"], end.meta["error_code"]) == ("session_end", "failed", 7)


def test_what_could_not_be_added_leaves_it_ended_too(home: Home, record: SessionRecord) -> None:
    record.add(Step(session="s", type="session_end"))
    with pytest.raises(FormatError), record.reopened("watch", "checkpoint"):
        record.add(Step(session="s", type="No Type"))
    assert recorded(home, record)[-1].type == "session_end"
    assert verify_store(home).exit_code == 0


def test_a_session_that_goes_on_is_not_ended_by_that(home: Home, record: SessionRecord) -> None:
    with record.reopened("watch", "checkpoint"):
        record.add(said("a"))
    assert [step.type for step in recorded(home, record)] == ["session_start", "assistant"]


def test_what_was_used_and_marked_is_known_again_after_others_wrote_or_rewrote(
    home: Home, archive: Archive, record: SessionRecord
) -> None:
    other = Writer(Archive(home), UTC).find("demo", "s")
    assert other is not None
    other.add(said("a", meta={"tokens": {"input": 5}}))
    meta = {"trigger": "manual", "position": 1, "position_hash": "ab" * 32}
    other.add(Step(session="s", type="checkpoint", meta=meta))
    path = record.journal.path
    for _ in range(2):
        with record.journal.locked():
            assert record.used.tokens["input"] == 5
            assert record.checkpoints.counted == 1
        path.with_suffix(".new").write_bytes(path.read_bytes())
        path.with_suffix(".new").rename(path)  # as an erasure replaces it


def test_a_second_witness_makes_a_sighting(home: Home, record: SessionRecord) -> None:
    record.add(said("a", "1", source=Source.HOOK))
    record.add(said("b", "2", source=Source.HOOK))
    assert record.add(said("a", "1"))[0] is Outcome.CORROBORATED
    assert record.add(said("b", "2"))[0] is Outcome.CORROBORATED
    record.flush_sightings()
    record.flush_sightings()
    sighting = recorded(home, record)[-1]
    assert (sighting.type, sighting.meta["source"]) == ("sighting", "transcript")
    assert sighting.meta["steps"] == [{"n": 1, "source_id": "1"}, {"n": 2, "source_id": "2"}]
    assert len(recorded(home, record)) == 4


def test_a_witness_that_says_otherwise_stands_beside_the_first(home: Home, record: SessionRecord) -> None:
    record.add(said("a", "1", source=Source.HOOK))
    assert record.add(said("b", "1")) == (Outcome.CONTRADICTED, 2)
    assert recorded(home, record)[2].meta["corroborates"] == 1


def test_an_erased_step_is_equal_to_anything(home: Home, archive: Archive, record: SessionRecord) -> None:
    from tallystick.journal.erase import erase

    record.add(said("secret", "1"))
    archive.seal()
    erase(archive, record.sid, 1, frozenset({"content.text"}), Grounds("request", "asked"))
    assert record.add(said("secret", "1"))[0] is Outcome.KNOWN
    assert "secret" not in record.journal.path.read_text()


def test_parents_are_named_only_where_they_are_not_the_step_before(home: Home, record: SessionRecord) -> None:
    record.add(said("a", "1"))
    record.add(said("b", "2", after=(Ref("1"),)))
    record.add(said("c", "3", after=(Ref("1"),)))
    record.add(said("d", "4", after=(Ref("gone"),)))
    record.add(said("e", "5", after=(Ref("3"), Ref("2"), Ref("3"))))
    steps = recorded(home, record)
    assert [step.parents for step in steps[1:4]] == [(), (), (steps[1].hash,)]
    assert steps[4].parents == ()
    assert steps[5].parents == (steps[3].hash, steps[2].hash)


def test_steps_after_a_prompt_belong_to_its_request(home: Home, record: SessionRecord) -> None:
    record.add(said("before", "0"))
    record.add(Step(session="s", type="user", source_id="p", values={"content.text": "do"}, opens_request=True))
    record.add(said("a", "1"))
    record.add(Step(session="s", type="user", source_id="i", meta={"origin": "injected"}))
    assert [step.meta.get("request") for step in recorded(home, record)] == [None, None, None, 2, 2]


def test_an_opened_session_knows_its_request_again(home: Home, writer: Writer, record: SessionRecord) -> None:
    record.add(Step(session="s", type="user", source_id="p", opens_request=True))
    writer.release(record.sid)
    again = writer.record_of(record.sid, "demo")
    assert again.add(said("a", "p"))[0] is Outcome.REVISED
    again.add(said("b", "2"))
    assert recorded(home, again)[-1].meta["request"] == 1


def test_a_model_call_says_what_it_was_given(home: Home, record: SessionRecord) -> None:
    record.add(said("a", "1"))
    record.add(said("b", "2"))
    record.add(said("other way", "3", after=(Ref("1"),)))
    record.add(Step(session="s", type="model_call", source_id="m", input=Input.PATH))
    record.add(Step(session="s", type="model_call", source_id="h", input=Input.HIDDEN))
    steps = recorded(home, record)
    given = [steps[0], steps[1], steps[3]]
    digest = sha256(b"".join(bytes.fromhex(step.hash) for step in given)).hexdigest()
    assert steps[4].meta["input"] == {"steps": ["0-1", "3"], "digest": digest}
    assert steps[5].meta["input"] == "not-visible"


def test_members_that_do_not_fit_meta_go_to_content(home: Home, record: SessionRecord) -> None:
    record.add(said("a", "an id with spaces", meta={"tool": "Ask Joe", "entropy": 0.85, "good": "x", "none": None}))
    step = recorded(home, record)[1]
    assert step.values["content.meta"] == {"tool": "Ask Joe", "entropy": 0.85, "source_id": "an id with spaces"}
    assert step.meta["good"] == "x"
    assert "none" not in step.meta
    assert record.add(said("a", "an id with spaces", meta={"tool": "Ask Joe", "entropy": 0.85}))[0] is Outcome.KNOWN
    assert verify_store(home).exit_code == 0


@pytest.mark.parametrize("kind", ["no type at all", "Ünicode", "", "x" * 100])
def test_what_can_be_no_type_is_refused_before_it_spoils_the_journal(
    home: Home, record: SessionRecord, kind: str
) -> None:
    with pytest.raises(FormatError, match="cannot be the type"):
        record.add(Step(session="s", type=kind))
    assert len(recorded(home, record)) == 1
    assert verify_store(home).exit_code == 0


@pytest.mark.parametrize("ts", ["2026-01-01T00:00:00Z", "2026-01-01 01:00:00+01:00"])
def test_a_time_among_the_members_is_written_as_the_format_has_it(
    home: Home, writer: Writer, record: SessionRecord, ts: str
) -> None:
    record.add(Step(session="s", type="assistant", source_id="1", meta={"ts": ts}))
    other, _ = writer.open(Opening(session="t", agent="demo", meta={"ts": ts}))
    for step in (recorded(home, record)[1], recorded(home, other)[0]):
        assert step.meta["ts"] == "2026-01-01T00:00:00.000000Z"
    assert verify_store(home).exit_code == 0


@pytest.mark.parametrize("ts", ["yesterday", "a b", 5])
def test_what_is_no_time_does_not_stand_where_times_do(home: Home, record: SessionRecord, ts: str | int) -> None:
    step = Step(session="s", type="assistant", source_id="1", meta={"ts": ts})
    assert [record.add(step)[0] for _ in range(2)] == [Outcome.RECORDED, Outcome.KNOWN]
    assert "ts" not in recorded(home, record)[1].meta
    assert recorded(home, record)[1].member("ts_text") == str(ts)
    assert verify_store(home).exit_code == 0


def test_a_value_under_the_name_for_members_is_one_of_them(home: Home, record: SessionRecord) -> None:
    step = Step(session="s", type="note", source_id="1", meta={"long": "a b"}, values={"content.meta": "text"})
    assert [record.add(step)[0] for _ in range(2)] == [Outcome.RECORDED, Outcome.KNOWN]
    assert (recorded(home, record)[1].member("long"), recorded(home, record)[1].member("meta")) == ("a b", "text")


def test_a_session_that_goes_on_after_its_end_is_resumed(home: Home, record: SessionRecord) -> None:
    record.add(Step(session="s", type="session_end", source_id="end", meta={"status": "completed"}))
    record.add(said("more", "1"))
    assert [step.type for step in recorded(home, record)] == [
        "session_start",
        "session_end",
        "session_start",
        "assistant",
    ]
    assert recorded(home, record)[2].meta["resumed"] is True
    assert verify_store(home).integrity == "intact"


GONE_ON_ALONE = Step(session="s", type="subagent_end", source=Source.HOOK, source_id="c/end", meta={"child": "c"})


@pytest.mark.parametrize(
    "late", [said("b", "1"), said("b", "1", source=Source.HOOK), said("a", "1", source=Source.HOOK), GONE_ON_ALONE]
)
def test_what_is_told_again_of_an_ended_session_leaves_it_ended(home: Home, record: SessionRecord, late: Step) -> None:
    record.add(said("a", "1"))
    record.add(Step(session="s", type="session_end", source_id="e", meta={"reason": "done"}))
    record.add(late)
    record.flush_sightings()
    steps = recorded(home, record)
    assert (steps[-1].type, steps[-1].meta["reason"]) == ("session_end", "done")
    assert [step.type for step in steps].count("session_end") == 2


def test_an_end_that_is_told_after_the_session_went_on_is_another_one(home: Home, record: SessionRecord) -> None:
    ended = Step(session="s", type="session_end", source_id="e", meta={"reason": "compression"})
    record.add(ended)
    again = Step(session="s", type="session_end", source=Source.ACP, source_id="hook/acp/end")
    assert record.add(again)[0] is Outcome.CORROBORATED
    record.add(said("late", "1"))
    anew = Step(session="s", type="session_end", source=Source.ACP, source_id="hook/acp/end2")
    assert record.add(anew)[0] is Outcome.RECORDED
    assert record.add(anew)[0] is Outcome.KNOWN
    assert record.add(ended)[0] is Outcome.KNOWN
    record.flush_sightings()
    assert recorded(home, record)[-1].type == "session_end"


def test_times_are_normalised_and_what_is_no_time_is_kept() -> None:
    east = timezone(timedelta(hours=2))
    assert normal_ts("2026-01-02T03:04:05.123456789Z", east) == {"ts": "2026-01-02T03:04:05.123456Z"}
    assert normal_ts("2026-01-02T03:04:05", east) == {"ts": "2026-01-02T01:04:05.000000Z", "ts_zone": "assumed"}
    assert normal_ts("yesterday", east) == {"ts_text": "yesterday"}


def test_callbacks_get_each_sealed_step_before_add_returns(record: SessionRecord) -> None:
    seen: list[tuple[int, str]] = []
    record.callbacks = [lambda step: seen.append((step.n, step.type))]
    record.add(said("a", "1"))
    record.add(said("a", "1"))
    assert seen == [(1, "assistant")]

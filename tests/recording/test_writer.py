from __future__ import annotations

from tallystick.journal.home import Home
from tallystick.journal.read import read_session
from tallystick.model.recorded import Recorded
from tallystick.model.step import Opening, Ref, SessionKind, Step
from tallystick.recording.record import SessionRecord
from tallystick.recording.writer import Writer


def said(text: str, source_id: str | None = None, **rest: object) -> Step:
    return Step(session="s", type="assistant", source_id=source_id, values={"content.text": text}, **rest)  # type: ignore[arg-type]


def recorded(home: Home, record: SessionRecord) -> list[Recorded]:
    return list(read_session(home, record.sid))


def test_what_goes_on_under_an_id_is_its_last_continuation(writer: Writer, record: SessionRecord) -> None:
    assert writer.current("demo", "s") == "s"
    for name in ("s~1", "s~2", "s~4"):
        writer.open(Opening(session=name, agent="demo"))
    assert writer.current("demo", "s") == "s~2"
    assert (writer.current("other", "s"), writer.current("demo", "t")) == ("s", "t")


def test_a_child_hangs_on_its_parents_step_or_claims_to(home: Home, writer: Writer, record: SessionRecord) -> None:
    record.add(said("spawn", "call"))
    kind = SessionKind.CHILD
    sealed, _ = writer.open(Opening(session="s/a", agent="demo", kind=kind, parent=Ref("call", session="s")))
    claimed, _ = writer.open(Opening(session="s/b", agent="demo", kind=kind, parent=Ref("gone", session="s")))
    spawn = recorded(home, record)[1]
    assert recorded(home, sealed)[0].parents == (f"{record.sid}#{spawn.hash}",)
    start = recorded(home, claimed)[0]
    assert start.parents == ()
    assert start.meta["parent_source"] == {"session": "s", "step": "gone"}

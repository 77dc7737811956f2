"""Everything of a step, and no more lines than can be read."""

from typing import Any

from tallystick.ask.show import Erasure, Shown
from tallystick.graph.steps import StepEntry
from tallystick.graph.timeline import Spot
from tallystick.model.recorded import Recorded
from tallystick.review.browse import Line, Whole
from tallystick.tui.detail import whole_text

HASH = "ab" * 32


def text_of(shown: dict[str, Any] | None = None, cause: Spot | None = None, **step: Any) -> str:
    fields: dict[str, Any] = {
        "session": "a" * 32,
        "n": 7,
        "hash": HASH,
        "prev": "",
        "parents": (),
        "meta": {"type": "note"},
    }
    recorded = Recorded(**{**fields, **step})
    members: dict[str, Any] = dict.fromkeys(StepEntry.__struct_fields__)
    entry = StepEntry(**{**members, "session": "a" * 32, "n": 7, "hash": HASH, "type": "note"})
    whole = Whole(
        shown=Shown(
            **{"step": recorded, "blobs": {}, "erasures": (), "defect": None, "head_size": None, **(shown or {})}
        ),
        line=Line(entry, recorded, ("c" * 32,)),
        beside=(),
        cause=cause,
    )
    return "\n".join("".join(part for part, _ in line) for line in whole_text(whole))


def test_values_parents_hash_seal_and_all_members_are_there() -> None:
    text = text_of(
        values={"content.text": "said", "content.zeta": {"a": [1, None]}},
        parents=("d" * 64, f"{'e' * 32}#{'f' * 64}"),
        meta={"type": "note", "ts": "2026-01-02T03:04:05.000000Z", "colour": "red"},
    )
    for part in (
        "aaaaaaaa:7  note",
        "content.text\n  said",
        '"a": [',
        "d" * 64,
        "f" * 64,
        HASH,
        "2026-01-02 03:04:05",
        "colour",
    ):
        assert part in text
    assert "began    session cccccccc" in text
    assert "no head covers it yet" in text


def test_what_is_withheld_erased_or_defective_is_said() -> None:
    assert "content.text  ▧ withheld" in text_of(withheld=("content.text",))
    erasure = Erasure(("content.text",), "2026-01-02T03:04:05Z", "consent", "asked")
    assert "▧ erased 2026-01-02 03:04:05 (consent): asked" in text_of(
        {"erasures": (erasure,)}, withheld=("content.text",)
    )
    assert "✕ the values do not match the hash (fields: changed)" in text_of({"defect": "fields: changed"})
    assert "a head of the session's first 9 entries" in text_of({"head_size": 9})


def test_the_cause_can_be_a_session_of_no_step_in_particular() -> None:
    assert "cause    bbbbbbbb:3" in text_of(cause=Spot("b" * 32, 3))
    assert "cause    bbbbbbbb  " in text_of(cause=Spot("b" * 32, None))


def test_large_values_are_cut_and_the_command_that_has_them_is_named() -> None:
    for value in ("line\n" * 100_000, "x" * 5_000_000, ["y" * 1000] * 5000):
        text = text_of(values={"content.output": value})
        assert len(text) < 250_000
        assert text.endswith("… the rest: tally show aaaaaaaa:7")

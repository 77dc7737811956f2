"""What is known of a compaction, from the steps around it."""

from __future__ import annotations

from hashlib import sha256
from typing import Any

from tallystick.model.recorded import Recorded
from tallystick.sessions.compactions import Around, base_of, compaction_of, is_compaction, summed, told_of
from tallystick.sessions.provenance import Kind, Link, way_up
from tests.support.cases import each

SID, HASH = "aa" * 16, "bb" * 32


def step(type_: str, n: int = 9, text: str | None = None, **meta: Any) -> Recorded:
    values = {"content.text": text} if text is not None else {}
    members = {"type": type_, "ts": "2026-11-22T08:00:00.000000Z", **meta}
    return Recorded(session=SID, n=n, hash=HASH, prev="00" * 32, parents=(), meta=members, values=values)


def test_what_no_source_told_is_absent() -> None:
    found = compaction_of(step("compaction"), "s")
    said = summed([found])
    assert said == {
        "count": 1,
        "inPlace": 1,
        "last": {
            "session": "s",
            "entry": f"{SID}#{HASH}",
            "n": 9,
            "at": "2026-11-22T08:00:00.000000Z",
            "mode": "in-place",
        },
    }


def test_all_that_was_told_is_there() -> None:
    found = compaction_of(
        step("compaction", text="boundary", trigger="auto", tokens_before=900, tokens_after=90, kept=2, summarized=6),
        "s",
        into="s~1",
        around=Around(
            before=[
                step("usage", 8, source_id="u"),
                step("user", 8, source_id="hook/acp/8"),
                step("assistant", 7, source_id="m7"),
                step("user", 6, source_id="m6"),
            ],
            after=[
                step("user", 1, "in short", source_id="m8", origin="summary"),
                step("user", 2, "next", source_id="m9"),
            ],
            spent=step("model_call", model="small", tokens={"input": 5, "output": 1, "odd": "x"}),
        ),
    )
    assert (found.trigger, found.tokens_before, found.tokens_after, found.kept, found.summarized) == (
        "auto",
        900,
        90,
        2,
        6,
    )
    assert (found.last_before, found.first_after, found.into) == ("m7", "m8", "s~1")
    assert (found.model, found.tokens) == ("small", {"input": 5, "output": 1})
    assert (found.summary_sha256, found.summary_chars) == (sha256(b"in short").hexdigest(), 8)


def test_without_a_summary_in_what_follows_the_steps_own_text_counts() -> None:
    found = compaction_of(
        step("compaction", text="in short"), "s", around=Around(after=[step("user", 1, "next", source_id="m9")])
    )
    assert found.summary_chars == 8


def test_text_that_is_no_unicode_has_a_digest_too() -> None:
    assert compaction_of(step("compaction", text="\ud800"), "s").summary_chars == 1


@each(
    "into, meta, mode",
    [
        ("s~1", {}, "in-place"),
        ("s", {}, "in-place"),
        ("t", {}, "rotation"),
        (None, {}, "in-place"),
        ("s~1", {"mode": "rotation"}, "rotation"),
        ("t", {"mode": 7}, "rotation"),
    ],
)
def test_whether_the_id_stays_is_told_or_seen(into: str | None, meta: dict[str, Any], mode: str) -> None:
    assert compaction_of(step("compaction", **meta), "s", into=into).mode == mode


@each("meta", [{"success": False}, {"status": "failed"}, {"status": "cancelled"}])
def test_one_that_came_to_nothing_is_none(meta: dict[str, Any]) -> None:
    assert not is_compaction(step("compaction", **meta))
    assert is_compaction(step("compaction", status="completed", success=True))
    assert not is_compaction(step("user"))


@each(
    "session, base",
    [("s~2", "s"), ("s", "s"), ("s~x", "s~x"), ("a~b~3", "a~b"), ("~1", ""), ("s~", "s~"), ("s~²", "s~²")],
)
def test_the_agents_own_id_is_what_stands_before_the_number(session: str, base: str) -> None:
    assert base_of(session) == base


def test_hostile_members_are_passed_over() -> None:
    odd: dict[str, Any] = {
        "trigger": ["x"],
        "kept": "many",
        "tokens_before": 1.5,
        "tokens": [1],
        "model": {"a": 1},
        "reason": 7,
    }
    assert compaction_of(step("compaction", **odd), "s") == compaction_of(step("compaction"), "s")


def test_each_of_the_last_hundred_can_be_told() -> None:
    found = [compaction_of(step("compaction", n), "s", into=f"s~{n}") for n in range(150)]
    said = summed(found, whole=True)
    assert (said["count"], len(said["each"]), said["each"][0]["n"], said["last"]["n"]) == (150, 100, 50, 149)


def test_from_links_alone_rollovers_are_not_counted() -> None:
    links = {
        "c": Link(kind=Kind.CONTINUATION, parent="b~1", reason="turn_boundary_rollover"),
        "b~1": Link(kind=Kind.CONTINUATION, parent="b"),
        "b": Link(kind=Kind.CONTINUATION, parent="a", reason="compression"),
        "a": Link(kind=Kind.FORK, parent="z"),
        "z": Link(kind=Kind.CONTINUATION, parent="y"),
        "y": Link(),
    }
    way = way_up("c", links.get)
    assert way is not None
    assert told_of(way, None) == {"count": 2, "inPlace": 1}

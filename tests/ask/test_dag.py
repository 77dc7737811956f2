from __future__ import annotations

import hashlib

from tallystick.ask.dag import Walk, content_bytes, context_hash, input_hash, output_hash, walk_dag
from tallystick.model.recorded import Recorded
from tallystick.model.step import Json


def step(n: int, *parents: str, **values: Json) -> Recorded:
    named = {f"content.{name}": value for name, value in values.items()}
    return Recorded(
        session="0" * 32, n=n, hash=f"{n:064x}", prev=f"{n - 1:064x}", parents=parents, meta={"type": "x"}, values=named
    )


def plain(data: bytes) -> str:
    return "sha256:" + hashlib.sha256(data).hexdigest()


def test_plain_hashes_are_those_of_the_content() -> None:
    assert input_hash(step(1, args={"b": 1, "a": "é"})) == plain(b'{"a": "\\u00e9", "b": 1}')
    assert output_hash(step(1, output="Hello World!")) == plain(b"Hello World!")
    assert input_hash(step(1)) == output_hash(step(1)) == plain(b"")
    assert input_hash(step(1, text="é")) == plain("é".encode())
    assert content_bytes([1]) == b"[1]"


def test_the_context_rolls_over_self_hashes() -> None:
    first = context_hash("", "sha256:aa")
    assert first == plain(b"\x00sha256:aa")
    assert context_hash(first, "sha256:bb") == plain(first.encode() + b"\x00sha256:bb")


def test_a_walk_follows_any_parent_and_takes_prefixes() -> None:
    steps = [step(0), step(1), step(2, f"{0:064x}"), step(3, f"{2:064x}", f"{1:064x}")]
    assert [found.n for found in walk_dag(steps, f"{1:064x}")] == [1, 3]
    assert [found.n for found in walk_dag(steps, f"{2:064x}"[:64])] == [2, 3]
    assert list(walk_dag(steps, "ffff")) == []


def test_a_walk_enters_other_sessions_and_comes_out_of_them() -> None:
    other = "1" * 32
    start = step(1)
    child = Recorded(
        session=other, n=0, hash="a" * 64, prev="0" * 64, parents=(f"{'0' * 32}#{start.hash}",), meta={"type": "x"}
    )
    tip = Recorded(session=other, n=1, hash="b" * 64, prev="a" * 64, parents=(), meta={"type": "x"})
    beside = step(2, f"{0:064x}")
    merge = step(3, f"{2:064x}", f"{other}#{'b' * 64}")
    assert list(walk_dag([step(0), start, child, tip, beside, merge], start.hash)) == [start, child, tip, merge]


def test_a_walk_enters_a_session_whose_parent_is_only_claimed() -> None:
    start = step(1)
    first = Recorded(session="1" * 32, n=0, hash="a" * 64, prev="0" * 64, parents=(), meta={"type": "x"})
    walk = Walk(start.hash, {"1" * 32: start.hash})
    assert [walk.takes(one) for one in (step(0), start, first)] == [False, True, True]
    assert not Walk(start.hash).takes(first)

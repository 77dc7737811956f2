from __future__ import annotations

import hashlib

from tallystick.model.recorded import Recorded
from tallystick.operations.dag import content_bytes, context_hash, input_hash, output_hash, walk_dag


def step(n: int, *parents: str, **values: object) -> Recorded:
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

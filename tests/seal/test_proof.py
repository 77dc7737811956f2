"""Proofs of steps: both verifiers, written apart, say the same, and nothing that was changed passes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from tallystick.model.verdict import Require
from tallystick.seal import standalone
from tallystick.seal.keys import SigningKey, did_key, parse_did_key
from tallystick.seal.merkle import consistency_proof, merkle_root
from tallystick.seal.note import sign_note
from tallystick.seal.proof import Consistency, check_consistency, check_proof, consistency_text, parse_proof, proof_text
from tallystick.seal.redact import Redaction
from tests.support.cases import each
from tools.vectors.maker import KEY, OTHER_KEY, STORE, Journal, Spec, session_id
from tools.vectors.step_proofs import PINNED, proof

VECTORS = Path(__file__).parents[1] / "vectors"
CASES = json.loads((VECTORS / "step_proofs.json").read_bytes())["cases"]
SENTENCES = {"why_not_higher"}


def both(text: bytes, pinned: str | None = PINNED, require: str | None = None) -> dict[str, Any]:
    """What both verifiers say of a proof, without the sentences; they must agree."""
    key = parse_did_key(pinned) if pinned is not None else None
    ours = msgspec.to_builtins(check_proof(text, pinned=key, require=Require(require or "A2")))
    other = standalone.verify_proof(text, pinned=pinned, require=require)
    found = [{name: value for name, value in said.items() if name not in SENTENCES} for said in (ours, other)]
    for said in found:
        if said["first_bad"] is not None:
            assert said["first_bad"].pop("why")
    assert found[0] == found[1]
    return found[0]


@each("case", CASES, ids=lambda case: case["why"])
def test_both_verifiers_say_what_is_expected(case: Mapping[str, Any]) -> None:
    found = both(case["proof"].encode("latin-1"), case["pinned"], case["require"])
    rule = found["first_bad"]["rule"] if found["first_bad"] is not None else None
    assert {"exit": found["exit"], "rule": rule, "authenticity": found["authenticity"]} == case["expect"]
    assert found["valid"] is (rule is None)


def test_what_a_proof_proves_is_said() -> None:
    found = both(proof_text(proof(n=3)))
    assert (found["session"], found["n"], found["size"]) == (session_id("alpha"), 3, 6)
    assert (found["ledger_n"], found["ledger_size"], found["level"]) == (1, 3, "A2")
    assert found["shown"]["meta"]["tool"] == "Bash"
    assert both(proof_text(proof(redaction=Redaction.FULL)))["shown"] == {}
    assert "content.args" in both(proof_text(proof(redaction=Redaction.NONE)))["shown"]


TEXTS = [proof_text(proof(n=n, redaction=level)) for n in (0, 3, 5) for level in Redaction]


@given(st.sampled_from(TEXTS), st.data())
def test_a_flipped_bit_is_refused(text: bytes, data: st.DataObject) -> None:
    at, bit = data.draw(st.integers(0, len(text) - 1)), data.draw(st.integers(0, 7))
    flipped = bytearray(text)
    flipped[at] ^= 1 << bit
    assert both(bytes(flipped))["exit"] in (2, 4)


@given(st.sampled_from(TEXTS), st.data())
def test_a_line_that_is_gone_doubled_or_moved_is_refused(text: bytes, data: st.DataObject) -> None:
    lines = text.split(b"\n")
    at = data.draw(st.integers(0, len(lines) - 1))
    to = data.draw(st.integers(0, len(lines)))
    change = data.draw(st.sampled_from(("gone", "doubled", "moved")))
    line = lines.pop(at) if change != "doubled" else lines[at]
    if change != "gone":
        lines.insert(to, line)
    found = both(b"\n".join(lines))
    assert (
        found["exit"] in (2, 4) or b"\n".join(lines) == text or (change == "doubled" and line.startswith("—".encode()))
    )


@given(st.sampled_from(TEXTS), st.integers(0, 4000))
def test_a_proof_that_is_cut_is_refused(text: bytes, size: int) -> None:
    if size < len(text):
        assert both(text[:size])["exit"] in (2, 4)


@given(st.binary(max_size=300))
def test_no_bytes_make_a_verifier_raise(text: bytes) -> None:
    assert both(text)["exit"] == 4
    assert both(TEXTS[0][:60] + text)["exit"] in (2, 4)


@given(st.integers(1, 40), st.data())
def test_every_entry_of_every_session_can_be_proved(size: int, data: st.DataObject) -> None:
    journal = Journal(session_id("long"))
    journal.add("session_start", agent="demo", kind="root", source_session="s-7")
    for number in range(1, size):
        journal.add("user", {"content.text": f"prompt {number}"})
    n = data.draw(st.integers(0, size - 1))
    text = proof_text(proof(journal, n, size=data.draw(st.integers(n + 1, size))))
    assert both(text)["exit"] == 0
    assert proof_text(parse_proof(text)) == text


def test_a_proof_over_the_limit_is_malformed() -> None:
    found = both(b"c2sp.org/tlog-proof@v1\n" + b"a" * (4 << 20))
    assert (found["exit"], found["first_bad"]) == (4, {"rule": "limit"})


def test_a_key_that_is_none_is_not_taken() -> None:
    assert standalone.verify_proof(TEXTS[0], pinned="did:key:z6Mk")["exit"] == 1
    assert standalone.verify_proof(TEXTS[0], require="sealed")["exit"] == 1


# That a head extends another ------------------------------------------------------------------------------------------

LEAVES = [
    line.hash for line in Journal(STORE, [Spec({"type": "store_start"}), *[Spec({"type": "key_add"})] * 20]).sealed
]


def head(size: int, *keys: SigningKey, store: str = STORE) -> bytes:
    return sign_note(store, size, merkle_root(LEAVES[:size]), keys or (KEY,))


def extension(old: int, size: int) -> bytes:
    path = consistency_proof(LEAVES[:size], old) if old else ()
    return consistency_text(Consistency(old_size=old, path=path, note=head(size)))


def both_of_head(text: bytes, old: bytes, pinned: str | None = PINNED, require: str | None = None) -> dict[str, Any]:
    """What both verifiers say of a proof of consistency, without the sentences; they must agree."""
    key = parse_did_key(pinned) if pinned is not None else None
    ours = msgspec.to_builtins(check_consistency(text, old, pinned=key, require=Require(require or "A2")))
    other = standalone.verify_proof(text, remembered=old, pinned=pinned, require=require)
    found = [{name: value for name, value in said.items() if name not in SENTENCES} for said in (ours, other)]
    for said in found:
        if said["first_bad"] is not None:
            assert said["first_bad"].pop("why")
    assert found[0] == found[1]
    return found[0]


def rule_of(found: Mapping[str, Any]) -> str | None:
    return None if found["first_bad"] is None else found["first_bad"]["rule"]


@given(st.data())
def test_every_head_extends_every_one_before_it_and_no_other(data: st.DataObject) -> None:
    size = data.draw(st.integers(0, len(LEAVES)))
    old = data.draw(st.integers(0, size))
    text = extension(old, size)
    found = both_of_head(text, head(old))
    assert (found["exit"], found["old_size"], found["ledger_size"], found["level"]) == (0, old, size, "A2")
    root = data.draw(st.binary(min_size=32, max_size=32))
    assert rule_of(both_of_head(text, sign_note(STORE, old, root, [KEY]))) == "head"


@given(st.integers(0, 20), st.data())
def test_a_proof_of_consistency_with_a_flipped_bit_is_refused(old: int, data: st.DataObject) -> None:
    text = extension(old, len(LEAVES))
    at, bit = data.draw(st.integers(0, len(text) - 1)), data.draw(st.integers(0, 7))
    flipped = bytearray(text)
    flipped[at] ^= 1 << bit
    if flipped.startswith(b"old "):
        assert both_of_head(bytes(flipped), head(old))["exit"] in (2, 4)


@given(st.integers(1, 20), st.data())
def test_nodes_that_are_missing_or_too_many_are_refused(old: int, data: st.DataObject) -> None:
    top, _, note = extension(old, len(LEAVES)).partition(b"\n\n")
    first, *nodes = top.split(b"\n")
    at = data.draw(st.integers(0, len(nodes)))
    more = [*nodes[:at], b"A" * 43 + b"=", *nodes[at:]]
    assert rule_of(both_of_head(b"\n".join([first, *more]) + b"\n\n" + note, head(old))) == "head"
    if nodes:
        less = [*nodes[: at - 1], *nodes[at:]] if at else nodes[1:]
        assert rule_of(both_of_head(b"\n".join([first, *less]) + b"\n\n" + note, head(old))) == "head"


def test_what_a_proof_of_consistency_is_held_against() -> None:
    text = extension(7, 12)
    assert both_of_head(text, head(7), pinned=None)["exit"] == 3
    assert both_of_head(text, head(7), pinned=None, require="A1")["exit"] == 0
    assert both_of_head(text, head(7, OTHER_KEY))["exit"] == 0, "its keeper vouches for it, and no key"
    assert rule_of(both_of_head(text, head(8))) == "head"
    assert rule_of(both_of_head(text, head(7, store="0b" * 16))) == "signature"
    assert rule_of(both_of_head(text, b"prose")) == "signature"
    assert rule_of(both_of_head(b"old 7\n", head(7))) == "line"
    assert rule_of(both_of_head(b"old 07\n\n" + head(12), head(7))) == "line"
    assert rule_of(both_of_head(extension(12, 12).replace(head(12), head(7)), head(12))) == "head"
    by_other = both_of_head(text, head(7), pinned=did_key(OTHER_KEY.public))
    assert (by_other["exit"], by_other["authenticity"]) == (2, "wrong key")
    many = b"old 7\n" + b"A" * 43 + b"=\n" * 65
    assert both_of_head(many + b"\n" + head(12), head(7))["exit"] == 4


def test_a_proof_of_one_kind_is_not_taken_for_the_other() -> None:
    assert standalone.verify_proof(extension(7, 12), pinned=PINNED)["exit"] == 1
    assert standalone.verify_proof(TEXTS[0], remembered=head(7), pinned=PINNED)["exit"] == 1

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
from tallystick.seal.keys import parse_did_key
from tallystick.seal.proof import check_proof, parse_proof, proof_text
from tallystick.seal.redact import Redaction
from tests.support.cases import each
from tools.vectors.maker import Journal, session_id
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

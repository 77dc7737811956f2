"""Proofs of steps, good and bad (docs/format.md 21), for `step_proofs.json`. The expectations are written by hand."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterator
from typing import Any

from msgspec.structs import replace

from tallystick.seal.keys import did_key
from tallystick.seal.line import parse_line
from tallystick.seal.merkle import inclusion_proof
from tallystick.seal.note import sign_note
from tallystick.seal.proof import Proof, proof_text
from tallystick.seal.redact import Redaction, line_text, redact, withhold
from tools.vectors.maker import KEY, OTHER_KEY, STORE, Journal, Store, alpha, beta, session_id

PINNED = did_key(KEY.public)


def step_proofs() -> dict[str, Any]:
    """The content of `step_proofs.json`."""
    return {
        "about": "Texts of section 21, the did:key that is pinned (or null), the level that is required (or null), and what "
        "a verifier must say: exit, the rule that is broken (or null), authenticity.",
        "cases": [*sound(), *changed(), *of_others(), *misshapen()],
    }


def proof(
    journal: Journal | None = None, n: int = 3, *, redaction: Redaction = Redaction.CONTENT, size: int | None = None
) -> Proof:
    """The proof of entry `n` of a journal, in a store with another session and a signed head."""
    first = alpha() if journal is None else journal
    store = Store(first, beta())
    store.head(first, size).head(store.journals[session_id("beta")])
    note = store.sign()
    leaves = [line.hash for line in store.ledger.sealed]
    entries = [line.hash for line in first.sealed[:size]]
    shown = redact(parse_line(first.sealed[n].line[:-1]), redaction)
    return Proof(
        index=1,
        path=inclusion_proof(leaves, 1),
        note=note,
        head=store.ledger.sealed[1].line[:-1],
        step=line_text(withhold(shown, frozenset(shown.blobs))),
        step_path=inclusion_proof(entries, n),
    )


def _case(
    why: str,
    text: bytes,
    exit_code: int,
    rule: str | None = None,
    *,
    pinned: str | None = PINNED,
    require: str | None = None,
    authenticity: str | None = None,
) -> dict[str, Any]:
    signed = "signed" if rule is None and pinned else "unsigned"
    return {
        "why": why,
        "proof": text.decode("latin-1"),
        "pinned": pinned,
        "require": require,
        "expect": {"exit": exit_code, "rule": rule, "authenticity": authenticity or signed},
    }


def sound() -> Iterator[dict[str, Any]]:
    for level in Redaction:
        yield _case(f"as made, at level {level.value}", proof_text(proof(redaction=level)), 0)
    for n in range(6):
        yield _case(f"entry {n} of six", proof_text(proof(n=n)), 0)
    alone = Journal(session_id("alone"))
    alone.add("session_start", agent="demo", kind="root", source_session="s-9")
    yield _case("the only entry of a session: an empty path", proof_text(proof(alone, 0)), 0)
    yield _case("an entry of a session that went on after its head", proof_text(proof(size=4)), 0)
    yield _case("no key is pinned", proof_text(proof()), 3, pinned=None)
    yield _case("no key is pinned, and none required", proof_text(proof()), 0, pinned=None, require="A1")
    both = replace(proof(), note=_note(KEY, OTHER_KEY))
    yield _case("a head with a second signature by a stranger", proof_text(both), 0)


def _note(*keys: Any, size: int = 3, store: str = STORE) -> bytes:
    ledger = Store(alpha(), beta()).seal().ledger
    return sign_note(store, size, bytes.fromhex(ledger.root(min(size, 3))), keys)


def changed() -> Iterator[dict[str, Any]]:
    made = proof()
    other = proof(n=4)
    yield _case("another step's line", proof_text(replace(made, step=other.step)), 2, "head")
    yield _case("another step's path", proof_text(replace(made, step_path=other.step_path)), 2, "head")
    yield _case("a node too few", proof_text(replace(made, step_path=made.step_path[:-1])), 2, "head")
    yield _case("a node too many", proof_text(replace(made, path=(*made.path, bytes(32)))), 2, "head")
    yield _case("no path in the ledger", proof_text(replace(made, path=())), 2, "head")
    yield _case("another index", proof_text(replace(made, index=2)), 2, "n")
    yield _case("a larger tree, signed", proof_text(replace(made, note=_note(KEY, size=5))), 2, "head")
    edited = replace(made, step=made.step.replace(b'"tool":"Bash"', b'"tool":"Edit"'))
    yield _case("a value of the step changed", proof_text(edited), 2, "fields")
    swapped = replace(made, step=made.step.replace(b'"n":3', b'"n":2'))
    yield _case("the step's number changed", proof_text(swapped), 2, "head")
    beyond = proof(size=3, n=2)
    yield _case("a step beyond the head", proof_text(replace(beyond, step=made.step)), 2, "n")


def of_others() -> Iterator[dict[str, Any]]:
    made = proof()
    stranger = replace(made, note=_note(OTHER_KEY))
    yield _case("a head by another key", proof_text(stranger), 2, "signature", authenticity="wrong key")
    yield _case("a head by another key, none pinned", proof_text(stranger), 3, pinned=None)
    forged = replace(made, note=made.note.replace(b"\n3\n", b"\n4\n"))
    yield _case("a head that was changed after it was signed", proof_text(forged), 2, "signature")
    elsewhere = replace(made, note=_note(KEY, store="0" * 32))
    yield _case("a head of another store", proof_text(elsewhere), 2, "sid")
    of_beta = proof(beta(), 2)
    yield _case("a step of another session", proof_text(replace(made, step=of_beta.step)), 2, "sid")
    store = Store(alpha(), beta()).seal()
    leaves = [line.hash for line in store.ledger.sealed]
    start = replace(made, index=0, head=store.ledger.sealed[0].line[:-1], path=inclusion_proof(leaves, 0))
    yield _case("an entry of the ledger that is not a head", proof_text(start), 2, "class")
    bare = replace(made, head=line_text(redact(parse_line(made.head), Redaction.FULL)))
    yield _case("a ledger entry that does not show its meta", proof_text(bare), 2, "class")


def misshapen() -> Iterator[dict[str, Any]]:
    text = proof_text(proof())
    made = proof()

    def bent(change: Callable[[bytes], bytes]) -> bytes:
        found = change(text)
        assert found != text, "a change that changes nothing shows nothing"
        return found

    yield _case("nothing", b"", 4, "line")
    yield _case("another first line", bent(lambda it: it.replace(b"@v1", b"@v2", 1)), 4, "line")
    yield _case("no extra", bent(lambda it: b"\n".join([*it.split(b"\n")[:1], *it.split(b"\n")[2:]])), 4, "line")
    yield _case("an index with a leading zero", bent(lambda it: it.replace(b"index 1", b"index 01")), 4, "line")
    yield _case("a negative index", bent(lambda it: it.replace(b"index 1", b"index -1")), 4, "line")
    yield _case("CRLF", bent(lambda it: it.replace(b"\n", b"\r\n")), 4, "line")
    yield _case("a node of 31 bytes", proof_text(replace(made, path=(bytes(31),))), 4, "line")
    yield _case("65 nodes", proof_text(replace(made, step_path=(bytes(32),) * 65)), 4, "limit")
    yield _case("an extension line in the head", bent(lambda it: it.replace(b"\n3\n", b"\n3\nmore\n")), 2, "signature")
    yield _case("no LF at the end", text[:-1], 2, "signature")
    yield _case("text after the signatures", text + b"more\n", 2, "signature")
    yield _case("a step that is not JSON", proof_text(replace(made, step=b"{")), 4, "line")
    wide = replace(made, step=made.step.replace(b'{"entry"', b'{ "entry"'))
    yield _case("a step that is not canonical", proof_text(wide), 2, "canonical")
    extra = base64.b64encode(made.head + b"\n")
    yield _case("no step", bent(lambda it: b"\n".join([it[:22], b"extra " + extra, *it.split(b"\n")[2:]])), 4, "line")

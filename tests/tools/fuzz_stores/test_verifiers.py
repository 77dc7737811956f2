"""Values that are as dear to read as their size allows: no verifier takes more than its time and memory for one."""

from __future__ import annotations

from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

import pytest

from tallystick.seal.hashes import commitment, entry_hash, fields_hash, salt
from tallystick.seal.limits import PARSED_BLOB_BYTES
from tallystick.seal.line import Sealed, entry_text
from tools.fuzz_stores.verifiers import Verifiers, disagreement
from tools.vectors.maker import Journal, Spec, Store, session_id

_SEED = sha256(b"heavy").digest()
_META = b'{"recorded":"2026-01-02T03:04:06.000000Z","source":"sdk","type":"user"}'
VALUES: dict[str, Callable[[int], bytes]] = {
    "empty lists": lambda size: b"[" + b",".join([b"[]"] * ((size - 2) // 3)) + b"]",
    "empty objects": lambda size: b"[" + b",".join([b"{}"] * ((size - 2) // 3)) + b"]",
    "integers": lambda size: b"[" + b",".join([b"1"] * ((size - 2) // 2)) + b"]",
    "fractions": lambda size: b"[" + b",".join([b"5e-324"] * ((size - 2) // 7)) + b"]",
    "keys": lambda size: b"{" + b",".join(b'"%07d":{}' % n for n in range((size - 2) // 13)) + b"}",
    "keys beyond U+FFFF": lambda size: (
        b"{" + b",".join(b'"%06d\xf0\x9f\x98\x80":1.5' % n for n in range(size // 17)) + b"}"
    ),
    "deep lists": lambda size: b"[" + b",".join([b"[" * 60 + b"]" * 60] * (size // 121)) + b"]",
    "escapes": lambda size: b'"' + b'\\"' * (size // 2 - 1) + b'"',
    "control characters": lambda size: b'"' + b"\\u0001" * (size // 6 - 1) + b'"',
}


def store_of(value: bytes, *, in_line: bool) -> Store:
    """A store with one value, in a line or in a blob."""
    journal = Journal(session_id("heavy"))
    journal.add("session_start", agent="demo", kind="root")
    found = commitment("content.x", "json", salt(_SEED, "content.x"), value)
    meta = commitment("meta", "json", salt(_SEED, "meta"), _META)
    fields = fields_hash([("content.x", found), ("meta", meta)]).hex()
    entry = entry_text(fields, 1, (), journal.sealed[0].hash.hex(), journal.sid)
    about = b'"blobs":{"content.x":{"commitment":"%b","kind":"json","size":%d}},' % (found.hex().encode(), len(value))
    shown = b'"content.x":%b,' % value
    if in_line:
        about = b""
    else:
        shown = b""
    seed = _SEED.hex().encode()
    text = b'{%b"entry":%b,"fields":{%b"meta":%b},"seed":"%b"}\n' % (about, entry, shown, _META, seed)
    journal.sealed.append(Sealed(text, entry_hash(entry), 1))
    journal.specs.append(Spec({"type": "user"}))
    return Store(journal).seal()


def write(store: Store, value: bytes, folder: Path) -> None:
    """Put a store and the blob that it may name into a folder."""
    name = commitment("content.x", "json", salt(_SEED, "content.x"), value).hex()
    for path, data in (store.files() | {f"store/blobs/{name[:2]}/{name}": value}).items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)


@pytest.mark.soak
@pytest.mark.parametrize("in_line", [True, False])
@pytest.mark.parametrize("kind", VALUES)
def test_a_value_of_the_largest_size_is_judged_within_bounds(tmp_path: Path, kind: str, in_line: bool) -> None:
    value = VALUES[kind](PARSED_BLOB_BYTES - 1_000)
    write(store_of(value, in_line=in_line), value, tmp_path)
    with Verifiers() as verifiers:
        answers = verifiers.ask({"path": str(tmp_path / "store")})
    assert disagreement(answers) is None
    assert {answer.report["exit"] for answer in answers.values() if answer.report is not None} == {0}


def test_a_value_in_a_line_or_a_blob_is_sound(tmp_path: Path) -> None:
    for in_line in (True, False):
        folder = tmp_path / str(in_line)
        value = VALUES["keys"](200)
        write(store_of(value, in_line=in_line), value, folder)
        with Verifiers() as verifiers:
            assert disagreement(verifiers.ask({"path": str(folder / "store")})) is None

"""Making the hashes of a changed store right again, as one would who owns the store and covers up what was done.

Owns the order in which that happens: journals, then the ledger's entries about them, then the head. What cannot be made
right, because it has no canonical form or no entry, stays as it is.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tallystick.errors import FormatError
from tallystick.seal.canonical import canonical
from tallystick.seal.hashes import commitment, entry_hash, fields_hash, genesis, salt
from tallystick.seal.keys import SigningKey
from tallystick.seal.merkle import merkle_root
from tallystick.seal.note import sign_note
from tools.fuzz_stores.case import MISFITS, Case, Json, is_plain, lines_of, parsed, written


def reseal(case: Case, *, renumber: bool = True) -> None:
    """Compute fields, chain, roots and signature of the whole store again."""
    moved: dict[str, str] = {}
    leaves: dict[str, list[bytes]] = {}
    for path in case.journals():
        leaves[path.stem] = _reseal_file(path, moved, renumber=renumber)
    if not is_plain(case.ledger):
        return
    lines = [_told_again(line, leaves, moved) for line in lines_of(case.ledger)]
    case.ledger.write_bytes(b"\n".join(lines))
    hashes = _reseal_file(case.ledger, moved, renumber=renumber)
    sign(case, hashes)


def sign(case: Case, hashes: list[bytes]) -> None:
    """Put a head over entries with these hashes, by the store's keys."""
    if not hashes or not is_plain(case.note) or not case.secrets:
        return
    store = parsed(lines_of(case.ledger)[0]) or {}
    sid = _at(store, "entry", "sid")
    if isinstance(sid, str) and sid.isprintable():
        keys = [SigningKey(secret) for secret in case.secrets]
        case.note.write_bytes(sign_note(sid, len(hashes), merkle_root(hashes), keys))


def _reseal_file(path: Path, moved: dict[str, str], *, renumber: bool) -> list[bytes]:
    """Chain a file again; returns the hashes of its entries, as far as they have one."""
    hashes: list[bytes] = []
    texts: list[bytes] = []
    for text in lines_of(path):
        line = parsed(text)
        if line is None or not isinstance(line.get("entry"), dict):
            texts.append(text)
            continue
        entry = line["entry"]
        before = written(entry)
        if renumber:
            entry["n"] = len(hashes)
        try:
            entry["prev"] = (hashes[-1] if hashes else genesis(str(entry.get("sid")))).hex()
            entry["parents"] = [_moved(parent, moved) for parent in entry["parents"]]
            entry["fields"] = fields_of(line)
        except MISFITS:
            pass
        texts.append(written(line))
        try:
            digest = entry_hash(canonical(entry))
        except FormatError:
            digest = entry_hash(written(entry))
        moved[entry_hash(before).hex()] = digest.hex()
        hashes.append(digest)
    path.write_bytes(b"\n".join(texts))
    return hashes


def fields_of(line: Mapping[str, Json]) -> str:
    """What `entry.fields` of a line must be, by what the line says."""
    found = {name: bytes.fromhex(digest) for name, digest in line.get("withheld", {}).items()}
    found |= {name: bytes.fromhex(about["commitment"]) for name, about in line.get("blobs", {}).items()}
    for name, value in line.get("fields", {}).items():
        found[name] = commitment(name, "json", salt_of(line, name), canonical(value))
    if not found:
        return str(line["entry"]["fields"])
    return fields_hash(sorted(found.items())).hex()


def salt_of(line: Mapping[str, Json], name: str) -> bytes:
    """The salt of a name that a line discloses."""
    if "seed" in line:
        return salt(bytes.fromhex(line["seed"]), name)
    return bytes.fromhex(line["salts"][name])


def _moved(parent: Json, moved: Mapping[str, str]) -> Json:
    if not isinstance(parent, str):
        return parent
    session, mark, digest = parent.rpartition("#")
    return f"{session}{mark}{moved.get(digest, digest)}"


def _told_again(text: bytes, leaves: Mapping[str, list[bytes]], moved: Mapping[str, str]) -> bytes:
    """A ledger line with the roots and hashes that its sessions have now."""
    line = parsed(text)
    meta = _at(line, "fields", "meta")
    if line is None or not isinstance(meta, dict):
        return text
    session, size = meta.get("session"), meta.get("size")
    known = leaves.get(session) if isinstance(session, str) else None
    if known is not None and type(size) is int and 0 <= size <= len(known):
        meta["root"] = merkle_root(known[:size]).hex()
    if isinstance(meta.get("entry"), str):
        meta["entry"] = moved.get(meta["entry"], meta["entry"])
    return written(line)


def _at(value: Any, *path: str) -> Any:
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return value

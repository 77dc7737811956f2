"""Verify a Tallystick record with this file, Python 3.11 and nothing else.

    python standalone.py STORE_OR_JOURNAL [--pinned DID] [--remembered NOTE] [--require A2|sealed|A1] [--json]
    python standalone.py --proof FILE [--pinned DID] [--require A2|A1] [--json]

Written from docs/format.md alone and in its order, so that an auditor can hold the two side by side: each part
names the section it follows. It shares no code with the rest of Tallystick: two programs, written apart from
one text, must agree. It writes nothing, opens no socket, and takes every byte it reads for hostile. It is
plain before it is fast: time grows with the bytes read, memory with the entries of a journal (some 250 bytes
each while it is read, 32 after), never with their values.
"""

from __future__ import annotations

import argparse
import base64
import contextlib
import hashlib
import json
import os
import re
import stat
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any, BinaryIO, NoReturn

Json = Any  # what a JSON parser returns: its type is checked wherever it matters

# ---- Section 15: limits ------------------------------------------------------------------------------------

MAX_LINE = 1 << 20  # bytes without LF
MAX_DEPTH = 64  # the line's own object is 1
MAX_META_DEPTH = 4
MAX_NAMES = 32
MAX_PARENTS = 64
MAX_META = 16 << 10
MAX_BLOB = 1 << 30
MAX_NOTE = 1 << 20
MAX_INT = 2**53 - 1
PARSED_BLOB = 1 << 20  # not of the format: larger json blobs are hashed but not parsed, to bound memory

# ---- Section 14: rules -------------------------------------------------------------------------------------

# In the order in which a line is asked; of two defects at one entry the earlier rule is reported.
RULES = ["limit", "line", "canonical", "member", "version", "sid", "n", "prev", "class", "blob", "fields"]
RULES += ["parent", "seed", "order", "withheld", "head", "cut", "missing", "signature"]


class RuleError(Exception):
    """Some bytes break a rule. Whoever knows the place makes a `Defect` of it."""

    def __init__(self, rule: str, why: str) -> None:
        super().__init__(why)
        self.rule, self.why = rule, why


def need(holds: object, rule: str, why: str) -> None:
    """Raise unless `holds`."""
    if not holds:
        raise RuleError(rule, why)


@dataclass(frozen=True)
class Defect:
    """Where a rule is broken; `n` is None where no one entry is to blame."""

    session: str | None
    n: int | None
    rule: str
    why: str

    def exit(self, covered: int) -> int:
        """4 for what is over a limit or no journal of ours, else 2: tampering (19.2). `covered` entries were sound once."""
        if self.rule == "version" and self.n == 0:
            return 4
        if self.n is None or self.n < covered:
            return 2
        ours = self.rule not in ("limit", "version") and (self.n != 0 or self.rule not in ("line", "member"))
        return 2 if ours else 4


# ---- Section 1: files --------------------------------------------------------------------------------------


def read_lines(file: BinaryIO) -> Iterator[tuple[bytes | None, int]]:
    """Lines without LF and 0; for a torn tail None and its size.

    For a line over the limit None and 0: nothing is read after it, so that a file with a hole of any size has an end (19.9).
    """
    while piece := file.readline(MAX_LINE + 1):
        if not piece.endswith(b"\n"):
            yield None, 0 if len(piece) > MAX_LINE else len(piece)
            return
        yield piece[:-1], 0


def is_file(path: Path, look: Callable[[Path], os.stat_result] = os.lstat) -> bool:
    """Whether a regular file is there, and no link to one: opening a pipe would wait for ever."""
    try:
        return stat.S_ISREG(look(path).st_mode)
    except (FileNotFoundError, NotADirectoryError, ValueError):  # the last: a NUL in the name
        return False


def find_journals(folder: Path) -> dict[str, list[Path]]:
    """The journals anywhere below `folder`, by session."""

    def refuse(error: OSError) -> NoReturn:
        raise error  # a folder that cannot be listed must not look like sessions that are gone

    found: dict[str, list[Path]] = {}
    for base, folders, names in os.walk(folder, onerror=refuse) if folder.is_dir() else ():
        for path in (Path(base, name) for name in folders + names):
            if path.suffix == ".jsonl" and SID.fullmatch(path.stem):
                found.setdefault(path.stem, []).append(path)
    return found


def find_strangers(root: Path) -> list[tuple[str | None, Path]]:
    """19.9: what is in the place of a file or a folder of the store and is none; with the session that its name says."""
    files: list[tuple[str | None, Path]] = [(None, root / "ledger.jsonl"), (None, root / "heads" / "ledger.note")]
    folders = [root / "journals", root / "heads", root / "blobs"]
    journals = [(sid, path) for sid, paths in sorted(find_journals(folders[0]).items()) for path in paths]
    found = [(None, path) for path in folders if os.path.lexists(path) and not path.is_dir()]
    strange = [
        [(sid, path) for sid, path in each if os.path.lexists(path) and not is_file(path)] for each in (files, journals)
    ]
    return [*strange[0], *found, *strange[1]]


# ---- Section 2: the line -----------------------------------------------------------------------------------

SID = re.compile("[0-9a-f]{32}")
HASH = re.compile("[0-9a-f]{64}")
INTEGER = range(-MAX_INT, MAX_INT + 1)
COUNT = range(MAX_INT + 1)
PARENTS = [re.compile("([0-9a-f]{32}#)?[0-9a-f]{64}")]
ENTRY = {"fields": HASH, "n": INTEGER, "parents": PARENTS, "prev": HASH, "sid": SID, "v": INTEGER}
BLOB = {"commitment": HASH, "kind": re.compile("json|raw"), "size": COUNT}
MAPS = {"blobs": BLOB, "fields": None, "salts": HASH, "withheld": HASH}


def fits(value: Json, shape: Any) -> bool:
    """Whether a value is as a pattern, a range, a list of one shape, or members by name say; None: any value."""
    if isinstance(shape, dict):
        named = isinstance(value, dict) and value.keys() == shape.keys()
        return named and all(fits(value[key], shape[key]) for key in shape)
    if isinstance(shape, list):
        return isinstance(value, list) and all(fits(item, shape[0]) for item in value)
    if isinstance(shape, range):
        return type(value) is int and value in shape  # true and false are no integers
    return shape is None or (isinstance(value, str) and shape.fullmatch(value) is not None)


@dataclass(frozen=True)
class Line:
    """A line whose members have been checked; hashes and salts are hex."""

    entry: dict[str, Json]
    blobs: dict[str, dict[str, Json]] = field(default_factory=dict)
    fields: dict[str, Json] = field(default_factory=dict)
    salts: dict[str, str] = field(default_factory=dict)
    seed: str = ""
    withheld: dict[str, str] = field(default_factory=dict)

    def disclosed(self) -> set[str]:
        """D."""
        return self.fields.keys() | self.blobs.keys()

    def form(self) -> str:
        """Which of the four forms the line has."""
        if self.disclosed():
            return "partial" if self.withheld else "full"
        return "opaque" if self.withheld else "bare"

    def salt(self, name: str) -> bytes:
        """The salt of a disclosed name."""
        if self.seed:
            return tagged("salt", bytes.fromhex(self.seed), name.encode())
        return bytes.fromhex(self.salts[name])


def parse_line(raw: bytes | None) -> Line:
    """Sections 15, 3, 16 and 2: the rules `limit`, `line`, `canonical`, `version`, `member`."""
    if raw is None:
        raise RuleError("limit", f"the line is longer than {MAX_LINE} bytes")
    need(depth_of(raw) <= MAX_DEPTH, "limit", f"nested deeper than {MAX_DEPTH}")
    line = parse_json(raw)
    need(isinstance(line, dict), "line", "not a JSON object")
    check_counts(line)
    need(isinstance(line.get("entry"), dict), "member", "no entry: nothing of ours")
    need(canonical(line) == raw, "canonical", "not the canonical form of what it says")
    entry = line.get("entry")
    if isinstance(entry, dict) and fits(entry.get("v"), INTEGER):  # another version may have other members
        need(entry["v"] == 1, "version", f"format version {entry['v']} is unknown to this verifier")
    need(fits(entry, ENTRY), "member", "entry is not made of a proper fields, n, parents, prev, sid and v")
    need(line.keys() <= {"entry", "seed", *MAPS}, "member", "an unknown member")
    need("seed" not in line or fits(line["seed"], HASH), "member", "seed is not 32 bytes in hex")
    for member in MAPS.keys() & line.keys():
        names = line[member]
        proper = isinstance(names, dict) and names and fits(list(names.values()), [MAPS[member]])
        need(proper, "member", f"{member} is empty, or holds a value of another shape")
    return check_form(Line(**line))


def check_counts(line: dict[str, Json]) -> None:
    """Section 15: the limits that only a parser can see. Shapes are not known yet."""
    parts: dict[str, Any] = {k: v if isinstance(v, dict) else {} for k, v in line.items()}
    entry, fields, blobs = (parts.get(part, {}) for part in ("entry", "fields", "blobs"))
    names = {*fields, *blobs, *parts.get("withheld", {})}
    need(len(names) <= MAX_NAMES, "limit", f"more than {MAX_NAMES} names")
    parents, n = entry.get("parents"), entry.get("n")
    few = not isinstance(parents, list) or len(parents) <= MAX_PARENTS
    need(few, "limit", f"more than {MAX_PARENTS} parents")
    need(type(n) is not int or n <= MAX_INT, "limit", "n is not below 2^53")
    need(len(canonical(fields.get("meta"))) <= MAX_META, "limit", f"meta is longer than {MAX_META} bytes")
    sizes = [blob.get("size") for blob in blobs.values() if isinstance(blob, dict)]
    small = all(type(size) is not int or size <= MAX_BLOB for size in sizes)
    need(small, "limit", f"a blob of more than {MAX_BLOB} bytes")


def check_form(line: Line) -> Line:
    """D and W, and what each form carries."""
    form, names = line.form(), line.disclosed() | line.withheld.keys()
    apart = len(names) == len(line.fields) + len(line.blobs) + len(line.withheld)
    need(apart, "member", "a name stands in two of fields, blobs and withheld")
    placed = form == "bare" or ("meta" in names and "meta" not in line.blobs)
    need(placed, "member", "meta is absent or a blob")
    need(bool(line.seed) == (form == "full"), "member", f"a {form} line with or without a seed")
    salted = line.disclosed() if form == "partial" else set()
    need(line.salts.keys() == salted, "member", f"the salts do not fit a {form} line")
    return line


# ---- Section 3: canonical form and values ------------------------------------------------------------------

JSON_STRING = re.compile(rb'"(?:[^"\\]++|\\.)*+"?+', re.DOTALL)
NO_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))


def depth_of(raw: bytes) -> int:
    """The deepest nesting, from the brackets outside strings: known before any parser could be exhausted."""
    deepest = depth = 0
    for bracket in JSON_STRING.sub(b"", raw).translate(None, NO_BRACKETS):
        depth += 1 if bracket in b"[{" else -1
        deepest = max(deepest, depth)
    return deepest


def parse_json(raw: bytes) -> Json:
    """3.1: a JSON value; `line`, or `canonical` for bytes that section 1 forbids."""

    def refuse(constant: str) -> NoReturn:
        raise ValueError(f"{constant} is not JSON, though Python reads it")

    def integer(digits: str) -> int:
        return int(digits[:18])  # more digits are out of range all the same, and slow to read

    try:
        text = raw.decode()
        stray = raw.startswith(b"\xef\xbb\xbf") or b"\r" in raw or b"\0" in raw
        need(not stray, "canonical", "a byte order mark, CR or NUL")
        return json.loads(text, parse_int=integer, parse_constant=refuse)
    except ValueError as error:  # of UTF-8, or of JSON
        raise RuleError("line", f"not JSON in UTF-8: {error}") from None


def canonical(value: Json) -> bytes:
    """JCS(value), the RFC 8785 text in UTF-8."""
    try:
        return jcs(value).encode()
    except UnicodeEncodeError:
        raise RuleError("canonical", "a lone surrogate") from None


def jcs(value: Json) -> str:
    """RFC 8785: members in UTF-16 order, numbers as ECMAScript writes them, as few escapes as possible."""
    if isinstance(value, dict):
        members = sorted(value.items(), key=lambda member: member[0].encode("utf-16-be"))
        return "{" + ",".join(f"{jcs(key)}:{jcs(item)}" for key, item in members) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(jcs, value)) + "]"
    if isinstance(value, float):
        return number(value)
    if type(value) is int:
        need(value in INTEGER, "canonical", "an integer beyond 2^53-1")
        return str(value)
    return json.dumps(value, ensure_ascii=False)  # in strings Python escapes just what RFC 8785 does


def number(value: float) -> str:
    """ECMAScript's Number::toString. repr() finds the same shortest digits and only writes them otherwise."""
    need(value - value == 0, "canonical", "a number that overflows")
    if value == 0:
        return "0"
    negative, decimals, exponent = Decimal(repr(value)).as_tuple()
    digits, sign = "".join(map(str, decimals)), "-" if negative else ""
    point = len(digits) + int(exponent)  # the value is 0.DIGITS times 10 to the power of point
    digits = digits.rstrip("0")
    if len(digits) <= point <= 21:
        return sign + digits.ljust(point, "0")
    if 0 < point <= 21:
        return f"{sign}{digits[:point]}.{digits[point:]}"
    if -6 < point <= 0:
        return f"{sign}0.{'0' * -point}{digits}"
    fraction = f".{digits[1:]}" if digits[1:] else ""
    return f"{sign}{digits[0]}{fraction}e{point - 1:+d}"


# ---- Section 4: hashes -------------------------------------------------------------------------------------


def framed(tag: str, *parts: bytes, more: int | None = None) -> hashlib._Hash:
    """H, still open: with `more`, a last part of that many bytes is yet to be fed."""
    name, count = b"tallystick/v1/" + tag.encode(), len(parts) + (more is not None)
    state = hashlib.sha256(bytes([len(name)]) + name + count.to_bytes(4, "big"))
    for part in parts:
        state.update(len(part).to_bytes(8, "big") + part)
    if more is not None:
        state.update(more.to_bytes(8, "big"))
    return state


def tagged(tag: str, *parts: bytes) -> bytes:
    """H(tag, p1..pk)."""
    return framed(tag, *parts).digest()


def fields_hash(commitments: dict[str, bytes]) -> bytes:
    """What `entry.fields` must be."""
    pairs = ((name.encode(), digest) for name, digest in sorted(commitments.items()))
    return tagged("fields", *(part for pair in pairs for part in pair))


def entry_hash(entry: dict[str, Json]) -> bytes:
    """The hash of an entry, which is also its leaf."""
    return hashlib.sha256(b"\x00tallystick/v1/entry\n" + canonical(entry)).digest()


def roots_at(leaves: bytes, sizes: Iterable[int]) -> dict[int, bytes]:
    """RFC 9162: the roots of the first so many leaves of 32 bytes, for each of the `sizes` that they reach."""
    wanted, roots = set(sizes), {0: hashlib.sha256().digest()}
    peaks: list[tuple[int, bytes]] = []  # sizes and roots of the perfect subtrees, largest first
    for count in range(1, len(leaves) // 32 + 1):
        size, node = 1, leaves[32 * count - 32 : 32 * count]
        while peaks and peaks[-1][0] == size:
            size, node = 2 * size, hashlib.sha256(b"\x01" + peaks.pop()[1] + node).digest()
        peaks.append((size, node))
        if count in wanted:
            for _, left in reversed(peaks[:-1]):
                node = hashlib.sha256(b"\x01" + left + node).digest()
            roots[count] = node
    return roots


# ---- Section 6: fields -------------------------------------------------------------------------------------

NAME = re.compile("meta|(personal|content|local)[.][a-z][a-z0-9_]{0,39}")
WORD = re.compile("[a-z][a-z0-9_]{0,47}")
TEXT = re.compile("(?!.*[.][.])[A-Za-z0-9][A-Za-z0-9._:/@#~+-]{0,199}")
TIME = re.compile("[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}[.][0-9]{6}Z")


def fits_meta(value: Json, depth: int = 1) -> bool:
    """6.2: whether a value may stand in meta; containers are at most four deep, meta itself included."""
    if isinstance(value, dict | list) and depth <= MAX_META_DEPTH:
        items = value.values() if isinstance(value, dict) else value
        named = isinstance(value, list) or fits([*value], [TEXT])
        return named and all(fits_meta(item, depth + 1) for item in items)
    return isinstance(value, int) or fits(value, TEXT)  # int: true and false too; neither floats nor null


def check_meta(meta: Json, is_ledger: bool) -> None:
    """6.2 to 6.4, and 9.2 for a ledger: the rule `class`."""
    if not isinstance(meta, dict):
        raise RuleError("class", "meta is not an object")
    proper = fits([*meta], [WORD]) and fits_meta(meta)
    need(proper, "class", "meta holds a member that belongs into content.meta")
    members = {"type": WORD, "recorded": TIME, "ts": TIME if "ts" in meta else None}
    members |= ledger_members(meta) if is_ledger else {"source": TEXT}
    for member, shape in members.items():
        need(fits(meta.get(member), shape), "class", f"meta has no {member} or a malformed one")


# ---- Section 8: blobs --------------------------------------------------------------------------------------


def find_blob(folders: Iterable[Path], digest: str) -> Path | None:
    """The file of a blob."""
    return next(filter(is_file, (folder / digest[:2] / digest for folder in folders)), None)


def check_blob(path: Path, name: str, about: dict[str, Json], salt: bytes) -> None:
    """The rule `blob`: size, commitment, and that JSON is canonical (3.3)."""
    with path.open("rb") as file:
        size = os.fstat(file.fileno()).st_size
        need(size == about["size"], "blob", f"{name}: {size} bytes in the file, {about['size']} in the line")
        state = framed("field", name.encode(), about["kind"].encode(), salt, more=size)
        while piece := file.read(1 << 20):
            state.update(piece)
        same = state.hexdigest() == about["commitment"]
        need(same, "blob", f"{name}: the file does not match its commitment")
        if about["kind"] == "json" and size <= PARSED_BLOB:
            file.seek(0)
            need(is_canonical(file.read(size)), "blob", f"{name}: a json blob that is no canonical JSON")


def is_canonical(raw: bytes) -> bool:
    """Whether some bytes are JCS of what they say."""
    try:
        return depth_of(raw) <= MAX_DEPTH and canonical(parse_json(raw)) == raw
    except RuleError:
        return False


# ---- Section 9: the ledger ---------------------------------------------------------------------------------

DID_KEY = re.compile("did:key:z[1-9A-HJ-NP-Za-km-z]{40,60}")
HEAD = {"session": SID, "size": COUNT, "root": HASH}
LEDGER_MEMBERS: dict[str, dict[str, Any]] = {
    "store_start": {"key": DID_KEY},
    "session_head": HEAD,
    "erasure": {"session": SID, "n": COUNT, "entry": HASH, "names": [NAME]},
    "retention": {"action": TEXT},
    "retention drop_content": {"session": SID, "from": COUNT, "to": COUNT, "names": [NAME]},
    "retention drop_session": HEAD,
    "key_add": {"key": DID_KEY},
    "key_retire": {"key": DID_KEY},
}


def ledger_members(meta: dict[str, Json]) -> dict[str, Any]:
    """9.2: the members that verification reads; types that it does not know may hold what they like."""
    kind = str(meta.get("type"))
    return LEDGER_MEMBERS.get(kind, {}) | LEDGER_MEMBERS.get(f"{kind} {meta.get('action')}", {})


EPOCH = HEAD | {"epoch": range(1, MAX_INT + 1), "key": DID_KEY, "began": TIME, "ended": TIME}
EPOCH |= {"seconds": range(1, MAX_INT + 1), "signature": re.compile("[0-9a-f]{128}")}
del EPOCH["session"]
EPOCH_TEXT = ["epoch", "size", "root", "key", "began", "ended", "seconds"]
MAX_FIRST_KEYS = 8


def epoch_of(meta: dict[str, Json]) -> dict[str, Json] | None:
    """19.8: the end of an epoch that a `key_add` seals, its own members alone."""
    end = {member: meta.get(member) for member in EPOCH}
    return end if meta["type"] == "key_add" and fits(end, EPOCH) and parse_did_key(meta["key"]) else None


class Facts:
    """9.2 and 12: what some (n, meta) of the ledger say."""

    def __init__(self, entries: Iterable[tuple[int, dict[str, Json]]]) -> None:
        self.heads: dict[str, list[tuple[int, str]]] = {}  # by session: size, root in hex
        self.dropped: set[str] = set()
        self.erased: dict[tuple[str, int, str], set[str]] = {}  # names, by session, n, entry hash in hex
        self.cleared: dict[str, list[tuple[range, list[str]]]] = {}
        self.keys: dict[str, None] = {}  # did:key
        self.fallen: list[int] = []  # n of heads smaller than one before
        for n, meta in entries:
            self._add(n, meta, meta.get("session", ""))

    def _add(self, n: int, meta: dict[str, Json], sid: str) -> None:
        match meta["type"], meta.get("action"):
            case (("store_start" | "key_add"), _):
                self.keys[meta["key"]] = None
            case "key_retire", _:
                self.keys.pop(meta["key"], None)
            case "session_head", _:
                if meta["size"] < self.covered(sid):
                    self.fallen.append(n)
                else:
                    self.heads.setdefault(sid, []).append((meta["size"], meta["root"]))
            case "erasure", _:
                self.erased.setdefault((sid, meta["n"], meta["entry"]), set()).update(meta["names"])
            case "retention", "drop_content":
                span = range(meta["from"], meta["to"] + 1)
                self.cleared.setdefault(sid, []).append((span, meta["names"]))
            case "retention", "drop_session":
                self.dropped.add(sid)

    def covered(self, sid: str) -> int:
        """The size of a session's last head; 0 without one."""
        return self.heads[sid][-1][0] if sid in self.heads else 0

    def erases(self, sid: str, n: int, digest: str, name: str) -> bool:
        """Whether an erasure names this value of just this entry."""
        return name in self.erased.get((sid, n, digest), ())

    def releases(self, sid: str, n: int, digest: str, name: str) -> bool:
        """12.2: whether an erasure or a retention lets this value be gone."""
        cleared = any(n in span and name in names for span, names in self.cleared.get(sid, ()))
        return cleared or self.erases(sid, n, digest, name)


# ---- Section 9.4: the head and its keys --------------------------------------------------------------------


@dataclass(frozen=True)
class Note:
    """A head as its note states it; `text` is what is signed."""

    text: bytes
    origin: str
    size: int
    root: bytes
    signatures: list[tuple[str, bytes]]  # key name; key id and signature


def parse_note(raw: bytes) -> Note:
    """A C2SP signed note that is a tlog-checkpoint without extension lines."""
    need(len(raw) <= MAX_NOTE, "limit", f"the note is longer than {MAX_NOTE} bytes")
    need(not re.search(rb"[\x00-\x09\x0b-\x1f\x7f]", raw), "signature", "control characters in the note")
    try:
        lines = raw.decode().split("\n")
    except UnicodeDecodeError:
        raise RuleError("signature", "the note is not UTF-8") from None
    parted = len(lines) > 5 and lines[3] == lines[-1] == ""
    need(parted, "signature", "the note is not three lines, an empty one and signatures")
    need(re.fullmatch("0|[1-9][0-9]{0,18}", lines[1]), "signature", "the size in the note is malformed")
    need(len(lines) <= 5 + 64, "signature", "more than 64 signatures")
    root = decode_base64(lines[2])
    need(len(root) == 32, "signature", "the root in the note is not 32 bytes")
    signatures = []
    for line in lines[4:-1]:
        parts = re.fullmatch("\u2014 ([^\\s+]+) ([^ ]+)", line)
        blob = decode_base64(parts[2]) if parts else b""
        need(len(blob) > 4, "signature", "a malformed signature line")
        signatures.append((parts[1] if parts else "", blob))
    return Note("\n".join([*lines[:3], ""]).encode(), lines[0], int(lines[1]), root, signatures)


def decode_base64(text: str) -> bytes:
    """Base64 that encodes back to itself."""
    try:
        raw = base64.b64decode(text, validate=True)
    except ValueError:
        raw = b""
    need(raw and base64.b64encode(raw).decode() == text, "signature", "malformed base64 in the note")
    return raw


def is_signed(note: Note, keys: Iterable[bytes]) -> bool:
    """Whether a known key has signed; one that is known and fails refuses the note."""
    ids: dict[bytes, list[bytes]] = {}
    for key in keys:
        ids.setdefault(hashlib.sha256(note.origin.encode() + b"\n\x01" + key).digest()[:4], []).append(key)
    ours = [blob for name, blob in note.signatures if name == note.origin and blob[:4] in ids]
    good = all(any(verifies(key, blob[4:], note.text) for key in ids[blob[:4]]) for blob in ours)
    need(good, "signature", "the signature of a known key fails")
    return bool(ours)


BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"


def parse_did_key(did: str) -> bytes | None:
    """The key in an Ed25519 did:key: `z` for base58btc, then 0xed 0x01 and 32 bytes. None if it is none."""
    value = 0
    for digit in did.removeprefix("did:key:z") if DID_KEY.fullmatch(did) else "":
        value = value * 58 + BASE58.index(digit)
    raw = value.to_bytes(48, "big")  # 60 digits of base 58 are less than 352 bits
    return raw[16:] if raw[:16] == b"\xed\x01".rjust(16, b"\0") and not did.startswith("did:key:z1") else None


# Ed25519, RFC 8032 5.1. A point is (X, Y, Z, T) with x = X/Z, y = Y/Z and xy = T/Z.

P = 2**255 - 19
L = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, -1, P) % P
Point = tuple[int, int, int, int]
# The y of the eight points whose order divides 8: with either sign, and y + P where it fits, 14 encodings.
Y_OF_ORDER_8 = 2707385501144840649318225287225658788936804267575313519463743609750303402022
LOW_ORDER = {0, 1, P - 1, Y_OF_ORDER_8, P - Y_OF_ORDER_8}


def has_low_order(encoded: bytes) -> bool:
    """Whether this is one of the 14 encodings, canonical or not, of a point of low order."""
    return int.from_bytes(encoded, "little") % 2**255 % P in LOW_ORDER


def decode_point(encoded: bytes) -> Point | None:
    """RFC 8032 5.1.3; None for what is no point, or not encoded canonically."""
    sign, y = divmod(int.from_bytes(encoded, "little"), 2**255)
    square = (y * y - 1) * pow(D * y * y + 1, -1, P) % P
    x = pow(square, (P + 3) // 8, P)
    if x * x % P != square:
        x = x * pow(2, (P - 1) // 4, P) % P
    if y >= P or x * x % P != square or (x == 0 and sign):
        return None
    x = P - x if x % 2 != sign else x
    return x, y, 1, x * y % P


def add_points(p: Point, q: Point) -> Point:
    """RFC 8032 5.1.4; complete, so that it doubles too."""
    a, b = (p[1] - p[0]) * (q[1] - q[0]), (p[1] + p[0]) * (q[1] + q[0])
    c, d = 2 * p[3] * q[3] * D, 2 * p[2] * q[2]
    e, f, g, h = (b - a) % P, (d - c) % P, (d + c) % P, (b + a) % P
    return e * f % P, g * h % P, f * g % P, e * h % P


def multiply_point(scalar: int, point: Point) -> Point:
    """`scalar` times `point`."""
    total: Point = (0, 1, 1, 0)
    for bit in f"{scalar:b}":
        total = add_points(total, total)
        total = add_points(total, point) if bit == "1" else total
    return total


def encode_point(point: Point) -> bytes:
    """RFC 8032 5.1.2."""
    inverse = pow(point[2], -1, P)
    x, y = point[0] * inverse % P, point[1] * inverse % P
    return (y + x % 2 * 2**255).to_bytes(32, "little")


def verifies(key: bytes, signature: bytes, message: bytes) -> bool:
    """RFC 8032 5.1.7, once low-order keys and R are refused: R must be the very encoding of sB - hA."""
    r, s = signature[:32], int.from_bytes(signature[32:], "little")
    point, base = decode_point(key), decode_point(bytes([0x58, *[0x66] * 31]))
    if len(signature) != 64 or s >= L or has_low_order(key) or has_low_order(r) or not point or not base:
        return False
    h = int.from_bytes(hashlib.sha512(r + key + message).digest(), "little") % L
    minus: Point = (P - point[0], point[1], 1, P - point[3])  # -A times h: L - h times A fails keys of mixed order
    return encode_point(add_points(multiply_point(s, base), multiply_point(h, minus))) == r


# ---- Section 10: redaction levels --------------------------------------------------------------------------


def check_level(line: Line, level: str) -> None:
    """The rule `class` for a line that is not what its bundle's level says.

    An entry of nothing but `meta` has no partial form: at `content` its full form stands, whose seed opens no more.
    """
    form, shown = line.form(), line.disclosed()
    allowed = {
        "none": bool(shown) and not any(name.startswith("local.") for name in shown),
        "content": shown == {"meta"},
        "full": form == "bare",
    }
    need(allowed[level], "class", f"a {form} line of these names does not belong into level {level}")


# ---- Section 14.2: one journal -----------------------------------------------------------------------------


class Journal:
    """One journal: what the walk over its lines finds, and the verdict on it.

    `kind` is `session` or `ledger` in a store, else `lone`; `level` is the one that a lone file promises. Nothing from the
    first bad line on is taken in.
    """

    def __init__(self, kind: str, sid: str | None, blobs: list[Path], facts: Facts) -> None:
        self.kind, self.sid, self.blobs, self.facts, self.level = kind, sid, blobs, facts, ""
        self.is_ledger = kind == "ledger"
        self.lines = self.torn = 0
        self.hashes = bytearray()  # 32 bytes an entry
        self.foreign: list[tuple[int, str, bytes]] = []  # parents elsewhere: n, session, hash
        self.metas: list[tuple[int, dict[str, Json]]] = []  # of a ledger: what verification needs
        self.disclosure: Counter[str] = Counter()
        self.oddities: Counter[str] = Counter()  # what is worth saying and no defect
        self.ended = False  # session_end has come, and no session_start since
        self.last_type, self.last_recorded = "", ""
        self.completeness, self.authenticity = "truncated", "unsigned"
        self.covered, self.stated = 0, 0  # entries under a head that is signed; under any head
        self.defects: list[Defect] = []
        self.path: Path | None = None
        self._seen: set[bytes] = set()
        self._seeds: set[str] = set()

    def blame(self, n: int | None, rule: str, why: str) -> None:
        """Note a defect."""
        self.defects.append(Defect(self.sid, n, rule, why))

    def bad(self) -> list[Defect]:
        """The first defect, if there is one."""
        return sorted(self.defects, key=lambda d: (-1 if d.n is None else d.n, RULES.index(d.rule)))[:1]

    def steps(self) -> int:
        """The entries that are sound: those before the first defect."""
        return min([len(self.hashes) // 32, *(defect.n or 0 for defect in self.bad())])

    def read(self, path: Path) -> None:
        """Take in a file; after a bad line, lines are only counted."""
        self.path = path
        with path.open("rb") as file:
            for raw, self.torn in read_lines(file):
                if not self.torn and not self.defects:
                    self._take(raw)
                self.lines += not self.torn
        self._seen, self._seeds = set(), set()

    def _take(self, raw: bytes | None) -> None:
        n = len(self.hashes) // 32
        try:
            line = parse_line(raw)
            self._check_chain(line.entry, n)
            self._check_class(line, n)
            digest = entry_hash(line.entry)
            gone = self._check_values(line, n, digest.hex())
            self._check_parents(line.entry, n)
            need(line.seed not in self._seeds, "seed", "an earlier entry has the same seed")
            self._check_order(line.fields.get("meta"), n)
            self._check_withheld(line, n, digest.hex())
        except RuleError as error:
            return self.blame(n, error.rule, error.why)
        return self._accept(line, n, digest, gone)

    def _check_chain(self, entry: dict[str, Json], n: int) -> None:
        """Section 5: sid, n, prev."""
        self.sid = self.sid or entry["sid"]
        need(entry["sid"] == self.sid, "sid", "the entry is of another session than its file")
        need(entry["n"] == n, "n", f"the entry says {entry['n']} where {n} is due")
        prev = self.hashes[-32:] if n else tagged("genesis", entry["sid"].encode())
        need(entry["prev"] == prev.hex(), "prev", "prev is not the hash of the entry before")

    def _check_class(self, line: Line, n: int) -> None:
        """Sections 6 and 10."""
        names = [*line.disclosed(), *line.withheld]
        need(fits(names, [NAME]), "class", "a name is of none of the four classes")
        if "meta" in line.fields:
            meta = line.fields["meta"]
            if self.kind == "lone" and n == 0 and isinstance(meta, dict):
                self.is_ledger = meta.get("type") == "store_start"
            check_meta(meta, self.is_ledger)
        if self.level:
            check_level(line, self.level)

    def _check_values(self, line: Line, n: int, digest: str) -> int:
        """Sections 4 and 8: the rules `blob` and `fields`. Returns how many blobs are absent."""
        gone = 0
        commitments = {name: bytes.fromhex(c) for name, c in line.withheld.items()}
        for name, about in sorted(line.blobs.items()):
            commitments[name] = bytes.fromhex(about["commitment"])
            path = find_blob(self.blobs, about["commitment"])
            if path is not None:
                check_blob(path, name, about, line.salt(name))
                large = about["kind"] == "json" and about["size"] > PARSED_BLOB
                self.oddities["large json blobs not checked for canonical form"] += large
            else:
                free = self.kind == "lone" or self.facts.releases(str(self.sid), n, digest, name)
                need(free, "blob", f"the file of {name} is absent or a link, and no sealed erasure covers it")
                gone += 1
        for name, value in line.fields.items():
            text = canonical(value)
            commitments[name] = tagged("field", name.encode(), b"json", line.salt(name), text)
        same = not commitments or fields_hash(commitments).hex() == line.entry["fields"]
        need(same, "fields", "the values are not those that were sealed")
        return gone

    def _check_parents(self, entry: dict[str, Json], n: int) -> None:
        """Section 5: earlier entries of this journal; those of others are looked up when all are read."""
        parents = [parent.rpartition("#") for parent in entry["parents"]]
        need(len(set(parents)) == len(parents), "parent", "a parent is listed twice")
        local = [bytes.fromhex(digest) for sid, _, digest in parents if not sid]
        need(self._seen.issuperset(local), "parent", "a parent is no earlier entry")
        need(all(sid != self.sid for sid, _, _ in parents), "parent", "a parent of this session as another's")
        self.foreign += [(n, sid, bytes.fromhex(digest)) for sid, _, digest in parents if sid]

    def _check_order(self, meta: Json, n: int) -> None:
        """Section 7: what comes first, and what after `session_end`. What is not shown cannot be judged."""
        kind = meta["type"] if meta else ""
        start = "store_start" if self.is_ledger else "session_start"
        need(n or kind in ("", start), "order", f"entry 0 is not {start}")
        resumed = kind == "session_start" and meta.get("resumed") is True
        need(not self.ended or resumed or kind in ("", "recovery"), "order", "a step after session_end")
        self.ended = kind == "session_end" or (self.ended and kind == "recovery")
        self.last_type = kind

    def _check_withheld(self, line: Line, n: int, digest: str) -> None:
        """12.2: in a store every line shows its meta, and the ledger all that it has."""
        if self.kind != "lone":
            need("meta" in line.fields, "withheld", "meta is withheld in a store")
            for name in line.withheld:
                free = self.facts.releases(str(self.sid), n, digest, name)
                need(free, "withheld", f"{name} is withheld, and no sealed erasure covers it")

    def _accept(self, line: Line, n: int, digest: bytes, gone: int) -> None:
        """Take in an entry that has passed."""
        self.hashes += digest
        self._seen.add(digest)
        self._seeds.update([line.seed] * bool(line.seed))
        for name in line.disclosed() | line.withheld.keys():
            if self.facts.erases(str(self.sid), n, digest.hex(), name):
                withheld = line.withheld.get(name)
                self.disclosure["erased"] += withheld is not None
                left = withheld is None or find_blob(self.blobs, withheld) is not None
                self.oddities["values that an erasure names are still there: it is not finished"] += left
        self.disclosure.update(withheld=len(line.withheld), absent_blobs=gone)
        meta = line.fields.get("meta", {})
        if self.is_ledger and ledger_members(meta):
            self.metas.append((n, meta))
        recorded = meta.get("recorded", "")
        self.oddities["entries recorded before the one they follow"] += "" < recorded < self.last_recorded
        self.last_recorded = recorded or self.last_recorded

    def remarks(self) -> list[str]:
        """The oddities in words."""
        counts = {"bytes of a torn last line": self.torn, **self.oddities}
        return [f"{self.sid or 'journal'}: {count} {what}" for what, count in counts.items() if count]

    def row(self) -> dict[str, Json]:
        """A session's line in the report."""
        return {
            "session": self.sid,
            "steps": self.steps(),
            "integrity": next((defect.rule for defect in self.bad()), "intact"),
            "completeness": self.completeness,
            "unsealed": max(0, self.steps() - self.covered),
            "authenticity": self.authenticity,
        }


def entries_of(path: Path) -> set[bytes]:
    """The hashes of all entries in a file that are still legible, whatever else is wrong with their lines."""
    found = set()
    with path.open("rb") as file:
        for raw, _ in read_lines(file):
            try:
                line = parse_json(raw) if raw is not None and depth_of(raw) <= MAX_DEPTH else None
                if isinstance(line, dict) and fits(line.get("entry"), ENTRY):
                    found.add(entry_hash(line["entry"]))
            except RuleError:
                continue
    return found


# ---- Section 14: the verdict -------------------------------------------------------------------------------


class Store:
    """14.1 to 14.4 in turn: notes and ledger, then each journal, then what points from one to another."""

    def __init__(self, root: Path, pinned: bytes | None, remembered: bytes | None) -> None:
        self.root, self.pinned = root, pinned
        self.note: Note | None = None  # the store's own, once it is signed by a known key and borne out
        self.ledger = Journal("ledger", None, [root / "blobs"], Facts([]))
        self.broken_epoch = 0  # the n of an end that does not hold
        self.following = {pinned: -1} if pinned else {}  # it and the keys that follow, by the n that says so
        self.remarks = [] if pinned else ["no key is pinned: the store's own word is taken for its key"]
        self._check_ledger(remembered)
        self.sessions = self._check_sessions()
        self._check_foreign_parents()

    def _check_ledger(self, remembered: bytes | None) -> None:
        """14.1."""
        ledger, note = self.root / "ledger.jsonl", self.root / "heads" / "ledger.note"
        notes = [] if remembered is None else [("the remembered note", remembered)]
        if is_file(note):  # read before the ledger: a store may be at work
            with note.open("rb") as file:
                notes.insert(0, ("the note", file.read(MAX_NOTE + 1)))
        else:
            self.remarks.append("heads/ledger.note is missing")
        if is_file(ledger):
            self.ledger.read(ledger)
        else:
            self.remarks.append("ledger.jsonl is missing: nothing says which sessions there were")
        try:
            self._check_epochs(str(self.ledger.sid))
        except RuleError as error:
            self.ledger.blame(self.broken_epoch, error.rule, error.why)
        for what, raw in notes:
            self._check_note(raw, what)
        metas, size = self.ledger.metas, self.note.size if self.note else self.ledger.lines
        self.sealed = Facts(meta for meta in metas if meta[0] < size)
        self.tail = Facts(meta for meta in metas if meta[0] >= size)
        for n in self.sealed.fallen:
            self.ledger.blame(n, "head", "a head smaller than one before of the same session")
        if self.ledger.lines > size:
            self.remarks.append(f"{self.ledger.lines - size} ledger entries beyond the signed head")
        self.remarks += self.ledger.remarks()

    def _check_note(self, raw: bytes, what: str) -> None:
        """The rules `signature`, `cut` and `head` of the ledger for one note.

        A note that the ledger does not bear out vouches for nothing, and without a pinned key only a ledger that is
        whole can say which keys are known.
        """
        ledger = self.ledger
        try:
            note = parse_note(raw)
            ours = re.fullmatch(f"tallystick/{ledger.sid or SID.pattern}", note.origin)
            need(ours, "signature", f"{what} is not a head of this store")
            ledger.sid = note.origin.partition("/")[2]
            ledger.stated = max(ledger.stated, note.size)
            signed = is_signed(note, self._keys_below(note.size))
        except RuleError as error:
            return ledger.blame(None, error.rule, error.why)
        sound = len(ledger.hashes) // 32
        borne_out = roots_at(bytes(ledger.hashes), [note.size]).get(note.size) == note.root
        stranger = not signed and bool(self.pinned or sound >= note.size)
        if stranger:
            ledger.blame(None, "signature", f"{what} is not signed by a known key")
        if ledger.lines < note.size:
            ledger.blame(ledger.lines, "cut", f"{what} covers {note.size} entries, {ledger.lines} are there")
        elif sound >= note.size and not borne_out:
            ledger.blame(note.size - 1 if note.size else None, "head", f"{what} states another root")
        if what == "the note" and (stranger or (signed and borne_out)):
            ledger.authenticity = "wrong key" if stranger else "signed"
            self.note = None if stranger else note
        return None

    def _check_epochs(self, sid: str) -> None:
        """19.8: each end is signed by the key that the one before it names, and begins where that ended."""
        ends = [(n, end) for n, meta in self.ledger.metas if (end := epoch_of(meta)) is not None]
        roots = roots_at(bytes(self.ledger.hashes), (end["size"] for _, end in ends)) if ends else {}
        last, row, most = dict.fromkeys(EPOCH, 0), b"", 0
        for n, end in ends:
            self.broken_epoch, first = n, end["epoch"] == 1
            said = (f"tallystick/{sid}/epoch", *(end[name] for name in EPOCH_TEXT))
            known = [row] * bool(row) + (self._named_below(n)[-MAX_FIRST_KEYS:] if first else [])
            text, signature = "".join(f"{part}\n" for part in said).encode(), bytes.fromhex(end["signature"])
            signer = next((key for key in known if verifies(key, signature, text)), None)
            follows = first or (end["epoch"] == last["epoch"] + 1 and end["began"] == last["ended"])
            need(follows and signer and end["ended"] >= end["began"], "signature", "an epoch does not follow")
            fitting = (not end["size"] or most <= end["size"] <= n) and roots[end["size"]].hex() == end["root"]
            need(fitting, "head", "the ledger is not what it was when an epoch ended")
            last, row, most = end, parse_did_key(end["key"]) or b"", max(most, end["size"])
            if signer in self.following:
                self.following.setdefault(row, n)

    def _keys_below(self, size: int) -> list[bytes]:
        """The pinned key and those that follow from it; else the store's own."""
        if self.pinned is not None:
            return [key for key, n in self.following.items() if n < max(1, size)]
        return self._named_below(max(1, size))

    def _named_below(self, n: int) -> list[bytes]:
        """The keys that the store starts with or adds, but those it retires."""
        own = Facts(meta for meta in self.ledger.metas if meta[0] < n).keys
        return [key for key in map(parse_did_key, own) if key is not None]

    def _check_sessions(self) -> list[Journal]:
        """14.2 and 14.3."""
        paths = find_journals(self.root / "journals")
        sids = {*paths, *self.sealed.heads, *self.sealed.dropped}
        lost = sorted(self.tail.heads.keys() - sids)
        self.remarks += [f"{sid}: an unsealed head names it, and it is not there" for sid in lost]
        return [self._check_session(sid, paths.get(sid, [])) for sid in sorted(sids)]

    def _check_session(self, sid: str, paths: list[Path]) -> Journal:
        journal = Journal("session", sid, [self.root / "blobs"], self.sealed)
        if self.ledger.authenticity != "signed":
            journal.authenticity = self.ledger.authenticity
        elif sid in self.sealed.heads:
            journal.authenticity, journal.covered = "signed", self.sealed.covered(sid)
        journal.stated = self.sealed.covered(sid)
        if len(paths) == 1:
            self._check_journal(journal, paths[0])
        elif paths:
            journal.blame(0, "sid", f"{len(paths)} files have the name of this session")
        elif sid in self.sealed.dropped:
            journal.completeness = "dropped"
        else:
            journal.completeness = "missing"
            journal.blame(None, "missing", "heads name this session, and its journal is not there")
        return journal

    def _check_journal(self, journal: Journal, path: Path) -> None:
        sid, largest = path.stem, self.sealed.covered(path.stem)
        heads, tail = self.sealed.heads.get(sid, []), self.tail.heads.get(sid, [])
        journal.read(path)
        roots = roots_at(bytes(journal.hashes), (size for size, _ in (*heads, *tail)))
        for size, root in heads:
            if size in roots and roots[size].hex() != root:
                journal.blame(max(0, size - 1), "head", f"the head of size {size} has another root")
        if journal.lines < largest:
            journal.completeness = "cut"
            journal.blame(journal.lines, "cut", f"a head covers {largest} entries, {journal.lines} are there")
        elif not journal.bad() and journal.last_type == "session_end" and journal.lines <= journal.covered:
            journal.completeness = "sealed"
        self.remarks += journal.remarks()
        if any(size not in roots or roots[size].hex() != root for size, root in tail):
            self.remarks.append(f"{sid}: differs from a head that is not sealed yet")
        if sid in self.sealed.dropped:
            self.remarks.append(f"{sid}: its journal is still there, though a sealed retention drops it")

    def _check_foreign_parents(self) -> None:
        """14.4: the rule `parent` for `<sid>#<hash>`."""
        unknown: dict[str, set[bytes]] = {}
        for journal in (self.ledger, *self.sessions):
            for _, sid, digest in journal.foreign:
                unknown.setdefault(sid, set()).add(digest)
        for target in self.sessions:
            wanted = unknown.get(str(target.sid), set())
            for at in range(0, len(target.hashes) if wanted else 0, 32):
                wanted.discard(bytes(target.hashes[at : at + 32]))
            if wanted and target.path and target.lines > len(target.hashes) // 32:
                wanted -= entries_of(target.path)
            if target.sid in self.sealed.dropped:
                wanted.clear()
        for journal in (self.ledger, *self.sessions):
            for n in sorted(n for n, sid, digest in journal.foreign if digest in unknown[sid])[:1]:
                journal.blame(n, "parent", "a parent is no entry of the session it names")
                if journal.completeness == "sealed":
                    journal.completeness = "truncated"

    def report(self, require: str) -> dict[str, Json]:
        """The verdict on the store."""
        level = ("A1", "no head of the ledger is signed by a known key")
        if self.note:
            level = ("A2", "A3 to A5 (signer, anchors, witnesses) are not checked by this file")
        return report(self.ledger, self.sessions, level, require, self.remarks)


def verify_lone(path: Path, require: str, redaction: str | None) -> dict[str, Json]:
    """One journal outside a store: nothing is signed, and nothing says whether it is all there."""
    sid = path.stem if SID.fullmatch(path.stem) else None
    folders = [path.parent / "blobs", path.parent / "../../../blobs"]
    journal = Journal("lone", sid, folders, Facts([]))
    journal.level = redaction or ""
    journal.read(path)
    if not journal.lines:
        journal.blame(0, "line", "not one complete line")
    remarks = journal.remarks()
    if journal.foreign:
        remarks.append(f"{len(journal.foreign)} parents in other sessions are unresolved")
    level = ("A1", "a lone file: no ledger and no signed head")
    return report(None, [journal], level, require, remarks)


def report(
    ledger: Journal | None, sessions: list[Journal], level: tuple[str, str], require: str, remarks: list[str]
) -> dict[str, Json]:
    """The axes of section 14 and the exit code."""
    rows = [journal.row() for journal in sessions]
    defects = [defect for journal in ([ledger] if ledger else []) + sessions for defect in journal.bad()]
    authenticity = ledger.authenticity if ledger else "unsigned"
    if authenticity == "signed" and any(row["authenticity"] != "signed" for row in rows):
        authenticity = "partly signed"
    found = {row["completeness"] for row in rows} | {defect.rule for defect in defects}  # a ledger may be cut
    worst = next((c for c in ("missing", "cut", "truncated", "dropped") if c in found), "sealed")
    met = {"A1": True, "A2": level[0] == "A2", "sealed": worst in ("dropped", "sealed")}[require]
    codes = [
        defect.exit(journal.stated) for journal in ([ledger] if ledger else []) + sessions for defect in journal.bad()
    ]
    counts = sum((journal.disclosure for journal in sessions), Counter())
    return {
        "exit": min(codes, default=0 if met else 3),
        "valid": not defects,  # what is cut, missing or of a wrong key is a defect too
        "truncated": worst == "truncated",
        "steps": sum(row["steps"] for row in rows),
        "integrity": defects[0].rule if defects else "intact",
        "completeness": worst,
        "unsealed": sum(row["unsealed"] for row in rows),
        "authenticity": authenticity,
        "level": level[0],
        "why_not_higher": level[1],
        "disclosure": {kind: counts[kind] for kind in ("withheld", "erased", "absent_blobs")},
        "first_bad": asdict(defects[0]) if defects else None,
        "defects": [asdict(defect) for defect in defects],
        "sessions": rows,
        "remarks": remarks,
    }


def not_read(strangers: list[tuple[str | None, Path]]) -> dict[str, Json]:
    """19.9: the report on a store in which something is in the place of a file and is none."""
    defects = [asdict(Defect(sid, None, "missing", f"{path} is not a regular file")) for sid, path in strangers]
    found = report(None, [], ("A1", "the store was not read: something in it is not a regular file"), "A1", [])
    found |= {"exit": 2, "valid": False, "first_bad": defects[0], "defects": defects}
    return found | dict.fromkeys(("integrity", "completeness"), "missing")


def could_not_run(why: object) -> dict[str, Json]:
    """The report when no verdict can be given."""
    unknown = dict.fromkeys(("integrity", "completeness", "authenticity"), "unknown")
    return report(None, [], ("A1", str(why)), "A1", [str(why)]) | unknown | {"exit": 1, "valid": False}


def verify(
    path: str | os.PathLike[str],
    *,
    pinned: str | None = None,
    remembered: bytes | None = None,
    require: str | None = None,
    redaction: str | None = None,
) -> dict[str, Json]:
    """Verify a store or a lone journal.

    Args:
        path: a folder with ledger.jsonl or journals/, or one journal file.
        pinned: the did:key that must have signed; without it the store's own word is taken for its key.
        remembered: a head note of this ledger kept from earlier, which the ledger must still extend.
        require: `A1`, `A2` or `sealed`; by default A2 for a store and A1 for a lone file.
        redaction: `none`, `content` or `full`: what each line of a lone file may show.

    Returns:
        The report as plain data, with the exit code in `exit`. Its strings may quote hostile text.
    """
    target, key = Path(path), parse_did_key(pinned or "")
    if pinned is not None and (key is None or has_low_order(key) or int.from_bytes(key, "little") % 2**255 >= P):
        return could_not_run("the pinned key is no Ed25519 did:key")
    if require not in (None, "A1", "A2", "sealed") or redaction not in (None, "none", "content", "full"):
        return could_not_run("no such level")
    try:
        parts = ("ledger.jsonl", "journals", "heads/ledger.note")
        if target.is_dir() and (remembered is not None or any(os.path.lexists(target / part) for part in parts)):
            strangers = find_strangers(target)
            return not_read(strangers) if strangers else Store(target, key, remembered).report(require or "A2")
        if is_file(target, os.stat):
            return verify_lone(target, require or "A1", redaction)
        return could_not_run("neither a store nor a journal is there")
    except OSError as error:
        return could_not_run(error)


# ---- Sections 21, 22: proofs of a step and of a head -----------------------------------------------------------------------

MAX_PROOF = 4 << 20
MAX_NODES = 64
PROOF_SHAPE = "a proof is c2sp.org/tlog-proof@v1, extra, index, nodes, an empty line and a head"


def decode_nodes(texts: list[bytes]) -> list[bytes]:
    """An inclusion path: one base64 of 32 bytes each."""
    need(len(texts) <= MAX_NODES, "limit", f"a path of more than {MAX_NODES} nodes")
    nodes = [strict_base64(text) for text in texts]
    need(all(len(node) == 32 for node in nodes), "line", "a node is not the base64 of 32 bytes")
    return nodes


def strict_base64(raw: bytes) -> bytes:
    """What base64 encodes if it has the only spelling that an encoder writes, else nothing."""
    try:
        found = base64.b64decode(raw, validate=True)
    except ValueError:
        return b""
    return found if base64.b64encode(found) == raw else b""


def root_from(leaf: bytes, n: int, size: int, path: list[bytes]) -> bytes:
    """RFC 9162 2.1.3.2, from the root down: the root of the tree in which `path` leads from leaf `n`; or nothing."""
    sides: list[bool] = []  # from the root: whether the leaf is in the right part, of which the left is perfect
    while size > 1:
        left = 1 << (size - 1).bit_length() - 1
        sides.append(n >= left)
        n, size = (n - left, size - left) if n >= left else (n, left)
    if len(sides) != len(path):
        return b""
    for node, is_right in zip(path, reversed(sides), strict=True):
        leaf = hashlib.sha256(b"\x01" + (node + leaf if is_right else leaf + node)).digest()
    return leaf


def check_proved_values(line: Line, is_ledger: bool) -> None:
    """21.3: the names, meta and values that a line of a proof shows."""
    need(not line.blobs, "blob", "a proof has no blobs")
    names = [*line.disclosed(), *line.withheld]
    need(fits(names, [NAME]), "class", "a name is of none of the four classes")
    if "meta" in line.fields:
        check_meta(line.fields["meta"], is_ledger)
    commitments = {name: bytes.fromhex(c) for name, c in line.withheld.items()}
    for name, value in line.fields.items():
        commitments[name] = tagged("field", name.encode(), b"json", line.salt(name), canonical(value))
    same = not commitments or fields_hash(commitments).hex() == line.entry["fields"]
    need(same, "fields", "the values are not those that were sealed")


def proved_entry(raw: bytes, sid: str, numbers: range, *, is_ledger: bool) -> tuple[Line, bytes]:
    """21.3: a line of a proof, which has one of these numbers, and its hash."""
    line = parse_line(raw if len(raw) <= MAX_LINE else None)
    need(line.entry["sid"] == sid, "sid", "an entry of the proof is of another journal than it should be")
    need(line.entry["n"] in numbers, "n", "an entry of the proof has another number than it should have")
    check_proved_values(line, is_ledger)
    return line, entry_hash(line.entry)


def split_proof(text: bytes) -> tuple[list[bytes], int, list[bytes], bytes]:
    """21.1 and 21.2: the lines in `extra`, the index, the path in the ledger, the note."""
    need(len(text) <= MAX_PROOF, "limit", f"the proof is longer than {MAX_PROOF} bytes")
    top, parted, note = text.partition(b"\n\n")
    lines = [*top.split(b"\n"), b"", b""]
    shape = parted and top.isascii() and lines[0] == b"c2sp.org/tlog-proof@v1"
    index = re.fullmatch(rb"index (0|[1-9][0-9]{0,15})", lines[2])
    need(shape and index and lines[1].startswith(b"extra "), "line", PROOF_SHAPE)
    *extra, end = strict_base64(lines[1][6:]).split(b"\n")
    need(len(extra) > 1 and not end, "line", "extra does not hold two lines and a path")
    return extra, int(index[1]) if index else 0, lines[3:-2], note


def roots_between(old: int, size: int, old_root: bytes, path: list[bytes]) -> tuple[bytes, bytes]:
    """RFC 9162 2.1.4, from the root down: the roots of the first `old` of `size` leaves and of all, by a path; or nothing.

    `path` is used up from its end. While the part looked at begins with leaf 0, `old_root` stands for what `old` has of it.
    """
    if old == size:
        node = old_root or (path.pop() if path else b"")
        return node, node
    if not path:
        return b"", b""
    left, node = 1 << (size - 1).bit_length() - 1, path.pop()
    if old <= left:
        before, after = roots_between(old, left, old_root, path)
        return before, tagged_node(after, node)
    before, after = roots_between(old - left, size - left, b"", path)
    return tagged_node(node, before), tagged_node(node, after)


def tagged_node(left: bytes, right: bytes) -> bytes:
    """RFC 9162 2.1.1: an inner node; nothing if a part of it is missing."""
    return hashlib.sha256(b"\x01" + left + right).digest() if left and right else b""


def store_of(note: Note) -> str:
    """The store id that a head names."""
    store = re.fullmatch(f"tallystick/({SID.pattern})", note.origin)
    need(store, "signature", "the head is no head of a store")
    return store[1] if store else ""


class HeadReport(dict[str, Json]):
    """What a proof of consistency proves, or why it does not hold."""

    def __init__(self) -> None:
        super().__init__(dict.fromkeys(("store", "old_size", "ledger_size")))
        self |= {"exit": 2, "valid": False, "authenticity": "unsigned", "level": "A1"}
        self |= {"why_not_higher": "the proof does not hold", "first_bad": None}

    def check(self, text: bytes, remembered: bytes, key: bytes | None, require: str) -> None:
        """22.3, in its order."""
        need(len(text) <= MAX_PROOF, "limit", f"the proof is longer than {MAX_PROOF} bytes")
        top, parted, raw_note = text.partition(b"\n\n")
        first, *nodes = top.split(b"\n")
        size = re.fullmatch(rb"old (0|[1-9][0-9]{0,15})", first)
        need(parted and size, "line", "a proof of consistency is old, nodes, an empty line and a head")
        path, old_size = decode_nodes(nodes), int(size[1]) if size else 0
        note = parse_note(raw_note)
        store = store_of(note)
        if key is not None and not is_signed(note, [key]):
            self["authenticity"] = "wrong key"
            raise RuleError("signature", "the head is not signed by the pinned key")
        old = parse_note(remembered)
        need(old.origin == note.origin, "signature", "the remembered head is of another store")
        need(old.size == old_size, "head", "the proof does not begin where the remembered head ends")
        need(self._extends(old, note, path), "head", "the ledger does not extend what the remembered head covers")
        self |= {"store": store, "old_size": old_size, "ledger_size": note.size, "valid": True}
        self |= reached(key, require)

    def _extends(self, old: Note, note: Note, path: list[bytes]) -> bool:
        empty = hashlib.sha256(b"").digest()
        if old.size == 0:
            return not path and old.root == empty and (note.size > 0 or note.root == empty)
        if old.size > note.size:
            return False
        return roots_between(old.size, note.size, old.root, path) == (old.root, note.root) and not path


def reached(key: bytes | None, require: str) -> dict[str, Json]:
    """What a proof that holds is worth: 21.4."""
    if key is None:
        why = "no key is pinned, so nobody is known to have signed"
        return {"level": "A1", "authenticity": "unsigned", "why_not_higher": why, "exit": 0 if require == "A1" else 3}
    return {"level": "A2", "authenticity": "signed", "why_not_higher": "A3 to A5 are not in a proof", "exit": 0}


class ProofReport(dict[str, Json]):
    """What a proof proves, or why it does not hold."""

    def __init__(self) -> None:
        super().__init__(dict.fromkeys(("session", "n", "entry", "size", "store", "ledger_n", "ledger_size")))
        self |= {"exit": 2, "valid": False, "authenticity": "unsigned", "level": "A1", "shown": {}, "withheld": 0}
        self |= {"why_not_higher": "the proof does not hold", "first_bad": None}

    def check(self, text: bytes, key: bytes | None, require: str) -> None:
        """21.3, in its order."""
        (head_text, step_text, *nodes), index, path, raw_note = split_proof(text)
        step_path = decode_nodes(nodes)
        ledger_path = decode_nodes(path)
        note = parse_note(raw_note)
        sid = store_of(note)
        if key is not None and not is_signed(note, [key]):
            self["authenticity"] = "wrong key"
            raise RuleError("signature", "the head is not signed by the pinned key")
        head, leaf = proved_entry(head_text, sid, range(index, index + 1), is_ledger=True)
        meta = head.fields.get("meta", {})
        need(meta.get("type") == "session_head", "class", "the ledger's entry is not a session_head")
        inside = root_from(leaf, index, note.size, ledger_path) == note.root
        need(inside, "head", "the ledger's entry is not under the head")
        step, leaf = proved_entry(step_text, meta["session"], range(meta["size"]), is_ledger=False)
        inside = root_from(leaf, step.entry["n"], meta["size"], step_path).hex() == meta["root"]
        need(inside, "head", "the step is not in the session")
        self |= {"session": step.entry["sid"], "n": step.entry["n"], "entry": leaf.hex(), "size": meta["size"]}
        self |= {"store": sid, "ledger_n": index, "ledger_size": note.size, "valid": True}
        self |= {"shown": step.fields, "withheld": len(step.withheld), **reached(key, require)}


def verify_proof(
    text: bytes, *, remembered: bytes | None = None, pinned: str | None = None, require: str | None = None
) -> dict[str, Json]:
    """Verify the text of a proof that a step is in a record, or that a head extends another; nothing else is read.

    Args:
        remembered: the older head, for a proof that begins with `old`.
        pinned: the did:key that must have signed the head. require: `A1` or `A2`; by default A2.

    Returns:
        What is proved as plain data, with the exit code in `exit`. Its strings may quote hostile text.
    """
    key, is_of_head = parse_did_key(pinned or ""), text.startswith(b"old ")
    found: ProofReport | HeadReport = HeadReport() if is_of_head else ProofReport()
    if (pinned is not None and key is None) or require not in (None, "A1", "A2"):
        return found | {"exit": 1, "why_not_higher": "no Ed25519 did:key is pinned, or no such level"}
    if is_of_head is (remembered is None):
        why = "a proof that begins with `old` is held against a remembered head, and no other is"
        return found | {"exit": 1, "why_not_higher": why}
    try:
        if isinstance(found, HeadReport):
            found.check(text, remembered or b"", key, require or "A2")
        else:
            found.check(text, key, require or "A2")
    except RuleError as error:
        found["exit"] = 4 if error.rule in ("limit", "line", "version") else 2
        found["first_bad"] = {"rule": error.rule, "why": error.why}
    return found


# ---- The command -------------------------------------------------------------------------------------------


def escaped(text: str) -> str:
    """Text for a terminal: whatever is not printable ASCII is shown as an escape."""
    return re.sub(r"[^ -~]|\\", lambda mark: ascii(mark[0])[1:-1], text)


def as_text(verdict: dict[str, Json]) -> str:
    """The report in a few lines."""
    outcome = ("sound", "COULD NOT RUN", "TAMPERED", "sound, but less than required", "MALFORMED")
    axes = ("integrity", "completeness", "steps", "unsealed", "authenticity", "level", "why_not_higher")
    lines = [("verdict", f"{outcome[verdict['exit']]} (exit {verdict['exit']})")]
    lines += [(axis, verdict[axis]) for axis in axes]
    lines += list(verdict["disclosure"].items())
    lines += [("defect", f"{d['rule']} at {d['session']}:{d['n']}: {d['why']}") for d in verdict["defects"]]
    lines += [("remark", remark) for remark in verdict["remarks"]]
    return "\n".join(f"{label:15} {escaped(str(text))}" for label, text in lines)


class Parser(argparse.ArgumentParser):
    """Exits with 64 on a usage error, for 2 means tampering."""

    def error(self, message: str) -> NoReturn:
        """Say what is wrong with the command line."""
        self.exit(64, escaped(message) + "\n")


def print_proof(path: Path, kept: bytes | None, options: dict[str, str | None], as_json: bool) -> int:
    """Verify a proof and say what it proves; returns the exit code."""
    with path.open("rb") as file:
        text = file.read(MAX_PROOF + 1)
    found = verify_proof(text, remembered=kept, pinned=options["pinned"], require=options["require"])
    shown = "\n".join(f"{name:15} {escaped(json.dumps(value))}" for name, value in found.items())
    print(json.dumps(found, indent=2) if as_json else shown, flush=True)
    code: int = found["exit"]
    return code


def main() -> int:
    """The command line; returns the exit code."""
    parser = Parser(description="Verify a Tallystick store or journal.")
    parser.add_argument("path", metavar="PATH", help="a store folder or one journal file")
    parser.add_argument("--pinned", metavar="DID", help="the did:key that must have signed")
    parser.add_argument("--remembered", metavar="NOTE", type=Path, help="a head note kept from earlier")
    parser.add_argument("--require", choices=("A1", "A2", "sealed"), help="A2 for a store, A1 for a file")
    parser.add_argument("--redaction", choices=("none", "content", "full"), help="of a file's lines")
    parser.add_argument("--json", action="store_true", help="print the report as JSON")
    parser.add_argument(
        "--proof", action="store_true", help="PATH is the proof of a step, or that a head extends --remembered"
    )
    options = vars(parser.parse_args())
    as_json, note, is_proof = (options.pop(name) for name in ("json", "remembered", "proof"))
    try:
        kept = None
        if note is not None:
            with note.open("rb") as file:
                kept = file.read(MAX_NOTE + 1)
        if is_proof:
            return print_proof(Path(options["path"]), kept, options, as_json)
        verdict = verify(remembered=kept, **options)
    except OSError as error:
        verdict = could_not_run(error)
    with contextlib.suppress(BrokenPipeError):  # whoever reads it may have seen enough
        print(json.dumps(verdict, indent=2) if as_json else as_text(verdict), flush=True)
    code: int = verdict["exit"]
    return code


if __name__ == "__main__":
    sys.exit(main())

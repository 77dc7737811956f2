"""One line of a journal: the entry and what is disclosed of it (docs/format.md 2, 5).

Owns building a line, parsing one strictly, and turning it into its more redacted forms. Must not know the line before
it: that is chain.py.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Literal, TypeAlias

import msgspec

from tallystick.errors import FormatError
from tallystick.model.ids import HASH, SESSION_ID
from tallystick.model.raw import Raw
from tallystick.model.step import Json
from tallystick.model.verdict import Rule
from tallystick.seal import limits
from tallystick.seal.canonical import canonical, is_canonical, parse
from tallystick.seal.fastline import commit_all
from tallystick.seal.hashes import commitment, entry_hash, fields_hash, salt, streamed_commitment
from tallystick.seal.names import check_meta, is_field_name
from tallystick.seal.tagged import sealed_text

Kind: TypeAlias = Literal["json", "raw"]
BlobReader: TypeAlias = Callable[[str], Iterable[bytes] | None]
"""Gives the bytes of the blob with a commitment (hex), in chunks; None if there is no such file."""


class BlobRef(msgspec.Struct, frozen=True):
    """Where a value that is kept in a blob file is found: its commitment (hex), kind and size in bytes."""

    commitment: str
    kind: Kind
    size: int


class Entry(msgspec.Struct, frozen=True):
    """The sealed skeleton. Never changes once written."""

    fields: str
    n: int
    parents: tuple[str, ...]
    prev: str
    sid: str
    v: int = 1


class Line(msgspec.Struct, frozen=True):
    """A parsed line. Empty members are empty here and absent in the text."""

    entry: Entry
    blobs: Mapping[str, BlobRef] = {}
    fields: Mapping[str, Json] = {}
    salts: Mapping[str, str] = {}
    seed: str | None = None
    withheld: Mapping[str, str] = {}

    @property
    def meta(self) -> Mapping[str, Json]:
        """The `meta` object, empty where it is not shown or is none."""
        found = self.fields.get("meta")
        if isinstance(found, dict):
            return found
        return {}

    @property
    def is_bare(self) -> bool:
        """Whether the line shows its entry only."""
        return not (self.fields or self.blobs or self.withheld)


class Blob(msgspec.Struct, frozen=True):
    """A value to be kept as a blob: its bytes, and the commitment that is the file's name."""

    commitment: str
    kind: Kind
    data: bytes


class Sealed(msgspec.Struct, frozen=True):
    """A line ready to be appended: its bytes with LF, its hash (32 bytes), and the blobs to write before it."""

    line: bytes
    hash: bytes
    n: int
    blobs: tuple[Blob, ...] = ()


def entry_text(fields: str, n: int, parents: tuple[str, ...], prev: str, sid: str) -> bytes:
    """The canonical bytes of an entry, from values that need no escaping."""
    listed = ""
    if parents:
        listed = ",".join([f'"{parent}"' for parent in parents])
    return f'{{"fields":"{fields}","n":{n},"parents":[{listed}],"prev":"{prev}","sid":"{sid}","v":1}}'.encode()


def hash_of(entry: Entry) -> bytes:
    """The hash of an entry that was parsed."""
    return entry_hash(entry_text(entry.fields, entry.n, entry.parents, entry.prev, entry.sid))


class Slot(msgspec.Struct, frozen=True, gc=False):
    """Where in a journal an entry goes."""

    sid: str
    """The journal's id."""
    n: int
    """The entry's number."""
    prev: bytes
    """Hash of entry n−1, or genesis."""
    parents: tuple[str, ...] = ()


def seal_line(slot: Slot, *, seed: bytes, values: Mapping[str, Raw], raw: Mapping[str, bytes] | None = None) -> Sealed:
    """Seal one step: commit to every value, chain the entry to the one before it, and write the line in its full form.

    Args:
        seed: 32 fresh random bytes. values: by field name as they were said, `meta` among them; they are tagged here.
        raw: bytes by field name, always kept as blobs.

    Raises:
        FormatError: a value has no canonical form, or the entry is over a limit that a blob cannot lift.
    """
    if not raw and "meta" in values and len(slot.parents) <= limits.PARENTS and len(values) <= limits.NAMES:
        sealed = _seal_small(slot, seed, values)
        if sealed is not None:
            return sealed
    return seal_texts(slot, seed=seed, json={name: sealed_text(value) for name, value in values.items()}, raw=raw)


def seal_texts(slot: Slot, *, seed: bytes, json: Mapping[str, bytes], raw: Mapping[str, bytes] | None = None) -> Sealed:
    """The same of values whose canonical bytes are given, by field name. Raises what `seal_line` raises."""
    texts: dict[str, tuple[Kind, bytes]] = {name: ("json", text) for name, text in json.items()}
    texts |= {name: ("raw", data) for name, data in (raw or {}).items()}
    _check_writable(texts, slot.parents)
    ordered = ((name, *texts[name]) for name in sorted(texts))
    commitments = {name: commitment(name, kind, salt(seed, name), text) for name, kind, text in ordered}
    fields = fields_hash(commitments.items()).hex()
    entry = entry_text(fields, slot.n, slot.parents, slot.prev.hex(), slot.sid)
    as_blobs = _blob_names(texts, len(entry))
    blobs = tuple(Blob(commitments[name].hex(), *texts[name]) for name in commitments if name in as_blobs)
    line = _full_text(entry, seed, texts, commitments, as_blobs)
    return Sealed(line, entry_hash(entry), slot.n, blobs)


def _seal_small(slot: Slot, seed: bytes, values: Mapping[str, Raw]) -> Sealed | None:
    """`seal_line` for the common step, whose values are JSON and stay in the line; None for any other."""
    committed = commit_all(seed, values, sealed_text, limits.SMALL_BYTES)
    if committed is None:
        return None
    digest, shown = committed
    entry = entry_text(digest, slot.n, slot.parents, slot.prev.hex(), slot.sid)
    line = b'{"entry":%b,"fields":{%b},"seed":"%b"}\n' % (entry, b",".join(shown), seed.hex().encode())
    return Sealed(line, entry_hash(entry), slot.n)


def _check_writable(texts: Mapping[str, tuple[Kind, bytes]], parents: tuple[str, ...]) -> None:
    if len(texts) > limits.NAMES:
        raise FormatError(f"{len(texts)} fields in one step, the limit is {limits.NAMES}", rule="limit")
    if len(parents) > limits.PARENTS:
        raise FormatError(f"{len(parents)} parents, the limit is {limits.PARENTS}", rule="limit")
    if texts.get("meta", ("raw", b""))[0] != "json":
        raise _member("no meta, or meta that is not JSON")
    for name, (kind, text) in texts.items():
        if not is_field_name(name):
            raise FormatError(f"{name[:60]!r} is no field name", rule="class")
        if kind == "json" and limits.exceeds_depth(text, limits.DEPTH - 2):  # the line and `fields` are around it
            raise FormatError(f"{name} is nested deeper than {limits.DEPTH - 2}", rule="limit")
        if name == "meta" and len(text) > limits.META_BYTES:
            raise FormatError(f"meta has {len(text)} bytes, the limit is {limits.META_BYTES}", rule="limit")
        if len(text) > limits.BLOB_BYTES:
            raise FormatError(f"{name} has {len(text)} bytes, the limit is {limits.BLOB_BYTES}", rule="limit")


def _blob_names(texts: Mapping[str, tuple[Kind, bytes]], entry_bytes: int) -> frozenset[str]:
    """Which values go to blobs: raw ones, those over 64 KiB, and while the line is too long, the next largest."""
    chosen = {name for name, (kind, text) in texts.items() if kind == "raw" or len(text) > limits.INLINE_BYTES}
    inline = sorted((len(text), name) for name, (_, text) in texts.items() if name not in chosen and name != "meta")
    overhead = entry_bytes + 400 + sum(180 + len(name) for name in texts)
    total = overhead + sum(len(text) for name, (_, text) in texts.items() if name not in chosen)
    while total > limits.LINE_BYTES and inline:
        size, name = inline.pop()
        chosen.add(name)
        total -= size
    return frozenset(chosen)


def _full_text(
    entry: bytes,
    seed: bytes,
    texts: Mapping[str, tuple[Kind, bytes]],
    commitments: Mapping[str, bytes],
    as_blobs: frozenset[str],
) -> bytes:
    parts: list[bytes] = [b"{"]
    if as_blobs:
        refs = [
            b'"%b":{"commitment":"%b","kind":"%b","size":%d}'
            % (name.encode(), commitments[name].hex().encode(), texts[name][0].encode(), len(texts[name][1]))
            for name in commitments
            if name in as_blobs
        ]
        parts.append(b'"blobs":{%b},' % b",".join(refs))
    inline = [b'"%b":%b' % (name.encode(), texts[name][1]) for name in commitments if name not in as_blobs]
    parts.append(b'"entry":%b,"fields":{%b},"seed":"%b"}\n' % (entry, b",".join(inline), seed.hex().encode()))
    return b"".join(parts)


# Reading -----------------------------------------------------------------------------------------------------------

_MEMBERS = frozenset(("blobs", "entry", "fields", "salts", "seed", "withheld"))
_ENTRY_MEMBERS = frozenset(("fields", "n", "parents", "prev", "sid", "v"))
_BLOB_MEMBERS = frozenset(("commitment", "kind", "size"))


def _member(why: str) -> FormatError:
    return FormatError(why, rule=Rule.MEMBER.value)


def parse_line(text: bytes) -> Line:
    """Read one line (without its LF) and check everything about its shape: limits, canonical form, members, form.

    Raises:
        FormatError: with the rule that is broken, in the order of section 14, step 2.
    """
    if len(text) > limits.LINE_BYTES:
        raise FormatError(f"{len(text)} bytes, the limit of a line is {limits.LINE_BYTES}", rule="limit")
    if limits.exceeds_depth(text, limits.DEPTH):
        raise FormatError(f"nested deeper than {limits.DEPTH}", rule="limit")
    value = parse(text)
    if not isinstance(value, dict):
        raise FormatError("no JSON object", rule="line")
    _check_counts(value)
    if not isinstance(value.get("entry"), dict):
        raise _member("no entry: nothing of ours")
    if not is_canonical(text, value):
        raise FormatError("not the canonical form of what it says", rule="canonical")
    line = _to_line(value)
    _check_form(line)
    return line


def sid_of(text: bytes) -> str:
    """The session that a line says it belongs to: for entry 0 of a file, whose word is all there is.

    Raises: FormatError: it is not a line of ours.
    """
    return parse_line(text).entry.sid


def legible_entry(text: bytes) -> bytes | None:
    """The hash of the entry in a line, if that much of the line can be read; None if not."""
    if len(text) > limits.LINE_BYTES or limits.exceeds_depth(text, limits.DEPTH):
        return None
    try:
        entry = _object(parse(text)).get("entry")
        _to_entry(entry)
        return entry_hash(canonical(entry))
    except FormatError:
        return None


def _check_counts(value: dict[str, Json]) -> None:
    """The limits that only a parser can see, whatever else is wrong with the line."""
    entry, fields, blobs, withheld = (_object(value.get(part)) for part in ("entry", "fields", "blobs", "withheld"))
    names = len(fields.keys() | blobs.keys() | withheld.keys())
    if names > limits.NAMES:
        raise _over(f"{names} fields, the limit is {limits.NAMES}")
    parents, n = entry.get("parents"), entry.get("n")
    if isinstance(parents, list) and len(parents) > limits.PARENTS:
        raise _over(f"{len(parents)} parents, the limit is {limits.PARENTS}")
    if type(n) is int and n >= limits.MAX_N:
        raise _over("n is not below 2^53")
    meta_bytes = len(canonical(fields.get("meta")))
    if meta_bytes > limits.META_BYTES:
        raise _over(f"meta has {meta_bytes} bytes, the limit is {limits.META_BYTES}")
    for ref in blobs.values():
        size = _object(ref).get("size")
        if type(size) is int and size > limits.BLOB_BYTES:
            raise _over(f"a blob of {size} bytes, the limit is {limits.BLOB_BYTES}")


def _object(value: Json) -> dict[str, Json]:
    if isinstance(value, dict):
        return value
    return {}


def _over(why: str) -> FormatError:
    return FormatError(why, rule=Rule.LIMIT.value)


def _to_line(value: dict[str, Json]) -> Line:
    version = _object(value.get("entry")).get("v")
    if type(version) is int and version != 1:  # another version may have other members
        raise FormatError(f"format version {version}, this program knows 1", rule=Rule.VERSION.value)
    if unknown := value.keys() - _MEMBERS:
        raise _member(f"unknown member {min(unknown)[:60]!r}")
    if "entry" not in value:
        raise _member("no entry")
    entry = _to_entry(value["entry"])
    for name in ("blobs", "fields", "salts", "withheld"):
        if name in value and (not isinstance(value[name], dict) or not value[name]):
            raise _member(f"{name} is no object, or empty")
    return Line(
        entry=entry,
        blobs={name: _to_blob_ref(name, ref) for name, ref in value.get("blobs", {}).items()},
        fields=value.get("fields", {}),
        salts={name: _hash(text, f"the salt of {name}") for name, text in value.get("salts", {}).items()},
        seed=_hash(value["seed"], "the seed") if "seed" in value else None,
        withheld={name: _hash(text, f"withheld {name}") for name, text in value.get("withheld", {}).items()},
    )


def _hash(value: Json, what: str) -> str:
    if not isinstance(value, str) or not HASH.match(value):
        raise _member(f"{what[:60]} is not 64 hex digits")
    return value


def _to_entry(value: Json) -> Entry:
    if not isinstance(value, dict):
        raise _member("the entry is no object")
    if value.keys() != _ENTRY_MEMBERS or type(value["v"]) is not int:
        raise _member("the entry has other members than the six of section 5")
    n, sid, parents = value["n"], value["sid"], value["parents"]
    if type(n) is not int:
        raise _member("n is no number")
    if not isinstance(sid, str) or not SESSION_ID.match(sid):
        raise _member("sid is not 32 hex digits")
    return Entry(_hash(value["fields"], "fields"), n, _to_parents(parents), _hash(value["prev"], "prev"), sid)


def _to_parents(value: Json) -> tuple[str, ...]:
    if not isinstance(value, list):
        raise _member("parents is no list")
    for item in value:
        if isinstance(item, str):
            session, separator, digest = item.rpartition("#")
        else:
            session, separator, digest = "", "", ""
        if not HASH.match(digest) or (separator and not SESSION_ID.match(session)):
            raise _member("a parent is neither a hash nor <sid>#<hash>")
    return tuple(value)


def _to_blob_ref(name: str, value: Json) -> BlobRef:
    if not isinstance(value, dict) or value.keys() != _BLOB_MEMBERS or value["kind"] not in ("json", "raw"):
        raise _member(f"the blob of {name[:60]} has other members than commitment, kind, size")
    size = value["size"]
    if type(size) is not int or size < 0:
        raise _member(f"the size of {name[:60]} is no number from 0 on")
    return BlobRef(_hash(value["commitment"], f"the commitment of {name}"), value["kind"], size)


def _check_form(line: Line) -> None:
    """Which of the four forms of section 2 this is, and that it carries just what that form carries."""
    disclosed = line.fields.keys() | line.blobs.keys()
    if line.fields.keys() & line.blobs.keys() or disclosed & line.withheld.keys():
        raise _member("a name stands in two places")
    names = disclosed | line.withheld.keys()
    if "meta" in line.blobs:
        raise _member("meta is a blob")
    if names and "meta" not in names:
        raise _member("no meta")
    if disclosed and not line.withheld:
        if line.seed is None or line.salts:
            raise _member("nothing is withheld: a seed and no salts belong here")
    elif line.seed is not None:
        raise _member("a seed would open what is withheld")
    elif line.salts.keys() != disclosed:
        raise _member("salts for other names than the disclosed ones")


def field_commitments(line: Line) -> dict[str, bytes]:
    """All commitments of a line by name, in byte order of the names; those of blobs as the line states them."""
    found = {name: bytes.fromhex(text) for name, text in line.withheld.items()}
    found |= {name: bytes.fromhex(ref.commitment) for name, ref in line.blobs.items()}
    for name, value in line.fields.items():
        found[name] = commitment(name, "json", _salt_of(line, name), canonical(value))
    return dict(sorted(found.items()))


def check_content(
    line: Line,
    *,
    in_ledger: bool = False,
    read_blob: BlobReader | None = None,
    may_be_absent: Callable[[str], bool] = lambda name: True,
) -> int:
    """Check names, `meta`, every value and `entry.fields` of a parsed line. A bare line has nothing to check.

    Args:
        may_be_absent: asked, by the name of the field, about each blob that `read_blob` has not.

    Returns:
        How many blobs are absent.

    Raises:
        FormatError: rule `class`, `blob` or `fields`.
    """
    for name in sorted(line.fields.keys() | line.blobs.keys() | line.withheld.keys()):
        if not is_field_name(name):
            raise FormatError(f"{name[:60]!r} is no field name", rule="class")
    if "meta" in line.fields:
        check_meta(line.fields["meta"], canonical(line.fields["meta"]), in_ledger=in_ledger)
    absent = 0
    for name, ref in sorted(line.blobs.items()):
        if not _check_blob(name, ref, _salt_of(line, name), read_blob):
            if not may_be_absent(name):
                raise FormatError(f"the blob of {name} is not there, or a link is in its place", rule="blob")
            absent += 1
    commitments = field_commitments(line)
    if commitments and fields_hash(commitments.items()).hex() != line.entry.fields:
        raise FormatError("the values are not those the entry commits to", rule="fields")
    return absent


def _salt_of(line: Line, name: str) -> bytes:
    if line.seed is None:
        return bytes.fromhex(line.salts[name])
    return salt(bytes.fromhex(line.seed), name)


def _check_blob(name: str, ref: BlobRef, salt_: bytes, read_blob: BlobReader | None) -> bool:
    """Check a blob file if it is at hand; False if it is not."""
    chunks = None
    if read_blob:
        chunks = read_blob(ref.commitment)
    if chunks is None:
        return False
    counted = _Counted(chunks, ref.size)
    found = streamed_commitment(name, ref.kind, salt_, ref.size, counted)
    if counted.size != ref.size:
        raise FormatError(f"the blob of {name} does not have the {ref.size} bytes that the line says", rule="blob")
    if found.hex() != ref.commitment:
        raise FormatError(f"the blob of {name} is not what the entry commits to", rule="blob")
    if ref.kind == "json" and ref.size <= limits.PARSED_BLOB_BYTES:
        _check_json_blob(name, ref, read_blob)
    return True


def _check_json_blob(name: str, ref: BlobRef, read_blob: BlobReader | None) -> None:
    chunks = None
    if read_blob:
        chunks = read_blob(ref.commitment)
    text = b"".join(chunks or ())
    try:
        sound = not limits.exceeds_depth(text, limits.DEPTH) and is_canonical(text, parse(text))
    except FormatError:
        sound = False
    if not sound:
        raise FormatError(f"the blob of {name} is not canonical JSON", rule="blob")


class _Counted:
    """Chunks that count their bytes as they pass, up to the first that are more than `most`: a file may have no end."""

    def __init__(self, chunks: Iterable[bytes], most: int) -> None:
        self._chunks = chunks
        self._most = most
        self.size = 0

    def __iter__(self) -> Iterator[bytes]:
        for chunk in self._chunks:
            self.size += len(chunk)
            if self.size > self._most:
                return
            yield chunk


# Skimming ----------------------------------------------------------------------------------------------------------

_SKIM = re.compile(
    rb'\{(?:"blobs":\{.*?\}\},)?"entry":(\{"fields":"[0-9a-f]{64}","n":(\d{1,16}),"parents":\[([^\]]*)\],'
    rb'"prev":"([0-9a-f]{64})","sid":"([0-9a-f]{32})","v":1\})[,}]'
)


class Skimmed(msgspec.Struct, frozen=True):
    """The entry of a line, read without reading the rest: enough to continue the chain, not to verify it."""

    hash: bytes
    n: int
    prev: str
    sid: str
    parents: bytes


def skim(text: bytes) -> Skimmed | None:
    """The entry of a line in canonical form; None if it has another form."""
    match = _SKIM.match(text)
    if match is None:
        return None
    return Skimmed(entry_hash(match[1]), int(match[2]), match[4].decode(), match[5].decode(), match[3])

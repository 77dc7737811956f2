"""The one-file verifier against a tiny writer of our own, made from docs/format.md with other libraries."""

from __future__ import annotations

import base64
import functools
import io
import json
import os
import struct
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from hashlib import sha256, sha512
from pathlib import Path
from typing import Any, ClassVar

import pytest
import rfc8785
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from hypothesis import given, settings
from hypothesis import strategies as st

from tallystick.seal import standalone
from tallystick.seal.standalone import verify
from tests.support.cases import each, each_case
from tests.support.laws import examples

Json = Any
Lines = list[Json]  # a line is a JSON object, or bytes to be written as they are

# ---- The writer ----------------------------------------------------------------------------------------------------

BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
RECORDED = "2026-01-02T03:04:05.000000Z"
START = {"agent": "demo", "kind": "root", "recorded": RECORDED, "source": "sdk", "type": "session_start"}
END = {"recorded": RECORDED, "source": "sdk", "type": "session_end"}
USER = {"recorded": RECORDED, "source": "sdk", "type": "user"}
NO_RELEASE: frozenset[str] = frozenset()


def digest(tag: str, *parts: bytes) -> bytes:
    name = b"tallystick/v1/" + tag.encode()
    text = bytes([len(name)]) + name + struct.pack(">I", len(parts))
    return sha256(text + b"".join(struct.pack(">Q", len(part)) + part for part in parts)).digest()


def commit(name: str, kind: str, salt: bytes, value: bytes) -> str:
    return digest("field", name.encode(), kind.encode(), salt, value).hex()


def salt_of(seed: str, name: str) -> str:
    return digest("salt", bytes.fromhex(seed), name.encode()).hex()


def hash_of(line: Json) -> str:
    return sha256(b"\0tallystick/v1/entry\n" + rfc8785.dumps(line["entry"])).hexdigest()


def merkle(leaves: list[bytes]) -> bytes:
    """RFC 9162 by its recursive definition."""
    if len(leaves) < 2:
        return leaves[0] if leaves else sha256().digest()
    split = 1 << (len(leaves) - 1).bit_length() - 1
    return sha256(b"\1" + merkle(leaves[:split]) + merkle(leaves[split:])).digest()


def root_of(lines: Lines) -> str:
    return merkle([bytes.fromhex(hash_of(line)) for line in lines]).hex()


def commitments_of(line: Json) -> dict[str, str]:
    found = dict(line.get("withheld", {}))
    found |= {name: about["commitment"] for name, about in line.get("blobs", {}).items()}
    for name, value in line.get("fields", {}).items():
        salt = salt_of(line["seed"], name) if "seed" in line else line["salts"][name]
        found[name] = commit(name, "json", bytes.fromhex(salt), rfc8785.dumps(value))
    return found


def fields_of(line: Json) -> str:
    pairs = sorted(commitments_of(line).items())
    return digest("fields", *(part for n, c in pairs for part in (n.encode(), bytes.fromhex(c)))).hex()


def rechain(lines: Lines) -> Lines:
    """Recompute `n`, `prev` and `fields` of every line, as one who edits a journal and covers it up would."""
    for n, line in enumerate(lines):
        entry = line["entry"]
        entry["n"] = n
        entry["prev"] = hash_of(lines[n - 1]) if n else digest("genesis", entry["sid"].encode()).hex()
        entry["fields"] = fields_of(line) if "fields" in line or "withheld" in line else entry["fields"]
    return lines


def withhold(line: Json, *names: str) -> Json:
    """The partial form of a line."""
    commitments, seed = commitments_of(line), line["seed"]
    shown = {name: value for name, value in line["fields"].items() if name not in names}
    blobs = {name: about for name, about in line.get("blobs", {}).items() if name not in names}
    partial = {
        "entry": line["entry"],
        "fields": shown,
        "salts": {name: salt_of(seed, name) for name in (*shown, *blobs)},
        "withheld": {name: commitments[name] for name in names},
    }
    return partial | ({"blobs": blobs} if blobs else {})


@dataclass
class Chain:
    """A journal in the making."""

    sid: str
    lines: Lines = field(default_factory=list)
    blobs: dict[str, bytes] = field(default_factory=dict)

    def add(
        self,
        meta: Json,
        parents: list[str] | None = None,
        blobs: dict[str, tuple[str, bytes]] | None = None,
        seed: str = "",
        **values: Json,
    ) -> str:
        """Append an entry; values are named without the dot. Returns the entry's hash."""
        n = len(self.lines)
        seed = seed or sha256(f"{self.sid} {n}".encode()).hexdigest()
        fields = {"meta": meta} | {name.replace("_", ".", 1): value for name, value in values.items()}
        line: Json = {"entry": {"n": n, "parents": parents or [], "sid": self.sid, "v": 1}, "fields": fields}
        line["seed"] = seed
        for name, (kind, value) in (blobs or {}).items():
            commitment = commit(name, kind, bytes.fromhex(salt_of(seed, name)), value)
            about = {"commitment": commitment, "kind": kind, "size": len(value)}
            line.setdefault("blobs", {})[name] = about
            self.blobs[commitment] = value
        self.lines.append(line)
        rechain(self.lines)
        return hash_of(line)

    def hash(self, n: int) -> str:
        return hash_of(self.lines[n])


def dump(lines: Lines) -> bytes:
    return b"".join((line if isinstance(line, bytes) else rfc8785.dumps(line)) + b"\n" for line in lines)


def did_of(key: Ed25519PrivateKey) -> str:
    number, text = int.from_bytes(b"\xed\x01" + key.public_key().public_bytes_raw(), "big"), ""
    while number:
        number, rest = divmod(number, 58)
        text = BASE58[rest] + text
    return "did:key:z" + text


def sign(key: Ed25519PrivateKey, text: str, name: str | None = None) -> str:
    """A signature line of a note."""
    name = name or text.partition("\n")[0]
    public = key.public_key().public_bytes_raw()
    key_id = sha256(name.encode() + b"\n\x01" + public).digest()[:4]
    return f"\u2014 {name} {base64.b64encode(key_id + key.sign(text.encode())).decode()}\n"


KEY = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
OTHER_KEY = Ed25519PrivateKey.from_private_bytes(bytes(range(1, 33)))
STORE_ID = "f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff"
A, B, C = (letter * 32 for letter in "abc")


class Home:
    """A store: `head` adds a session_head, `seal` signs, `write` puts everything on disk."""

    def __init__(self, root: Path) -> None:
        self.root = root / "store"
        self.sessions: dict[str, Chain] = {}
        self.ledger = Chain(STORE_ID)
        self.tell("store_start", key=did_of(KEY))
        self.note: bytes | None = None

    def session(self, sid: str, *, steps: int = 1, closed: bool = True) -> Chain:
        """Start a session of `steps` user steps between its start and, perhaps, its end."""
        chain = self.sessions[sid] = Chain(sid)
        chain.add(START, personal_cwd="/home/dev")
        for step in range(steps):
            chain.add(USER, content_text=f"step {step}")
        if closed:
            chain.add(END)
        return chain

    def tell(self, kind: str, **members: Json) -> str:
        """Append a ledger entry."""
        return self.ledger.add({"type": kind, "recorded": RECORDED, **members})

    def head(self, sid: str, size: int | None = None) -> None:
        lines = self.sessions[sid].lines[:size]
        self.tell("session_head", session=sid, size=len(lines), root=root_of(lines), closed=False)

    def head_text(self, size: int | None = None) -> str:
        lines = self.ledger.lines[:size]
        root = base64.b64encode(bytes.fromhex(root_of(lines))).decode()
        return f"tallystick/{STORE_ID}\n{len(lines)}\n{root}\n"

    def seal(self, key: Ed25519PrivateKey = KEY) -> bytes:
        text = self.head_text()
        self.note = (text + "\n" + sign(key, text)).encode()
        return self.note

    def path(self, sid: str) -> Path:
        return self.root / "journals" / "2026" / "01" / f"{sid}.jsonl"

    def write(self) -> Path:
        (self.root / "journals").mkdir(parents=True, exist_ok=True)
        (self.root / "ledger.jsonl").write_bytes(dump(self.ledger.lines))
        for sid, chain in self.sessions.items():
            self.path(sid).parent.mkdir(parents=True, exist_ok=True)
            self.path(sid).write_bytes(dump(chain.lines))
            for commitment, value in chain.blobs.items():
                self.blob(commitment).parent.mkdir(parents=True, exist_ok=True)
                self.blob(commitment).write_bytes(value)
        if self.note is not None:
            (self.root / "heads").mkdir(exist_ok=True)
            (self.root / "heads" / "ledger.note").write_bytes(self.note)
        return self.root

    def blob(self, commitment: str) -> Path:
        return self.root / "blobs" / commitment[:2] / commitment

    def verify(self, **wishes: Any) -> dict[str, Json]:
        return verify(self.write(), **wishes)


@pytest.fixture(autouse=True, scope="module")
def _a_signature_is_checked_once() -> Iterator[None]:
    """Most stores here are signed alike, and each check takes milliseconds."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(standalone, "verifies", functools.cache(standalone.verifies))
        yield


@pytest.fixture
def home(tmp_path: Path) -> Home:
    """A sound store: session A of three entries, closed, headed, signed."""
    store = Home(tmp_path)
    store.session(A)
    store.head(A)
    store.seal()
    return store


def place(report: dict[str, Json]) -> tuple[str | None, int | None, str]:
    bad = report["first_bad"]
    return bad["session"], bad["n"], bad["rule"]


# ---- Section 18: the worked example --------------------------------------------------------------------------------

EXAMPLE_SID = "000102030405060708090a0b0c0d0e0f"
EXAMPLE_LINE = (
    '{"entry":{"fields":"10890cb6d1047da8f91432147da32522108a8b657be9fd8d136c48237be928fd","n":1,"parents":[],'
    '"prev":"fa79c1eab42ddd3b018da52e091f85085c68c5d3d68b1397a7b931beeba13159","sid":"0001020304050607'
    '08090a0b0c0d0e0f","v":1},"fields":{"content.args":{"command":"printf \'%s\' €","timeout":1.5},'
    '"local.note":null,"meta":{"corr":"c1","recorded":"2026-01-02T03:04:06.000000Z","source":"sdk",'
    '"source_id":"c1","tool":"Bash","type":"tool_call"}},"seed":"' + "02" * 32 + '"}'
).encode()
EXAMPLE_WITHHELD = (
    b'"salts":{"meta":"bdfcd1a366293e176023eede5909bbb35a4c2af4ed01b087e380f237dc5c0088"},"withheld":{'
    b'"content.args":"2dac206c2909ce10f43bbed264018716765a2dc7bef7f42669cebe69226c5e6d",'
    b'"local.note":"9153cb5158ff25af31603a450ba4b92d01ccc7385e5fdc46e311c25ee9021b65"}}'
)
EXAMPLE_META_2 = {
    "corr": "c1",
    "recorded": "2026-01-02T03:04:07.000000Z",
    "source": "sdk",
    "source_id": "c1/result",
    "success": True,
    "tool": "Bash",
    "type": "tool_result",
}
EXAMPLE_ENTRIES = [
    "fa79c1eab42ddd3b018da52e091f85085c68c5d3d68b1397a7b931beeba13159",
    "4cdfe9012038bc8daa63810cc17cfc9e0f9e71b116ad7a69c4b1af2377b9dc4d",
    "9101233437cdf6d29c5cc2e3851c0b9e194c66062229bdc6696a73e7a1bc925c",
]
EXAMPLE_LEDGER = [
    "3a37be18edb8d49f7daccc4f3e6c1b18b52cd9cdf272abe042c9cb4ec4ae687f",
    "9ed07104b518c2782b61668a448d1488c9cf5f731022d12574dbf31817665d92",
]
EXAMPLE_ROOT = "a3112fd83ad4266cfb4375186763d4b2abc05cee77100655a98e4403d26c40ea"
EXAMPLE_KEY = "did:key:z6MkehRgf7yJbgaGfYsdoAsKdBPE3dj2CYhowQdcjqSJgvVd"
EXAMPLE_NOTE = (
    "tallystick/f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff\n2\nhSKrIxnMnIdr1mcw9/3KwnbwGOosdp4ZrKIssBS5UyE=\n\n"
    "— tallystick/f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff RPtkwY/wiMw2vOZUpzd0YRz3as89wCA3vUwC/fiTXBmcP51hKYf"
    "okh0YPPFeHHzEa+5nWMcjgxxB+RZ1mgudbZXPtAc=\n"
).encode()


@pytest.fixture
def example(tmp_path: Path) -> Home:
    """The store of the worked example, built from its description."""
    store = Home(tmp_path)
    chain = store.sessions[EXAMPLE_SID] = Chain(EXAMPLE_SID)
    chain.add(START | {"recorded": "2026-01-02T03:04:05.000006Z"}, seed="01" * 32, personal_cwd="/home/dev")
    second = json.loads(EXAMPLE_LINE)
    values = {"content_args": second["fields"]["content.args"], "local_note": None}
    chain.add(second["fields"]["meta"], seed="02" * 32, **values)
    blobs = {"content.output": ("json", '"€"'.encode()), "content.part_0": ("raw", b"\x89PNG")}
    chain.add(EXAMPLE_META_2, parents=[chain.hash(1)], blobs=blobs, seed="03" * 32)
    store.ledger.lines = []
    store.ledger.add({"key": did_of(KEY), "recorded": RECORDED, "type": "store_start"}, seed="04" * 32)
    head = {"closed": False, "recorded": "2026-01-02T03:04:08.000000Z", "root": root_of(chain.lines)}
    head |= {"session": EXAMPLE_SID, "size": 3, "type": "session_head"}
    store.ledger.add(head, seed="05" * 32)
    store.seal()
    return store


def test_the_writer_of_these_tests_makes_the_worked_example(example: Home) -> None:
    chain = example.sessions[EXAMPLE_SID]
    assert rfc8785.dumps(chain.lines[1]) == EXAMPLE_LINE
    assert len(EXAMPLE_LINE + b"\n") == 517
    assert rfc8785.dumps(withhold(chain.lines[1], "content.args", "local.note")).endswith(EXAMPLE_WITHHELD)
    assert [chain.hash(n) for n in range(3)] == EXAMPLE_ENTRIES
    assert [example.ledger.hash(n) for n in range(2)] == EXAMPLE_LEDGER
    assert root_of(chain.lines) == EXAMPLE_ROOT
    assert example.note == EXAMPLE_NOTE
    assert did_of(KEY) == EXAMPLE_KEY


def test_the_verifier_computes_the_hashes_of_the_worked_example(example: Home) -> None:
    genesis = standalone.tagged("genesis", EXAMPLE_SID.encode()).hex()
    assert genesis == "006eebffd4478405bded448f0ce81faa6457a4311c46024ad048852f4b3e20ad"
    lines = [standalone.parse_line(rfc8785.dumps(line)) for line in example.sessions[EXAMPLE_SID].lines]
    assert lines[1].salt("content.args").hex() == ("c3e21115342cb2e29b75e62920232a9195f53b619dc27705ac7e2e8d548eac81")

    def commitment(n: int, name: str, kind: str, value: bytes) -> str:
        salt = lines[n].salt(name)
        return standalone.tagged("field", name.encode(), kind.encode(), salt, value).hex()

    meta = [commitment(n, "meta", "json", standalone.canonical(lines[n].fields["meta"])) for n in (0, 1)]
    assert meta[0] == "8579e29c13d4bcd3ba540b25d90edff77c9c9ff9b8a00b88d8be425f68f795e0"
    assert meta[1] == "74113f136811da535c0b11bba887aa82dcbf9baf2eba01a99ad906a80eb1b942"
    cwd = commitment(0, "personal.cwd", "json", b'"/home/dev"')
    assert cwd == "d90771ee68593c9f1af6a4c97a4461117bba6a6b4b642e7a75b3a1219a961d0f"
    blobs = {
        "content.output": commitment(2, "content.output", "json", '"€"'.encode()),
        "content.part_0": commitment(2, "content.part_0", "raw", b"\x89PNG"),
    }
    assert blobs == {name: about["commitment"] for name, about in lines[2].blobs.items()}
    assert blobs["content.output"] == "2330c16e7d7925450bf126f08827490b68849f73c54513f3779aad689b5a5f55"
    assert blobs["content.part_0"] == "3349310aeac8d29ca52c05aba95ffc95cf32c09e73d11ae58515dd6cfb5b8218"
    fields = standalone.fields_hash({"meta": bytes.fromhex(meta[0]), "personal.cwd": bytes.fromhex(cwd)})
    assert fields.hex() == "8a3a7f4a5e5042908809e2b7b090a14bdddb4ceb528d066bf90bd884e0edcbca"
    assert lines[2].entry["fields"] == "cc6387c9d4e5f74800fc8943a572ee1eb655a413892f9dc760a46236fdfdb542"
    hashes = [standalone.entry_hash(line.entry) for line in lines]
    assert [entry.hex() for entry in hashes] == EXAMPLE_ENTRIES
    assert standalone.roots_at(b"".join(hashes), [3])[3].hex() == EXAMPLE_ROOT


def test_the_worked_example_verifies_with_its_key_pinned(example: Home) -> None:
    report = example.verify(pinned=EXAMPLE_KEY)
    assert report == {
        "exit": 0,
        "valid": True,
        "truncated": True,
        "steps": 3,
        "integrity": "intact",
        "completeness": "truncated",
        "unsealed": 0,
        "authenticity": "signed",
        "level": "A2",
        "why_not_higher": report["why_not_higher"],
        "disclosure": {"withheld": 0, "erased": 0, "absent_blobs": 0},
        "first_bad": None,
        "defects": [],
        "sessions": [
            {
                "session": EXAMPLE_SID,
                "steps": 3,
                "integrity": "intact",
                "completeness": "truncated",
                "unsealed": 0,
                "authenticity": "signed",
            }
        ],
        "remarks": [],
    }


# ---- Section 3: canonical form -------------------------------------------------------------------------------------

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
SCALARS = st.none() | st.booleans() | TEXTS | st.floats(allow_nan=False, allow_infinity=False)
NUMBERS = st.integers(-(2**53) + 1, 2**53 - 1)
VALUES = st.recursive(
    SCALARS | NUMBERS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=8,
)


@given(VALUES)
@settings(max_examples=examples(300))
def test_canonical_form_is_that_of_the_reference_library(value: Json) -> None:
    assert standalone.canonical(value) == rfc8785.dumps(value)


@given(st.integers(0, 2**64 - 1))
@settings(max_examples=examples(500))
def test_any_double_is_written_as_the_reference_library_does(bits: int) -> None:
    value: float = struct.unpack(">d", bits.to_bytes(8, "big"))[0]
    if value - value == 0:
        assert standalone.canonical(value) == rfc8785.dumps(value)


@each_case("value, text")
def test_numbers_are_written_as_ecmascript_does(value: float, text: str) -> None:
    assert standalone.canonical(value).decode() == text


@each("value", [float("inf"), float("nan"), 2**53, -(2**53), "\ud800", {"\udfff": 1}], ids=repr)
def test_what_json_cannot_hold_is_refused(value: Json) -> None:
    with pytest.raises(standalone.RuleError) as caught:
        standalone.canonical(value)
    assert caught.value.rule == "canonical"


def test_keys_are_in_utf16_order() -> None:
    assert standalone.canonical({"\ufb33": 1, "\U0001f600": 2}).decode() == '{"\U0001f600":2,"\ufb33":1}'


@given(VALUES)
@settings(max_examples=examples(100))
def test_depth_is_known_before_parsing(value: Json) -> None:
    def depth(part: Json) -> int:
        items = part.values() if isinstance(part, dict) else part if isinstance(part, list) else None
        return 0 if items is None else 1 + max(map(depth, items), default=0)

    assert standalone.depth_of(rfc8785.dumps(value)) == depth(value)


# ---- Section 14.2: each rule, in a signed store, where it is broken ------------------------------------------------


def edited(**changes: Json) -> Callable[[Lines], Json]:
    """Change members of entry 1, and nothing else."""

    def change(lines: Lines) -> None:
        lines[1]["entry"] |= changes

    return change


def replaced(old: str, new: str, line: int = 1) -> Callable[[Lines], Json]:
    """Change the bytes of a line."""

    def change(lines: Lines) -> None:
        text = rfc8785.dumps(lines[line])
        assert old.encode() in text
        lines[line] = text.replace(old.encode(), new.encode(errors="surrogatepass"), 1)

    return change


def values(**changes: Json) -> Callable[[Lines], Json]:
    """Set values of entry 1, and cover it up by recomputing every hash."""

    def change(lines: Lines) -> None:
        for name, value in changes.items():
            lines[1]["fields"][name.replace("_", ".", 1)] = value
        rechain(lines)

    return change


def meta(**changes: Json) -> Callable[[Lines], Json]:
    """Set members of the meta of entry 1, and cover it up."""
    return values(meta={**USER, **changes})


def members(**changes: Json) -> Callable[[Lines], Json]:
    """Set members of line 1, and nothing else."""

    def change(lines: Lines) -> None:
        lines[1] |= changes

    return change


def without(*path: str) -> Callable[[Lines], Json]:
    """Remove a member of line 1, and nothing else."""

    def change(lines: Lines) -> None:
        part = lines[1]
        for step in path[:-1]:
            part = part[step]
        del part[path[-1]]

    return change


def withheld(*names: str) -> Callable[[Lines], Json]:
    """Withhold values of entry 1, as an erasure does that no ledger knows."""

    def change(lines: Lines) -> None:
        lines[1] = withhold(lines[1], *names)

    return change


def salted(**changes: Json) -> Callable[[Lines], Json]:
    """Withhold the text of entry 1 and replace a salt."""

    def change(lines: Lines) -> None:
        lines[1] = withhold(lines[1], "content.text")
        lines[1]["salts"] |= changes

    return change


def parents(*wanted: Callable[[Lines], str]) -> Callable[[Lines], Json]:
    """Set the parents of entry 1, and cover it up."""

    def change(lines: Lines) -> None:
        lines[1]["entry"]["parents"] = [parent(lines) for parent in wanted]
        rechain(lines)

    return change


def same_seed(lines: Lines) -> None:
    lines[1]["seed"] = lines[0]["seed"]
    rechain(lines)


def after_the_end(lines: Lines) -> None:
    lines[1]["fields"]["meta"], lines[2]["fields"]["meta"] = END, USER
    rechain(lines)


def ledger_start(lines: Lines) -> None:
    lines[0]["fields"]["meta"] |= {"type": "store_start", "key": EXAMPLE_KEY}
    rechain(lines)


def shown_and_withheld(lines: Lines) -> None:
    text, commitment = lines[1]["fields"]["content.text"], commitments_of(lines[1])["content.text"]
    seed = lines[1]["seed"]
    lines[1] = withhold(lines[1], "content.text")
    lines[1]["fields"]["content.text"] = text
    lines[1]["salts"]["content.text"] = salt_of(seed, "content.text")
    assert lines[1]["withheld"] == {"content.text": commitment}


def first(lines: Lines) -> str:
    return hash_of(lines[0])


HASH = "ab" * 32
DEEP: Json = 0
for _ in range(62):
    DEEP = [DEEP]
MANY = {f"content.n{i}": i for i in range(32)}
BLOB = {"commitment": HASH, "kind": "raw", "size": 1}

# What is done to the journal of three entries; where and by which rule it is found.
TAMPERINGS: dict[str, tuple[Callable[[Lines], Json], int, str]] = {
    "a line over 1 MiB": (lambda lines: lines.__setitem__(1, b" " * (1 << 20) + b" "), 1, "limit"),
    "depth 65": (values(content_text=[DEEP]), 1, "limit"),
    "depth 10000": (lambda lines: lines.__setitem__(1, b"[" * 10000), 1, "limit"),
    "33 names": (values(**{n.replace(".", "_", 1): v for n, v in MANY.items()}), 1, "limit"),
    "65 parents": (edited(parents=[HASH] * 65), 1, "limit"),
    "16 KiB of meta": (meta(note={f"k{i}": "x" * 190 for i in range(90)}), 1, "limit"),
    "n of 2^53": (replaced('"n":1', f'"n":{2**53}'), 1, "limit"),
    "n of a million digits": (replaced('"n":1', '"n":1' + "0" * 1000000), 1, "limit"),
    "a blob of more than 1 GiB": (members(blobs={"content.out": BLOB | {"size": 2**30 + 1}}), 1, "limit"),
    "not JSON": (lambda lines: lines.__setitem__(1, b'{"entry"'), 1, "line"),
    "NaN": (replaced('"step 0"', "NaN"), 1, "line"),
    "not UTF-8": (lambda lines: lines.__setitem__(1, b'{"entry":"\xff"}'), 1, "line"),
    "a raw surrogate": (replaced('"step 0"', '"\ud800"'), 1, "line"),
    "an array": (lambda lines: lines.__setitem__(1, b"[]"), 1, "line"),
    "an empty line": (lambda lines: lines.insert(1, b""), 1, "line"),
    "white space": (replaced('"n":1', '"n": 1'), 1, "canonical"),
    "key order": (lambda lines: lines.__setitem__(1, json.dumps(lines[1]).encode()), 1, "canonical"),
    "a duplicate key": (replaced('"n":1', '"n":1,"n":1'), 1, "canonical"),
    "an escape alias": (replaced("step", "st\\u0065p"), 1, "canonical"),
    "an escaped surrogate": (replaced("step", "\\ud800"), 1, "canonical"),
    "1.0": (replaced('"step 0"', "1.0"), 1, "canonical"),
    "1e400": (replaced('"step 0"', "1e400"), 1, "canonical"),
    "minus zero": (replaced('"step 0"', "-0"), 1, "canonical"),
    "an integer of 2^53": (replaced('"step 0"', str(2**53)), 1, "canonical"),
    "a BOM": (replaced('{"entry"', '\ufeff{"entry"'), 1, "canonical"),
    "CRLF": (lambda lines: lines.__setitem__(1, rfc8785.dumps(lines[1]) + b"\r"), 1, "canonical"),
    "a CR in a text": (replaced("step", "st\rp"), 1, "canonical"),
    "a NUL": (replaced("step", "st\0p"), 1, "canonical"),
    "an unknown member": (members(extra=1), 1, "member"),
    "an empty member": (members(blobs={}), 1, "member"),
    "no entry": (without("entry"), 1, "member"),
    "no seed": (without("seed"), 1, "member"),
    "a short seed": (members(seed="ab" * 31), 1, "member"),
    "a seed in capitals": (members(seed="AB" * 32), 1, "member"),
    "an unknown member of the entry": (edited(extra=1), 1, "member"),
    "an entry without parents": (without("entry", "parents"), 1, "member"),
    "a v of true": (edited(v=True), 1, "member"),
    "a v of text": (edited(v="1"), 1, "member"),
    "an n of true": (edited(n=True), 1, "member"),
    "salts in a list": (members(salts=[HASH]), 1, "member"),
    "an n of text": (edited(n="1"), 1, "member"),
    "a short prev": (edited(prev="ab"), 1, "member"),
    "a parent that is no hash": (edited(parents=["x"]), 1, "member"),
    "a name both shown and withheld": (members(withheld={"content.text": HASH}), 1, "member"),
    "a name in a line and in a blob": (members(blobs={"content.text": BLOB}), 1, "member"),
    "a name both salted and withheld": (shown_and_withheld, 1, "member"),
    "no meta at all": (without("fields", "meta"), 1, "member"),
    "a meta in a blob": (lambda ls: ls[1].update(blobs={"meta": ls[1]["fields"].pop("meta") and BLOB}), 1, "member"),
    "a seed on a partial line": (members(withheld={"content.more": HASH}), 1, "member"),
    "a short salt": (salted(meta="ab"), 1, "member"),
    "a salt too many": (salted(**{"content.text": HASH}), 1, "member"),
    "a blob of no size": (members(blobs={"content.out": {"commitment": HASH, "kind": "raw"}}), 1, "member"),
    "a blob of another kind": (members(blobs={"content.out": BLOB | {"kind": "text"}}), 1, "member"),
    "version 2": (edited(v=2), 1, "version"),
    "version 2 with other members": (edited(v=2, extra=1), 1, "version"),
    "another session": (edited(sid=B), 1, "sid"),
    "n skips": (edited(n=2), 1, "n"),
    "the largest n": (edited(n=2**53 - 1), 1, "n"),
    "n is negative": (edited(n=-1), 1, "n"),
    "the middle deleted": (lambda lines: lines.pop(1), 1, "n"),
    "the first deleted": (lambda lines: lines.pop(0), 0, "n"),
    "two swapped": (lambda lines: lines.reverse(), 0, "n"),
    "one twice": (lambda lines: lines.insert(2, lines[1]), 2, "n"),
    "prev edited": (edited(prev=HASH), 1, "prev"),
    "parents edited": (edited(parents=[HASH]), 1, "parent"),
    "a name of no class": (values(secret_x=1), 1, "class"),
    "a float in meta": (meta(cost=0.5), 1, "class"),
    "null in meta": (meta(tool=None), 1, "class"),
    "free text in meta": (meta(tool="Ask Joe"), 1, "class"),
    "a path that climbs in meta": (meta(tool="a/../b"), 1, "class"),
    "a key of meta in capitals": (meta(Tool="x"), 1, "class"),
    "meta five deep": (meta(a=[[[[1]]]]), 1, "class"),
    "free text in a key of meta": (meta(a={"not fit": 1}), 1, "class"),
    "a type in capitals": (meta(type="User"), 1, "class"),
    "no source": (values(meta={"recorded": RECORDED, "type": "user"}), 1, "class"),
    "no recorded": (values(meta={"source": "sdk", "type": "user"}), 1, "class"),
    "recorded without microseconds": (meta(recorded="2026-01-02T03:04:05Z"), 1, "class"),
    "ts with a zone": (meta(ts="2026-01-02T03:04:05.000000+01:00"), 1, "class"),
    "meta is text": (values(meta="user"), 1, "class"),
    "a value edited": (replaced("step 0", "step 9"), 1, "fields"),
    "meta edited": (replaced('"user"', '"usex"'), 1, "fields"),
    "a seed bit flipped": (lambda lines: lines[1].update(seed="f" + lines[1]["seed"][1:]), 1, "fields"),
    "a field added": (lambda lines: lines[1]["fields"].update({"content.more": 1}), 1, "fields"),
    "a field dropped": (without("fields", "content.text"), 1, "fields"),
    "a salt edited": (salted(meta=HASH), 1, "fields"),
    "a blob that is not there": (members(blobs={"content.out": BLOB}), 1, "blob"),
    "a parent yet to come": (parents(lambda lines: hash_of(lines[2])), 1, "parent"),
    "a parent listed twice": (parents(first, first), 1, "parent"),
    "a parent of this session with its name": (parents(lambda lines: f"{A}#{first(lines)}"), 1, "parent"),
    "a parent in no session": (parents(lambda lines: f"{B}#{HASH}"), 1, "parent"),
    "a seed used before": (same_seed, 1, "seed"),
    "a step after the end": (after_the_end, 2, "order"),
    "entry 0 of another type": (lambda ls: ls[0]["fields"]["meta"].update(type="user") or rechain(ls), 0, "order"),
    "entry 0 of a ledger's type": (ledger_start, 0, "order"),
    "a value withheld": (withheld("content.text"), 1, "withheld"),
    "meta withheld": (withheld("meta"), 1, "withheld"),
    "a bare line": (lambda lines: lines.__setitem__(1, {"entry": lines[1]["entry"]}), 1, "withheld"),
    "a rewrite that is covered up": (values(content_text="x"), 2, "head"),
}


@pytest.mark.parametrize("name", TAMPERINGS)
def test_tampering_is_found_where_it_is(home: Home, name: str) -> None:
    lines = json.loads(json.dumps(home.sessions[A].lines))
    tamper, n, rule = TAMPERINGS[name]
    tamper(lines)
    home.sessions[A].lines = lines
    report = home.verify(pinned=EXAMPLE_KEY)
    assert place(report) == (A, n, rule)
    assert report["exit"] == 2  # whatever it is, a head covers the entry: it was in order once (19.2)
    assert not report["valid"]
    assert report["integrity"] == report["sessions"][0]["integrity"] == rule
    assert report["steps"] == report["sessions"][0]["steps"] == n
    assert report["completeness"] in ("truncated", "cut")


def test_every_rule_of_a_line_has_its_tampering() -> None:
    rules = {rule for _, _, rule in TAMPERINGS.values()}
    assert rules == set(standalone.RULES) - {"cut", "missing", "signature"}


@pytest.mark.parametrize(
    ("line", "rule", "code"),
    [
        (b"hello", "line", 4),
        (b"{}", "member", 4),
        (b'{"type": "user"}', "member", 4),
        (b'{"entry":{"v":2}}', "version", 4),
        (b"[" * 65, "limit", 4),
    ],
)
def test_a_first_line_that_is_none_of_ours_is_malformed(tmp_path: Path, line: bytes, rule: str, code: int) -> None:
    path = tmp_path / "notes.jsonl"
    path.write_bytes(line + b"\nmore\n")
    report = verify(path)
    assert place(report) == (None, 0, rule)
    assert report["exit"] == code


def test_a_store_is_sound_closed_and_signed(home: Home) -> None:
    report = home.verify(require="sealed")
    assert (report["exit"], report["completeness"], report["authenticity"]) == (0, "sealed", "signed")
    assert report["steps"] == 3


def test_depth_64_and_32_names_and_64_parents_are_allowed(home: Home) -> None:
    chain = home.session(B, steps=70, closed=False)
    chain.add(USER, content_text=DEEP)
    chain.add(USER)
    line = chain.lines[-1]
    for name in list(MANY)[:31]:
        line["fields"][name] = 1
    rechain(chain.lines)
    chain.add(USER, parents=[chain.hash(n) for n in range(64)])
    chain.add({**USER, "a": [[[1]], {"key": True}], "b": -1})
    assert home.verify()["integrity"] == "intact"


def test_16_kib_of_meta_and_a_blob_of_1_gib_are_allowed(home: Home, tmp_path: Path) -> None:
    def meta_of(length: int) -> Json:
        full: Json = {**USER, "pad": ["x" * 190] * 84, "rest": "x"}
        return full | {"rest": "x" * (1 + length - len(rfc8785.dumps(full)))}

    for length, found in ((16384, None), (16385, (C, 1, "limit"))):
        chain = Chain(C)
        chain.add(START)
        chain.add(meta_of(length), blobs={"content.part_0": ("raw", b"")})
        chain.lines[1]["blobs"]["content.part_0"]["size"] = 2**30
        (tmp_path / "x.jsonl").write_bytes(dump(chain.lines))
        report = verify(tmp_path / "x.jsonl")
        assert (report["first_bad"] and place(report)) == found


def test_a_line_of_just_1_mib_is_allowed(home: Home) -> None:
    chain = home.session(B, closed=False)
    chain.add(USER, content_text="")
    room = (1 << 20) - len(rfc8785.dumps(chain.lines[-1]))
    chain.lines.pop()
    chain.add(USER, content_text="x" * room)
    assert home.verify()["integrity"] == "intact"
    chain.lines.pop()
    chain.add(USER, content_text="x" * (room + 1))
    assert place(home.verify()) == (B, 2, "limit")


def test_a_resumed_session_goes_on_after_its_end(home: Home) -> None:
    chain = home.sessions[A]
    chain.add({"bytes": 7, "recorded": RECORDED, "source": "sdk", "type": "recovery"})
    chain.add(START | {"resumed": True})
    chain.add(USER)
    report = home.verify()
    assert (report["exit"], report["completeness"], report["unsealed"]) == (0, "truncated", 3)


def test_a_recovery_within_a_session_changes_nothing(home: Home) -> None:
    chain = home.session(B, closed=False)
    chain.add({"bytes": 7, "recorded": RECORDED, "source": "sdk", "type": "recovery"})
    chain.add(USER)
    assert home.verify()["exit"] == 0


def test_a_session_start_that_does_not_resume_cannot_follow_the_end(home: Home) -> None:
    home.sessions[A].add(START)
    assert place(home.verify()) == (A, 3, "order")


def test_a_recovery_after_the_end_does_not_reopen_the_session(home: Home) -> None:
    home.sessions[A].add({"bytes": 7, "recorded": RECORDED, "source": "sdk", "type": "recovery"})
    home.sessions[A].add(USER)
    assert place(home.verify()) == (A, 4, "order")


def test_a_recorded_time_that_goes_back_is_a_remark(home: Home) -> None:
    chain = home.session(B, closed=False)
    chain.add(USER | {"recorded": "2025-01-02T03:04:05.000000Z"})
    report = home.verify()
    assert report["exit"] == 0
    assert any(remark.startswith(f"{B}: 1 entries recorded before") for remark in report["remarks"])


def test_members_and_types_from_later_are_accepted(home: Home) -> None:
    home.sessions[A].lines.pop()
    home.sessions[A].add({**USER, "type": "dream", "mood": {"level": 3}}, content_dream="sheep")
    home.tell("comet", tail="long")
    home.head(A, 2)
    home.seal()
    assert home.verify()["integrity"] == "head"  # the first head covered the entry that was replaced
    home.ledger.lines[1:2] = []
    rechain(home.ledger.lines)
    home.seal()
    assert home.verify()["integrity"] == "intact"


# ---- Section 1: torn tails, empty files, files of one name ---------------------------------------------------------


@pytest.mark.parametrize("tail", [b"{", b"\0" * 4096, b"x" * (1 << 20)], ids=["half", "zeros", "1 MiB"])
def test_a_torn_tail_is_a_remark(home: Home, tail: bytes) -> None:
    home.write()
    with home.path(A).open("ab") as file:
        file.write(tail)
    report = verify(home.root)
    assert (report["exit"], report["completeness"]) == (0, "sealed")
    assert f"{A}: {len(tail)} bytes of a torn last line" in report["remarks"]


def test_a_tail_that_no_torn_line_has_is_over_the_limit_and_what_follows_is_not_read(home: Home) -> None:
    home.write()
    os.truncate(home.path(A), 8 << 30)  # a hole: it takes no room, and would be read for long
    report = verify(home.root)
    assert (place(report), report["exit"], report["completeness"]) == ((A, 3, "limit"), 4, "truncated")
    home.path(A).write_bytes(b"")
    os.truncate(home.path(A), 8 << 30)
    report = verify(home.root)
    assert (place(report), report["exit"], report["completeness"]) == ((A, 0, "limit"), 2, "cut")


def test_a_line_that_is_just_being_written_is_a_torn_tail() -> None:
    class Growing(io.BytesIO):
        """What is read first is half a line; the rest comes when it is asked for again."""

        pieces: ClassVar = [b'{"entry":', b"1}\n"]

        def readline(self, size: int | None = -1, /) -> bytes:
            return self.pieces.pop(0)

    assert list(standalone.read_lines(Growing())) == [(None, 9)]


@pytest.mark.parametrize("content", [b"", b'{"entry"'])
def test_an_empty_journal_is_truncated_in_a_store_and_malformed_alone(home: Home, content: bytes) -> None:
    home.write()
    home.path(B).write_bytes(content)
    report = verify(home.root)
    assert (report["exit"], report["completeness"], report["steps"]) == (0, "truncated", 3)
    alone = verify(home.path(B))
    assert (alone["exit"], place(alone)) == (4, (B, 0, "line"))


def test_an_emptied_journal_is_cut(home: Home) -> None:
    home.write()
    home.path(A).write_bytes(b"")
    report = verify(home.root)
    assert place(report) == (A, 0, "cut")
    assert (report["exit"], report["completeness"]) == (2, "cut")


def test_two_journals_of_one_session_are_a_defect(home: Home) -> None:
    home.write()
    other = home.root / "journals" / "2025" / f"{A}.jsonl"
    other.parent.mkdir()
    other.write_bytes(home.path(A).read_bytes())
    assert place(verify(home.root)) == (A, 0, "sid")


def test_two_journals_that_swap_their_names_are_both_found(home: Home) -> None:
    home.session(B)
    home.head(B)
    home.seal()
    home.write()
    home.path(A).rename(home.root / "aside")
    home.path(B).rename(home.path(A))
    (home.root / "aside").rename(home.path(B))
    report = verify(home.root)
    assert [(bad["session"], bad["n"], bad["rule"]) for bad in report["defects"]] == [
        (A, 0, "sid"),
        (B, 0, "sid"),
    ]


def test_a_journal_is_found_in_any_month_and_other_files_are_left_alone(home: Home) -> None:
    home.write()
    home.path(A).rename(home.root / "journals" / f"{A}.jsonl")
    (home.root / "journals" / "notes.jsonl").write_text("hello")
    (home.root / "journals" / f"{B}.txt").write_text("hello")
    (home.root / "journals" / f"{B}.jsonl.tmp").write_text("hello")
    assert verify(home.root, require="sealed")["exit"] == 0


def test_a_link_or_a_pipe_in_the_place_of_a_file_is_missing_and_nothing_is_read(home: Home) -> None:
    home.write()
    os.mkfifo(home.root / "journals" / f"{C}.jsonl")
    home.path(A).rename(home.root / "elsewhere")
    home.path(A).symlink_to(home.root / "elsewhere")
    found = verify(home.root)
    assert (found["exit"], found["valid"], found["integrity"], found["completeness"]) == (
        2,
        False,
        "missing",
        "missing",
    )
    assert (found["steps"], found["sessions"]) == (0, [])
    assert [(one["session"], one["n"], one["rule"]) for one in found["defects"]] == [
        (A, None, "missing"),
        (C, None, "missing"),
    ]


def test_a_folder_of_a_store_and_a_lone_journal_may_be_links(home: Home, tmp_path: Path) -> None:
    home.write()
    (home.root / "journals").rename(tmp_path / "elsewhere")
    (home.root / "journals").symlink_to(tmp_path / "elsewhere")
    (tmp_path / f"{A}.jsonl").symlink_to(home.path(A))
    assert verify(home.root, require="sealed")["exit"] == 0
    assert verify(tmp_path / f"{A}.jsonl")["exit"] == 0


# ---- Section 8: blobs ----------------------------------------------------------------------------------------------


@pytest.fixture
def blob_home(home: Home) -> Home:
    """A store whose session B holds a raw and a json blob in entry 1."""
    chain = home.session(B, steps=0, closed=False)
    chain.add(USER, blobs={"content.output": ("json", b'{"a":1}'), "content.part_0": ("raw", b"\x89PNG")})
    home.write()
    return home


def test_blobs_are_checked(blob_home: Home) -> None:
    assert verify(blob_home.root)["exit"] == 0


@pytest.mark.parametrize("content", [b'{"a":2}', b'{"a":1} ', b"", None])
def test_a_blob_that_is_edited_or_gone_is_found(blob_home: Home, content: bytes | None) -> None:
    name = blob_home.sessions[B].lines[1]["blobs"]["content.output"]["commitment"]
    blob_home.blob(name).unlink()
    if content is not None:
        blob_home.blob(name).write_bytes(content)
    report = verify(blob_home.root)
    assert (place(report), report["exit"]) == ((B, 1, "blob"), 2)


def test_a_blob_whose_size_is_edited_is_found(blob_home: Home) -> None:
    blob_home.sessions[B].lines[1]["blobs"]["content.part_0"]["size"] = 5
    assert place(blob_home.verify()) == (B, 1, "blob")


@pytest.mark.parametrize("content", [b'{"a": 1}', b'{"a":1.0}', b"PNG", b"[" * 5000 + b"]" * 5000])
def test_a_json_blob_must_be_canonical_even_if_its_commitment_holds(home: Home, content: bytes) -> None:
    home.session(B, steps=0, closed=False).add(USER, blobs={"content.output": ("json", content)})
    assert place(home.verify()) == (B, 1, "blob")


def test_a_json_blob_may_be_64_deep(home: Home) -> None:
    chain = home.session(B, steps=0, closed=False)
    chain.add(USER, blobs={"content.output": ("json", b"[" * 64 + b"]" * 64)})
    assert home.verify()["exit"] == 0
    chain.add(USER, blobs={"content.output": ("json", b"[" * 65 + b"]" * 65)})
    assert place(home.verify()) == (B, 2, "blob")


def test_a_json_blob_too_large_to_parse_is_a_remark(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    chain = home.session(B, steps=0, closed=False)
    chain.add(USER, blobs={"content.output": ("json", b'"a" ')})
    monkeypatch.setattr(standalone, "PARSED_BLOB", 4)
    assert place(home.verify()) == (B, 1, "blob")
    chain.add(USER, blobs={"content.output": ("raw", b"\x89PNG."), "content.args": ("json", b'"a"')})
    monkeypatch.setattr(standalone, "PARSED_BLOB", 3)
    report = home.verify()
    assert report["exit"] == 0
    assert f"{B}: 1 large json blobs not checked for canonical form" in report["remarks"]


def test_moving_a_value_into_a_blob_changes_no_hash(home: Home) -> None:
    line = home.sessions[A].lines[1]
    before = hash_of(line)
    commitment = commitments_of(line)["content.text"]
    del line["fields"]["content.text"]
    line["blobs"] = {"content.text": {"commitment": commitment, "kind": "json", "size": 8}}
    home.sessions[A].blobs[commitment] = b'"step 0"'
    assert hash_of(line) == before
    assert home.verify(require="sealed")["exit"] == 0


def test_a_lone_file_counts_the_blobs_that_are_not_with_it(blob_home: Home, tmp_path: Path) -> None:
    assert verify(blob_home.path(B))["disclosure"]["absent_blobs"] == 0
    alone = tmp_path / f"{B}.jsonl"
    alone.write_bytes(blob_home.path(B).read_bytes())
    report = verify(alone)
    assert (report["exit"], report["disclosure"]["absent_blobs"]) == (0, 2)
    name = blob_home.sessions[B].lines[1]["blobs"]["content.output"]["commitment"]
    (tmp_path / "blobs" / name[:2]).mkdir(parents=True)
    (tmp_path / "blobs" / name[:2] / name).write_bytes(b"{}")
    assert place(verify(alone)) == (B, 1, "blob")


# ---- Section 9.4: the note -----------------------------------------------------------------------------------------

ORIGIN = f"tallystick/{STORE_ID}"
BASE64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"


def alias(note: str, text: str) -> str:
    """Another text for the same 32 bytes, in a note that is signed as it stands."""
    other = text[:-2] + BASE64[BASE64.index(text[-2]) + 1] + "="
    assert base64.b64decode(text) == base64.b64decode(other)
    body = note.partition("\n\n")[0].replace(text, other) + "\n"
    return body + "\n" + sign(KEY, body)


NOTE_EDITS: dict[str, Callable[[str], str]] = {
    "no signature": lambda note: note.partition("\u2014")[0],
    "no last LF": lambda note: note.rstrip("\n"),
    "an extension line": lambda note: note.replace("=\n\n", "=\nmore\n\n", 1),
    "a leading zero": lambda note: note.replace("\n2\n", "\n02\n"),
    "a plus": lambda note: note.replace("\n2\n", "\n+2\n"),
    "a size of many digits": lambda note: note.replace("\n2\n", "\n" + "9" * 5000 + "\n"),
    "a short root": lambda note: note.replace(note.split("\n")[2], "AAAA"),
    "a root that is no base64": lambda note: note.replace(note.split("\n")[2], "*" * 44),
    "an alias of base64": lambda note: note[:-3] + BASE64[BASE64.index(note[-3]) + 1] + "=\n",
    "an alias of base64 in the root": lambda note: alias(note, note.split("\n")[2]),
    "nothing": lambda note: "",
    "one line": lambda note: note.partition("\n")[0] + "\n",
    "a line in place of the empty one": lambda note: note.replace("\n\n", "\nmore\n"),
    "two signatures and no last LF": lambda note: note + "\u2014 w AAAAAAAA",
    "a control character in an unknown name": lambda note: note + "\u2014 w\x01 AAAAAAAA\n",
    "a space too many": lambda note: note + "\u2014 w  AAAAAAAA\n",
    "a plus in a name": lambda note: note + "\u2014 w+ AAAAAAAA\n",
    "a hyphen for a dash": lambda note: note + "- w AAAAAAAA\n",
    "a tab": lambda note: note.replace(" ", "\t", 1),
    "CRLF": lambda note: note.replace("\n", "\r\n"),
    "junk after the signatures": lambda note: note + "junk\n",
    "an empty line at the end": lambda note: note + "\n",
    "65 signatures": lambda note: note + "\u2014 w AAAAAAAA\n" * 64,
    "a signature of no bytes": lambda note: note + "\u2014 w AAAAAA==\n",
    "another store": lambda note: note.replace(STORE_ID, A),
    "a lower size": lambda note: note.replace("\n2\n", "\n1\n"),
    "a signature bit": lambda note: note[:-20] + ("A" if note[-20] != "A" else "B") + note[-19:],
    "not UTF-8": lambda note: note + "\udcff",
}


@pytest.mark.parametrize("name", NOTE_EDITS)
def test_a_note_that_is_edited_is_refused(home: Home, name: str) -> None:
    assert home.note is not None
    home.note = NOTE_EDITS[name](home.note.decode()).encode(errors="surrogateescape")
    report = home.verify()
    assert (place(report), report["exit"], report["level"]) == ((STORE_ID, None, "signature"), 2, "A1")
    kept = (home.root / "heads" / "ledger.note").read_bytes()
    home.seal()
    report = home.verify(remembered=kept)
    assert (place(report), report["authenticity"]) == ((STORE_ID, None, "signature"), "signed")


def test_a_signature_under_another_name_is_by_nobody_known(home: Home) -> None:
    assert home.note is not None
    home.note = home.note.replace(b"\xe2\x80\x94 tallystick/", b"\xe2\x80\x94 tallystock/")
    assert home.verify()["authenticity"] == "wrong key"


def test_a_note_of_just_1_mib_is_read() -> None:
    for size, rule in ((1 << 20, "signature"), ((1 << 20) + 1, "limit")):
        with pytest.raises(standalone.RuleError) as caught:
            standalone.parse_note(b"x" * size)
        assert caught.value.rule == rule


def test_a_signed_root_that_is_not_32_bytes_is_refused(home: Home) -> None:
    text = f"{ORIGIN}\n2\n{base64.b64encode(bytes(31)).decode()}\n"
    home.note = (text + "\n" + sign(KEY, text)).encode()
    assert place(home.verify()) == (STORE_ID, None, "signature")


def test_a_note_over_its_limit_is_tampering(home: Home) -> None:
    assert home.note is not None
    home.note += b"\xe2\x80\x94 w AAAAAAAA\n" * 70000
    report = home.verify()
    assert (place(report), report["exit"]) == ((STORE_ID, None, "limit"), 2)


def test_64_signatures_are_read_and_unknown_ones_ignored(home: Home) -> None:
    assert home.note is not None
    home.note += b"\xe2\x80\x94 witness AAAAAAAA\n" * 63
    assert home.verify()["exit"] == 0


def test_a_note_by_another_key_is_a_wrong_key(home: Home) -> None:
    home.seal(OTHER_KEY)
    report = home.verify()
    assert (place(report), report["exit"]) == ((STORE_ID, None, "signature"), 2)
    assert report["authenticity"] == report["sessions"][0]["authenticity"] == "wrong key"
    assert report["level"] == "A1"
    assert report["integrity"] == "signature"


def test_a_store_made_with_another_key_passes_only_until_a_key_is_pinned(home: Home) -> None:
    home.ledger.lines[0]["fields"]["meta"]["key"] = did_of(OTHER_KEY)
    rechain(home.ledger.lines)
    home.seal(OTHER_KEY)
    report = home.verify()
    assert report["exit"] == 0
    assert any("no key is pinned" in remark for remark in report["remarks"])
    report = home.verify(pinned=did_of(KEY))
    assert (report["exit"], report["authenticity"]) == (2, "wrong key")


def test_a_known_key_that_fails_refuses_the_note_though_another_signed(home: Home) -> None:
    home.tell("key_add", key=did_of(OTHER_KEY))
    text = home.head_text()
    both = sign(KEY, text) + sign(OTHER_KEY, text)
    home.note = (text + "\n" + both).encode()
    assert home.verify()["exit"] == 0
    home.note = (text + "\n" + sign(KEY, text) + sign(OTHER_KEY, text + "x", ORIGIN)).encode()
    assert place(home.verify()) == (STORE_ID, None, "signature")


def test_keys_are_added_and_retired_in_the_ledger(home: Home) -> None:
    home.tell("key_add", key=did_of(OTHER_KEY))
    home.tell("key_retire", key=did_of(KEY))
    home.seal(OTHER_KEY)
    assert home.verify()["exit"] == 0
    home.seal(KEY)
    assert home.verify()["authenticity"] == "wrong key"


def test_a_key_added_beyond_the_head_vouches_for_nothing(home: Home) -> None:
    home.seal(OTHER_KEY)
    home.tell("key_add", key=did_of(OTHER_KEY))
    assert home.verify()["authenticity"] == "wrong key"


def test_a_signature_of_another_note_does_not_pass(home: Home) -> None:
    old = home.seal()
    home.tell("import", agent="demo", session=A, offset=0, steps=1, skipped={})
    home.note = (home.head_text() + "\n").encode() + old.partition(b"\n\n")[2]
    assert place(home.verify()) == (STORE_ID, None, "signature")


def test_without_a_note_a_store_is_below_a2(home: Home) -> None:
    home.note = None
    report = home.verify()
    assert (report["exit"], report["valid"], report["level"]) == (3, True, "A1")
    assert (report["authenticity"], report["completeness"], report["unsealed"]) == ("unsigned", "truncated", 3)
    assert verify(home.root, require="A1")["exit"] == 0
    assert verify(home.root, require="sealed")["exit"] == 3


def test_without_a_note_heads_are_still_compared(home: Home) -> None:
    home.note = None
    home.sessions[A].lines.pop()
    assert place(home.verify()) == (A, 2, "cut")


def test_without_a_ledger_a_store_is_below_a2(home: Home) -> None:
    home.note = None
    (home.write() / "ledger.jsonl").unlink()
    report = verify(home.root)
    assert (report["exit"], report["authenticity"], report["level"]) == (3, "unsigned", "A1")


@pytest.mark.parametrize("pinned", [None, EXAMPLE_KEY])
def test_a_note_without_its_ledger_is_a_cut_ledger(home: Home, pinned: str | None) -> None:
    (home.write() / "ledger.jsonl").unlink()
    assert place(verify(home.root, pinned=pinned)) == (STORE_ID, 0, "cut")


def test_a_ledger_shorter_than_its_note_is_cut(home: Home) -> None:
    home.ledger.lines.pop()
    report = home.verify()
    assert (place(report), report["exit"]) == ((STORE_ID, 1, "cut"), 2)
    assert (report["completeness"], report["authenticity"], report["level"]) == ("cut", "unsigned", "A1")


def test_a_ledger_that_is_rewritten_under_its_note_has_another_head(home: Home) -> None:
    home.ledger.lines[0]["fields"]["meta"]["recorded"] = "2026-01-02T03:04:05.000001Z"
    rechain(home.ledger.lines)
    report = home.verify()
    assert place(report) == (STORE_ID, 1, "head")
    assert (report["completeness"], report["authenticity"], report["level"]) == ("truncated", "unsigned", "A1")


@pytest.mark.parametrize("n", [0, 1])
def test_a_ledger_entry_that_is_edited_is_found_where_it_is(home: Home, n: int) -> None:
    home.ledger.lines[n]["fields"]["meta"]["recorded"] = "2026-01-02T03:04:05.000001Z"
    report = home.verify()
    assert place(report) == (STORE_ID, n, "fields")
    assert len([bad for bad in report["defects"] if bad["session"] == STORE_ID]) == 1
    assert (report["authenticity"], report["level"]) == ("unsigned", "A1")


def test_a_pinned_key_that_did_not_sign_comes_before_what_is_wrong_with_the_ledger(home: Home) -> None:
    home.ledger.lines[0]["fields"]["meta"]["recorded"] = "2026-01-02T03:04:05.000001Z"
    assert place(home.verify(pinned=did_of(OTHER_KEY))) == (STORE_ID, None, "signature")
    home.ledger.lines[0] = b"{}"
    assert place(home.verify()) == (None, 0, "member")  # entry 0 says what the store is called


def test_size_0_needs_the_root_of_nothing(home: Home) -> None:
    for root, expected in ((sha256().digest(), None), (b"\0" * 32, (STORE_ID, None, "head"))):
        text = f"{ORIGIN}\n0\n{base64.b64encode(root).decode()}\n"
        home.note = (text + "\n" + sign(KEY, text)).encode()
        report = home.verify(pinned=EXAMPLE_KEY)
        assert (report["first_bad"] and place(report)) == expected


def test_a_remembered_head_finds_a_store_put_back(home: Home) -> None:
    home.tell("import", agent="demo", session=A, offset=0, steps=1, skipped={})
    remembered = home.seal()
    assert home.verify(remembered=remembered)["exit"] == 0
    home.ledger.lines.pop()
    home.seal()
    assert home.verify()["exit"] == 0
    report = home.verify(remembered=remembered)
    assert (place(report), report["exit"], report["authenticity"]) == ((STORE_ID, 2, "cut"), 2, "signed")
    home.tell("import", agent="demo", session=A, offset=9, steps=1, skipped={})
    home.seal()
    assert place(home.verify(remembered=remembered)) == (STORE_ID, 2, "head")


def test_a_remembered_head_finds_a_note_removed_with_the_tail(home: Home) -> None:
    remembered = home.seal()
    home.note = None
    home.ledger.lines.pop()
    assert place(home.verify(remembered=remembered)) == (STORE_ID, 1, "cut")
    empty = home.root.parent / "empty"
    empty.mkdir()
    assert place(verify(empty, remembered=remembered)) == (STORE_ID, 0, "cut")


# ---- Section 9.2 and 14.3: sessions under the ledger ---------------------------------------------------------------


def test_a_session_that_is_gone_is_missing(home: Home) -> None:
    del home.sessions[A]
    report = home.verify()
    assert (place(report), report["exit"]) == ((A, None, "missing"), 2)
    assert (report["completeness"], report["steps"]) == ("missing", 0)


def test_a_journal_shorter_than_its_head_is_cut(home: Home) -> None:
    home.sessions[A].lines.pop()
    report = home.verify()
    assert (place(report), report["completeness"], report["steps"]) == ((A, 2, "cut"), "cut", 2)


def test_a_journal_that_is_edited_and_cut_reports_the_edit(home: Home) -> None:
    home.sessions[A].lines.pop()
    home.sessions[A].lines[1]["fields"]["content.text"] = "x"
    report = home.verify()
    assert (place(report), report["completeness"]) == ((A, 1, "fields"), "cut")


def test_entries_beyond_the_last_head_are_counted(home: Home) -> None:
    chain = home.session(B, steps=4, closed=False)
    home.head(B, 3)
    home.seal()
    report = home.verify()
    assert (report["exit"], report["unsealed"], report["completeness"]) == (0, 2, "truncated")
    chain.add(END)
    assert home.verify()["completeness"] == "truncated"  # its end is not under a head
    home.head(B)
    home.seal()
    assert home.verify()["completeness"] == "sealed"


def test_a_store_without_sessions_is_sealed(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.seal()
    report = home.verify(require="sealed")
    assert (report["exit"], report["completeness"], report["authenticity"]) == (0, "sealed", "signed")


def test_sessions_without_a_head_make_a_store_partly_signed(home: Home) -> None:
    home.session(B)
    report = home.verify()
    assert (report["exit"], report["authenticity"], report["level"]) == (0, "partly signed", "A2")
    assert [row["authenticity"] for row in report["sessions"]] == ["signed", "unsigned"]


def test_the_unsealed_tail_of_the_ledger_justifies_nothing(home: Home) -> None:
    home.session(B)
    home.head(B)
    report = home.verify()
    assert (report["authenticity"], report["unsealed"]) == ("partly signed", 3)
    assert not any("not sealed yet" in remark for remark in report["remarks"])
    changes: list[Callable[[Lines], Json]] = [values(content_text="x"), lambda lines: lines.pop()]
    for change in changes:
        change(home.sessions[B].lines)
        report = home.verify()
        assert report["exit"] == 0
        assert f"{B}: differs from a head that is not sealed yet" in report["remarks"]
    home.path(B).unlink()
    del home.sessions[B]
    report = home.verify()
    assert report["exit"] == 0
    assert f"{B}: an unsealed head names it, and it is not there" in report["remarks"]


def test_a_head_that_falls_is_a_defect_of_the_ledger(home: Home) -> None:
    home.head(A, 2)
    home.seal()
    report = home.verify()
    assert (place(report), report["exit"]) == ((STORE_ID, 2, "head"), 2)


def test_the_same_head_twice_is_sound_unless_they_differ(home: Home) -> None:
    home.head(A)
    home.seal()
    assert home.verify(require="sealed")["exit"] == 0
    home.tell("session_head", session=A, size=3, root=HASH, closed=False)
    home.seal()
    assert place(home.verify()) == (A, 2, "head")


def test_a_smaller_head_that_differs_is_reported_at_its_own_size(home: Home) -> None:
    home.ledger.lines.pop()
    home.tell("session_head", session=A, size=2, root=HASH, closed=False)
    home.head(A)
    home.seal()
    assert place(home.verify()) == (A, 1, "head")


@pytest.mark.parametrize(
    ("kind", "members"),
    [
        ("session_head", {"session": A, "size": -1, "root": HASH}),
        ("session_head", {"session": "a", "size": 1, "root": HASH}),
        ("session_head", {"session": A, "size": 1}),
        ("erasure", {"session": A, "n": 1, "entry": HASH, "names": ["text"]}),
        ("retention", {"rule": "r1"}),
        ("retention", {"rule": "r1", "action": "drop_content", "session": A, "from": 0, "to": 1}),
        ("retention", {"rule": "r1", "action": "drop_session", "session": A}),
        ("key_add", {"key": "ssh-ed25519"}),
    ],
)
def test_a_ledger_entry_that_lacks_its_members_is_a_defect(home: Home, kind: str, members: dict[str, Json]) -> None:
    home.tell(kind, **members)
    home.seal()
    assert place(home.verify()) == (STORE_ID, 2, "class")


def test_a_retention_that_is_not_known_releases_nothing(home: Home) -> None:
    home.tell("retention", rule="r1", action="drop_later")
    home.seal()
    assert home.verify()["exit"] == 0


def test_a_withheld_value_in_the_ledger_is_a_defect(home: Home) -> None:
    source = {"path": "x", "digest": HASH}
    home.ledger.add({"type": "import", "recorded": RECORDED}, local_source=source)
    home.seal()
    home.ledger.lines[2] = withhold(home.ledger.lines[2], "local.source")
    assert place(home.verify()) == (STORE_ID, 2, "withheld")


def test_the_ledgers_defect_comes_first_and_sessions_follow_by_name(home: Home) -> None:
    for sid in (C, B):
        home.session(sid).lines[1]["fields"]["content.text"] = "x"
    home.ledger.lines[1]["entry"]["prev"] = HASH
    report = home.verify()
    found = [(bad["session"], bad["n"], bad["rule"]) for bad in report["defects"]]
    assert found == [(STORE_ID, 1, "prev"), (B, 1, "fields"), (C, 1, "fields")]
    assert [row["session"] for row in report["sessions"]] == [A, B, C]


def test_tampering_outranks_a_limit(home: Home) -> None:
    home.session(B).lines[1]["fields"]["content.text"] = "x"
    home.sessions[A].lines[1] = b"[" * 65
    report = home.verify()
    assert (place(report), report["exit"]) == ((A, 1, "limit"), 2)


# ---- Section 5: parents in other sessions --------------------------------------------------------------------------


def spawn(home: Home, parent: str) -> None:
    child = home.sessions[B] = Chain(B)
    child.add(START | {"kind": "child"}, parents=[parent])


def test_a_parent_in_another_session_is_looked_up_there(home: Home) -> None:
    spawn(home, f"{A}#{home.sessions[A].hash(1)}")
    assert home.verify()["exit"] == 0
    alone = verify(home.path(B))
    assert alone["exit"] == 0
    assert "1 parents in other sessions are unresolved" in alone["remarks"]


@pytest.mark.parametrize("parent", [f"{A}#{HASH}", f"{C}#{HASH}", f"{STORE_ID}#{HASH}"])
def test_a_parent_that_no_other_session_has_is_a_defect(home: Home, parent: str) -> None:
    spawn(home, parent)
    assert place(home.verify()) == (B, 0, "parent")


@pytest.mark.parametrize("n", [1, 2])
def test_a_parent_is_recognised_in_a_journal_that_is_broken_before_it(home: Home, n: int) -> None:
    spawn(home, f"{A}#{home.sessions[A].hash(n)}")
    home.sessions[A].lines[1]["fields"]["content.text"] = "x"
    report = home.verify()
    assert [(bad["session"], bad["n"], bad["rule"]) for bad in report["defects"]] == [(A, 1, "fields")]


@pytest.mark.parametrize("line", [b"x", b"[" * 65, b"\xff", b"[]", b"{}", b" " * (1 << 21)])
def test_a_parent_that_is_illegible_is_a_defect_of_its_child_too(home: Home, line: bytes) -> None:
    spawn(home, f"{A}#{home.sessions[A].hash(1)}")
    home.sessions[A].lines[1] = line
    found = [(bad["session"], bad["n"]) for bad in home.verify()["defects"]]
    assert found == [(A, 1), (B, 0)]


def test_a_parent_in_a_session_that_is_cut_or_missing_is_a_defect(home: Home) -> None:
    spawn(home, f"{A}#{home.sessions[A].hash(2)}")
    home.sessions[A].lines.pop()
    report = home.verify()
    assert [(bad["session"], bad["rule"]) for bad in report["defects"]] == [(A, "cut"), (B, "parent")]
    home.path(A).unlink()
    report = verify(home.root)
    assert [(bad["session"], bad["rule"]) for bad in report["defects"]] == [(A, "missing"), (B, "parent")]


def test_a_closed_session_with_a_lost_parent_is_not_sealed(home: Home) -> None:
    spawn(home, f"{A}#{HASH}")
    home.sessions[B].add(END)
    home.head(B)
    home.seal()
    rows = {row["session"]: row["completeness"] for row in home.verify()["sessions"]}
    assert rows == {A: "sealed", B: "truncated"}


def test_a_parent_in_a_dropped_session_is_accepted(home: Home) -> None:
    spawn(home, f"{A}#{home.sessions[A].hash(1)}")
    home.head(B)
    drop = {"session": A, "size": 3, "root": root_of(home.sessions[A].lines)}
    home.tell("retention", rule="r1", action="drop_session", **drop)
    home.seal()
    del home.sessions[A]
    report = home.verify()
    assert (report["exit"], report["authenticity"]) == (0, "signed")
    assert [row["completeness"] for row in report["sessions"]] == ["dropped", "truncated"]


# ---- Section 12: erasure and retention -----------------------------------------------------------------------------


def erase(home: Home, entry: str = "", name: str = "content.text") -> None:
    home.tell("erasure", session=A, n=1, entry=entry or home.sessions[A].hash(1), names=[name], basis="request")
    home.seal()


def test_an_erased_value_is_withheld_with_leave(home: Home) -> None:
    erase(home)
    home.sessions[A].lines[1] = withhold(home.sessions[A].lines[1], "content.text")
    report = home.verify(require="sealed")
    assert report["exit"] == 0
    assert report["disclosure"] == {"withheld": 1, "erased": 1, "absent_blobs": 0}


def test_an_erasure_that_is_not_finished_is_a_remark(home: Home) -> None:
    erase(home)
    report = home.verify()
    assert (report["exit"], report["disclosure"]["erased"]) == (0, 0)
    assert any("not finished" in remark for remark in report["remarks"])


def test_an_erased_blob_may_be_gone_before_its_line_is_rewritten(blob_home: Home) -> None:
    line = blob_home.sessions[B].lines[1]
    names = ["content.output"]
    blob_home.tell("erasure", session=B, n=1, entry=hash_of(line), names=names, basis="request")
    blob_home.seal()
    blob_home.write()
    blob_home.blob(line["blobs"]["content.output"]["commitment"]).unlink()
    report = verify(blob_home.root)
    assert (report["exit"], report["disclosure"]["absent_blobs"]) == (0, 1)


def test_a_blob_left_behind_by_an_erasure_is_a_remark(blob_home: Home) -> None:
    line = blob_home.sessions[B].lines[1]
    blob_home.tell("erasure", session=B, n=1, entry=hash_of(line), names=["content.output"], basis="request")
    blob_home.seal()
    blob_home.sessions[B].lines[1] = withhold(line, "content.output")
    report = blob_home.verify()
    assert report["disclosure"] == {"withheld": 1, "erased": 1, "absent_blobs": 0}
    assert any("not finished" in remark for remark in report["remarks"])


@pytest.mark.parametrize(("entry", "name"), [(HASH, "content.text"), ("", "content.other")])
def test_an_erasure_of_something_else_gives_no_leave(home: Home, entry: str, name: str) -> None:
    erase(home, entry, name)
    home.sessions[A].lines[1] = withhold(home.sessions[A].lines[1], "content.text")
    assert place(home.verify()) == (A, 1, "withheld")


def test_an_erasure_that_is_not_sealed_gives_no_leave(home: Home) -> None:
    note = home.seal()
    erase(home)
    home.sessions[A].lines[1] = withhold(home.sessions[A].lines[1], "content.text")
    home.note = note
    assert place(home.verify()) == (A, 1, "withheld")


@pytest.mark.parametrize(
    ("first", "last", "name", "sound"),
    [
        (0, 1, "content.text", True),
        (1, 5, "content.text", True),
        (2, 5, "content.text", False),
        (0, 0, "content.text", False),
        (0, 5, "content.args", False),
    ],
)
def test_retention_may_drop_the_content_it_names(home: Home, first: int, last: int, name: str, sound: bool) -> None:
    span = {"session": A, "from": first, "to": last, "names": [name]}
    home.tell("retention", rule="r1", action="drop_content", **span)
    home.seal()
    home.sessions[A].lines[1] = withhold(home.sessions[A].lines[1], "content.text")
    report = home.verify()
    assert report["exit"] == (0 if sound else 2)
    assert report["disclosure"] == {"withheld": int(sound), "erased": 0, "absent_blobs": 0}


def test_a_drop_that_is_not_sealed_leaves_the_session_missing(home: Home) -> None:
    note = home.note
    root = root_of(home.sessions[A].lines)
    home.tell("retention", rule="r1", action="drop_session", session=A, size=3, root=root)
    del home.sessions[A]
    home.note = note
    assert place(home.verify()) == (A, None, "missing")
    home.seal()
    report = home.verify(require="sealed")
    assert (report["exit"], report["completeness"], report["steps"]) == (0, "dropped", 0)


# ---- Section 10 and lone files -------------------------------------------------------------------------------------


def forms(home: Home) -> dict[str, Lines]:
    """One session at each redaction level; its first entry holds a local value."""
    chain = Chain(C)
    chain.add(START, personal_cwd="/home/dev", local_source="x")
    chain.add(USER, content_text="hello")
    chain.add(END)
    whole = chain.lines
    opaque = [{"entry": line["entry"], "withheld": commitments_of(line)} for line in whole]
    return {
        "store": whole,
        "none": [withhold(whole[0], "local.source"), *whole[1:]],
        "content": [
            withhold(whole[0], "local.source", "personal.cwd"),
            withhold(whole[1], "content.text"),
            whole[2],
        ],
        "opaque": opaque,
        "full": [{"entry": line["entry"]} for line in whole],
    }


@pytest.mark.parametrize("level", ["store", "none", "content", "opaque", "full"])
def test_a_lone_file_may_have_any_form(home: Home, tmp_path: Path, level: str) -> None:
    path = tmp_path / f"{C}.jsonl"
    path.write_bytes(dump(forms(home)[level]))
    report = verify(path)
    assert (report["exit"], report["level"], report["authenticity"]) == (0, "A1", "unsigned")
    assert (report["completeness"], report["steps"], report["unsealed"]) == ("truncated", 3, 3)
    assert verify(path, require="A2")["exit"] == verify(path, require="sealed")["exit"] == 3


def test_a_lone_file_may_mix_the_forms(home: Home, tmp_path: Path) -> None:
    levels = forms(home)
    path = tmp_path / f"{C}.jsonl"
    path.write_bytes(dump([levels["content"][0], levels["full"][1], levels["store"][2]]))
    assert verify(path)["exit"] == 0


def test_a_lone_file_whose_first_meta_is_text_is_refused(tmp_path: Path) -> None:
    chain = Chain(C)
    chain.add("session_start")
    (tmp_path / "x.jsonl").write_bytes(dump(chain.lines))
    assert place(verify(tmp_path / "x.jsonl")) == (C, 0, "class")


# The first line of each that shows more, or less, than the level says; None: all lines fit.
LEVELS = {
    "none": {"store": 0, "none": None, "content": None, "opaque": 0, "full": 0},
    "content": {"store": 0, "none": 0, "content": None, "opaque": 0, "full": 0},
    "full": {"store": 0, "none": 0, "content": 0, "opaque": 0, "full": None},
}


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("shown", ["store", "none", "content", "opaque", "full"])
def test_a_line_that_does_not_fit_its_level_is_refused(home: Home, tmp_path: Path, level: str, shown: str) -> None:
    path = tmp_path / f"{C}.jsonl"
    path.write_bytes(dump(forms(home)[shown]))
    report = verify(path, redaction=level)
    bad = LEVELS[level][shown]
    assert (report["first_bad"] and place(report)) == (None if bad is None else (C, bad, "class"))


@pytest.mark.parametrize("level", ["store", "none", "content", "opaque", "full"])
def test_an_edited_parent_is_found_at_every_level(home: Home, tmp_path: Path, level: str) -> None:
    path = tmp_path / f"{C}.jsonl"
    lines = forms(home)[level]
    lines[1] = lines[1] | {"entry": lines[1]["entry"] | {"parents": [hash_of(lines[0])]}}
    path.write_bytes(dump(lines))
    assert place(verify(path)) == (C, 2, "prev")


def test_the_name_of_a_lone_file_counts_only_if_it_is_a_session(home: Home, tmp_path: Path) -> None:
    text = dump(forms(home)["store"])
    (tmp_path / "shared.jsonl").write_bytes(text)
    assert verify(tmp_path / "shared.jsonl")["sessions"][0]["session"] == C
    (tmp_path / f"{A}.jsonl").write_bytes(text)
    assert place(verify(tmp_path / f"{A}.jsonl")) == (A, 0, "sid")


def test_a_ledger_may_be_given_alone(home: Home) -> None:
    report = verify(home.write() / "ledger.jsonl", remembered=home.note)
    assert (report["exit"], report["steps"]) == (0, 2)


# ---- Section 9.4: Ed25519 and did:key ------------------------------------------------------------------------------


def low_order_encodings() -> set[bytes]:
    """All encodings of points of low order, found by multiplying by 8 and by the canonical form of each y."""
    found = set()
    for y in (0, 1, standalone.P - 1, standalone.Y_OF_ORDER_8, standalone.P - standalone.Y_OF_ORDER_8):
        for sign in (0, 1):
            for alias in (y, y + standalone.P):
                if alias < 2**255:
                    found.add((alias + sign * 2**255).to_bytes(32, "little"))
    return found


def test_the_14_low_order_encodings_are_known() -> None:
    encodings = low_order_encodings()
    assert len(encodings) == 14
    points = [standalone.decode_point(encoded) for encoded in encodings]
    canonical = [point for point in points if point is not None]
    assert len(canonical) == 8
    for point in canonical:
        assert standalone.encode_point(standalone.multiply_point(8, point)) == b"\1" + bytes(31)
    assert all(map(standalone.has_low_order, encodings))
    assert not standalone.has_low_order(KEY.public_key().public_bytes_raw())


def base_times(scalar: int) -> bytes:
    base = standalone.decode_point(bytes([0x58, *[0x66] * 31]))
    assert base is not None
    return standalone.encode_point(standalone.multiply_point(scalar, base))


@each("key", sorted(low_order_encodings()), ids=bytes.hex)
def test_low_order_keys_and_rs_verify_nothing(key: bytes) -> None:
    """Without the check some of these verify: under key A = 0, sB = R for any s; with R = 0, s = ha fits any key."""
    s = 0xC0FFEE
    assert not standalone.verifies(key, base_times(s) + s.to_bytes(32, "little"), b"message")
    public = base_times(s)
    h = int.from_bytes(sha512(key + public + b"message").digest(), "little") % standalone.L
    signature = key + (h * s % standalone.L).to_bytes(32, "little")
    assert not standalone.verifies(public, signature, b"message")


def test_what_is_no_point_is_no_key() -> None:
    not_on_the_curve = (2).to_bytes(32, "little")
    for encoded in (not_on_the_curve, b"\xff" * 32, (standalone.P + 3).to_bytes(32, "little")):
        assert standalone.decode_point(encoded) is None
        assert not standalone.verifies(encoded, KEY.sign(b"message"), b"message")


def test_a_low_order_key_cannot_be_pinned(home: Home) -> None:
    """`cryptography` would accept this signature for any message."""
    key = b"\1" + bytes(31)
    number, text = int.from_bytes(b"\xed\x01" + key, "big"), ""
    while number:
        number, rest = divmod(number, 58)
        text = BASE58[rest] + text
    did = "did:key:z" + text
    assert standalone.parse_did_key(did) == key
    key_id = sha256(ORIGIN.encode() + b"\n\x01" + key).digest()[:4]
    blob = base64.b64encode(key_id + key + bytes(32)).decode()
    home.note = (home.head_text() + f"\n\u2014 {ORIGIN} {blob}\n").encode()
    assert home.verify(pinned=did)["exit"] == 1


@given(st.binary(max_size=40), st.binary(min_size=32, max_size=32), st.integers(0, 511))
@settings(max_examples=examples(15))
def test_signatures_verify_as_made_and_not_with_one_bit_changed(message: bytes, secret: bytes, bit: int) -> None:
    key = Ed25519PrivateKey.from_private_bytes(secret)
    public, signature = key.public_key().public_bytes_raw(), key.sign(message)
    assert standalone.verifies(public, signature, message)
    assert not standalone.verifies(public, signature, message + b"x")
    changed = (int.from_bytes(signature, "little") ^ 1 << bit).to_bytes(64, "little")
    assert not standalone.verifies(public, changed, message)


def test_keys_of_mixed_order_are_judged_without_cofactor_like_everyone_does() -> None:
    """A = aB + T with T of order 8: sB = R + hA holds as it stands only for an h that 8 divides."""
    base = standalone.decode_point(base_times(1))
    torsion = standalone.decode_point(standalone.Y_OF_ORDER_8.to_bytes(32, "little"))
    assert base is not None
    assert torsion is not None
    a, verdicts = 0xC0FFEE, set()
    mixed = standalone.add_points(standalone.multiply_point(a, base), torsion)
    public = standalone.encode_point(mixed)
    for r in range(1, 25):
        encoded = standalone.encode_point(standalone.multiply_point(r, base))
        h = int.from_bytes(sha512(encoded + public + b"message").digest(), "little") % standalone.L
        signature = encoded + ((r + h * a) % standalone.L).to_bytes(32, "little")
        try:
            Ed25519PublicKey.from_public_bytes(public).verify(signature, b"message")
            accepted = True
        except InvalidSignature:
            accepted = False
        assert standalone.verifies(public, signature, b"message") == accepted
        verdicts.add(accepted)
    assert verdicts == {True, False}


def test_a_signature_with_s_beyond_the_order_is_refused() -> None:
    public, signature = KEY.public_key().public_bytes_raw(), KEY.sign(b"message")
    s = int.from_bytes(signature[32:], "little") + standalone.L
    assert not standalone.verifies(public, signature[:32] + s.to_bytes(32, "little"), b"message")
    assert not standalone.verifies(public, signature + b"\0", b"message")
    assert not standalone.verifies(public, signature[:63], b"message")


@given(st.binary(min_size=32, max_size=32))
@settings(max_examples=examples(50))
def test_a_did_key_is_read_back(secret: bytes) -> None:
    key = Ed25519PrivateKey.from_private_bytes(secret)
    assert standalone.parse_did_key(did_of(key)) == key.public_key().public_bytes_raw()


@pytest.mark.parametrize(
    "did",
    [
        "",
        "did:key:z",
        "did:key:z" + "z" * 47,
        "did:web:example.org",
        EXAMPLE_KEY[8:],
        EXAMPLE_KEY[:-1],
        EXAMPLE_KEY + "1",
        EXAMPLE_KEY.replace(":z", ":z1"),
        EXAMPLE_KEY.replace("6", "0", 1),
    ],
)
def test_what_is_no_ed25519_did_key_is_not_read(did: str) -> None:
    assert standalone.parse_did_key(did) is None


@given(st.lists(st.binary(min_size=32, max_size=32), max_size=40))
@settings(max_examples=examples(60))
def test_roots_are_those_of_the_recursive_definition(leaves: list[bytes]) -> None:
    roots = standalone.roots_at(b"".join(leaves), range(len(leaves) + 2))
    assert roots == {size: merkle(leaves[:size]) for size in range(len(leaves) + 1)}


# ---- The command ---------------------------------------------------------------------------------------------------


def run(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """The file itself, without site-packages: it needs nothing but the standard library."""
    command = [sys.executable, "-I", "-S", "-W", "error", standalone.__file__, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)


def test_the_file_runs_alone_and_prints_what_verify_returns(home: Home) -> None:
    root = home.write()
    done = run(root, "--json", "--pinned", EXAMPLE_KEY, "--require", "sealed")
    assert done.returncode == 0
    assert json.loads(done.stdout) == verify(root, pinned=EXAMPLE_KEY, require="sealed")


def exit_code(monkeypatch: pytest.MonkeyPatch, *arguments: str | Path) -> object:
    """What the program ends with, without starting Python."""
    monkeypatch.setattr(sys, "argv", ["standalone.py", *map(str, arguments)])
    try:
        return standalone.main()
    except SystemExit as ended:
        return ended.code


def test_the_exit_code_is_that_of_the_report(home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ends = functools.partial(exit_code, monkeypatch)
    root = home.write()
    kept = tmp_path / "kept.note"
    kept.write_bytes((root / "heads" / "ledger.note").read_bytes())
    assert ends(root, "--remembered", kept) == 0
    assert run(root / "ledger.jsonl", "--require", "A2").returncode == 3
    assert ends(root / "ledger.jsonl", "--redaction", "full") == 2
    (root / "heads" / "ledger.note").unlink()
    assert ends(root) == 3
    (root / "ledger.jsonl").write_bytes(b"")
    assert ends(root, "--remembered", kept) == 2
    (tmp_path / "x").write_bytes(b"hello")
    assert ends(tmp_path / "x") == 4
    assert ends(tmp_path / "none") == 1
    assert ends(root, "--remembered", tmp_path / "none") == 1
    assert ends(root, "--pinned", "did:key:zzz") == 1
    assert ends(root, "--require", "A9") == 64


def test_hostile_text_is_escaped(home: Home) -> None:
    report = home.verify()
    report["remarks"] = ["\x1b[2J\u202e\\ \u2028 \U0001f600 \udc80 fine"]
    text = standalone.as_text(report)
    assert text.isascii()
    assert text.replace("\n", "").isprintable()
    assert "\\x1b[2J\\u202e\\\\ \\u2028 \\U0001f600 \\udc80 fine" in text


@pytest.mark.parametrize(
    "wishes", [{"pinned": "x"}, {"require": "A3"}, {"redaction": "head"}], ids=lambda wishes: next(iter(wishes))
)
def test_a_wish_that_cannot_be_met_gives_no_verdict(home: Home, wishes: dict[str, str]) -> None:
    report = home.verify(**wishes)
    assert (report["exit"], report["valid"], report["integrity"]) == (1, False, "unknown")
    assert set(report) == set(verify(home.root))


def test_a_path_that_is_no_record_gives_no_verdict(tmp_path: Path) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    for path in (tmp_path, fifo, tmp_path / "none", "a\0b"):
        assert verify(path)["exit"] == 1


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_journal_that_may_not_be_read_gives_no_verdict(home: Home) -> None:
    home.write()
    home.path(A).chmod(0)
    assert verify(home.root)["exit"] == 1

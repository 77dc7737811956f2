"""Signed heads: written, read back, and refused in every other spelling."""

from __future__ import annotations

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.errors import FormatError
from tallystick.seal.keys import LOW_ORDER, SigningKey, key_id
from tallystick.seal.merkle import EMPTY_ROOT
from tallystick.seal.note import note_text, parse_note, sign_note, verify_note
from tests.seal.sentences import refusal
from tests.support.cases import each

STORE = "f0" * 16
ROOT = bytes(range(32))
KEY, OTHER, THIRD = (SigningKey(bytes([number]) * 32) for number in (1, 2, 3))
NOTE = sign_note(STORE, 5, ROOT, [KEY])
NAME = f"tallystick/{STORE}"


def refused(note: bytes) -> str:
    return refusal(lambda: parse_note(note))


def test_a_head_reads_back_as_it_was_signed() -> None:
    note = parse_note(NOTE)
    assert (note.store_id, note.size, note.root) == (STORE, 5, ROOT)
    assert note.text == note_text(STORE, 5, ROOT) == f"{NAME}\n5\n{base64.b64encode(ROOT).decode()}\n".encode()
    (signature,) = note.signatures
    assert signature.name == NAME
    assert signature.key_id == key_id(NAME, KEY.public)
    assert signature.signature == KEY.sign(note.text)


def test_the_text_of_a_head_is_this() -> None:
    blob = base64.b64encode(key_id(NAME, KEY.public) + KEY.sign(note_text(STORE, 5, ROOT))).decode()
    assert NOTE.decode() == (
        f"tallystick/{STORE}\n5\nAAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=\n\n— tallystick/{STORE} {blob}\n"
    )


@given(st.integers(0, 10**19 - 1), st.binary(min_size=32, max_size=32))
def test_every_size_and_root_read_back(size: int, root: bytes) -> None:
    note = parse_note(sign_note(STORE, size, root, [KEY]))
    assert (note.size, note.root) == (size, root)


def test_the_root_of_nothing_is_a_root() -> None:
    assert parse_note(sign_note(STORE, 0, EMPTY_ROOT, [KEY])).root == EMPTY_ROOT


def changed(old: bytes, new: bytes) -> bytes:
    assert NOTE.count(old) >= 1
    return NOTE.replace(old, new, 1)


SIGNATURE = NOTE.split(b"\n")[4]
BLOB = SIGNATURE.rsplit(b" ", 1)[1]


@each(
    "note",
    [
        b"",
        b"\n",
        NOTE[:-1],
        NOTE + b"\n",
        NOTE + b"junk\n",
        b"\n" + NOTE,
        NOTE.split(b"\n\n")[0] + b"\n",
        NOTE.split(b"\n\n")[0] + b"\n\n",
        changed(b"\n\n", b"\n"),
        changed(b"\n\n", b"\n\n\n"),
        changed(b"\n5\n", b"\n05\n"),
        changed(b"\n5\n", b"\n+5\n"),
        changed(b"\n5\n", b"\n-5\n"),
        changed(b"\n5\n", b"\n 5\n"),
        changed(b"\n5\n", b"\n5 \n"),
        changed(b"\n5\n", b"\n5.0\n"),
        changed(b"\n5\n", b"\n0x5\n"),
        changed(b"\n5\n", b"\n\n"),
        changed(b"\n5\n", b"\n" + b"1" * 20 + b"\n"),
        changed(b"\n5\n", "\n\u0665\n".encode()),
        changed(b"\n5\n", b"\n5\n5\n"),
        changed(b"\n5\n", b"\n"),
        changed(b"tallystick/", b"tallystock/"),
        changed(b"tallystick/", b""),
        changed(f"tallystick/{STORE}\n".encode(), f"tallystick/{STORE.upper()}\n".encode()),
        changed(f"tallystick/{STORE}\n".encode(), f"tallystick/{STORE[:-1]}\n".encode()),
        changed(f"tallystick/{STORE}\n".encode(), f"tallystick/{STORE}0\n".encode()),
        changed(f"tallystick/{STORE}\n".encode(), f" tallystick/{STORE}\n".encode()),
        changed(b"GBka", b"GBk"),
        changed(b"AAEC", b"AA-C"),
        changed(b"AAEC", b"AA C"),
        changed(b"Hh8=", b"Hh9="),
        changed(b"Hh8=\n", b"Hh8\n"),
        changed(b"Hh8=\n", b"Hh8=AAAA\n"),
        changed(b"AAEC", b""),
        changed("— ".encode(), b"- "),
        changed("— ".encode(), "—".encode()),
        changed("— ".encode(), " — ".encode()),
        changed("— ".encode(), "—  ".encode()),
        changed(f"— {NAME} ".encode(), "—  ".encode()),
        changed(f"— {NAME} ".encode(), f"— {NAME}+x ".encode()),
        changed(f"— {NAME} ".encode(), f"— {NAME}\u00a0x ".encode()),
        changed(f"— {NAME} ".encode(), f"— {NAME} x ".encode()),
        changed(BLOB, BLOB + b" "),
        changed(BLOB, BLOB[:-1]),
        changed(BLOB, b"!" + BLOB),
        changed(BLOB, b"AAAAAA=="),
        changed(BLOB, b""),
        changed(BLOB, b"AB=="),
        NOTE.replace(b"\n", b"\r\n"),
        changed(b"\n5\n", b"\n5\t\n"),
        changed(b"tallystick", b"tally\x00stick"),
        changed(b"tallystick", b"tally\x7fstick"),
        changed(b"tallystick", b"tally\x1fstick"),
        changed(b"tallystick", b"tally\x0bstick"),
        b"\xff" + NOTE,
        NOTE + b"\xff\n",
        "\ufeff".encode() + NOTE,
    ],
    ids=lambda note: repr(note[:90]),
)
def test_another_spelling_of_a_head_is_refused(note: bytes) -> None:
    assert note != NOTE
    assert refused(note) == "signature"


@each("code", [*range(10), *range(11, 32), 127])
def test_no_control_character_may_stand_anywhere(code: int) -> None:
    line = f"— other{chr(code)}name {BLOB.decode()}\n".encode()
    assert refused(NOTE + line) == "signature"


def test_a_signature_of_one_byte_is_read_and_left_to_whoever_knows_its_key() -> None:
    note = parse_note(changed(BLOB, b"AAAAAAE="))
    assert (note.signatures[0].key_id, note.signatures[0].signature) == (bytes(4), b"\x01")


def test_64_signatures_are_read_and_65_are_not() -> None:
    assert len(parse_note(NOTE + (SIGNATURE + b"\n") * 63).signatures) == 64
    assert refused(NOTE + (SIGNATURE + b"\n") * 64) == "signature"


def test_a_head_of_1_mib_is_read_and_a_longer_one_is_not() -> None:
    start = NOTE + "— other ".encode()
    room = 1_048_576 - len(start) - 1
    room -= room % 4
    name = b"x" * ((1_048_576 - len(start) - 1) % 4)
    whole = NOTE + "— other".encode() + name + b" " + b"A" * room + b"\n"
    assert len(whole) == 1_048_576
    assert len(parse_note(whole).signatures) == 2
    assert refused(whole[:-1] + b"A\n") == "limit"
    assert refused(b"\xff" * 1_048_577) == "limit"


# Who signed ----------------------------------------------------------------------------------------------------------


def verified(note: bytes, *keys: SigningKey) -> list[SigningKey]:
    found = verify_note(parse_note(note), [key.public for key in keys])
    return [key for key in (KEY, OTHER, THIRD) if key.public in found]


def test_the_known_keys_that_signed_are_named() -> None:
    both = sign_note(STORE, 5, ROOT, [KEY, OTHER])
    assert verified(NOTE, KEY) == [KEY]
    assert verified(NOTE, OTHER, KEY) == [KEY]
    assert verified(both, KEY, OTHER, THIRD) == [KEY, OTHER]
    assert verified(both, OTHER) == [OTHER]


def test_unknown_keys_are_ignored() -> None:
    assert verified(NOTE, OTHER) == []
    assert verified(NOTE) == []
    junk = f"— elsewhere {base64.b64encode(key_id(NAME, KEY.public) + bytes(64)).decode()}\n".encode()
    assert verified(NOTE + junk, KEY) == [KEY]


def spoiled(signature: bytes) -> bytes:
    return f"— {NAME} {base64.b64encode(key_id(NAME, KEY.public) + signature).decode()}\n".encode()


@each(
    "signature",
    [bytes(64), b"\x01", KEY.sign(b"another text"), OTHER.sign(note_text(STORE, 5, ROOT)), KEY.sign(NOTE)[:63]],
    ids=["zeros", "one byte", "of another text", "of another key", "63 bytes"],
)
@each("place", ["alone", "before", "after"])
def test_a_known_key_whose_signature_fails_refuses_the_head(signature: bytes, place: str) -> None:
    text = note_text(STORE, 5, ROOT) + b"\n"
    lines = {"alone": [spoiled(signature)], "before": [spoiled(signature), SIGNATURE + b"\n"]}
    note = text + b"".join(lines.get(place, [SIGNATURE + b"\n", spoiled(signature)]))
    assert refusal(lambda: verified(note, KEY)) == "signature"
    assert verified(note, OTHER) == []


@each("encoding", sorted(LOW_ORDER), ids=lambda encoding: encoding.hex()[-8:])
def test_a_low_order_r_or_key_refuses_the_head(encoding: bytes) -> None:
    text = note_text(STORE, 5, ROOT) + b"\n"
    with pytest.raises(FormatError):
        verified(text + spoiled(encoding + bytes(32)), KEY)
    weak = f"— {NAME} {base64.b64encode(key_id(NAME, encoding) + encoding + bytes(32)).decode()}\n".encode()
    for note in (text + weak, NOTE + weak):
        with pytest.raises(FormatError) as found:
            verify_note(parse_note(note), [KEY.public, encoding])
        assert found.value.rule == "signature"
    assert verified(NOTE + weak, KEY) == [KEY]


def test_the_key_name_must_be_the_origin() -> None:
    other = sign_note("ab" * 16, 5, ROOT, [KEY]).split(b"\n")[4]
    assert verified(changed(SIGNATURE, other), KEY) == []

"""Ed25519 keys: the vectors of RFC 8032, names, and the encodings on which libraries differ."""

from __future__ import annotations

from hashlib import sha256, sha512

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from hypothesis import given
from hypothesis import strategies as st

from tallystick.seal.keys import (
    LOW_ORDER,
    PublicKey,
    SigningKey,
    did_key,
    key_id,
    named_key,
    parse_did_key,
    public_key,
    verify_signature,
)
from tests.seal.sentences import refusal
from tests.support.cases import each, each_case

P = 2**255 - 19
L = 2**252 + 27742317777372353535851937790883648493
KEY = SigningKey(bytes(range(32)))

# RFC 8032 7.1: secret, public, message, signature.


def low_order_by_computing() -> set[bytes]:
    """All encodings whose y, reduced, is that of a point whose order divides 8."""
    y8 = 2707385501144840649318225287225658788936804267575313519463743609750303402022
    found = set()
    for y in (0, 1, P - 1, y8, P - y8):
        for spelled in (y, y + P):
            if spelled < 2**255:
                found |= {(spelled + sign * 2**255).to_bytes(32, "little") for sign in (0, 1)}
    return found


def test_the_14_low_order_encodings_are_all_there_are() -> None:
    assert len(LOW_ORDER) == 14
    assert low_order_by_computing() == LOW_ORDER


@each("encoding", sorted(LOW_ORDER), ids=lambda encoding: encoding.hex()[:8] + encoding.hex()[-2:])
def test_a_low_order_encoding_is_refused_as_key_and_as_r(encoding: bytes) -> None:
    assert refusal(lambda: public_key(encoding)) == "signature"
    name = did_key(PublicKey(encoding))
    assert named_key(name) == encoding
    assert refusal(lambda: parse_did_key(name)) == "signature"
    signature = encoding + bytes(32)
    forgeries = [number for number in range(64) if _library_accepts(encoding, signature, b"%d" % number)]
    assert not any(verify_signature(encoding, signature, b"%d" % number) for number in range(64))
    assert forgeries or encoding != bytes([1]) + bytes(31)  # the library alone would have taken this one
    real = KEY.sign(b"message")
    assert not verify_signature(KEY.public, encoding + real[32:], b"message")
    assert not verify_signature(encoding, real, b"message")


def _library_accepts(key: bytes, signature: bytes, message: bytes) -> bool:
    try:
        Ed25519PublicKey.from_public_bytes(key).verify(signature, message)
    except Exception:
        return False
    return True


@each_case("secret, public, message, signature")
def test_the_vectors_of_rfc_8032_come_out(secret: str, public: str, message: str, signature: str) -> None:
    key = SigningKey(bytes.fromhex(secret))
    assert key.public.hex() == public
    assert key.sign(bytes.fromhex(message)).hex() == signature
    assert verify_signature(public_key(bytes.fromhex(public)), bytes.fromhex(signature), bytes.fromhex(message))
    assert not verify_signature(key.public, bytes.fromhex(signature), bytes.fromhex(message) + b"\x00")


@given(st.integers(0, 511))
def test_a_changed_bit_of_a_signature_is_found(bit: int) -> None:
    signature = bytearray(KEY.sign(b"message"))
    signature[bit // 8] ^= 1 << bit % 8
    assert not verify_signature(KEY.public, bytes(signature), b"message")


def scalar(secret: bytes) -> int:
    """The number by which a secret multiplies the base point (RFC 8032 5.1.5)."""
    number = int.from_bytes(sha512(secret).digest()[:32], "little")
    return number & ((1 << 254) - 8) | 1 << 254


def test_what_the_library_takes_under_the_neutral_key_is_refused() -> None:
    neutral = bytes([1]) + bytes(31)
    signature = KEY.public + (scalar(bytes(range(32))) % L).to_bytes(32, "little")  # R = sB, whatever the message
    assert _library_accepts(neutral, signature, b"any message")
    assert not verify_signature(neutral, signature, b"any message")


def test_what_the_library_takes_with_the_neutral_point_for_r_is_refused() -> None:
    neutral = bytes([1]) + bytes(31)
    digest = int.from_bytes(sha512(neutral + KEY.public + b"message").digest(), "little")
    signature = neutral + (digest * scalar(bytes(range(32))) % L).to_bytes(32, "little")  # sB = hA, so R is nothing
    assert _library_accepts(KEY.public, signature, b"message")
    assert not verify_signature(KEY.public, signature, b"message")


def test_a_signature_has_64_bytes() -> None:
    signature = KEY.sign(b"message")
    assert verify_signature(KEY.public, signature, b"message")
    for other in (b"", signature[:63], signature + b"\x00", signature[:32]):
        assert not verify_signature(KEY.public, other, b"message")


def test_the_other_face_of_a_signature_is_refused() -> None:
    signature = KEY.sign(b"message")
    s = int.from_bytes(signature[32:], "little") + L
    assert not verify_signature(KEY.public, signature[:32] + s.to_bytes(32, "little"), b"message")


@each("offset", range(19))
@each("sign", [0, 1])
def test_a_key_whose_y_is_not_reduced_is_refused(offset: int, sign: int) -> None:
    raw = (P + offset + sign * 2**255).to_bytes(32, "little")
    assert refusal(lambda: public_key(raw)) == "signature"
    assert not verify_signature(raw, KEY.sign(b"message"), b"message")


def test_the_largest_reduced_y_is_no_matter_of_spelling() -> None:
    raw = (P - 2).to_bytes(32, "little")
    assert public_key(raw) == raw
    assert not verify_signature(raw, KEY.sign(b"message"), b"message")


def test_a_forgery_under_another_spelling_of_a_key_is_refused() -> None:
    """A key of order 2 spelled with y + p verifies in the library what it verifies when spelled properly."""
    spelled = [raw for raw in LOW_ORDER if int.from_bytes(raw, "little") % 2**255 >= P]
    assert spelled
    assert not any(
        verify_signature(raw, bytes([1]) + bytes(63), b"%d" % number) for raw in spelled for number in range(8)
    )


@each("length", [0, 31, 33, 64])
def test_a_key_has_32_bytes(length: int) -> None:
    assert refusal(lambda: public_key(b"\x05" * length)) == "signature"


def test_the_name_of_a_key_is_its_did() -> None:
    # The first example of the did:key method for Ed25519.
    name = "did:key:z6MkiTBz1ymuepAQ4HEHYSF1H8quG5GLVVQR3djdX3mDooWp"
    assert did_key(parse_did_key(name)) == name
    assert parse_did_key(name).hex() == "3b6a27bcceb6a42d62a3a8d02a6f0d73653215771de243a63ac048a18b59da29"
    assert len(name) == 56


@given(st.binary(min_size=32, max_size=32))
def test_a_key_comes_back_from_its_name(raw: bytes) -> None:
    name = did_key(PublicKey(raw))
    assert name.startswith("did:key:z6Mk")
    assert len(name) == 56
    assert named_key(name) == raw


GOOD = "did:key:z6MkiTBz1ymuepAQ4HEHYSF1H8quG5GLVVQR3djdX3mDooWp"


@each(
    "name",
    [
        "",
        GOOD[:-1],
        GOOD + "p",
        GOOD.replace("did:key", "did:web"),
        GOOD.replace("z6Mk", "z6Lk"),
        GOOD.replace("z6Mk", "Z6Mk"),
        GOOD[:-1] + "0",
        GOOD[:-1] + "l",
        GOOD[:-1] + "I",
        GOOD[:-1] + "\n",
        GOOD[:-1] + "ü",
        "did:key:z6Mk" + "z" * 44,
        "did:key:z" + "z" * 47,
        " " + GOOD[:-1],
    ],
)
def test_what_names_no_ed25519_key_is_refused(name: str) -> None:
    assert named_key(name) is None
    assert refusal(lambda: parse_did_key(name)) == "signature"


def test_the_key_id_is_that_of_the_signed_note() -> None:
    name = "tallystick/" + "ab" * 16
    assert key_id(name, KEY.public) == sha256(name.encode() + b"\x0a\x01" + KEY.public).digest()[:4]

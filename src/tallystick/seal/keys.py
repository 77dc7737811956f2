"""Ed25519 keys: signing, verifying, and their did:key names.

Owns the refusal of low-order points, which libraries differ on (docs/decisions/0006). Must not know where keys are kept.
Sources: RFC 8032; the did:key method (multicodec 0xed, base58btc); C2SP signed-note for key ids.
"""

from __future__ import annotations

from hashlib import sha256
from typing import NewType

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from tallystick.errors import FormatError

PublicKey = NewType("PublicKey", bytes)
"""32 bytes: an Ed25519 public key, canonically encoded and no low-order point."""

LOW_ORDER = frozenset(
    bytes.fromhex(encoding)
    for encoding in (
        # The eight points of order 1, 2, 4 and 8, then the encodings that alias them: y not reduced modulo p, and x = 0
        # with its sign bit set.
        "0100000000000000000000000000000000000000000000000000000000000000",
        "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        "0000000000000000000000000000000000000000000000000000000000000000",
        "0000000000000000000000000000000000000000000000000000000000000080",
        "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
        "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc85",
        "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
        "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa",
        "0100000000000000000000000000000000000000000000000000000000000080",
        "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
        "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
        "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
    )
)
"""The 14 encodings that are refused as a key and as R before any signature is checked."""

_PRIME = 2**255 - 19
_MULTICODEC = b"\xed\x01"
_BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
_DID_LENGTH = len("did:key:z") + 47


def public_key(raw: bytes) -> PublicKey:
    """Take 32 bytes as a public key.

    Raises:
        FormatError: another length, a low-order point, or an encoding that is not the one RFC 8032 gives a point.
    """
    if len(raw) != 32:
        raise FormatError(f"an Ed25519 key has 32 bytes, not {len(raw)}", rule="signature")
    if raw in LOW_ORDER:
        raise FormatError("a low-order Ed25519 key is refused: any message verifies under it", rule="signature")
    if not _is_reduced(raw):
        raise FormatError(
            "another spelling of an Ed25519 key is refused: its y is not below 2^255−19", rule="signature"
        )
    return PublicKey(raw)


def _is_reduced(point: bytes) -> bool:
    """Whether the y of an encoded point is below the field's prime, as RFC 8032 5.1.3 wants."""
    return int.from_bytes(point, "little") % 2**255 < _PRIME


def did_key(key: PublicKey) -> str:
    """The did:key of a public key: `did:key:z6Mk…`, 56 characters."""
    number = int.from_bytes(_MULTICODEC + key, "big")
    digits = ""
    while number:
        number, digit = divmod(number, 58)
        digits = _BASE58[digit] + digits
    return "did:key:z" + digits


def parse_did_key(text: str) -> PublicKey:
    """The public key that a did:key names.

    Raises:
        FormatError: no did:key of an Ed25519 key, another spelling of one, or a key that `public_key` refuses.
    """
    key = named_key(text)
    if key is None:
        raise FormatError(f"{text[:80]!r} is no did:key of an Ed25519 key", rule="signature")
    return public_key(key)


def named_key(text: str) -> bytes | None:
    """The 32 bytes that the did:key of an Ed25519 key names, fit for a key or not; None if it is no such did:key."""
    if len(text) != _DID_LENGTH or not text.startswith("did:key:z6Mk"):
        return None
    number = 0
    for character in text.removeprefix("did:key:z"):
        digit = _BASE58.find(character)
        if digit < 0:
            return None
        number = number * 58 + digit
    if number.bit_length() > 34 * 8:
        return None
    decoded = number.to_bytes(34, "big")
    if decoded.startswith(_MULTICODEC):
        return decoded[2:]
    return None


def key_id(name: str, key: bytes) -> bytes:
    """The 4 bytes that point a signed note's signature to its key (C2SP signed-note, Ed25519 is type 0x01)."""
    return sha256(name.encode() + b"\n\x01" + key).digest()[:4]


def verify_signature(key: bytes, signature: bytes, message: bytes) -> bool:
    """Whether `signature` (64 bytes) of `message` is by `key`. Low-order keys and R are refused first."""
    if len(signature) != 64 or signature[:32] in LOW_ORDER or key in LOW_ORDER or not _is_reduced(key):
        return False
    try:
        Ed25519PublicKey.from_public_bytes(key).verify(signature, message)
    except InvalidSignature:
        return False
    return True


class SigningKey:
    """A private Ed25519 key. Made from its 32 secret bytes; anyone who keeps them is not this module's business."""

    def __init__(self, secret: bytes) -> None:
        self._key = Ed25519PrivateKey.from_private_bytes(secret)
        self.public = public_key(self._key.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw))

    def sign(self, message: bytes) -> bytes:
        """The signature of `message`, 64 bytes."""
        return self._key.sign(message)

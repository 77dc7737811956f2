"""What is kept of a value, and in which forms it is found again."""

from __future__ import annotations

import base64
import bz2
import gzip
import io
import lzma
import zipfile
from collections.abc import Callable

from hypothesis import given
from hypothesis import strategies as st

from tallystick.scrubbing.fingerprints import MOST_PRINTS, digests_in, found_in, prints_of
from tests.support.cases import each

KEY = b"k" * 64
VALUE = b"sk-proj-k3J9sQ2vXwLm0pZr7TbY4cN8dF6gH1aE"
ARMOURED = b"-----BEGIN OPENSSH PRIVATE KEY-----\n%s\n-----END OPENSSH PRIVATE KEY-----\n"


def found(data: bytes, *values: bytes) -> bool:
    known = dict.fromkeys(digests_in(prints_of(values or (VALUE,), KEY)), "s:1")
    return bool(found_in(data, known, KEY)[0])


def zipped(data: bytes) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a", data)
    return packed.getvalue()


PACKED: list[Callable[[bytes], bytes]] = [gzip.compress, bz2.compress, lzma.compress, zipped]


@each("pack", PACKED)
def test_packed_text_is_looked_into_also_in_base64(pack: Callable[[bytes], bytes]) -> None:
    packed = pack(b"a: 1\nkey: " + VALUE)
    assert found(packed)
    assert found(b'{"data": "' + base64.b64encode(packed) + b'"}')
    assert found(base64.encodebytes(packed)), "with the line ends of base64(1)"


@given(st.binary(max_size=9), st.binary(max_size=9))
def test_base64_is_found_wherever_the_value_begins_in_it(before: bytes, after: bytes) -> None:
    assert found(b"x=" + base64.b64encode(before + VALUE + after))


@each("value", [b"hunter2X", b"", b"password", b"correct horse battery staple", b"0123456789012345", b"x" * 40])
def test_little_is_kept_of_what_is_short_and_nothing_of_words(value: bytes) -> None:
    assert len(prints_of([value], KEY)) <= 8
    assert not found(b"a correct horse battery staple, 0123456789012345, my password", value)


def test_a_short_value_is_found_as_a_whole_word() -> None:
    assert found(b"curl -u me:hunter2X http://a", b"hunter2X")
    assert not found(b"curl -u me:hunter2XY http://a", b"hunter2X")


def test_what_all_keys_of_a_kind_begin_with_is_not_kept() -> None:
    head = base64.b64encode(b"openssh-key-v1\0\0\0\0\4none\0\0\0\4none" + b"\0" * 60)
    one, other = (ARMOURED % (head + base64.b64encode(bytes(range(n, n + 120)))) for n in (1, 130))
    assert found(one, one)
    assert not found(other, one)
    token = b"eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9P"
    assert found(token, token)
    assert not found(token.partition(b".")[0] + b".eyJhIjoxfQ.AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA1", token)


def test_a_long_value_keeps_a_bounded_part_and_is_found() -> None:
    long = base64.b64encode(bytes(range(256)) * 40)
    prints = prints_of([long], KEY)
    assert len(prints) <= 8 * 600
    assert found(b"x" * 20_000 + long, long)
    assert len(prints_of([b"%06d" % n + VALUE[::-1] * 9 for n in range(100)], KEY)) <= 8 * MOST_PRINTS


def test_no_other_key_knows_it() -> None:
    known = dict.fromkeys(digests_in(prints_of([VALUE], KEY)), 1)
    assert not found_in(VALUE, known, b"other")[0]
    assert VALUE[:12] not in prints_of([VALUE], KEY)


@each(
    "sealed",
    [b"-----BEGIN PGP MESSAGE-----\n", b"Salted__abc", b"age-encryption.org/v1\n", b"\x1f\x8b\x08broken", b"PK\3\4x"],
)
def test_what_cannot_be_looked_into_is_told(sealed: bytes) -> None:
    known = dict.fromkeys(digests_in(prints_of([VALUE], KEY)), 1)
    assert found_in(sealed, known, KEY) == (frozenset(), False)


def test_work_is_bounded() -> None:
    known = dict.fromkeys(digests_in(prints_of([VALUE], KEY)), 1)
    assert found_in(b"a1" * 400_000, known, KEY) == (frozenset(), False)


@given(st.binary(max_size=300))
def test_any_bytes_can_be_looked_through(data: bytes) -> None:
    known = dict.fromkeys(digests_in(prints_of([VALUE], KEY)), 1)
    assert not found_in(data, known, KEY)[0]

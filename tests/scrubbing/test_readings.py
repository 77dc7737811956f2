"""What a text reads as, and the way back."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tallystick.scrubbing.readings import LITERALS, Reading
from tests.support.cases import each

SPELLED = {
    rb"p\u0061ss": b"pass",
    rb"p\x61\x73s": b"pass",
    b"%22a%22%3A": b'"a":',
    b"&quot;a&quot; &#39;b&#39; &amp;": b"\"a\" 'b' &",
    "pass\u200bword\uff1ax".encode(): b"password:x",
    b"password\x1b[0m=\x1b[32mx": b"password=x",
    b"P\0A\0S\0S\0=\0x\0": b"PASS=x",
    b"\0P\0A\0S\0S\0=\0x": b"PASS=x",
    b"a=bcd\\\nefg": b"a=bcdefg",
    b"a=3Dbcd=\nefg": b"a=3Dbcdefg",
}


@each("written", SPELLED)
def test_a_text_is_read_as_it_is_meant(written: bytes) -> None:
    assert Reading(written).data == SPELLED[written]


@each("written", SPELLED)
def test_what_is_read_has_a_place_in_the_text(written: bytes) -> None:
    reading = Reading(written)
    assert reading.span(0, len(reading.data))[0] == 0 or written[:1] == b"\0"
    for at in range(len(reading.data)):
        start, end = reading.span(at, at + 1)
        assert Reading(written[start:end]).data.strip(b"\0") == reading.data[at : at + 1] or end - start == 2


@given(st.lists(st.sampled_from(["a", "=", " ", "41", *LITERALS]), max_size=30).map("".join))
def test_places_go_forward_and_stay_in_the_text(text: str) -> None:
    data = text.encode()
    reading = Reading(data)
    spans = [reading.span(at, at + 1) for at in range(len(reading.data))]
    assert spans == sorted(spans)
    assert all(0 <= start < end <= len(data) for start, end in spans)


def test_variables_between_nul_bytes_stay_apart() -> None:
    assert Reading(b"HOME=/x\0TOKEN=y\0").data == b"HOME=/x\0TOKEN=y\0"


def test_what_is_far_from_a_spelling_is_not_near_it() -> None:
    reading = Reading(b"a" * 5000 + b"%41" + b"a" * 5000)
    assert reading.is_near(4990)
    assert not reading.is_near(0)
    assert not reading.is_near(9000)

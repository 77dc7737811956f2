"""Text in base64 and in hexadecimal digits inside of other text."""

from __future__ import annotations

import base64
import random

from hypothesis import given
from hypothesis import strategies as st

from tallystick.scrubbing.encodings import fragments, hex_fragments, hex_rewritten, hex_run_around, run_around
from tests.scrubbing.labelled_set import filled
from tests.scrubbing.scrubbing import scrubbed

TOKEN = filled("gh{}p_{alnum:36}", random.Random(3))


@given(
    st.binary(max_size=80), st.sampled_from(["password", "API_KEY", "sk-ant-", "-----BEGIN "]), st.binary(max_size=20)
)
def test_a_telltale_word_shows_in_base64_wherever_it_stands(before: bytes, word: str, after: bytes) -> None:
    encoded = base64.b64encode(before + word.encode() + after).decode()
    assert any(fragment in encoded for fragment in fragments())


@given(st.integers(0, 3000), st.integers(1, 3000), st.integers(0, 50))
def test_a_run_is_found_from_anywhere_in_it(before: int, size: int, after: int) -> None:
    data = b"-" * before + b"Q" * (size + 4) + b"-" * after
    for at in (before, before + size // 2, before + size):
        assert run_around(data, at, 0) == (before, before + size + 4)


def test_a_secret_in_hexadecimal_digits_is_replaced_inside_of_them() -> None:
    plain = f"the token is {TOKEN}\n"
    clean = scrubbed(f"xxd -r -p <<< {plain.encode().hex()} > file")
    inside = bytes.fromhex(clean.split()[4]).decode()
    assert inside == plain.replace(TOKEN, "‹secret:github-token›")


def test_a_run_of_digits_that_is_no_text_stays_as_it_is() -> None:
    assert hex_rewritten(b"ff" * 20, lambda text: b"") is None
    assert hex_rewritten(b"616", lambda text: b"") is None


def test_a_run_of_digits_is_found_from_anywhere_in_it() -> None:
    data = b"-- 0a1b2c3d --"
    assert [hex_run_around(data, at, 0) for at in (3, 6, 10)] == [(3, 11)] * 3


def test_a_word_in_utf_16_shows_in_base64_too() -> None:
    encoded = base64.b64encode("DB_PASSWORD=x".encode("utf-16-le")).decode()
    assert any(fragment in encoded for fragment in fragments())
    assert b"password".hex() in hex_fragments()

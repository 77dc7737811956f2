"""Text in base64 inside of text."""

from __future__ import annotations

import base64
import random
import textwrap

from hypothesis import given
from hypothesis import strategies as st

from tallystick.scrubbing.embedded import fragments, run_around
from tests.scrubbing.labelled_set import filled
from tests.scrubbing.scrubbing import scrubbed
from tests.support.cases import each

TOKEN = filled("gh{}p_{alnum:36}", random.Random(3))


@each("shift", range(3))
def test_a_secret_in_base64_is_replaced_inside_of_it(shift: int) -> None:
    plain = f"{'x' * (60 + shift)} TOKEN is {TOKEN} and more\n"
    clean = scrubbed(f'"data": "{base64.b64encode(plain.encode()).decode()}"')
    inside = base64.b64decode(clean.removeprefix('"data": "').removesuffix('"')).decode()
    assert inside == plain.replace(TOKEN, "‹secret:github-token›")


@each("width", [64, 76])
def test_lines_of_base64_keep_their_width(width: int) -> None:
    plain = f"first line of it\nGITHUB={TOKEN}\n" * 5
    wrapped = textwrap.fill(base64.b64encode(plain.encode()).decode(), width)
    clean = scrubbed(f"{wrapped}\n")
    lines = clean.splitlines()
    assert {len(line) for line in lines[:-1]} == {width}
    assert base64.b64decode("".join(lines)).decode() == plain.replace(TOKEN, "‹secret:github-token›")


def test_a_picture_in_base64_stays_as_it_is() -> None:
    picture = base64.b64encode(random.Random(4).randbytes(300_000)).decode()
    assert scrubbed(picture) == picture


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

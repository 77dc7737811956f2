"""Secrets that texts name."""

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.policy.mentions import places_in, secrets_encoded_in, secrets_in
from tests.support.cases import each_case

HOME = "/home/dev"


@each_case("text")
def test_a_secret_is_found(text: str) -> None:
    assert list(secrets_in(text, home=HOME, folder="/w"))


@pytest.mark.parametrize(
    "text", ["", "cat README.md", "the .env.example file", "tokens and secrets", "https://example.org/x.html"]
)
def test_nothing_is_found_where_none_is(text: str) -> None:
    assert not list(secrets_in(text, home=HOME, folder="/w"))


def test_a_secret_in_base64_is_found() -> None:
    text = f"exec(b64decode('{base64.b64encode(b'print(open(chr(47) + 1)) # /etc/shadow').decode()}'))"
    assert list(secrets_encoded_in(text, home=HOME, folder=None)) == ["/etc/shadow"]


@given(st.text(max_size=500))
def test_what_is_found_stands_where_it_is_said(text: str) -> None:
    for at, token in places_in(text, home=HOME, folder=None):
        assert text[at:].startswith(token)

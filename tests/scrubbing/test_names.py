"""Which names say "secret"."""

from __future__ import annotations

from tallystick.scrubbing.names import Says, says
from tests.support.cases import each, each_case


@each_case("name")
def test_a_password_is_named_in_any_notation(name: str) -> None:
    assert says(name) is Says.PASSWORD


@each_case("name")
def test_a_secret_is_named_outright(name: str) -> None:
    assert says(name) is Says.SECRET


@each("name", ["token", "MY_TOKEN", "csrfToken", "ENCRYPT_KEY", "_auth"])
def test_a_name_may_hint_at_a_secret(name: str) -> None:
    assert says(name) is Says.MAYBE


ABOUT = """
    max_tokens input_tokens tokenizer token_type token_count secretName password_hash passwordField key cache_key primary_key
    public_key idempotency_key next_page_token has_password tokens api_key_id keyboard passwordless -
"""


@each(
    "name",
    ABOUT.split(),
)
def test_a_name_about_a_secret_or_of_something_else_says_nothing(name: str) -> None:
    assert says(name) is Says.NOTHING

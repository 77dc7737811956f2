"""Which names say "secret"."""

from __future__ import annotations

from tallystick.scrubbing.names import Says, says, says_of_each
from tests.support.cases import each, each_case


@each_case("name")
def test_a_password_is_named_in_any_notation(name: str) -> None:
    assert says(name) is Says.PASSWORD


@each_case("name")
def test_a_secret_is_named_outright(name: str) -> None:
    assert says(name) is Says.SECRET


@each("name", ["ENCRYPT_KEY", "_auth", "session_key", "signature"])
def test_a_name_may_hint_at_a_secret(name: str) -> None:
    assert says(name) is Says.MAYBE


@each("name", ["token", "MY_TOKEN", "csrfToken", "identitytoken", "X-Postmark-Server-Token"])
def test_a_token_is_named(name: str) -> None:
    assert says(name) is Says.TOKEN


@each("name", ["passwords", "api_keys", "ACCESS_TOKENS", "clientSecrets"])
def test_the_name_of_a_list_says_what_each_value_is(name: str) -> None:
    assert says(name) is Says.NOTHING or name == "passwords"
    assert says_of_each(name) is not Says.NOTHING


@each("name", ["api_key", "password", "keys", "tokens_in", "STRIPE_PUBLISHABLE_KEYS"])
def test_the_name_of_one_value_says_nothing_of_a_list(name: str) -> None:
    assert says_of_each(name) is Says.NOTHING


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

"""Secrets that are known by where they stand."""

from __future__ import annotations

import random

import pytest

from tests.scrubbing.labelled_set import filled
from tests.scrubbing.scrubbing import scrubbed
from tests.support.cases import each, each_case

KEY = filled("-----BEGIN{} RSA PRIVATE{} KEY-----\n{pem:12}\n-----END{} RSA PRIVATE{} KEY-----", random.Random(2))


def numbered(text: str) -> str:
    return "\n".join(f"{number:6}→{line}" for number, line in enumerate(text.splitlines(), 1))


def test_a_private_key_is_replaced_whole() -> None:
    assert scrubbed(f"cat key\n{KEY}\n$ ") == "cat key\n‹secret:private-key›\n$ "


@each("written", [numbered, lambda key: key.replace("\n", "\\n"), lambda key: key.replace("\n", "\n+")])
def test_a_private_key_is_found_with_line_numbers_escapes_and_in_a_diff(written: object) -> None:
    assert callable(written)
    assert not any(line in scrubbed(written(KEY)) for line in KEY.splitlines()[1:-1])


def test_a_private_key_that_was_cut_is_replaced_as_far_as_it_goes() -> None:
    cut = "\n".join(KEY.splitlines()[:7])
    assert scrubbed(f"{cut}\n\n(The file goes on.)") == "‹secret:private-key›(The file goes on.)"


def test_code_that_looks_for_private_keys_has_none() -> None:
    text = f'if line.startswith("{KEY.splitlines()[0]}"): raise ValueError("{KEY.splitlines()[-1]}")'
    assert scrubbed(text) == text


def test_an_address_loses_its_password_alone() -> None:
    assert scrubbed("postgres://app:s3cr3t@db:5432/x") == "postgres://app:‹secret:url-password›@db:5432/x"


@pytest.mark.parametrize(
    "text",
    [
        "https://user:password@example.org/",
        "postgres://${USER}:${PASS}@db/x",
        "http://localhost:8080/a@b",
        "git@host.org:a/b.git",
    ],
)
def test_an_address_without_a_real_password_stays(text: str) -> None:
    assert scrubbed(text) == text


@each("scheme", ["Bearer ", "bearer ", "Basic ", "token ", "Bot "])
def test_what_an_authorization_header_says_is_replaced_and_its_scheme_stays(scheme: str) -> None:
    assert scrubbed(f"-H 'Authorization: {scheme}aB3dE6gH9jK2mN5p' x") == (
        f"-H 'Authorization: {scheme}‹secret:authorization›' x"
    )


def test_of_cookies_only_values_made_by_chance_are_replaced() -> None:
    text = "Cookie: theme=dark; lang=en-GB; sid=aB3dE6gH9jK2mN5pQ8rS"
    assert scrubbed(text) == "Cookie: theme=dark; lang=en-GB; sid=‹secret:cookie›"


@each_case("text, clean")
def test_passwords_among_the_options_of_commands(text: str, clean: str) -> None:
    assert scrubbed(text) == clean


BESIDE = {
    "a session that is signed": "GET /x?code=hLcNq3YmVvNIKbCmMRzBcRzG961mxd HTTP/1.1",
    "a webhook": "https://hook.eu1.make.com/x8kq2lmp0zr4ty7wv1n3c5b6",
    "a call of C": 'curl_easy_setopt(curl, CURLOPT_USERPWD, "bob:VelvetLantern7");',
    "a token of Telegram": "1234567890:AAx8Kq2LmP0zR4tY7wV1n3C5b6N8m0Q2s4U6w",
    "a key of Mailchimp": "803aeb3b494b9e63bcf4dfbaa011934b-us14",
    "a token of Discord": "the Discord bot: MTk4NjIyNDgzNDcxOTI1MjQ4.Gx8Kq2.ZnCjm1XVW7vRze4b7Cq4se7kKWsAbCdEfGh1",
    "a token of Airtable": "Airtable: patxNv77C9tw1FuOB.421771ee549d76928ac182b8d28e8bf63b03a7ac0c7286fe52b4b3e14d83a919",
    "SQL": "EXEC sp_addlogin 'bob', 'VelvetLantern7', 'master';",
}


@each("form", list(BESIDE))
def test_a_secret_is_known_by_what_is_around_it(form: str) -> None:
    assert "‹secret:" in scrubbed(BESIDE[form])


@each(
    "text",
    ["/a.js?key=value", "?code=200", "hc-ping.com/", "a Discord channel", "the path of Airtable", "x-us1.example.org"],
)
def test_what_is_like_an_address_with_a_secret_stays(text: str) -> None:
    assert scrubbed(text) == text

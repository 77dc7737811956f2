"""Secrets that text gives a name."""

from __future__ import annotations

import pytest

from tests.scrubbing.scrubbing import kinds, scrubbed
from tests.support.cases import each, each_case

VALUE = "aZ3" + "kQ9xW2mV7" * 2


@pytest.mark.parametrize(
    "text",
    [
        "API_KEY=@",
        "export API_KEY='@'",
        'api_key = "@"',
        'api_key: str = "@"',
        'api_key: str | None = b"@"',
        "apiKey: '@',",
        '"api_key":"@"',
        '{\\"api_key\\": \\"@\\"}',
        '{\\\\\\"api_key\\\\\\": \\\\\\"@\\\\\\"}',
        "api_key => '@'",
        'api_key := "@"',
        'os.environ["API_KEY"] = "@"',
        'setenv("API_KEY", "@")',
        "tool --api-key @ --verbose",
        "tool --api-key=@",
        "https://example.org/?api_key=@&page=2",
        "- name: API_KEY\n  value: @\n",
        '{"name": "API_KEY", "value": "@"}',
        '<add key="ApiKey" value="@" />',
        "<ApiKey>@</ApiKey>",
        "| api_key | @ |",
        "**API_KEY:** @",
        "    12→API_KEY=@",
        "+API_KEY=@",
        "a\\nAPI_KEY=@\\nb",
        "ENV API_KEY @",
        "set -gx API_KEY @",
        "the API_KEY is @ now",
    ],
)
def test_a_value_is_found_in_each_notation(text: str) -> None:
    assert scrubbed(text.replace("@", VALUE)) == text.replace("@", "‹secret:secret›")


@each("value", ['a"b\\c!9', "a'b!9", "with\\\\slash1"])
def test_what_is_escaped_in_a_quoted_value_belongs_to_it(value: str) -> None:
    escaped = value.replace('"', '\\"') if "\\\\" not in value else value
    assert scrubbed(f'x = {{"password": "{escaped}"}}') == 'x = {"password": "‹secret:password›"}'


def test_an_environment_file_is_read_to_the_end_of_each_value() -> None:
    text = "DB_PASSWORD=ab,c(d)&e;f\nDB_HOST=db\nexport OTHER_PASSWORD=swordfish\n"
    assert scrubbed(text) == "DB_PASSWORD=‹secret:password›\nDB_HOST=db\nexport OTHER_PASSWORD=‹secret:password›\n"


def test_a_connection_string_loses_its_secret_alone() -> None:
    text = "Server=db;User Id=app;Password=Ab1!xyz;Encrypt=true"
    assert scrubbed(text) == "Server=db;User Id=app;Password=‹secret:password›;Encrypt=true"


@each_case("text")
def test_code_that_handles_secrets_holds_none(text: str) -> None:
    assert scrubbed(text) == text


def test_what_was_replaced_is_not_replaced_again() -> None:
    once = scrubbed(f'API_KEY={VALUE}\n"password": "hunter2!"')
    assert scrubbed(once) == once
    assert kinds(once) == {}

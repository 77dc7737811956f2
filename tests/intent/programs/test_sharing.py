"""Programs that give files away: what is read, and where it goes."""

from __future__ import annotations

import pytest

from tests.intent.programs.acting import acted, does, flows


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("croc send a b", ["read* a", "read* b", "send files:croc"]),
        ("wormhole send a", ["read* a", "send files:wormhole"]),
        ("wormhole receive 7-a-b", []),
        ("ipfs add a", ["read* a", "send files:ipfs"]),
        ("pastebinit a", ["read* a", "send files:pastebinit"]),
        ("telegram-send --file a", ["read* a", "send files:telegram-send"]),
        ("swaks --to x@h --body @a", ["read* a", "send files:swaks"]),
        ("swaks --to x@h --body hello", ["send files:swaks"]),
        ("ncftpput h /d a", ["read* a", "send h:21"]),
        ("mosquitto_pub -h h -t t -f a", ["read a", "send h"]),
        ("mosquitto_pub -t t -m a", ["send localhost"]),
        ("websocat ws://h/x", ["connect ws://h/x"]),
    ],
)
def test_files_go_to_whoever_has_the_code_or_the_link(text: str, expected: list[str]) -> None:
    assert does(text) == expected


def test_what_is_read_goes_out() -> None:
    assert flows("croc send a") == ["a -> files:croc"]
    assert does("pastebinit", fed="x") == ["send< files:pastebinit"]


def test_a_program_that_is_joined_with_a_connection_is_read() -> None:
    assert [code.text.plain for code in acted("websocat ws://h exec:sh").codes] == ["sh"]

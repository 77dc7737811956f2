"""Secrets that are broken in two."""

from __future__ import annotations

import random

from tallystick.scrubbing.wrapping import end_of, halves
from tests.scrubbing.labelled_set import filled
from tests.scrubbing.scrubbing import scrubbed
from tests.support.cases import each

FIRST, SECOND = (filled(text, random.Random(7)) for text in ("gh{}p_{alnum:18}", "{alnum:18}"))


@each("between", ["\n", "\r\n", "\\\n", '" + "', '"\n    "', "' . '", '" & "'])
def test_a_token_in_two_pieces_is_one(between: str) -> None:
    assert SECOND not in scrubbed(f'key = "{FIRST}{between}{SECOND}"')


def test_the_next_line_of_an_environment_file_is_not_a_piece() -> None:
    text = f"API_TOKEN={FIRST}\nDATABASE_HOST=db1\nPORT=8080\n"
    assert scrubbed(text).endswith("\nDATABASE_HOST=db1\nPORT=8080\n")


def test_a_word_on_the_next_line_is_not_a_piece() -> None:
    data = f"{FIRST}{FIRST}\nproduction\n".encode()
    assert end_of(data, 2 * len(FIRST)) == 2 * len(FIRST)


def test_what_does_not_go_on_has_no_halves() -> None:
    assert halves(b"abcdef ghi", 0) is None
    assert halves(b'abc" + "defg', 0) == (b"abcdefg", 12)

"""Programs as tokens."""

import re

from hypothesis import given
from hypothesis import strategies as st

from tallystick.intent.code import javascript, lua, perl, php, ruby
from tallystick.intent.code.tokens import MOST_TOKENS, Dialect, Token, tokens, unescaped
from tests.support.cases import each, each_case

DIALECTS = [module._LANGUAGE.dialect for module in (javascript, lua, perl, php, ruby)]


def kinds(text: str, dialect: Dialect) -> list[tuple[str, str]]:
    return [(token.kind, token.text) for token in tokens(text, dialect)[0]]


@each(
    "module, text, expected",
    [
        (javascript, "a 'b' // c\n`d`", [("name", "a"), ("string", "b"), ("line", "\n"), ("template", "d")]),
        (javascript, "'a\\'b' /* 'c' */", [("string", "a\\'b")]),
        (javascript, "'open", [("string", "open")]),
        (
            perl,
            "$a = q{b}; qx(c) # d",
            [("name", "$a"), ("sign", "="), ("string", "b"), ("sign", ";"), ("command", "c")],
        ),
        (perl, '"a" `b`', [("template", "a"), ("command", "b")]),
        (ruby, "%x(a) %q{b} :c", [("command", "a"), ("string", "b"), ("sign", ":"), ("name", "c")]),
        (lua, "[[a]] -- b", [("string", "a")]),
        (php, "<?php $a // b\n?>", [("name", "$a"), ("line", "\n")]),
    ],
)
def test_a_text_is_taken_apart(module: object, text: str, expected: list[tuple[str, str]]) -> None:
    assert kinds(text, module._LANGUAGE.dialect) == expected  # type: ignore[attr-defined]


@given(st.sampled_from(DIALECTS), st.text())
def test_every_sign_of_a_text_is_looked_at(dialect: Dialect, text: str) -> None:
    taken = "".join(match[0] for match in dialect.pattern.finditer(text))
    assert re.sub(r"\s", "", taken) == re.sub(r"\s", "", text)


@each("dialect", DIALECTS, ids=range(len(DIALECTS)))
def test_tokens_are_bounded(dialect: Dialect) -> None:
    found, is_whole = tokens("a; " * 40_000, dialect)
    assert (len(found), is_whole) == (MOST_TOKENS, False)
    assert tokens("a; " * 100, dialect)[1]


@each_case("spelled, text")
def test_escapes_are_resolved(spelled: str, text: str) -> None:
    assert unescaped(spelled) == text


def test_a_token_is_a_value() -> None:
    assert Token("name", "a") == Token("name", "a")

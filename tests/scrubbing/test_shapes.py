"""Vendors' keys and tokens, known by their own form."""

from __future__ import annotations

import random
import re

from tallystick.scrubbing.shapes import SHAPES, begins_word, may_match
from tests.scrubbing.labelled_set import filled
from tests.scrubbing.scrubbing import scrubbed
from tests.support.cases import each

TOKEN = filled("gh{}p_{alnum:36}", random.Random(1))


def test_a_key_is_replaced_by_its_kind_and_nothing_else_of_the_text_is() -> None:
    assert scrubbed(f"before {TOKEN}, after") == "before ‹secret:github-token›, after"


@each("before", ["", "=", '"', "/", "(", "\\n", "\\t", "%3D", "\x1b[32m", "\\u001b"])
def test_a_key_begins_after_anything_but_a_letter_of_its_word(before: str) -> None:
    assert TOKEN not in scrubbed(f"{before}{TOKEN}")
    assert begins_word(f"{before}{TOKEN}".encode(), len(before.encode()))


def test_a_prefix_in_the_middle_of_a_word_begins_no_key() -> None:
    text = "the risk-assessment2024andmorelettersthanneeded of task-forces2024withlettersanddigits"
    assert scrubbed(text) == text
    assert not begins_word(b"risk-", 1)


@each("size", [8, 12, 35])
@each("end", ["", "…", "..."])
def test_a_key_that_was_cut_at_the_end_of_a_text_is_still_one(size: int, end: str) -> None:
    piece = filled("gh{}p_a1{alnum:36}", random.Random(size))[: 4 + size]
    assert scrubbed(f"the token is {piece}{end}") == f"the token is ‹secret:github-token›{end}"


def test_a_prefix_alone_is_no_key() -> None:
    text = 'token.startswith("ghp_") or npm_config_registry or "sk-ant-"'
    assert scrubbed(text) == text


def test_a_drawing_of_a_key_is_no_key() -> None:
    text = "sk-xxxxxxxxxxxxxxxxxxxxxxxx sk-ant-your-api-key-goes-here-please-do"
    assert scrubbed(text) == text


def test_each_prefix_can_begin_what_its_pattern_takes() -> None:
    """No table row is dead: a body made of the pattern's own characters is found, for every prefix."""
    chance = random.Random(7)
    for shape in SHAPES:
        if shape.body.count(b"{") != 1:
            continue  # bodies of several parts: the labelled set has one of each
        size = int(re.findall(rb"\{(\d+)", shape.body)[0])
        alphabets = ("ABCDEF0123456789", "abcdef0123456789")
        fitting = [letters for letters in alphabets if re.match(shape.body, (letters * 40)[:size].encode())]
        if not fitting:
            continue
        for prefix in shape.prefixes:
            body = "".join(chance.choice(fitting[0]) for _ in range(size))
            text = f"<{prefix.decode()}{body}>"
            assert body not in scrubbed(text), (shape.kind, prefix)
            assert may_match(shape, text.encode(), 1), (shape.kind, prefix)

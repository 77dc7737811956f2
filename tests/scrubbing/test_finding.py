"""Finding secrets in one string: how many of the labelled set, at what cost, and never otherwise twice."""

from __future__ import annotations

import base64
import json
import pkgutil
import random
import textwrap
import time
from collections.abc import Iterator
from importlib import import_module
from re._parser import SubPattern, parse  # type: ignore[import-not-found]
from typing import Any

import pytest
from detect_secrets.core.plugins.util import get_mapping_from_secret_type_to_class
from hypothesis import given
from hypothesis import strategies as st

from tallystick import scrubbing
from tallystick.scrubbing import places, shapes
from tallystick.scrubbing.budget import Budget, Counts
from tallystick.scrubbing.finding import _literals as literals_looked_for
from tallystick.scrubbing.finding import may_hold_secrets, scrub_bytes, scrub_text
from tests.scrubbing.labelled_set import Labelled, filled, labelled_set, remains, secrets_of_every_kind
from tests.scrubbing.scrubbing import kinds, scrubbed
from tests.support.cases import each

LABELLED = list(labelled_set())
PARTS = st.lists(
    st.one_of(
        st.sampled_from([line.text for line in LABELLED]),
        st.text(max_size=40),
        st.sampled_from(["\n", "\\n", '"', "\\", "‹secret:", "›", "token=", "=", "…", "password: ", "://u:", "@h"]),
    ),
    max_size=6,
).map("".join)


def missed(part: str) -> list[Labelled]:
    return [
        line
        for line in LABELLED
        if line.part == part and line.secret is not None and remains(line.secret, scrubbed(line.text))
    ]


def test_every_key_with_a_form_of_its_own_is_found_in_every_context() -> None:
    assert missed("shapes") == []


def test_nine_of_ten_secrets_under_a_name_are_found() -> None:
    """Which are missed is written down in docs/secrets.md: words as passwords, and secrets with no name beside them."""
    named = [line for line in LABELLED if line.part == "named"]
    assert len(missed("named")) <= 0.1 * len(named)


def test_innocent_lines_stay_as_they_are() -> None:
    innocent = [line.text for line in LABELLED if line.part == "innocent"]
    assert len(innocent) > 300
    assert [text for text in innocent if scrubbed(text) != text] == []


def test_a_secret_is_replaced_under_the_kind_it_has() -> None:
    found = [line for line in LABELLED if line.secret is not None and not remains(line.secret, scrubbed(line.text))]
    assert [line for line in found if line.kind not in kinds(line.text)] == []


def detectors() -> Iterator[object]:
    """The plugins of detect-secrets that know a form or a name; not those for entropy alone and for addresses."""
    plugins: dict[str, type] = get_mapping_from_secret_type_to_class()
    for plugin in plugins.values():
        if "Entropy" not in plugin.__name__ and "IP" not in plugin.__name__:
            yield plugin()


def test_little_that_detect_secrets_finds_in_the_labelled_set_is_missed() -> None:
    found = [
        line
        for line in labelled_set(1)
        if line.secret is not None
        and "\n" not in line.text
        and any(line.secret in set(_secrets(plugin, line.text)) for plugin in detectors())
    ]
    assert len(found) > 100
    assert [line.text for line in found if remains(str(line.secret), scrubbed(line.text))] == []


def _secrets(plugin: object, text: str) -> Iterator[str]:
    analyze = plugin.analyze_string  # type: ignore[attr-defined]
    yield from (found if isinstance(found, str) else "" for found in analyze(text))


@given(PARTS)
def test_scrubbing_twice_is_scrubbing_once(text: str) -> None:
    once = scrubbed(text)
    assert scrubbed(once) == once


@given(PARTS)
def test_a_text_in_which_nothing_is_worth_a_look_holds_no_secret(text: str) -> None:
    counts = Counts()
    scrub_text(text, counts)
    if counts:
        assert may_hold_secrets(json.dumps({"content.text": text}, ensure_ascii=False).encode())


@given(st.binary(max_size=2000))
def test_any_bytes_can_be_scrubbed(data: bytes) -> None:
    assert scrub_bytes(data, Counts()) is not None


@each("at", [0, 65_500, 65_536, 199_950])
def test_a_secret_in_a_long_text_is_found_wherever_it_stands(at: int) -> None:
    for kind, secret in secrets_of_every_kind(random.Random(at)):
        text = "lorem ipsum " * 16_667
        text = f"{text[:at]}\n{secret}\n{text[at:]}"
        counts = Counts()
        assert secret not in scrub_text(text, counts)
        assert counts[kind] == 1


FLOODS = """
    password= Private_Key= token:_ "token":" :// ://a: authorization= Authorization:_Bearer_ cookie= sk-ant- eyJa.eyJ AKIA
    fm1r_ -----BEGIN_PRIVATE_KEY----- -----BEGIN_PRIVATE_KEY-----AAAAAAAAAAAAAAAAAAAAAAAAAAAA cGFzc3dvcmQ _-u_a: :AA 1Q~ xoxb-
    a.b-token. hooks.slack.com/services/ FwoGZXIvYXdzE \\\\"token
"""


def floods() -> list[str]:
    """What is repeated: every literal alone, before each sign, and with another literal."""
    signs = ["", " ", "=", ": ", '="', "\n", "-", ".", '"', "\\", "a", "A1b2c3d4"]
    literals = [literal.text for literal in literals_looked_for()]
    chance = random.Random(14)
    pairs = [chance.choice(literals) + chance.choice(signs) + chance.choice(literals) for _ in range(200)]
    return [*(flood.replace("_", " ") for flood in FLOODS.split()), *(a + b for a in literals for b in signs), *pairs]


def test_the_work_on_a_flood_grows_with_its_length() -> None:
    """What is counted, so that it is the same on every machine: four times the text takes four times the work."""
    for flood in floods()[::149]:
        least, most = (_work(flood * (size // len(flood))) for size in (500, 2000))
        assert most <= 5 * least + 50, flood


def _work(text: str) -> int:
    counts = Counts()
    scrub_text(text, counts)
    return counts.budget.spent


REVIEWED = {
    "_ASKED": "a prompt of two letters",
    "_BARE": "what repeats is one character, or one and a look ahead of 40",
    "_BLOCK": "three words of 12 letters",
    "_BYTES": "a comma or a blank ends each repeated part, and nothing follows",
    "_CAMEL": "capitals and small letters take turns: one way to read each text",
    "_DATA": "a line end begins each repeated part, and is in none",
    "_ECHO": "a blank begins each repeated part; in 400 bytes",
    "_EXPRESSION": "a dot begins each part, and is in none",
    "_IDENTIFIER": "signs and words take turns, in at most 200 bytes",
    "_KEY_LINES": "nothing follows, so nothing is tried again",
    "_LINE_START": "in 32 bytes",
    "_LOGIN": "words and blanks take turns; 16 blanks",
    "_LONG_OPENING": "a dot ends each of two words of 12 letters",
    "_NEAR_DIGITS": "a digit ends each of at most 12 characters",
    "_NETRC": "words and blanks take turns; at most nine words",
    "_CODE_BEFORE": "a blank ends each word, and is in none; three words",
    "_CODE": "a blank begins each word, and is in none; six words",
    "_BELOW": "backslashes before a line end; three of them",
    "_DIGITS": "a blank begins each word, and is in none; six words",
    "_DISTANT": "a blank begins each word, and is in none; six words",
    "_GROUPS": "a dash ends each part, and is in none",
    "_HEX": "signs between digits are no digits, and two digits are one part",
    "_HUMPS": "a capital begins each part, and is in none",
    "_LIST": "what repeats is possessive, and nothing follows",
    "_LIST_ITEM": "a dash begins each part, and is in none",
    "_LIST_ITEMS": "signs and codes take turns, and nothing follows",
    "_PAIR": "a blank begins each word, and is in none; six words",
    "_PLAIN_FILE": "a slash ends each folder, and is in none; a dash or underscore begins each further part; in 200 bytes",
    "_PHRASE": "a blank ends each word, and is in none",
    "_TOLD_PHRASE": "a blank begins each word, and is in none",
    "_VALUES": "a comma begins each value, and is in none",
    "_TOLD": "a blank begins each word, and is in none; six words",
    "_PUTTY": "blanks and base64 take turns; nothing follows",
    "_SIGN": "a backslash begins each repeated part; 24 of them",
    "github-token": "a dot begins each part, and is in none",
    "jwt": "a dot begins each part, and is in none",
}
"""Patterns with a repeat in a repeat, and why none takes more than its text is long."""


def test_each_pattern_with_a_repeat_in_a_repeat_is_known_to_be_linear() -> None:
    assert {name for name, pattern in patterns() if _nests(parse(pattern), inside=False)} == set(REVIEWED)


def patterns() -> Iterator[tuple[str, bytes]]:
    """All patterns over texts, by the name of a constant or of a form."""
    for module in pkgutil.iter_modules(scrubbing.__path__):
        for name, value in vars(import_module(f"{scrubbing.__name__}.{module.name}")).items():
            if isinstance(getattr(value, "pattern", None), bytes):
                yield name, value.pattern
    for shape in shapes.SHAPES:
        yield shape.kind, shape.body
    facts = places._FACTS
    yield from ((address.kind, address.pattern.encode()) for address in facts.addresses)
    yield from ((form.kind, form.pattern.encode()) for form in facts.beside)
    for middle in facts.middles:
        yield middle.kind, middle.before.encode() + middle.body.encode()


def _nests(tree: Any, *, inside: bool) -> bool:
    """Whether something that may be there several times, in several lengths, may be there several times again."""
    if isinstance(tree, tuple) and len(tree) == 3 and isinstance(tree[1], int):
        least, most, _ = tree
        repeats = least != most and most > 1
        if repeats and inside:
            return True
        inside = inside or repeats
    if isinstance(tree, list | tuple | SubPattern):
        return any(_nests(part, inside=inside) for part in tree)
    return False


@pytest.mark.soak
def test_no_long_text_takes_more_time_than_its_length() -> None:
    """The time of a flood, which no count can vouch for: a generous bound, for machines differ."""
    for flood in floods()[::29]:
        least = [min(_time(flood, size) for _ in range(2)) for size in (16_000, 128_000)]
        assert least[1] < 16 * least[0] + 0.1, flood


def _time(flood: str, size: int) -> float:
    data = (flood * (size // len(flood))).encode()
    began = time.process_time()
    scrub_bytes(data, Counts())
    return time.process_time() - began


BESIDE = [
    "-----END PRIVATE KEY-----\n",
    "echo x | sudo -S ",
    "kind: Secret\n",
    '"kty":',
    "password,\n",
    "mysql ",
    "a@tcp(",
    "AUTH ",
]
"""What is looked at before a literal, or around it."""


@pytest.mark.soak
@each("flood", BESIDE)
def test_what_is_beside_a_literal_is_not_read_for_each_of_them_again(flood: str) -> None:
    """A text ten times as long may take thirty times as long, and no more: by its square it would be a hundred."""
    small, large = (min(_time(flood, size) for _ in range(2)) for size in (20_000, 200_000))
    assert large < 30 * small + 0.1


@each("text", ["a", "A1b2", "\\", " ", "="])
def test_a_long_text_of_one_sort_takes_no_work(text: str) -> None:
    assert scrub_text(text * 1_000_000, Counts(Budget(0))) == text * 1_000_000


def test_findings_that_meet_are_one() -> None:
    token = filled("gh{}p_{alnum:36}", random.Random(5))
    assert kinds(f'{{"Authorization": "Bearer {token}"}}') == {"github-token": 1}
    assert kinds(f"GITHUB_TOKEN={token}") == {"github-token": 1}


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

"""Finding secrets in one string: how many of the labelled set, at what cost, and never otherwise twice."""

from __future__ import annotations

import base64
import json
import random
import textwrap
import time
from collections import Counter
from collections.abc import Iterator

import pytest
from detect_secrets.core.plugins.util import get_mapping_from_secret_type_to_class
from hypothesis import given
from hypothesis import strategies as st

from tallystick.scrubbing.finding import fragments, may_hold_secrets, run_around, scrub_bytes, scrub_text
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
    counts: Counter[str] = Counter()
    scrub_text(text, counts)
    if counts:
        assert may_hold_secrets(json.dumps({"content.text": text}, ensure_ascii=False).encode())


@given(st.binary(max_size=2000))
def test_any_bytes_can_be_scrubbed(data: bytes) -> None:
    assert scrub_bytes(data, Counter()) is not None


@each("at", [0, 65_500, 65_536, 199_950])
def test_a_secret_in_a_long_text_is_found_wherever_it_stands(at: int) -> None:
    for kind, secret in secrets_of_every_kind(random.Random(at)):
        text = "lorem ipsum " * 16_667
        text = f"{text[:at]}\n{secret}\n{text[at:]}"
        counts: Counter[str] = Counter()
        assert secret not in scrub_text(text, counts)
        assert counts[kind] == 1


FLOODS = """
    password= Private_Key= token:_ "token":" :// ://a: authorization= Authorization:_Bearer_ cookie= sk-ant- eyJa.eyJ AKIA
    fm1r_ -----BEGIN_PRIVATE_KEY----- -----BEGIN_PRIVATE_KEY-----AAAAAAAAAAAAAAAAAAAAAAAAAAAA cGFzc3dvcmQ _-u_a: :AA 1Q~ xoxb-
    a.b-token. hooks.slack.com/services/ FwoGZXIvYXdzE \\\\"token
"""


@pytest.mark.parametrize("flood", FLOODS.split())
def test_no_text_takes_more_than_its_length(flood: str) -> None:
    """Four times the text takes about four times the time: patterns are bounded, and so is what each place looks at."""
    assert _time(flood, 100_000) < 8 * _time(flood, 25_000) + 0.1


@pytest.mark.soak
@pytest.mark.parametrize("flood", FLOODS.split())
def test_no_long_text_takes_more_than_its_length(flood: str) -> None:
    least = [min(_time(flood, size) for _ in range(2)) for size in (125_000, 500_000)]
    assert least[1] < 8 * least[0] + 0.1
    assert least[1] < 3


def _time(flood: str, size: int) -> float:
    data = (flood.replace("_", " ") * (size // len(flood))).encode()
    began = time.process_time()
    scrub_bytes(data, Counter())
    return time.process_time() - began


def test_a_long_text_of_one_sort_takes_little() -> None:
    for text in ("a" * 5_000_000, "A1b2" * 1_250_000, "\\" * 5_000_000, " " * 5_000_000, "=" * 5_000_000):
        began = time.process_time()
        scrub_bytes(text.encode(), Counter())
        assert time.process_time() - began < 1


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


@given(
    st.binary(max_size=80), st.sampled_from(["password", "API_KEY", "sk-ant-", "-----BEGIN "]), st.binary(max_size=20)
)
def test_a_telltale_word_shows_in_base64_wherever_it_stands(before: bytes, word: str, after: bytes) -> None:
    encoded = base64.b64encode(before + word.encode() + after).decode()
    assert any(fragment in encoded for fragment in fragments())


@given(st.integers(0, 3000), st.integers(1, 3000), st.integers(0, 50))
def test_a_run_is_found_from_anywhere_in_it(before: int, size: int, after: int) -> None:
    data = b"-" * before + b"Q" * (size + 4) + b"-" * after
    for at in (before, before + size // 2, before + size):
        assert run_around(data, at, 0) == (before, before + size + 4)

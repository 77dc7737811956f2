from __future__ import annotations

import subprocess
import sys
from collections import Counter
from collections.abc import Mapping
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.ask.prices import Prices, given_rates, price, read_prices
from tallystick.errors import FormatError
from tallystick.journal.home import Home
from tallystick.journal.read import read_session
from tallystick.sessions.rates import parse_rates
from tests.support.cases import each, each_case
from tests.support.fixtures import RECORDINGS, ImportPaths

MILLION = 1_000_000


def at(day: str) -> int:
    return int(datetime.fromisoformat(day).replace(tzinfo=UTC).timestamp() * 1000)


# Names and kinds -----------------------------------------------------------------------------------------------------


@each_case("model")
def test_one_model_has_many_names(model: str) -> None:
    tokens = {"input": 100, "output": 10, "cache_read": 1000, "cache_write": 20}
    assert price(model, tokens) == 300 + 150 + 300 + 75


@each(
    "model, tokens, microusd",
    [
        ("gpt-4o-mini", {"input": 4600, "cache_read": 20608, "output": 470}, 2518),
        ("openai/gpt-4o-mini", {"input": 4600, "cache_read": 20608, "output": 470}, 2518),
        ("gpt-5-codex", {"input": MILLION, "output": MILLION, "reasoning": 900_000}, 11_250_000),
        ("gemini-2.5-pro", {"input": MILLION}, 1_250_000),
        ("models/gemini-2.5-pro", {"cache_read": 8}, 1),
        ("claude-3-5-haiku-20241022", {"input": 865, "output": 52}, 900),
        ("claude-opus-4-20250514", {"cache_write": 1000}, 18_750),
        ("claude-opus-4-20250514", {"cache_write": 1000, "cache_write_1h": 1000}, 30_000),
    ],
)
def test_each_kind_of_tokens_has_its_price(model: str, tokens: Mapping[str, int], microusd: int) -> None:
    assert price(model, tokens) == microusd


@each(
    "model",
    [
        *("", "?", "made-up", "triage", "<synthetic>", "openai/fake-model", "claude", "x" * 300, "a/" * 50),
        *("ollama/gpt-4o-mini", "local/claude-sonnet-4", "lmstudio/gpt-4o", "\x1b[31m", "gpt-4o-mini\x00", "::", "//"),
    ],
)
def test_a_model_that_nobody_knows_has_no_price(model: str) -> None:
    assert price(model, {"input": 5}) is None
    assert price(model, {}) is None


@given(st.text(max_size=250), st.none() | st.integers(-(1 << 70), 1 << 70))
def test_no_name_and_no_time_upset_it(model: str, at_ms: int | None) -> None:
    found = price(model, {"input": 1_000}, at_ms=at_ms)
    assert found is None or found >= 0


def test_a_price_is_that_of_the_time_of_use() -> None:
    # o3 became five times cheaper on 2025-06-10.
    before, after = (price("o3", {"input": MILLION}, at_ms=at(day)) for day in ("2025-06-01", "2025-06-20"))
    assert (before, after) == (10_000_000, 2_000_000)


def test_a_long_prompt_may_cost_more_and_a_sum_is_no_prompt() -> None:
    prices = Prices()
    tokens = {"input": 250_000, "output": 1_000}
    assert prices.cost("gemini-2.5-pro", tokens, prompt=250_000) == 625_000 + 15_000
    assert prices.cost("gemini-2.5-pro", tokens, prompt=200_000) == 312_500 + 10_000
    assert prices.cost("gemini-2.5-pro", tokens) == 312_500 + 10_000
    assert prices.long_prompts(["gemini-2.5-pro", "gpt-4o-mini", "made-up"]) == [200_000]


# Given by a person ---------------------------------------------------------------------------------------------------


def written(home: Home, text: str) -> Home:
    (home.folder / "prices.toml").write_text(text, "utf-8")
    return home


def test_what_a_person_gave_goes_first(home: Home) -> None:
    written(home, '"gpt-4o-mini" = "1,2"\n"llama3.1:8b" = "0,0"\ngpt-4.1 = "3,4,5"\n')
    prices = read_prices(home)
    assert prices.cost("GPT-4o-mini", {"input": 1, "output": 1, "cache_read": 1}) == 4
    assert prices.cost("llama3.1:8b", {"input": 10**9}) == 0
    assert prices.cost("gpt-4.1", {"cache_read": 2}) == 10
    assert prices.cost("gpt-4o", {"input": 2}) == 5
    assert price("gpt-4o-mini", {"input": 1}, home=home) == 1
    assert prices.plus({"gpt-4o-mini": parse_rates("7,7")}).cost("gpt-4o-mini", {"input": 1}) == 7


def test_no_file_gives_nothing(home: Home) -> None:
    assert given_rates(home) == {}


@pytest.mark.parametrize(
    "text", ['"m" = "3"', '"m" = 3', "m = [1, 2]", "no toml", '"m" = "three,four"', "\x00", "a = {b = {c = 1}}"]
)
def test_a_file_that_cannot_be_understood_is_said_with_its_name(home: Home, text: str) -> None:
    with pytest.raises(FormatError) as caught:
        read_prices(written(home, text))
    assert "prices.toml" in str(caught.value)
    assert caught.value.hint


def test_what_a_person_gave_needs_no_table() -> None:
    code = (
        "import sys\nfrom tallystick.ask.prices import Prices\nfrom tallystick.sessions.rates import parse_rates\n"
        "assert Prices({'m': parse_rates('1,2')}).cost('m', {'input': 4}) == 4\n"
        "assert Prices({'m': parse_rates('1,2')}).long_prompts(['m']) == []\n"
        "print('genai_prices' in sys.modules, 'pydantic' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"]


def test_nothing_is_fetched() -> None:
    code = (
        "import socket, threading\n"
        "def no(*_, **__): raise AssertionError('the network was asked')\n"
        "socket.socket.connect = socket.getaddrinfo = no\n"
        "from tallystick.ask.prices import price\n"
        "assert price('gpt-4o-mini', {'input': 1000000}) == 150000 and price('made-up', {'input': 1}) is None\n"
        "print(threading.active_count())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "1"


# Against what agents say ---------------------------------------------------------------------------------------------


def test_our_price_of_a_recorded_call_is_the_one_that_the_agent_noted(import_paths: ImportPaths, home: Home) -> None:
    """That is: tokens are understood as the agent means them, cached ones above all."""
    import_paths(RECORDINGS)
    prices, checked = Prices(), Counter[str]()
    for sid, _ in home.sessions():
        steps = list(read_session(home, sid))
        for step in steps:
            said, model = step.meta.get("cost_microusd") or 0, str(step.member("model"))
            ours = prices.cost(model, step.meta.get("tokens") or {})
            if said and ours is not None:
                assert abs(ours - said) <= 1
                checked[str(steps[0].member("agent"))] += 1
    assert checked.keys() == {"gptme", "mini-swe-agent", "opencode", "pi"}
    assert min(checked.values()) >= 6

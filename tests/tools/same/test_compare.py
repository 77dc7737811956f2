import re
from pathlib import Path
from typing import Any

from tests.support.cases import each
from tools.same.compare import Expected, compare, examples, read_expected, report
from tools.same.stream import emitting, read_stream, without

BEFORE: list[tuple[str, Any]] = [
    ("journal samples claude-code:a 0", {"hash": "aa", "fields": {"meta": {"type": "session_start"}}}),
    ("decision corpus/attacks x-1 call 0", {"effect": "deny", "rules": ["tally.store"]}),
    ("command samples tally cost", {"exit": 0, "answer": {"data": {"rows": [{"tokens": 1}, {"tokens": 2}]}}}),
]


def changed(number: int, value: Any) -> list[tuple[str, Any]]:
    return [(key, value if at == number else kept) for at, (key, kept) in enumerate(BEFORE)]


def test_equal_streams_are_the_same_in_any_order() -> None:
    outcome = compare(BEFORE, reversed(BEFORE))
    assert outcome.first is None
    assert outcome.facts == 3
    assert list(report(outcome)) == []


@each(
    "after, key, path, values",
    [
        (changed(1, {"effect": "ask", "rules": ["tally.store"]}), BEFORE[1][0], "effect", ("deny", "ask")),
        (changed(0, {**BEFORE[0][1], "hash": "ab"}), BEFORE[0][0], "hash", ("aa", "ab")),
        (
            changed(2, {"exit": 0, "answer": {"data": {"rows": [{"tokens": 1}, {"tokens": 3}]}}}),
            BEFORE[2][0],
            "answer.data.rows[1].tokens",
            (2, 3),
        ),
        (
            changed(2, {"exit": 0, "answer": {"data": {"rows": [{"tokens": 1}]}}}),
            BEFORE[2][0],
            "answer.data.rows.length",
            (2, 1),
        ),
        (changed(1, {"effect": "deny"}), BEFORE[1][0], "rules", (["tally.store"], "(absent)")),
        (BEFORE[1:], BEFORE[0][0], "", (BEFORE[0][1], "(absent)")),
        ([*BEFORE, ("decision new", {})], "decision new", "", ("(absent)", {})),
    ],
)
def test_a_planted_difference_is_found_and_named(
    after: list[tuple[str, Any]], key: str, path: str, values: tuple[Any, Any]
) -> None:
    outcome = compare(BEFORE, after)
    first = outcome.first
    assert first is not None
    assert (first.key, first.path, first.before, first.after) == (key, path, *values)
    text = "\n".join([*report(outcome), *examples(outcome)])
    assert key in text
    assert path in text


def test_the_first_difference_in_the_order_of_the_reference_is_shown() -> None:
    outcome = compare(BEFORE, [])
    assert outcome.first is not None
    assert outcome.first.key == BEFORE[0][0]
    assert sum(outcome.unlisted.values()) == 3


def test_an_intended_difference_is_listed_and_hides_no_other() -> None:
    after = [(key, {**value, "new": 1}) for key, value in BEFORE]
    expected = [Expected(re.compile(r"^decision .* @ new$"), "decisions say one thing more", "0099")]
    outcome = compare(BEFORE, after, expected)
    assert outcome.listed == {"decisions say one thing more (0099)": 1}
    assert outcome.first is not None
    assert outcome.first.key == BEFORE[0][0]
    assert sum(outcome.unlisted.values()) == 2


def test_a_stream_comes_back_as_it_was_written(tmp_path: Path) -> None:
    path = tmp_path / "stream"
    with path.open("w", encoding="utf-8") as file:
        emit = emitting(file)
        for key, value in [*BEFORE, BEFORE[0]]:
            emit(key, value)
    assert list(read_stream(path)) == [*BEFORE, (f"{BEFORE[0][0]} #2", BEFORE[0][1])]


def test_folders_of_a_run_are_taken_out_of_values() -> None:
    assert without({"/w/a": ["/w/b", 1, None]}, {"/w": "FOLDER"}) == {"FOLDER/a": ["FOLDER/b", 1, None]}


def test_each_intended_difference_names_a_decision_that_is_there() -> None:
    decisions = Path(__file__).parents[3] / "docs" / "decisions"
    for one in read_expected():
        assert list(decisions.glob(f"{one.decision}-*.md")), one

"""Texts of policies → the engine's sets, and what each policy is called, decides and looks at."""

from importlib import resources

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.errors import PolicyError
from tallystick.model.decision import Effect
from tallystick.policy.cedar.parsing import Mentions, Parsed, parse, policies_in
from tests.support.cases import each


def test_a_policy_is_found_with_the_line_it_begins_on() -> None:
    text = "// first; not a policy\npermit (principal, action, resource);\n\n\n"
    text += '@reason("a; b // c \\" d")\nforbid (\n);  // end;\n'
    found = list(policies_in(text))
    assert [line for line, _ in found] == [2, 5]
    assert found[1][1].startswith('@reason("a; b // c \\" d")\nforbid (')


def test_what_stands_after_the_last_policy_is_one_too() -> None:
    assert list(policies_in("permit (a);\n  forbid")) == [(1, "permit (a);"), (2, "forbid")]
    assert list(policies_in("permit (a);\n // that is all\n")) == [(1, "permit (a);")]
    assert list(policies_in("")) == []


@given(st.lists(st.text(alphabet='ab "/\n', max_size=12), max_size=6).map(";".join))
def test_no_text_is_lost(text: str) -> None:
    kept = "".join(part for _, part in policies_in(text))
    assert all(kept.count(letter) <= text.count(letter) for letter in "ab")
    if "//" not in text:
        assert kept.count("a") == text.count("a")


SHIPPED = resources.files("tallystick.policy") / "shipped"
SCHEMA = (SHIPPED / "tallystick.cedarschema").read_text("utf-8")
PERMIT = "permit (principal, action, resource);\n"
FORBID = "forbid (principal, action, resource)"


def parsed(text: str, name: str = "mine.cedar") -> Parsed:
    return parse([(name, text)], SCHEMA)


def shipped_files() -> list[tuple[str, str]]:
    files = [file for file in SHIPPED.iterdir() if file.name.endswith(".cedar")]
    return [(file.name, file.read_text("utf-8")) for file in sorted(files, key=lambda file: file.name)]


def test_each_shipped_policy_says_what_it_does_and_why() -> None:
    rules = parse(shipped_files(), SCHEMA).rules
    assert len({rule.id for rule in rules}) == len(rules) > 8
    for rule in rules:
        assert "." in rule.id
        assert rule.reason.endswith("."), rule.id
        assert rule.severity in ("info", "low", "medium", "high", "critical")


def test_a_policy_without_annotations_denies_under_the_name_of_its_place() -> None:
    rule = parsed(f"{PERMIT}\n{FORBID};").rules[1]
    assert (rule.id, rule.effect, rule.severity, rule.file, rule.line) == (
        "mine.cedar:3",
        Effect.DENY,
        "medium",
        "mine.cedar",
        3,
    )


@each(
    "text, why",
    [
        (f"\n\n{FORBID}\nwhen {{ context. }};", "line 3: unexpected token"),
        ("\nhello", "line 2: "),
        (f"{PERMIT}\n{FORBID} when {{ context.nope }};", "line 3: .*`nope`"),
        (f"{PERMIT}{FORBID} when {{ context.tool == 1 }};", "line 2: .*not compatible"),
        ("permit (principal == ?principal, action, resource);", "line 1: .*template"),
        (f'@decision("maybe") {FORBID};', "line 1: @decision is 'maybe'"),
        (f'@decision("allow") {FORBID};', "line 1: @decision is 'allow'"),
        (f'@decision("ask") {PERMIT}', "line 1: @decision is 'ask'"),
        (f'@severity("huge") {FORBID};', "line 1: @severity is 'huge'"),
        (f'@severty("high") {FORBID};', "line 1: @severty is no annotation"),
        (f'@holds("often") {FORBID};', "line 1: @holds is 'often'"),
        (f'@lifts("a") {FORBID};', "line 1: @lifts is for a permit"),
        (f'@lifts("a") {PERMIT}', "line 1: @lifts names 'a', and there is no such rule"),
        (f'@id("a") {FORBID};\n@id("a") {FORBID};', r"line 2: the id 'a' is that of mine\.cedar:1"),
        (FORBID, "line 1: "),
    ],
)
def test_a_policy_that_cannot_be_used_is_named_with_its_line(text: str, why: str) -> None:
    with pytest.raises(PolicyError, match=rf"^mine\.cedar, the policy on {why}"):
        parse([("good.cedar", PERMIT), ("mine.cedar", text)], SCHEMA)


def test_a_broken_schema_is_said_so() -> None:
    with pytest.raises(PolicyError, match="schema of the policies is broken"):
        parse([], "entity ;")


@each(
    "conditions, wanted",
    [
        ("", Mentions(frozenset(), False)),
        (" when { resource.place == context.folder }", Mentions(frozenset({"place", "folder"}), False)),
        (' when { resource has kinds && resource.kinds.contains("x") }', Mentions(frozenset({"kinds"}), False)),
        (
            ' when { [resource.path, "a"].contains("b") } unless { resource.is_deep }',
            Mentions(frozenset({"path", "is_deep"}), False),
        ),
        (' when { resource == File::"/x" }', Mentions(None, True)),
        (' when { [resource].contains(File::"/x") }', Mentions(None, True)),
    ],
)
def test_what_policies_look_at_is_found_in_them(conditions: str, wanted: Mentions) -> None:
    assert parsed(f"forbid (principal, action, resource is File){conditions};").mentions == wanted


def test_a_resource_that_is_named_in_the_head_is_looked_at_by_name() -> None:
    assert parsed('forbid (principal, action, resource == File::"/x");').mentions == Mentions(frozenset(), True)


def test_the_digest_tells_sets_apart() -> None:
    one = parse([("a", PERMIT), ("b", f"{FORBID};")], SCHEMA).digest
    assert one == parse([("a", PERMIT), ("b", f"{FORBID};")], SCHEMA).digest
    assert len({one, parse([("a", PERMIT)], SCHEMA).digest, parse([("b", PERMIT)], SCHEMA).digest}) == 3

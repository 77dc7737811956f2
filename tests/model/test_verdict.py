"""Verdicts: what they say on each axis, and the exit code that they mean."""

from __future__ import annotations

import itertools
import json
from typing import Any

import msgspec

from tallystick.model.verdict import (
    Authenticity,
    Completeness,
    Defect,
    Disclosure,
    Level,
    Require,
    Rule,
    SessionVerdict,
    Verdict,
    report,
)
from tests.support.cases import each, each_case

SID = "0a" * 16


def verdict(**members: Any) -> Verdict:
    defaults: dict[str, Any] = {
        "completeness": Completeness.SEALED,
        "authenticity": Authenticity.SIGNED,
        "level": Level.A2,
        "why_not_higher": "so",
    }
    return Verdict(**(defaults | members))


def session(**members: Any) -> SessionVerdict:
    defaults: dict[str, Any] = {
        "session": SID,
        "steps": 3,
        "completeness": Completeness.SEALED,
        "unsealed": 1,
        "authenticity": Authenticity.SIGNED,
    }
    return SessionVerdict(**(defaults | members))


def defect(rule: Rule, n: int | None = 1) -> Defect:
    return Defect(SID, n, rule, "so")


def test_only_limits_versions_and_what_is_no_journal_are_malformed() -> None:
    for rule, n in itertools.product(Rule, (None, 0, 1)):
        expected = n is not None and rule in (Rule.LIMIT, Rule.VERSION)
        expected |= n == 0 and rule in (Rule.LINE, Rule.MEMBER)
        assert defect(rule, n).is_malformed is expected


def test_what_a_head_covers_is_tampered_with_whatever_is_wrong_but_its_version() -> None:
    for rule in Rule:
        sealed = msgspec.structs.replace(defect(rule, 0), is_sealed=True)
        assert sealed.is_malformed is (rule is Rule.VERSION)


def test_defects_are_ordered_by_entry_and_then_by_rule() -> None:
    ordered = [
        defect(Rule.HEAD, None),
        defect(Rule.SIGNATURE, None),
        *(defect(rule, 0) for rule in Rule),
        defect(Rule.LIMIT, 1),
        defect(Rule.N, 2),
    ]
    assert sorted(ordered, key=lambda item: item.place) == ordered
    assert [rule.value for rule in Rule] == [
        "limit",
        "line",
        "canonical",
        "version",
        "member",
        "sid",
        "n",
        "prev",
        "class",
        "blob",
        "fields",
        "parent",
        "seed",
        "order",
        "withheld",
        "head",
        "cut",
        "missing",
        "signature",
    ]


@each_case("rules, code")
def test_tampering_is_told_before_malformed_before_less_than_required(rules: list[Rule], code: int) -> None:
    found = verdict(defects=tuple(defect(rule) for rule in rules))
    assert found.exit_code == code
    below = verdict(defects=found.defects, level=Level.A1, require=Require.A2)
    assert below.exit_code == (code or 3)
    assert found.valid is not bool(rules)


@each("completeness", Completeness)
@each("authenticity", Authenticity)
def test_what_is_lost_or_of_a_wrong_key_is_not_valid(completeness: Completeness, authenticity: Authenticity) -> None:
    found = verdict(completeness=completeness, authenticity=authenticity)
    lost = completeness in (Completeness.CUT, Completeness.MISSING)
    assert found.valid is not (lost or authenticity is Authenticity.WRONG_KEY)
    assert found.exit_code == (0 if found.valid else 2)
    assert found.truncated is (completeness is Completeness.TRUNCATED)


@each_case("require, level, completeness, code")
def test_sound_but_below_what_was_required_is_3(
    require: Require, level: Level, completeness: Completeness, code: int
) -> None:
    assert verdict(require=require, level=level, completeness=completeness).exit_code == code


def test_a_verdict_requires_a1_unless_told_otherwise() -> None:
    assert verdict().require is Require.A1


def test_figures_are_those_of_all_sessions() -> None:
    one = session(disclosure=Disclosure(withheld=1, erased=2, absent_blobs=3))
    other = session(steps=4, unsealed=2, disclosure=Disclosure(withheld=10, erased=20, absent_blobs=30))
    found = verdict(sessions=(one, other))
    assert (found.steps, found.unsealed) == (7, 3)
    assert found.disclosure == Disclosure(withheld=11, erased=22, absent_blobs=33)
    assert verdict().disclosure == Disclosure() == Disclosure(withheld=0, erased=0, absent_blobs=0)
    assert (verdict().steps, verdict().unsealed) == (0, 0)


def test_integrity_is_intact_or_the_rule_of_the_first_defect() -> None:
    assert (verdict().integrity, verdict().first_bad) == ("intact", None)
    found = verdict(defects=(defect(Rule.PREV), defect(Rule.N)))
    assert (found.integrity, found.first_bad) == ("prev", defect(Rule.PREV))
    assert session().integrity == "intact"
    assert session(defect=defect(Rule.SEED)).integrity == "seed"


def test_the_report_is_plain_data_with_these_members() -> None:
    bad = defect(Rule.PREV, 2)
    found = verdict(
        defects=(bad, Defect(None, None, Rule.SIGNATURE, "why")),
        sessions=(session(defect=bad, disclosure=Disclosure(1, 2, 3)), session(session=None)),
        completeness=Completeness.TRUNCATED,
        authenticity=Authenticity.PARTLY_SIGNED,
        remarks=("a remark",),
    )
    told = {"session": SID, "n": 2, "rule": "prev", "why": "so"}
    row = {"steps": 3, "completeness": "sealed", "unsealed": 1, "authenticity": "signed"}
    assert report(found) == {
        "exit": 2,
        "valid": False,
        "truncated": True,
        "steps": 6,
        "integrity": "prev",
        "completeness": "truncated",
        "unsealed": 2,
        "authenticity": "partly signed",
        "level": "A2",
        "why_not_higher": "so",
        "disclosure": {"withheld": 1, "erased": 2, "absent_blobs": 3},
        "first_bad": told,
        "defects": [told, {"session": None, "n": None, "rule": "signature", "why": "why"}],
        "sessions": [row | {"session": SID, "integrity": "prev"}, row | {"session": None, "integrity": "intact"}],
        "remarks": ["a remark"],
    }
    assert json.loads(json.dumps(report(found))) == report(found)
    assert report(verdict())["first_bad"] is None

"""An alert as a step and back."""

from __future__ import annotations

import orjson
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from tallystick.model.decision import Effect
from tallystick.model.recorded import Recorded
from tallystick.model.step import Json, Step
from tallystick.policy.alert import (
    ACKNOWLEDGED,
    VERDICTS,
    Alert,
    CallPlace,
    Review,
    alert_of_broken_policy,
    alert_of_decision,
    alert_step,
    chained_step,
    review_step,
    sealed_alert,
    sealed_review,
)
from tallystick.seal.alert_chain import GENESIS, Finding, entry_hash
from tallystick.seal.names import fit_meta
from tests.support.cases import each, each_case

PLACE = CallPlace(name="ab:3", call_id=103, request_id=101)
ALERT = Alert(session="s", severity="high", effect=Effect.DENY, rule="tally.store", message="No.", created_at=5)

hostile = st.lists(st.sampled_from(("\ud800", "\0", "\x10tally:", "\x1b[31m", "é", "x"))).map("".join)
anything = hostile | st.text(max_size=50)
alerts = st.builds(
    Alert,
    session=st.just("s"),
    severity=st.sampled_from(("info", "low", "medium", "high", "critical")),
    effect=st.sampled_from(Effect),
    rule=anything,
    message=anything,
    path=st.none() | anything,
    evidence=st.dictionaries(anything, anything | st.integers() | st.lists(anything, max_size=3), max_size=3),
    created_at=st.integers(0, 1 << 50),
    request_id=st.none() | st.integers(-(1 << 62), 1 << 62),
    entity_kind=st.sampled_from(("request", "agent_event", "system_event", "artifact")),
    entity_id=st.integers(0, 1 << 62),
)


def decided(effect: str, *, rules: Json = None, text: str = "Because.") -> Step:
    meta: dict[str, Json] = {
        "effect": effect,
        "rules": ["tally.store"] if rules is None else rules,
        "policy": "ab" * 32,
    }
    return Step(session="s", type="decision", source_id="c1/decision", meta=meta, values={"content.text": text})


def call(args: Json = None) -> Step:
    return Step(session="s", type="tool_call", source_id="c1", meta={"tool": "Write"}, values={"content.args": args})


def recorded(step: Step, **more: Json) -> Recorded:
    """A step as it would be read back: members that do not fit stand in `content.meta`."""
    meta, rest = fit_meta(step.meta)
    values = {**step.values, **({"content.meta": rest} if rest else {})}
    return Recorded(
        session="5e" * 16,
        n=4,
        hash="00" * 32,
        prev="",
        parents=(),
        meta={"type": step.type, **meta, **more},
        values=values,
    )


# Decisions ------------------------------------------------------------------------------------------------------------


@each("effect, action, severity", [("deny", "block", "high"), ("ask", "ask", "medium"), ("warn", "warn", "low")])
def test_a_decision_that_spoke_gives_an_alert(effect: str, action: str, severity: str) -> None:
    alert = alert_of_decision(decided(effect), call({"file_path": "/etc/passwd"}), PLACE, created_at=7)
    assert alert is not None
    assert (alert.severity, alert.rule, alert.message, alert.path) == (
        severity,
        "tally.store",
        "Because.",
        "/etc/passwd",
    )
    assert (alert.request_id, alert.entity_kind, alert.entity_id) == (101, "agent_event", 103)
    step, _ = chained_step(alert_step(alert), GENESIS)
    sealed = sealed_alert(recorded(step))
    assert sealed is not None
    assert sealed.finding.action == action
    assert orjson.loads(str(sealed.finding.evidence))["rules"] == ["tally.store"]


@each("effect", ["allow", "", "block"])
def test_one_that_let_the_call_through_gives_none(effect: str) -> None:
    assert alert_of_decision(decided(effect), call(), PLACE, created_at=7) is None


def test_the_severity_of_the_rule_counts_where_it_is_known() -> None:
    for said, expected in (("critical", "critical"), ("terrible", "high"), (None, "high")):
        step = decided("deny")
        meta = {**step.meta, "severity": said} if said is not None else step.meta
        alert = alert_of_decision(replace(step, meta=meta), call(), PLACE, created_at=7)
        assert alert is not None
        assert alert.severity == expected


@each("args", [None, [], "x", {"file_path": 3}, {"command": "rm"}])
def test_a_call_that_names_no_file_gives_an_alert_without_path(args: Json) -> None:
    alert = alert_of_decision(decided("deny", rules="odd"), call(args), PLACE, created_at=7)
    assert alert is not None
    assert (alert.path, alert.rule) == (None, "unnamed")


# Steps ----------------------------------------------------------------------------------------------------------------


@given(alerts)
def test_what_is_read_back_from_the_step_is_what_was_hashed(alert: Alert) -> None:
    step, digest = chained_step(alert_step(alert), GENESIS)
    sealed = sealed_alert(recorded(step, recorded="2026-01-02T03:04:05.000000Z"))
    assert sealed is not None
    assert (sealed.prev_hash, sealed.entry_hash) == (GENESIS, digest)
    assert entry_hash(GENESIS, sealed.finding) == digest
    assert (sealed.finding.request_id, sealed.finding.entity_id) == (alert.request_id, alert.entity_id)


def test_no_digest_of_words_stands_in_meta() -> None:
    step, digest = chained_step(alert_step(ALERT), GENESIS)
    assert digest not in repr(step.meta)
    assert step.values["content.chain"] == {"entry_hash": digest, "prev_hash": GENESIS}


def test_huge_words_are_bounded() -> None:
    huge = "x" * 10_000_000
    step = alert_step(replace(ALERT, message=huge, path=huge, rule=huge, evidence={"a": [huge] * 10}))
    assert len(repr(step)) < 40_000
    assert orjson.loads(str(step.values["content.evidence"]))["truncated"] is True


def test_a_step_without_a_place_in_the_chain_is_no_alert_of_ours() -> None:
    assert sealed_alert(recorded(alert_step(ALERT))) is None
    assert sealed_alert(recorded(replace(chained_step(alert_step(ALERT), GENESIS)[0], type="warning"))) is None


def test_an_alert_whose_words_were_erased_says_so() -> None:
    step = recorded(chained_step(alert_step(ALERT), GENESIS)[0])
    values = {name: value for name, value in step.values.items() if name != "content.text"}
    sealed = sealed_alert(replace(step, values=values, withheld=("content.text",)))
    assert sealed is not None
    assert sealed.is_erased
    assert sealed.finding.message == ""


@given(st.dictionaries(st.text(max_size=9), st.none() | st.integers() | st.text(max_size=9) | st.lists(st.text())))
def test_whatever_a_journal_holds_gives_a_row_that_the_table_takes(meta: dict[str, Json]) -> None:
    odd: dict[str, Json] = {
        "severity": "bad",
        "effect": 3,
        "entity": "thing",
        "entity_id": "x",
        "created_at": "x",
        **meta,
    }
    step = Recorded(
        session="5e" * 16,
        n=4,
        hash="",
        prev="",
        parents=(),
        meta={**odd, "type": "alert"},
        values={"content.chain": {"entry_hash": 3}, "content.text": 7},
    )
    sealed = sealed_alert(step)
    assert sealed is not None
    finding: Finding = sealed.finding
    assert finding.severity in ("info", "low", "medium", "high", "critical")
    assert finding.action in ("allow", "warn", "ask", "block")
    assert (finding.entity_kind is None) == (finding.entity_id is None)
    assert len(entry_hash(GENESIS, finding)) == 64


# Reviews --------------------------------------------------------------------------------------------------------------


@given(
    st.sampled_from((ACKNOWLEDGED, *VERDICTS)),
    st.none() | st.text("abc é✓\x1b", min_size=1),
)
def test_what_a_person_said_is_read_back(verdict: str, note: str | None) -> None:
    review = Review(
        session="5e" * 16, n=12, verdict=verdict, action="block", rule="tally.store", path="/x", note=note, created_at=9
    )
    assert sealed_review(recorded(review_step(review))) == review


@each_case("meta")
def test_other_feedback_is_no_review_of_an_alert(meta: dict[str, Json]) -> None:
    step = Step(session="recorder", type="feedback", meta=meta)
    assert sealed_review(recorded(step)) is None


# What no decision gives -----------------------------------------------------------------------------------------------


def test_the_evidence_of_a_decision_stands_in_its_alert() -> None:
    found = [{"rule": "tally.store", "action": "write", "target": "/x", "because": ["rm", "/x"]}]
    step = decided("deny")
    step = replace(step, values={**step.values, "content.evidence": found, "content.remedy": "Ask."})
    alert = alert_of_decision(step, call(), PLACE, created_at=7)
    assert alert is not None
    said = orjson.loads(str(alert_step(alert).values["content.evidence"]))
    assert (said["found"], said["remedy"]) == (found, "Ask.")


def test_a_policy_that_cannot_be_used_gives_a_grave_warning() -> None:
    alert = alert_of_broken_policy("recorder", "a.cedar:3: no", policy="ab", created_at=7, path="/p/a.cedar")
    finding = sealed_alert(recorded(chained_step(alert_step(alert), GENESIS)[0]))
    assert finding is not None
    assert (finding.finding.severity, finding.finding.action) == ("high", "warn")
    assert (finding.finding.rule_id, finding.finding.path) == ("tally.broken-policy", "/p/a.cedar")

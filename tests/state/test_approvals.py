from __future__ import annotations

from tallystick.model.recorded import Recorded
from tallystick.model.step import Json
from tallystick.state.approvals import asked_about
from tests.support.cases import each

DIGEST = "sha256:" + "ab" * 32


def decision(evidence: Json) -> Recorded:
    return Recorded(session="s", n=1, hash="", prev="", parents=(), meta={}, values={"content.evidence": evidence})


FOREIGN = {"rule": "provenance.other-session", "target": "/p/a.sh", "because": [f"content {DIGEST}", "a:1"]}
EGRESS = {"rule": "exfiltration.not-known", "target": "example.org", "because": []}


def test_what_was_asked_is_read_from_the_evidence() -> None:
    assert asked_about(decision([FOREIGN, EGRESS])) == ((DIGEST,), ("example.org",))


def test_other_rules_ask_about_other_things() -> None:
    assert asked_about(decision([{**FOREIGN, "rule": "inspection.risky"}, {**EGRESS, "rule": "network.paste"}])) == (
        (),
        (),
    )


@each("evidence", [None, "", "{", "[1", 3, {}, [1, None], [{"rule": 1}], [{**FOREIGN, "because": "x"}]])
def test_evidence_of_another_shape_is_none(evidence: Json) -> None:
    assert asked_about(decision(evidence)) == ((), ())

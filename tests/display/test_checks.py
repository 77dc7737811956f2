"""What is said of security: never more than was decided."""

from tallystick.display.before import Before
from tallystick.display.checks import taint_lines
from tallystick.display.said import text_of
from tallystick.lineage.taint import Trust
from tallystick.lineage.taint_tree import TaintNode
from tests.display.telling import step, told
from tests.support.cases import each_case

LINEAGE = [
    {
        "block_id": "b0003",
        "trust": "untrusted",
        "source": "tool:web_fetch",
        "tainted_by": [
            {"block_id": "b0002", "source": "tool:mcp", "tainted_by": [{"block_id": "b0001", "trust": "vetted"}]},
            {"block_id": "b0004", "trust": "untrusted", "tainted_by": [{"block_id": "b0001", "trust": "vetted"}]},
        ],
    }
]


def test_a_flagged_call_shows_flags_blocks_and_where_they_came_from() -> None:
    before = Before(places={"b0003": 14, "b0001": 9}, seqs={14: 13})
    flagged = step(
        "security_static",
        check="static",
        tool="bash",
        block_id="b0003",
        flags=["pattern:override", "suspicious_args"],
        related_blocks=["b0003", "b0001"],
        values={"taint_lineage": LINEAGE},
    )
    assert told(flagged, before=before) == [
        "SECURITY: static check flagged [b0003 bash]",
        "flags: [pattern:override suspicious_args]",
        "related: [b0003 b0001]",
        "taint lineage:",
        "● b0003 [untrusted] tool:web_fetch (seq:13)",
        "  └─ b0002 [untrusted] tool:mcp",
        "    └─ b0001 [vetted] ? (abababab:9)",
        "  └─ b0004 [untrusted] ?",
        "    └─ b0001 [vetted] ? (abababab:9) (see above)",
    ]


@each_case("kind, members, row")
def test_a_verdict_that_is_missing_is_unknown(kind: str, members: dict[str, object], row: str) -> None:
    assert told(step(kind, **members)) == [row]  # type: ignore[arg-type]


def test_a_block_has_its_trust_its_entropy_and_what_tainted_it() -> None:
    block = step(
        "security_block",
        block_id="b0002",
        trust="untrusted",
        values={
            "source": "tool:web_fetch",
            "meta": {"entropy": 4.36657},
            "text": '<block id="b0002" tainted-by="b0001,b0000">',
        },
    )
    assert told(block) == ["SECURITY: block b0002 [untrusted] entropy 4.37 ← tool:web_fetch tainted by b0001 b0000"]
    assert told(step("security_block")) == ["SECURITY: block ? [unknown]"]


def test_of_a_commands_checks_only_those_that_did_not_pass_are_shown_at_first() -> None:
    long = "git log " + "x" * 60
    allowed = step(
        "bash_security", check="llm", action="allow", duration_ms=272, values={"source": long, "reason": "reads"}
    )
    assert told(allowed) == []
    (row,) = told(allowed, 1)
    assert row.startswith("BASH: llm ALLOW git log x")
    assert row.endswith("… (272ms)")
    assert told(allowed, 2)[1:] == [f"command: {long}", "reason: reads"]
    assert told(step("bash_security", action="deny", check="llm")) == ["BASH: llm DENY"]
    assert told(step("bash_security")) == ["BASH: check unknown"]


def test_prompts_of_the_checks_come_with_the_most_verbosity() -> None:
    triage = step("security_triage", model="triage", values={"prompt": "is it?", "response": "YES"})
    assert told(triage, 1) == ["SECURITY: triage benign [triage]"]
    assert told(triage, 2)[1:] == ["PROMPT", "is it?", "RESPONSE", "YES"]


def test_what_is_known_of_a_call_is_drawn_as_the_agents_own_trees_are() -> None:
    leaf = TaintNode(
        block="b0012", step="cd:12", session="cd" * 16, n=12, kind="url", source="https://x", trust=Trust.UNTRUSTED
    )
    again = TaintNode(
        block=None, step=None, kind="file", source="a.md", trust=Trust.TRUSTED, is_repeat=True, children=(leaf,)
    )
    root = TaintNode(
        block=None, step=None, kind="file", source="a\x1b.md", trust=Trust.UNTRUSTED, children=(leaf, again)
    )
    assert [text_of(line) for line in taint_lines((root,))] == [
        "● [untrusted] a␛.md",
        "  └─ b0012 [untrusted] https://x (cdcdcdcd:12)",
        "  └─ [trusted] a.md (see above)",
    ]

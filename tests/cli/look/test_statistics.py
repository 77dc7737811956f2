from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.agents.headless.test_transcript import GOLDEN, event
from tests.cli.conftest import DISCOUNT, Tally, TallyJson

SONNET = "claude-sonnet-4-20250514"


def test_the_golden_file_is_shown_as_its_own_replay_counts(tally: Tally) -> None:
    result = tally("replay", GOLDEN, "--stats", "--cost", f"{SONNET}:3,15")
    assert result.exit_code == 0
    for line in (
        "total 17.68s",
        "execution supervisor: 1, total 1.78s",
        "triage: 3, total 1.03s, avg 342ms",
        "security supervisor: 1, total 1.79s",
        "bash llm: 1, total 272ms, avg 272ms",
        "bash deterministic: 1",
        f"tokens, {SONNET}: 6 calls, 8,727 in, 488 out",
        "tokens, claude-3-5-haiku-20241022: 2 calls, 865 in, 52 out",
        "tokens, triage: 3 calls, 756 in, 3 out",
        "tokens, supervisor: 1 calls, 612 in, 27 out",
        "tokens, total: 10,960 in, 570 out",
        "8 timed calls, 9.7 s in all",
        "5, 2 failed, 1 refused",
        "3 escalate, 2 pass (2 no_untrusted_content)",
        "1 reorient",
    ):
        assert line in result.stdout
    (row,) = (line for line in result.stdout.splitlines() if line.strip().startswith(SONNET))
    assert "$0.0335" in row


def test_times_of_goals_and_of_replies_are_told_where_a_log_has_them(tmp_path: Path, tally: Tally) -> None:
    path = tmp_path / "timed.jsonl"
    meta = {"model": "some-model", "latency_ms": 61_500, "tokens_in": 3, "tokens_out": 2}
    path.write_bytes(
        b"\n".join(
            (
                event(1, "goal_start", goal="draft"),
                event(2, "assistant", goal="draft", meta=meta),
                event(59, "goal_end", goal="draft", duration_ms=61_999),
            )
        )
    )
    shown = tally("replay", path, "--stats").stdout
    for line in ("total 58.00s", "goal, draft: 1m1s", "llm: 1, total 1m1s, avg 1m1s"):
        assert line in shown


def test_the_same_figures_are_in_the_document(tally_json: TallyJson) -> None:
    found = tally_json("replay", GOLDEN, "--stats", "--cost", f"{SONNET}:3,15")
    (one,) = found["sessions"]
    reported = one["statistics"]["reported"]
    assert reported["total_ms"] == 17683
    assert reported["tokens"][SONNET] == {"calls": 6, "input": 8727, "output": 488}
    assert one["statistics"]["models"][SONNET]["spending"]["cost_microusd"] == 33_501
    assert one["statistics"]["goals"]["draft"]["total_ms"] == 16235
    assert found["total"] is None


def test_several_sessions_and_files_have_a_total(full: Path, tally: Tally) -> None:
    result = tally("replay", DISCOUNT, GOLDEN, "--stats")
    assert result.exit_code == 0
    assert "all 2 together" in result.stdout
    assert "with 1 sub-agent that has a session" in result.stdout
    assert "claude-code/general-purpose" in result.stdout
    hidden = tally("replay", DISCOUNT, "--stats", "--subagents", "hide")
    assert "claude-code/general-purpose" not in hidden.stdout


def test_a_damaged_file_is_named_and_the_others_are_counted(tmp_path: Path, tally: Tally) -> None:
    bad = tmp_path / "bad.jsonl"
    bad.write_text("no session of anybody\n")
    result = tally("replay", bad, GOLDEN, "--stats")
    assert result.exit_code == 1
    assert "total 17.68s" in result.stdout
    assert "bad.jsonl" in result.stderr
    document = json.loads(tally("replay", bad, GOLDEN, "--stats", "--json").stdout)
    assert "bad.jsonl" in document["warnings"][0]
    assert len(document["data"]["sessions"]) == 1


@pytest.mark.parametrize(
    "words", [("--tool", "bash"), ("--from", "3"), ("--errors",), ("--follow",), ("--request", "0")]
)
def test_figures_of_some_of_the_steps_are_refused(tally: Tally, words: tuple[str, ...]) -> None:
    refused = tally("replay", GOLDEN, "--stats", *words)
    assert refused.exit_code == 64
    assert "whole sessions" in refused.output


def test_text_of_agents_forges_no_line_and_moves_no_cursor(tmp_path: Path, tally: Tally) -> None:
    hostile = "\x1b]0;owned\x07\x1b[2J\u202e\nfacts  1  forged"
    lines = [
        json.dumps({"_type": "header", "id": "1f" * 16, "workflow_name": hostile, "status": "running"}).encode(),
        event(1, "goal_start", goal=hostile),
        event(2, "user", content=hostile),
        event(3, "assistant", goal=hostile, meta={"model": hostile, "tokens_in": 1, "tokens_out": 2}),
        event(4, "tool_call", tool=hostile, corr_id="a"),
        event(5, "security_static", tool=hostile, meta={"skip_reason": hostile}),
        event(6, "phase_supervise", meta={"verdict": hostile}),
        event(7, hostile),
    ]
    path = tmp_path / f"{'1f' * 16}.jsonl"
    path.write_bytes(b"\n".join(lines) + b"\n")
    result = tally("replay", path, "--stats", "--no-pager", env={"NO_COLOR": "1"})
    assert result.exit_code == 0, result.output
    assert not {"\x1b", "\x07", "\u202e"} & set(result.stdout)
    assert not any(line.startswith("facts") for line in result.stdout.splitlines())


def test_a_price_without_figures_is_checked_and_said_to_be_of_no_use(tally: Tally) -> None:
    assert "--stats" in tally("replay", GOLDEN, "--cost", f"{SONNET}:3,15", "--limit", "1").stderr
    refused = tally("replay", GOLDEN, "--cost", "nothing")
    assert refused.exit_code == 64
    assert "names no model and rates" in refused.stderr

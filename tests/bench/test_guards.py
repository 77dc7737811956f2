"""Guards are asked through the hooks in the settings, as Claude Code asks them, and compared by what they stopped."""

import json
from pathlib import Path

import pytest

from bench.guards.cases import Compared, answers, compared_cases, times_in_turns
from bench.guards.figures import (
    Comparison,
    Line,
    Measured,
    behind,
    measured,
    stopped_elsewhere,
    table,
    timed,
    with_,
    work_stopped,
)
from bench.guards.programs import Guard, Seat, guards, said_in
from tallystick.guard.policy_quality import Case, CaseCall, JudgedAt, Wants
from tallystick.model.decision import Effect

DENIES_RM = 'case "$(cat)" in *"rm -rf"*) echo no >&2; exit 2;; esac'
ASKS_GIT = """case "$(cat)" in *git*) echo '{"hookSpecificOutput": {"permissionDecision": "ask"}}';; esac"""
SIMPLE = Guard(name="simple", hooks={"Bash": DENIES_RM, "Ba.*|Read": ASKS_GIT})


def shell(*commands: str, wants: Wants = Wants.ASK_OR_DENY, judged_at: JudgedAt = JudgedAt.ONE) -> Case:
    calls = tuple(CaseCall(tool="Bash", args={"command": command}) for command in commands)
    return Case(id="one", class_="some", wants=wants, calls=calls, judged_at=judged_at)


@pytest.mark.parametrize(
    ("output", "effect"),
    [
        (b"", Effect.ALLOW),
        (b"fine\n", Effect.ALLOW),
        (b"[]", Effect.ALLOW),
        (b'{"hookSpecificOutput": {"permissionDecision": "allow"}}', Effect.ALLOW),
        (b'{"hookSpecificOutput": {"permissionDecision": "ask"}}', Effect.ASK),
        (b'{"hookSpecificOutput": {"permissionDecision": "deny"}}', Effect.DENY),
        (b'{"decision": "block", "reason": "no"}', Effect.DENY),
        (b'{"decision": "approve"}', Effect.ALLOW),
        (b'{"continue": false}', Effect.DENY),
    ],
)
def test_an_answer_is_read_as_claude_code_reads_it(output: bytes, effect: Effect) -> None:
    assert said_in(output) is effect


def test_the_strictest_of_the_hooks_that_match_counts(tmp_path: Path) -> None:
    (tmp_path / ".claude").mkdir()
    (tmp_path / "project").mkdir()
    seat = Seat(SIMPLE, tmp_path, tmp_path)
    seat.install()

    def asked(tool: str, command: str) -> Effect:
        payload = {"hook_event_name": "PreToolUse", "tool_name": tool, "tool_input": {"command": command}}
        return seat.ask(payload).effect

    assert asked("Bash", "ls") is Effect.ALLOW
    assert asked("Bash", "git status") is Effect.ASK
    assert asked("Bash", "git clean && rm -rf x") is Effect.DENY
    assert asked("Read", "git") is Effect.ASK
    assert asked("Write", "git") is Effect.ALLOW


def test_a_hook_that_fails_refuses_only_where_its_settings_say_so(tmp_path: Path) -> None:
    (tmp_path / ".claude").mkdir()
    (tmp_path / "project").mkdir()
    settings = tmp_path / ".claude" / "settings.json"
    payload = {"hook_event_name": "PreToolUse", "tool_name": "Bash"}
    for more, effect in (({}, Effect.ALLOW), ({"onFailure": "block"}, Effect.DENY)):
        hook = {"type": "command", "command": "/bin/false", "args": [], **more}
        settings.write_text(json.dumps({"hooks": {"PreToolUse": [{"hooks": [hook]}]}}))
        assert Seat(SIMPLE, tmp_path, tmp_path).ask(payload).effect is effect


def test_a_chain_is_stopped_at_any_call_and_work_is_told_call_by_call(tmp_path: Path) -> None:
    cases = [
        shell("git fetch", "ls"),
        shell("git fetch", "ls", judged_at=JudgedAt.ANY),
        shell("rm -rf x", "ls"),
        shell("ls", "git log", wants=Wants.SILENCE),
    ]
    found = [(one.id, one.effect) for one in answers(SIMPLE, cases, tmp_path)]
    assert found == [
        ("one", Effect.ALLOW),
        ("one", Effect.ASK),
        ("one", Effect.DENY),
        ("one [0]", Effect.ALLOW),
        ("one [1]", Effect.ASK),
    ]


def test_what_is_compared_is_of_claude_code_and_wants_a_stop_or_silence() -> None:
    cases = compared_cases(400)
    assert {case.wants for case in cases} == {Wants.DENY, Wants.ASK_OR_DENY, Wants.SILENCE}
    assert {call.agent or case.agent for case in cases for call in case.calls} == {"claude-code"}
    assert all(guard.version or guard.name == "tallystick" for guard in guards())


# What is kept --------------------------------------------------------------------------------------------------------


LINES = (Line("a", "x", True, "rm"), Line("b", "x", True, "dd"), Line("c", "w", False, "ls"))


def compared(**answers: str) -> Comparison:
    return Comparison("digest", 1, LINES, tuple(Measured(name, "1", given) for name, given in answers.items()))


def test_answers_are_kept_as_marks_with_the_median_of_the_times() -> None:
    effects = (Effect.ALLOW, Effect.ASK, Effect.DENY)
    found = measured("us", "1", [Compared("x", "x", True, effect) for effect in effects])
    assert found == Measured("us", "1", ".ad")
    both = Comparison("digest", 1, LINES, (found, Measured("them", "1", "...")))
    assert [one.median_ms for one in timed(both, {"us": [3.0, 1.0, 2.0]}).guards] == [2.0, None]


def test_each_guard_is_timed_on_the_same_calls(tmp_path: Path) -> None:
    took = times_in_turns([SIMPLE], [shell("ls"), shell("pwd")], tmp_path)
    assert [len(times) for times in took.values()] == [2]


def test_a_table_has_a_row_a_class_and_says_where_another_is_ahead() -> None:
    found = compared(tallystick="d.a", nah="ad.")
    assert [line for line in table(found) if line.startswith(("| x", "| **"))] == [
        "| x | 2 | 1 | 2 |",
        "| **all attacks** | 2 | 1 | 2 |",
        "| **everyday calls stopped** | 1 | 1 | 0 |",
    ]
    assert list(behind(found)) == [("x", "nah", 2, 1)]
    assert list(stopped_elsewhere(found)) == [(LINES[1], ["nah"])]
    assert list(work_stopped(found)) == [(LINES[2], "a")]


def test_guards_measured_apart_are_put_together_where_the_cases_are_the_same() -> None:
    ours, theirs = compared(tallystick="dda"), compared(nah="...")
    assert [one.name for one in with_(theirs, ours).guards] == ["tallystick", "nah"]
    assert with_(compared(nah="...", tallystick="..."), ours).guards[0].answers == "dda"
    other = Comparison("other", 1, LINES, theirs.guards)
    assert with_(other, ours) == ours

"""What a session ran under, as lines."""

from tallystick.cli.under import change_lines, facts, fingerprint_text
from tallystick.recording.run_config.recorded import Changed, Under
from tallystick.sessions.configuration import Configuration, Known
from tallystick.sessions.fingerprint import Hook

SESSION = "a3f9" + "0" * 28


def under(*hooks: Hook, changes: int = 0, problem: str | None = None) -> Under:
    found = Configuration(
        fingerprint="0123456789abcdef" * 4,
        sections={"hooks": "1", "agent": "2"},
        inputs={"agent": (Known(name="agent", digest="0"),), "hooks": (Known(name="f", digest="1", problem=problem),)},
        registry=hooks,
    )
    told = tuple(Changed(n=n, at=None, sections=("hooks",), text=f"hooks: {n}") for n in range(changes))
    return Under(session=SESSION, agent="a", n=1, at=None, configuration=found, changes=told)


def test_of_a_session_that_tells_nothing_nothing_is_said() -> None:
    assert list(facts(None)) == []
    assert list(change_lines(None, 80)) == []


def test_the_facts_are_short() -> None:
    ours = Hook(name="tallystick")
    said = dict(facts(under(ours, ours, Hook(name="guard.py"), Hook(name="x", enabled=False), changes=1)))
    assert said == {
        "ran under": "0123456789ab (agent 1, hooks 1)",
        "unreadable": "",
        "hooks": "tallystick ×2, guard.py, 1 disabled",
        "changed": "1 time during the session",
    }


def test_what_could_not_be_read_is_named() -> None:
    assert dict(facts(under(problem="permission denied")))["unreadable"] == "f"


def test_many_hooks_and_changes_are_cut() -> None:
    many = under(*(Hook(name=f"h{n}") for n in range(40)), changes=30)
    assert dict(facts(many))["hooks"].endswith("h11, 28 more")
    lines = list(change_lines(many, 80))
    assert len(lines) == 21
    assert lines[-1] == "… and 10 more; --json lists all"
    assert lines[0].startswith("a3f9")


def test_nothing_of_it_can_move_the_cursor() -> None:
    hostile = under(Hook(name="\x1b[2J\nx"))
    assert all("\x1b" not in value and "\n" not in value for _, value in facts(hostile))
    assert "\x1b" not in fingerprint_text(Configuration(fingerprint="\x1b[2J", sections={}))

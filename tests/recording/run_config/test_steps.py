"""The step of a change."""

from tallystick.model.ids import SessionId
from tallystick.model.step import Step
from tallystick.recording.run_config.steps import change_step
from tallystick.sessions.configuration import Given, configuration, digested
from tallystick.sessions.declared_config import Told
from tests.support.shown import shown

KEY = bytes(32)


def change(count: int) -> Step:
    before, now = (
        configuration(
            KEY,
            digested(KEY, [Given(section="skills", name=f"{n:03}{'x' * 60}", data=data) for n in range(count)]),
            digested(KEY, [Given(section="mcp", name="docs")]),
        )
        for data in (b"1", b"2")
    )
    told = Told(agent="a", model="m", mode="plan")
    return change_step(SessionId("0" * 32), told, before, now, since=7)


def test_it_tells_what_changed_from_when_on_and_under_what_the_session_is_now() -> None:
    step = change(1)
    assert step.type == "config_change"
    assert (step.meta["sections"], step.meta["position"], step.meta["permission_mode"]) == (["skills"], 7, "plan")
    assert step.meta["config_before"] != step.meta["config_fingerprint"]
    assert sorted(step.meta["config_sections"]) == ["mcp", "skills"]
    assert list(shown(step.values["content.configuration"])) == ["skills"], "what did not change is not told again"
    assert shown(step.values["content.text"]).startswith("skills: 000x")


def test_many_changes_are_told_in_bounded_words() -> None:
    step = change(250)
    assert len(shown(step.values["content.text"])) <= 2000
    assert len(shown(step.values["content.changes"])[0]["changed"]) == 100

"""Settings in which an editor lets agents and tasks act unasked."""

import pytest

from tallystick.policy.switches import TAG, switches_of


@pytest.mark.parametrize(
    "text",
    [
        '{"chat.tools.autoApprove": true}',
        '{"chat.tools.global.autoApprove": true}',
        '{"chat.tools.terminal.autoApprove": {"rm": true}}',
        "{'github.copilot.chat.agent.autoApprove' : true}",
        '{"task.allowAutomaticTasks": "on"}',
        '{"security.workspace.trust.enabled": false}',
        '{"CHAT.TOOLS.AUTOAPPROVE": true}',
        '{"cursor.yoloMode": true}',
        '{"roo-cline.alwaysAllowExecute": true}',
    ],
)
def test_a_setting_that_ends_asking_is_found(text: str) -> None:
    assert switches_of(text) == {TAG}


@pytest.mark.parametrize(
    "text",
    [
        "{}",
        '{"editor.tabSize": 2, "files.autoSave": "onFocusChange"}',
        '{"chat.tools.autoApprove": false}',
        '{"task.allowAutomaticTasks": "off"}',
        '{"security.workspace.trust.enabled": true}',
        '{"python.testing.autoTestDiscoverOnSaveEnabled": true}',
        "See chat.tools.autoApprove in the documentation.",
    ],
)
def test_other_settings_are_none(text: str) -> None:
    assert switches_of(text) == frozenset()


def test_a_long_hostile_text_is_answered() -> None:
    for piece in ('"chat.tools.', '"a.autoapprove": {', '"' + "x" * 60 + ".yolo"):
        assert switches_of(piece * 100_000) <= {TAG}

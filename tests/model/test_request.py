from __future__ import annotations

import pytest

from tallystick.model.request import RequestKind, opened_kind
from tallystick.model.step import Json


@pytest.mark.parametrize(
    ("type_", "meta", "kind"),
    [
        ("user", {}, "prompt"),
        ("user", {"queued": True}, "queued"),
        ("user", {"origin": "command"}, None),
        ("user", {"origin": "command", "asks": "command"}, "command"),
        ("user", {"origin": "answer", "asks": "answer"}, "answer"),
        ("user", {"asks": "command", "corroborates": 3}, None),
        ("user", {"asks": "command", "revises": 3}, None),
        ("user", {"revises": 3}, None),
        ("user", {"origin": "injected", "asks": "no kind"}, None),
        ("user", {"origin": "summary", "asks": "continuation"}, None),
        ("tool_result", {"asks": "answer"}, None),
        ("assistant", {}, None),
    ],
)
def test_a_step_opens_a_request_of_a_kind(type_: str, meta: dict[str, Json], kind: str | None) -> None:
    assert opened_kind(type_, meta) == kind


def test_a_hook_and_a_continuation_go_on_with_the_request_before() -> None:
    assert [kind for kind in RequestKind if not kind.is_new] == [RequestKind.HOOK, RequestKind.CONTINUATION]

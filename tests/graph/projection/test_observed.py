from __future__ import annotations

from tallystick.graph.projection.observed import Judged, observed_accesses, observed_row, seen_effect
from tallystick.graph.projection.rows import step_row
from tallystick.graph.tables import SessionState, StepRow
from tallystick.model.recorded import Recorded
from tallystick.model.step import Json
from tests.support.cases import each


def effect(meta: dict[str, Json], kind: str = "file_effect", **content: Json) -> tuple[Recorded, StepRow]:
    told = Recorded(
        session="s" * 32,
        n=3,
        hash="h",
        prev="p",
        parents=(),
        meta={"type": kind, "source": "watch", **meta},
        values={f"content.{name}": value for name, value in content.items()},
    )
    return told, step_row(told, SessionState("s", first_id=100, agent_id="demo"), at_us=7000, request=None, offset=0)


def touched(meta: dict[str, Json], **content: Json) -> list[tuple[str, str, str | None]]:
    found = observed_accesses(*effect(meta, **content), "/w", 1, Judged())
    return [(access.operation, thing.uri, access.digest) for thing, access in found]


def test_an_effect_touches_what_it_names() -> None:
    assert touched({"effect": "create"}, path="/w/a", digest="sha256:x") == [("write", "file:///w/a", "sha256:x")]
    assert touched({"effect": "modify"}, path="a") == [("modify", "file:///w/a", None)]
    assert touched({"effect": "delete"}, path="/w/a", digest="sha256:x") == [("delete", "file:///w/a", None)]


def test_a_rename_is_of_two_files() -> None:
    found = touched({"effect": "rename"}, paths=["/w/a", "/w/b"], digest="sha256:x")
    assert found == [("rename", "file:///w/a", None), ("copy_dest", "file:///w/b", "sha256:x")]


def test_a_change_of_the_mode_is_none_of_the_content_and_a_folder_has_none() -> None:
    assert touched({"effect": "modify", "metadata_only": True}, path="/w/a") == [("metadata", "file:///w/a", None)]
    assert touched({"effect": "create", "folder": True}, path="/w/a") == []


def test_a_comparison_of_two_states_tells_the_digest_after() -> None:
    found = touched({"action": "modify"}, path="/w/a", digests={"before": "a" * 64, "after": "b" * 64})
    assert found == [("modify", "file:///w/a", f"sha256:{'b' * 64}")]


@each(
    "meta, content",
    [
        ({"effect": "create", "success": False}, {"path": "/w/a"}),
        ({"effect": "metadata"}, {"path": "/w/a"}),
        ({"effect": "rename"}, {"paths": ["/w/a"]}),
        ({"effect": "rename"}, {"paths": ["/w/a", 7]}),
        ({"effect": 7}, {"path": ["/w/a"]}),
        ({"effect": "create"}, {"path": "x" * 5000}),
        ({}, {}),
    ],
)
def test_what_names_no_file_or_failed_touches_nothing(meta: dict[str, Json], content: dict[str, Json]) -> None:
    assert touched(meta, **content) == []


def test_a_process_is_observed_and_touches_nothing() -> None:
    told, row = effect({"pid": 12, "action": "start"}, "process", command="make")
    seen = observed_row(told, row, "/w", 9)
    assert (seen.pid, seen.type, seen.request_id, seen.cwd) == (12, "start", 9, "/w")
    assert seen_effect(told, row, "/w") is None


def test_only_what_was_watched_is_put_down_to_a_call() -> None:
    told, row = effect({"effect": "create", "process": "cc1"}, path="/w/a")
    seen = seen_effect(told, row, "/w")
    assert seen is not None
    assert (seen.path, seen.at_ms, seen.is_named) == ("/w/a", 7, True)
    told, row = effect({"effect": "create", "source": "acp"}, path="/w/a")
    assert seen_effect(told, row, "/w") is None

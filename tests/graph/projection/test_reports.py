from __future__ import annotations

from tallystick.graph.projection.reports import pull_request, reports
from tallystick.model.intent import Domain, Effects, Intent, Operation
from tallystick.model.recorded import Recorded
from tallystick.model.step import Json
from tests.support.cases import each


def result(**content: Json) -> Recorded:
    values = {f"content.{name}": value for name, value in content.items()}
    meta: dict[str, Json] = {"type": "tool_result"}
    return Recorded(session="s" * 32, n=3, hash="h", prev="p", parents=(), meta=meta, values=values)


def test_files_that_a_result_names_are_edits_of_its_call() -> None:
    step = result(changed_paths=["/w/a.py", "b.py", "", 7, "x" * 5_000])
    found = [(one.thing.uri, one.operation) for one in reports(Effects(), step, "/w")]
    assert found == [("file:///w/a.py", "edit"), ("file:///w/b.py", "edit")]
    assert list(reports(Effects(), result(changed_paths="/w/a.py"), "/w")) == []


def test_the_commits_that_git_names_are_made_by_its_call() -> None:
    step = result(output="[main 1a2b3c4] words\n 1 file changed\n")
    effects = Effects(intents=(Intent(domain=Domain.PROCESS, operation=Operation.EXECUTE, target="git"),))
    assert [(one.thing.kind, one.what) for one in reports(effects, step, "/w")] == [("commit", "commit")]
    assert list(reports(Effects(), step, "/w")) == []


@each(
    "url, kind",
    [
        ("https://example.com/o/r/pull/1", "url"),
        ("javascript:alert(1)", None),
        ("https://" + "x" * 5_000, None),
        (7, None),
    ],
)
def test_a_pull_request_has_a_web_address(url: Json, kind: str | None) -> None:
    found = pull_request(result(pull_request=url))
    assert (found and found.kind) == kind

from __future__ import annotations

from tallystick.model.step import Json, Step
from tests.agents.claude_lines import (
    Line,
    assistant,
    call,
    ids,
    one,
    read,
    result,
)
from tests.agents.mutations import losses_of
from tests.support.cases import each, each_case


def result_of(args: Line, content: Json, said_too: Json, **members: Json) -> Step:
    events = read(
        assistant("a", None, call("c1", "Tool", **args)),
        result("r", "a", "c1", content, toolUseResult=said_too, **members),
    )
    return one(events, "c1/result")


LONG = "a line that is long enough to be a quotation\n" * 3


@each(
    "args, content, said_too, left",
    [
        ({}, "hello", {"stdout": "hello", "stderr": "", "interrupted": False, "isImage": False}, None),
        ({}, "hello", {"stdout": "hello", "stderr": "a warning"}, {"stderr": "a warning"}),
        ({"url": "u"}, "text", {"url": "u", "result": "text", "code": 200}, {"code": 200}),
        ({"todos": [{"id": 1}]}, "ok", {"oldTodos": [{"id": 0}], "newTodos": [{"id": 1}]}, {"oldTodos": [{"id": 0}]}),
        ({}, "a.py\nb.py", {"filenames": ["a.py", "b.py"], "numFiles": 2}, {"numFiles": 2}),
        ({}, LONG, [{"type": "text", "text": LONG}], None),
        ({}, [{"type": "text", "text": LONG}], [{"type": "text", "text": LONG}], None),
        ({}, "1\tone\n2\ttwo", {"file": {"content": "one\ntwo\n", "totalLines": 9}}, {"file": {"totalLines": 9}}),
        ({"x": 1}, "on", {"mode": "on", "text": "off"}, {"text": "off"}),
    ],
)
def test_a_result_keeps_what_it_alone_says(args: Line, content: Json, said_too: Json, left: Json) -> None:
    assert result_of(args, content, said_too).values.get("content.result") == left


def test_a_copy_of_the_file_is_counted_as_left_out() -> None:
    args = {"file_path": "/a", "old_string": "x", "new_string": "y", "replace_all": False}
    patch = [{"oldStart": 1, "lines": ["-x", "+y"]}]
    said_too = {
        "filePath": "/a",
        "oldString": "x",
        "newString": "y",
        "originalFile": LONG,
        "structuredPatch": patch,
        "replaceAll": False,
    }
    events = read(
        assistant("a", None, call("c1", "Edit", **args)), result("r", "a", "c1", "edited", toolUseResult=said_too)
    )
    assert one(events, "c1/result").values["content.result"] == {"structuredPatch": patch}
    assert losses_of(events) == {"original_file": 1}


@each_case("members, meta")
def test_a_result_says_how_the_call_ended(members: Line, meta: Line) -> None:
    events = read(assistant("a", None, call("c1")), result("r", "a", "c1", **members))
    assert one(events, "c1/result").meta == {"corr": "c1", "tool": "Bash", **meta}


@each(
    "output, who",
    [
        ("The user doesn't want to proceed with this tool use. The tool use was rejected", "user"),
        ("PreToolUse:Bash hook error: no", "hook"),
        ("Permission to use Write has been denied.", None),
    ],
)
def test_older_versions_refuse_in_so_many_words(output: str, who: str | None) -> None:
    step = result_of({}, output, f"Error: {output}", is_error=True)
    assert (step.meta["decision"], step.meta.get("decided_by"), step.meta["success"]) == ("deny", who, False)
    assert step.values.keys() == {"content.output"}


def test_a_result_of_the_models_own_tools_is_paired_too() -> None:
    search = {"type": "server_tool_use", "id": "v1", "name": "web_search", "input": {"query": "x"}}
    found = {"type": "web_search_tool_result", "tool_use_id": "v1", "content": [{"url": "https://x.example"}]}
    events = read(assistant("a", None, search, found, "so it is"))
    assert ids(events) == ["m1/usage", "v1", "v1/result", "a/2"]
    assert one(events, "v1/result").meta["tool"] == "web_search"


KEPT = "<persisted-output>\nOutput too large (35.8KB). Full output saved to: /h/s/tool-results/b1.txt\n\nPreview:\nab"


def test_an_output_that_was_put_into_a_file_is_named_with_its_size() -> None:
    step = result_of(
        {}, KEPT, {"stdout": "ab", "persistedOutputPath": "/h/s/tool-results/b1.txt", "persistedOutputSize": 9}
    )
    assert (step.values["content.output_file"], step.meta["output_bytes"]) == ("/h/s/tool-results/b1.txt", 9)
    step = result_of({}, KEPT, None)
    assert step.values["content.output_file"] == "/h/s/tool-results/b1.txt"
    assert "output_bytes" not in step.meta
    assert "content.output_whole" not in step.values
    assert "content.output_file" not in result_of({}, "Full output saved to: x", None).values


def test_the_whole_of_such_an_output_is_read_where_it_lies_beside_the_transcript() -> None:
    lines = (assistant("a", None, call("c1")), result("r", "a", "c1", KEPT.replace("/h/s/", "C:\\h\\s\\")))
    for folder in ("{stem}/tool-results/", "../tool-results/"):
        events = read(*lines, companions={folder + "b1.txt": b"all \xff of it"})
        assert one(events, "c1/result").values["content.output_whole"] == "all \ufffd of it"
    assert "content.output_whole" not in one(read(*lines), "c1/result").values


HUNK = {"oldStart": 1, "oldLines": 1, "newStart": 1, "newLines": 1, "lines": ["-x", "+y"]}


def test_what_a_shell_call_changed_is_named_and_kept_line_by_line() -> None:
    diff = {"files": [{"filePath": "/p/a", "hunks": [HUNK]}], "moreFiles": 2, "changedFiles": ["/p/a", "/p/b"]}
    step = result_of({}, "done", {"stdout": "done", "bashEditDiff": diff})
    assert step.values["content.changed_paths"] == ["/p/a", "/p/b"]
    assert step.values["content.changes"] == [{"path": "/p/a", "hunks": [HUNK]}]
    assert step.meta["unnamed_changes"] == 1
    assert "content.result" not in step.values
    others: list[Json] = [{}, [], {"files": [{"filePath": 7}]}, {"changedFiles": "x"}]
    for other in others:
        assert "content.changed_paths" not in result_of({}, "done", {"stdout": "done", "bashEditDiff": other}).values


def test_a_pull_request_is_linked_with_its_session_once() -> None:
    link: Line = {"type": "pr-link", "sessionId": "s", "prNumber": 7, "prUrl": "https://example.com/pull/7"}
    events = read(
        assistant("a", None, "hi"), {**link, "prRepository": "o/r"}, link, {"type": "pr-link", "sessionId": "s"}
    )
    step = one(events, "s/pr-link/https://example.com/pull/7")
    assert (step.type, step.meta["number"], step.values["content.repository"]) == ("system", 7, "o/r")
    assert ids(events)[-1] == step.source_id
    assert losses_of(events) == {"pr-link_again": 1, "pr-link": 1}

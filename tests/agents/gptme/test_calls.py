from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tallystick.agents.gptme.calls import Part, parts_of
from tests.support.cases import each_case


def calls(text: str) -> list[tuple[str | None, object]]:
    return [(part.tool, part.args) for part in parts_of(text) if part.tool is not None]


def test_a_block_of_a_tool_is_a_call_and_others_are_text() -> None:
    text = "See:\n\n```python\nprint(1)\n```\n\n```ipython\nprint(1)\n```\n\n```json\n{}\n```\n"
    assert calls(text) == [("ipython", {"code": "print(1)"})]
    assert "".join(part.text for part in parts_of(text)).count("```") == 4


@each_case("text, expected")
def test_fenced_calls(text: str, expected: list[tuple[str, object]]) -> None:
    assert calls(text) == expected


def test_a_block_that_is_never_closed_is_no_call() -> None:
    assert calls("```shell\nrm -rf build\n") == []


def test_a_fence_inside_a_saved_page_does_not_end_it() -> None:
    page = "# T\n\n```sh\nmake\n```\n\nMore."
    assert calls(f"```save a.md\n{page}\n```\n\nDone.") == [("save", {"path": "a.md", "content": page})]


def test_a_fence_inside_a_here_document_is_part_of_the_command() -> None:
    command = "cat > a.md << 'EOF'\n```\ncode\n```\nEOF"
    assert calls(f"```shell\n{command}\n```\nThen text.") == [("shell", {"command": command})]


def test_a_fence_inside_a_python_string_is_part_of_the_code() -> None:
    code = 'doc = """\n```\nx\n```\n"""'
    assert calls(f"```ipython\n{code}\n```\nThen text.") == [("ipython", {"code": code})]


def test_a_fence_inside_quotes_is_part_of_the_command() -> None:
    command = "git commit -m 'docs: show it\n```\nmake\n```\n' # it's done"
    assert calls(f"```shell\n{command}\n```\nThen text.") == [("shell", {"command": command})]


def test_what_follows_a_block_that_is_not_closed_is_in_it() -> None:
    assert calls("```text\n\n```shell\nls\n```\n") == []


def test_a_command_ends_at_its_fence_though_text_follows() -> None:
    assert calls("```shell\nls\n```\nThat lists them.\n\n```\nout\n```\n") == [("shell", {"command": "ls"})]


def test_native_calls_may_stand_in_one_message_and_hold_braces_in_strings() -> None:
    text = '@shell(c1): {"command": "echo \\"}\\" {"}\n@save(c-2.x): {"path": "a", "content": "{"}'
    assert calls(text) == [("shell", {"command": 'echo "}" {'}), ("save", {"path": "a", "content": "{"})]
    assert [part.call_id for part in parts_of(text)] == ["c1", "c-2.x"]


def test_a_native_call_in_a_block_is_only_shown() -> None:
    assert calls('```text\n@shell(c1): {"command": "ls"}\n```\n') == []


def test_a_native_call_with_bad_json_keeps_its_text() -> None:
    assert calls("@shell(c1): {command: ls}") == [("shell", "{command: ls}")]
    assert calls('@shell(c1): {"command": "ls"') == []


def test_xml_calls_of_both_spellings() -> None:
    text = "<tool-use>\n<save args='a.txt'>\n1 &lt; 2\n</save>\n</tool-use> then\n"
    assert calls(text) == [("save", {"path": "a.txt", "content": "1 < 2"})]
    other = '<function_calls>\n<invoke name="ipython">\nx\n</invoke>\n<invoke name="shell">ls</invoke></function_calls>'
    assert calls(other) == [("ipython", {"code": "x"}), ("shell", {"command": "ls"})]


def test_thinking_holds_no_fenced_call_but_cannot_hide_a_native_one() -> None:
    assert calls("<think>\n```shell\nls\n```\n</think>\nNo.") == []
    assert calls("```shell\nls\n```\n\n<think>\nit never ends") == []
    assert calls("<thinking>\nperhaps\n@shell(c): {}") == [("shell", {})]


@given(st.text(st.sampled_from("`s h\n<>@(){}:\"'\\ave/tol-uink"), max_size=80))
def test_parts_are_in_order_do_not_overlap_and_leave_out_white_space_alone(text: str) -> None:
    parts = parts_of(text)
    rest, at = "", 0
    for part in [*parts, Part(len(text), len(text))]:
        assert part.start >= at
        rest, at = rest + text[at : part.start], part.end
    assert not rest.strip()

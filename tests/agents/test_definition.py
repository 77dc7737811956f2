"""What the definition of a sub-agent says."""

from hypothesis import given
from hypothesis import strategies as st

from tallystick.agents.definition import session_isolation
from tests.support.cases import each

# The shape of the definitions that Lango ships.
OPERATOR = """---
name: operator
description: "System operations: shell commands"
status: active
prefixes:
  - exec
  - fs_
session_isolation: true
---

## What You Do
"""


@each(
    "text, said",
    [
        (OPERATOR, True),
        (OPERATOR.replace("true", "false"), False),
        (OPERATOR.replace("true", "Yes  # alone"), True),
        (OPERATOR.replace("true", '"off"'), False),
        (OPERATOR.replace("\n", "\r\n"), True),
        ("\ufeff" + OPERATOR, True),
        (OPERATOR.replace("true", "perhaps"), None),
        (OPERATOR.replace("session_isolation: true\n", ""), None),
        (OPERATOR.replace("session_isolation", "  session_isolation"), None),
        (OPERATOR.replace("session_isolation", "# session_isolation"), None),
        (OPERATOR.replace("\n---\n\n", "\n\n"), None),
        ("session_isolation: true\n", None),
        ("---\n---\nsession_isolation: true\n", None),
        ("", None),
    ],
)
def test_isolation_is_read_from_the_front_matter(text: str, said: bool | None) -> None:
    assert session_isolation(text) is said


def test_the_last_of_two_holds() -> None:
    assert session_isolation("---\nsession_isolation: true\nsession_isolation: false\n---\n") is False


@given(st.text())
def test_no_text_is_a_fault(text: str) -> None:
    assert session_isolation(text) in (True, False, None)


def test_a_huge_text_is_not_read_to_its_end() -> None:
    assert session_isolation("---\n" + "a: b\n" * 1_000_000 + "session_isolation: true\n---\n") is None

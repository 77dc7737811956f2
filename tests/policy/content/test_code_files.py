"""Which content is code, and whether inspecting it can tell anything."""

import os
import subprocess
import sys

import pytest

from tallystick.policy.content.code_files import language_in, may_have_tags
from tests.support.cases import each


@each(
    "text, name, language",
    [
        ("x", "a.py", "python"),
        ("x", "a.md", None),
        ("cat ~/.ssh/id_rsa", "notes.txt", None),
        ("#!/usr/bin/env node\n", "run", "javascript"),
        ("x", "Makefile", "tasks"),
        ("x", "justfile", "tasks"),
    ],
)
def test_what_is_code(text: str, name: str, language: str | None) -> None:
    assert language_in(text, f"/w/{name}") == language


@pytest.mark.parametrize(
    ("text", "may"),
    [
        ("print('hello')", False),
        ("cat ~/.ssh/id_rsa", True),
        ("\x7fELF\0", True),
        ("x" * 300_000, True),
    ],
)
def test_what_can_have_tags(text: str, may: bool) -> None:
    assert may_have_tags(text) is may


def test_no_table_of_risks_is_loaded_to_know_it() -> None:
    asks = (
        "import sys; from tallystick.graph.content_tags import tags_in; assert tags_in('print(1)', 'file:///w/a.py') == ();"
        "print(*[name for name in sys.modules if name.startswith('tallystick.policy.risks')])"
    )
    found = subprocess.run([sys.executable, "-c", asks], env=os.environ, capture_output=True, text=True, check=True)
    assert found.stdout.strip() == ""

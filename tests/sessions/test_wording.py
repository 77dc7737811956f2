from __future__ import annotations

import pytest

from tallystick.sessions.wording import asked_in, title_of

COMMAND = "<command-message>review</command-message>\n<command-name>/review</command-name>"


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        ("Fix the bug", "Fix the bug"),
        (COMMAND, "/review"),
        (f"{COMMAND}\n<command-args>the parser</command-args>", "/review the parser"),
        ("Implement the following plan:\n\n# Faster tests\n\n1. cache", "# Faster tests\n\n1. cache"),
        ("Implement the following plan:", "Implement the following plan:"),
        ("<ide_opened_file>a.py is open</ide_opened_file>\nFix it", "Fix it"),
        ("<system-reminder>a</system-reminder>\n<system-reminder>b</system-reminder>\nFix it", "Fix it"),
        ('<teammate-message teammate_id="team-lead">\nWrite tests.\n</teammate-message>', "Write tests."),
        ("<system-reminder>no end", "<system-reminder>no end"),
        ("<div>centre this</div>", "<div>centre this</div>"),
        ("What does <command-name>/x</command-name> do?", "What does <command-name>/x</command-name> do?"),
    ],
)
def test_the_words_of_a_request_are_without_what_a_program_put_around_them(text: str, asked: str) -> None:
    assert asked_in(text) == asked


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("Implement the following plan:\n\n# Faster tests\n\n1. cache", "Faster tests"),
        ("\n\n  Fix it  \nnow", "Fix it"),
        ("", ""),
        ("x" * 300, "x" * 200),
    ],
)
def test_a_title_is_the_first_line_of_what_was_asked(text: str, title: str) -> None:
    assert title_of(text) == title


def test_many_tags_that_never_end_are_read_in_no_time() -> None:
    text = "<system-reminder>" * 20_000
    assert asked_in(text) == text

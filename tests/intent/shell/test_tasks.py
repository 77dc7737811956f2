"""Shell texts in the files of task runners."""

from hypothesis import given
from hypothesis import strategies as st

from tallystick.intent.shell.tasks import shell_of_makefile, task_texts
from tests.support.cases import cases, each

CASES = cases(__file__, "cases", list[tuple[str, str, list[str], list[str]]])


@each("name, text, targets, expected", CASES)
def test_what_a_file_makes_its_program_run(name: str, text: str, targets: list[str], expected: list[str]) -> None:
    found = task_texts(name, text, targets)
    assert [one for one in found or () if one.strip()] == expected


def test_other_files_have_no_tasks() -> None:
    assert task_texts("main.py", "x", ()) is None


def test_a_makefile_runs_things_while_it_is_read() -> None:
    text = "A := $(shell git describe $$x)\nB != date\nC := $(wildcard *)\nall:\n\techo $(A)\n"
    assert shell_of_makefile(text) == ("git describe $x", "date")


@given(st.sampled_from([case[0] for case in CASES]), st.text(max_size=400), st.lists(st.text(max_size=5), max_size=3))
def test_any_text_is_read(name: str, text: str, targets: list[str]) -> None:
    assert all(one.strip() for one in task_texts(name, text, targets) or ())

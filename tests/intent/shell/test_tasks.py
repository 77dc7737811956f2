"""Shell texts in the files of task runners."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.intent.shell.tasks import shell_of_makefile, task_texts

CASES = [
    ("justfile", "a: b\n    echo a\nb:\n    @echo b\n", ["a"], ["echo b", "echo a"]),
    ("justfile", "a:\n    echo a\nb:\n    echo b\n", [], ["echo a"]),
    ("justfile", "x := 'y'\na:\n    echo {{x}}\n", ["a"], ["echo y"]),
    ("justfile", "x := `cat k`\na:\n    echo\n", ["a"], ["cat k", "echo"]),
    ("Taskfile.yml", "tasks:\n  a:\n    cmds:\n      - echo a\n      - cmd: echo c\n  b:\n    cmds:\n      - echo b\n", ["a"],
     ["echo a", "echo c"]),
    ("Taskfile.yml", "tasks:\n  a:\n    cmds:\n      - |\n        echo 1\n        echo 2\n", [], ["echo 1\necho 2"]),
    (".pre-commit-config.yaml", "repos:\n- repo: local\n  hooks:\n  - id: a\n    entry: sh -c 'echo'\n    files: x\n", [],
     ["sh -c 'echo'"]),
    ("lefthook.yml", "pre-push:\n  commands:\n    a:\n      run: echo a\n", [], ["echo a"]),
    ("play.yml", "- hosts: localhost\n  tasks:\n  - name: x\n    shell: echo a\n", [], ["echo a"]),
    ("tox.ini", "[testenv]\ndeps = x\ncommands =\n    pytest\n    sh -c 'echo'\n", [], ["pytest", "sh -c 'echo'"]),
    ("Procfile", "web: run a\nworker: run b\n", [], ["run a", "run b"]),
    ("build.ninja", "rule a\n  command = echo a\n", [], ["echo a"]),
    ("CMakeLists.txt", 'execute_process(COMMAND sh -c "echo a" OUTPUT_VARIABLE x)', [], ['sh -c "echo a"']),
    ("build.xml", '<exec executable="sh"><arg value="-c"/><arg value="echo &quot;a&quot;"/></exec>', [],
     ["sh -c 'echo \"a\"'"]),
    ("composer.json", '{"scripts": {"a": ["echo 1", "echo 2"], "b": "echo b"}}', ["run", "a"], ["echo 1", "echo 2"]),
    ("deno.json", '{"tasks": {"a": {"command": "echo a"}}}', ["task", "a"], ["echo a"]),
    ("pyproject.toml", '[tool.poe.tasks]\na = "echo a"\nb = {shell = "echo b"}\n', ["poe", "b"], ["echo b"]),
    ("pyproject.toml", '[tool.hatch.envs.default.scripts]\na = "echo a"\n', [], ["echo a"]),
    ("main.tf", 'provisioner "local-exec" {\n command = "echo \\"a\\""\n}', [], ['echo "a"']),
]  # fmt: skip


@pytest.mark.parametrize(("name", "text", "targets", "expected"), CASES)
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

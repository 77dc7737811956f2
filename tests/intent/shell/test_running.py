"""What commands run besides themselves: scripts, code, recipes, texts that are put together first."""

from hypothesis import given
from hypothesis import strategies as st

from tallystick.intent.shell.commands import Environment
from tallystick.intent.shell.effects import read_effects, read_file_effects
from tallystick.intent.shell.running import pieces
from tallystick.model.intent import Intent, Operation
from tests.support.cases import each

LINES = st.lists(st.text("ab ;|(#", max_size=40), max_size=300)


@given(LINES)
def test_no_line_is_lost_but_comments(lines: list[str]) -> None:
    text = "\n".join(lines)
    found, is_whole = pieces(text)
    kept = [line for line in lines if line.strip() and not line.strip().startswith("#")]
    assert is_whole
    assert "\n".join(found).split("\n") == (kept or [""])


def test_a_long_script_is_cut_between_statements() -> None:
    block = 'if [ -n "$x" ]; then\n  echo "$x" | cat\nfi\n'
    found, is_whole = pieces(block * 300)
    assert is_whole
    assert len(found) > 1
    assert all(piece.startswith("if ") and piece.endswith("fi") for piece in found)
    assert all(len(piece) < 16_000 for piece in found)


def test_padding_with_comments_takes_no_room() -> None:
    assert pieces("# x\n" * 50_000 + "cat a") == (["cat a"], True)


def test_there_is_an_end_to_it() -> None:
    found, is_whole = pieces("echo aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\n" * 10_000)
    assert not is_whole
    assert len(found) <= 16


SECRET = "cat k\n"


def intents(text: str, files: dict[str, str]) -> tuple[Intent, ...]:
    found = {f"/w/{name}": content for name, content in files.items()}
    environment = Environment(variables={"HOME": "/h"}, folder="/w", read_text=found.get)
    return read_effects(text, environment).effects.intents


@each(
    "text, files",
    [
        ("./run", {"run": SECRET}),
        ("make -f - <<< 'x:; cat k'", {}),
        ("make", {"Makefile": "include x.mk\nall: y\n", "x.mk": "y:\n\tcat k\n"}),
        ("gmake y", {"Makefile": "y:\n\tcat k\n"}),
        ("xargs -a r -I{} sh -c '{}'", {"r": SECRET}),
        ("parallel < r", {"r": SECRET}),
        ("sh big", {"big": "echo a | cat\n" * 700 + SECRET}),
        ("sh big", {"big": "# x\n" * 30_000 + SECRET}),
        ("gdb -x g", {"g": "shell cat k\n"}),
        ("emacs -l e", {"e": '(shell-command "cat k")'}),
    ],
)
def test_what_runs_is_read(text: str, files: dict[str, str]) -> None:
    assert "/w/k" in [one.target for one in intents(text, files) if one.operation is Operation.READ]


def test_each_intent_names_the_file_that_says_it() -> None:
    found = intents("cat a; sh b", {"b": "cat c; sh d", "d": "cat e"})
    assert {one.target: one.script for one in found if one.operation is Operation.READ} == {
        "/w/a": "",
        "/w/c": "/w/b",
        "/w/e": "/w/d",
    }


def test_a_script_without_end_is_not_read_to_its_end() -> None:
    environment = Environment(variables={"HOME": "/h"}, folder="/w", read_text={"/w/a": "echo abc\n" * 20_000}.get)
    assert "size" in read_effects("sh a", environment).effects.opaque


def test_a_file_is_read_in_its_language_and_folder() -> None:
    environment = Environment(variables={"HOME": "/h"}, folder="/w")
    reading = read_file_effects("/x/a.py", "open('k').read()", "python", environment)
    assert [(one.target, one.script) for one in reading.effects.intents] == [("/w/k", "/x/a.py")]
    assert [(one.file, one.folder) for one in reading.snippets] == [("/x/a.py", "/w")]

"""What a simple command becomes in the script."""

from tallystick.intent.shell.commands import Environment
from tallystick.intent.shell.read import read_script
from tallystick.model.intent import Chance
from tallystick.model.script import Command, Role, Script
from tests.support.cases import each, each_case

ENVIRONMENT = Environment(variables={"HOME": "/home/dev"}, folder="/w")


def read(text: str, **files: str) -> Script:
    texts = {f"/w/{name}": held for name, held in files.items()}
    return read_script(text, Environment(variables={"HOME": "/home/dev"}, folder="/w", read_text=texts.get))


def roles(text: str) -> list[Role]:
    return [command.role for command in read(text).commands]


def test_each_command_has_a_role() -> None:
    assert roles("a") == [Role.PROGRAM]
    assert roles("sudo a") == [Role.PROGRAM, Role.WRAPPER]
    assert roles("f() { a; }; f") == [Role.CALL, Role.PROGRAM, Role.GROUP]
    assert roles("(a) > b") == [Role.PROGRAM, Role.GROUP]
    assert roles("eval $X") == [Role.UNTOLD, Role.WRAPPER]
    assert roles("find . -exec a \\;") == [Role.PROGRAM, Role.PROGRAM, Role.GROUP]


def test_a_command_says_whose_output_it_reads() -> None:
    assert [command.inputs for command in read("a | b | c").commands] == [(), (0,), (1,)]
    assert [command.inputs for command in read("{ a; b; } | c").commands] == [(), (), (0, 1)]
    assert [command.inputs for command in read("a | sudo b | c").commands] == [(), (0,), (1,), (2,)]
    assert read("a; b | c").outputs == (0, 2)
    assert read("x=$(a); b").outputs == (1,)


def test_a_word_says_whose_output_stands_in_it() -> None:
    assert read("x=$(a | b); c $x").commands[2].words[1].commands == (1,)
    assert read("c <(a)").commands[1].words[1].is_stream
    assert not read("c $(a)").commands[1].words[1].is_stream


def test_what_is_read_is_told_where_the_text_holds_it() -> None:
    told = [command.input for command in read("echo a | b; c <<< d; e").commands]
    assert [word.text if word is not None else None for word in told] == [None, "a\n", "d\n", None]


def folder_and_chance(command: Command) -> tuple[str | None, Chance]:
    return command.folder, command.chance


def test_a_command_says_where_it_runs_and_whether() -> None:
    found = read("cd x && a; [ -f b ] || c")
    assert [folder_and_chance(command) for command in found.commands if command.program in ("a", "c")] == [
        ("/w/x", Chance.MAYBE),
        ("/w/x", Chance.MAYBE),
    ]


def ran(text: str) -> list[str]:
    """The programs of a text with their words."""
    return [
        " ".join(word.text for word in command.words) for command in read(text).commands if command.role is Role.PROGRAM
    ]


@each_case("text, expected")
def test_what_an_alias_stands_for_may_run_beside_what_is_written(text: str, expected: list[str]) -> None:
    assert [one for one in ran(text) if not one.startswith("alias")] == expected


def test_an_alias_that_nothing_tells_runs_a_program_that_is_not_known() -> None:
    found = read("alias t=$(which a); t b")
    assert "program" in found.opaque
    assert found.commands[-3].words[1].text == "b"


def test_a_file_that_is_sourced_is_read_where_it_stands() -> None:
    found = read("source env; a $X", env="X=b; cd y")
    last = found.commands[-1]
    assert ([word.text for word in last.words], last.folder) == (["a", "b"], "/w/y")


@each(
    "text, reason",
    [
        ("a;" * 600, "size"),
        ("sudo " * 40 + "a", "depth"),
        ("f() { f; }; f", "depth"),
        ("a " + "> b " * 70, "size"),
        ("eval " * 10 + "a", "depth"),
        ("find . -exec " * 900, "size"),
    ],
)
def test_what_is_more_than_any_command_has_is_not_read_to_its_end(text: str, reason: str) -> None:
    found = read(text)
    assert reason in found.opaque
    assert len(found.commands) < 1100


def test_variables_are_bounded() -> None:
    text = "; ".join(f"v{n}=x" for n in range(300)) + "; a $v1 $v299"
    words = read(text).commands[-1].words
    assert (words[1].text, words[2].is_known) == ("x", False)

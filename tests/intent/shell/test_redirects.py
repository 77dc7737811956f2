"""Redirects and here-documents of a statement."""

import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tallystick.intent.shell.commands import Environment
from tallystick.intent.shell.effects import effects
from tallystick.intent.shell.read import read_script
from tallystick.intent.shell.redirects import Document, Kind, Piece, lifted, pieces
from tallystick.model.intent import Operation
from tallystick.model.script import Role
from tests.support.cases import each_case
from tests.support.laws import examples

BODY_LINE = st.text(alphabet="ab $'\"\\`#<|", max_size=10)


@given(
    st.lists(BODY_LINE.filter(lambda line: line != "E"), max_size=4),
    st.sampled_from(["| head", "2>&1 | head", "; ls", "&& ls"]),
)
def test_a_literal_document_is_kept_as_it_is(lines: list[str], rest: str) -> None:
    body = "".join(f"{line}\n" for line in lines)
    found = lifted(f"cat <<'E' {rest}\n{body}E\nls\n")
    assert found is not None
    text, documents = found
    (name,) = documents
    assert documents[name] == Document(body, Kind.LITERAL)
    assert text == f"cat < {name}  {rest}\nls\n"


def test_several_documents_follow_each_other() -> None:
    found = lifted('cat <<A; cat <<-"B" > f\n1\nA\n\t2\n\tB\n')
    assert found is not None
    assert list(found[1].values()) == [Document("1\n", Kind.BODY), Document("2\n", Kind.LITERAL)]


def test_a_string_is_taken_as_it_is_spelled() -> None:
    found = lifted("cat > a <<< 'x y'")
    assert found is not None
    assert list(found[1].values()) == [Document("'x y'", Kind.STRING)]


@each_case("text")
def test_what_is_not_surely_a_document_is_left_alone(text: str) -> None:
    assert lifted(text) is None


@given(st.text(alphabet="<E\n'\"\\$(){}`# ax", max_size=40))
def test_any_text_is_lifted_or_left(text: str) -> None:
    found = lifted(text)
    assert found is None or found[1]


def test_a_body_is_cut_where_the_shell_expands() -> None:
    found = list(pieces(r"a$X\$b${Y}$(c (d))`e`${Z:-f}$ $1\\"))
    assert "".join(text for _, text in found) == r"aX$bY$(c (d))`e`${Z:-f}$ 1" + "\\"
    assert [text for piece, text in found if piece is Piece.NAME] == ["X", "Y", "1"]
    assert [text for piece, text in found if piece is Piece.SHELL] == ["$(c (d))", "`e`", "${Z:-f}"]


ENVIRONMENT = Environment(variables={"HOME": "/home/dev"}, folder="/w")

LINE = st.lists(
    st.sampled_from(
        [
            "a",
            " ",
            "\t",
            "é",
            '"',
            "'",
            r"\$",
            "$HOME",
            "${HOME}",
            r"\\",
            r"\"",
            "$(echo q)",
            "`echo r`",
            "|",
            "<<",
            "$",
            "%",
        ]
    ),
    max_size=6,
).map("".join)
DOCUMENT = st.tuples(st.sampled_from(["<<E", "<<'E'", "<<-E", "<<-'E'", '<< "E"']), st.lists(LINE, max_size=5))


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed")
@settings(max_examples=examples(150), deadline=None)
@given(
    DOCUMENT,
    st.sampled_from(
        ["cat > f {}\n", "cat {} > f\n", "cat {} | cat > f\n", "cat {} 2>&1 | cat > f\n", "tee f {} > g\n"]
    ),
)
def test_what_a_document_writes_is_what_bash_writes(
    tmp_path_factory: pytest.TempPathFactory, document: tuple[str, list[str]], form: str
) -> None:
    start, lines = document
    text = form.format(start) + "".join(f"{line}\n" for line in lines) + "E\n"
    folder = tmp_path_factory.getbasetemp() / "documents"
    folder.mkdir(exist_ok=True)
    bash = subprocess.run(
        ["bash", "-c", text], cwd=folder, env={"HOME": "/home/dev", "PATH": "/usr/bin:/bin"}, capture_output=True
    )
    told = [intent.content for intent in effects(text, ENVIRONMENT).intents if intent.target == "/w/f"]
    if bash.returncode == 0 and not bash.stderr and told and told[0] is not None:
        assert told[0] == Path(folder / "f").read_text("utf-8")


def test_most_documents_are_known_whole() -> None:
    for text in (
        "cat > f <<E\n  a $HOME\n\nE\n",
        "cat <<'E' 2>&1 | cat > f\n\n`x`\nE\n",
        "cat > f <<-E && ls\n\t\ta\n\tE\n",
    ):
        (found,) = [intent for intent in effects(text, ENVIRONMENT).intents if intent.operation is Operation.WRITE]
        assert found.content is not None
        assert found.is_authored


@each_case("text, expected")
def test_a_redirect_says_how_it_is_spelled(text: str, expected: list[tuple[str, str, str]]) -> None:
    found = [redirect for command in read_script(text, ENVIRONMENT).commands for redirect in command.redirects]
    assert [(redirect.operator, redirect.descriptor, redirect.target.text) for redirect in found] == expected


def test_redirects_around_several_commands_are_a_group() -> None:
    commands = read_script("{ a; b; } < c > d", ENVIRONMENT).commands
    assert [command.role for command in commands] == [Role.GROUP, Role.PROGRAM, Role.PROGRAM, Role.GROUP]
    assert [command.inputs for command in commands] == [(), (0,), (0,), (1, 2)]


def test_output_that_goes_to_another_descriptor_goes_into_no_pipe() -> None:
    assert read_script("a >&2 | b", ENVIRONMENT).commands[0].is_diverted
    assert not read_script("a 2>&1 | b", ENVIRONMENT).commands[0].is_diverted

"""Commands as text → what runs."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tallystick.intent.shell.commands import Environment
from tallystick.intent.shell.read import read_argv, read_script
from tallystick.model.script import HOLE, STAR, Command, Script
from tests.support.cases import each, each_case
from tests.support.laws import examples

ENVIRONMENT = Environment(variables={"HOME": "/home/dev", "PWD": "/w"}, folder="/w")


def read(text: str) -> Script:
    return read_script(text, ENVIRONMENT)


def lines(text: str) -> list[list[str]]:
    """The words of each command that has any."""
    return [[word.text for word in command.words] for command in read(text).commands if command.words]


def only(text: str) -> Command:
    (command,) = [command for command in read(text).commands if command.words]
    return command


@each(
    "text, expected",
    [
        ("rm -f a b", [["rm", "-f", "a", "b"]]),
        ("a; b && c || d & e | f", [["a"], ["b"], ["c"], ["d"], ["e"], ["f"]]),
        ("X=1 Y=$X rm $X", [["rm", HOLE]]),
        ("X=1; rm $X${X}x", [["rm", "11x"]]),
        ("X='a b'; rm $X \"$X\"", [["rm", "a", "b", "a b"]]),
        ("rm ~/a ~ '~/a' a=~/b", [["rm", "/home/dev/a", "/home/dev", "~/a", "a=/home/dev/b"]]),
        ("rm a\\ b 'c d' \"e $HOME f\" $'\\x41\\t'", [["rm", "a b", "c d", "e /home/dev f", "A\t"]]),
        ("rm {a,b}/{c,d} {x} {}", [["rm", "a/c", "a/d", "b/c", "b/d", "{x}", "{}"]]),
        ("rm *.c '*.h' \\*", [["rm", f"{STAR}.c", "*.h", "*"]]),
        ("rm ${A:-d} ${B-e}", [["rm", "d", "e"]]),
        ("A=abc; rm ${A%c} ${A#a} ${A/b/x} ${A:1:1} ${A^^}", [["rm", "ab", "bc", "axc", "b", "ABC"]]),
        ("A=a; A+=b; rm $A", [["rm", "ab"]]),
        ("rm $(echo a)b `pwd`", [["echo", "a"], ["pwd"], ["rm", "ab", "/w"]]),
        ("for f in a b; do rm $f; done", [["rm", "a"], ["rm", "b"]]),
        ("for f in $(ls); do rm $f; done", [["ls"], ["rm", HOLE]]),
        ("for f in a; do rm $f; done", [["rm", "a"]]),
        ("sudo -u x nice -n 3 env A=1 rm a", [["rm", "a"]]),
        ("timeout -k 1 5 rm a", [["rm", "a"]]),
        ("sh -c 'rm \"$1\"' _ a", [["rm", "a"]]),
        ("bash -lc 'cd x; rm a'", [["cd", "x"], ["rm", "a"]]),
        ("eval 'rm' a", [["rm", "a"]]),
        ("echo a | xargs -I% rm %/b", [["echo", "a"], ["rm", "a/b"]]),
        ("ls | xargs -I% rm %/b", [["ls"], ["rm", f"{HOLE}/b"]]),
        ("find a -exec rm {} +", [["find", "a", "-exec", "rm", "{}", "+"], ["rm", HOLE]]),
        ("bash <<E\nrm a\nE", [["rm", "a"]]),
        ("cat <<E | sort\nx\nE\nls", [["cat"], ["sort"], ["ls"]]),
        ("f() { rm a; }; f", [["f"], ["rm", "a"]]),
        ("f() { rm $1; }; f a; f b", [["f", "a"], ["rm", "a"], ["f", "b"], ["rm", "b"]]),
        ("f() { rm a; }; ls", [["ls"], ["rm", "a"]]),
        ("[ -f $(rm a) ]", [["rm", "a"]]),
        ("command -v rm", [["command", "-v", "rm"]]),
        ("rm a'b'\\c _`echo q`_", [["echo", "q"], ["rm", "abc", "_q_"]]),
        ("rm _''$HOME/x 'a'\"b\"$HOME", [["rm", "_/home/dev/x", "ab/home/dev"]]),
        ("rm \"$(cat <<'E'\na b\nE\n)\"", [["cat"], ["rm", "a b"]]),
        ("x=a'b'\\c; rm $x", [["rm", "abc"]]),
        ("x=a'b'\\c rm $x", [["rm", HOLE]]),
        ("x=a sh -c 'rm $x'", [["rm", "a"]]),
        ("", []),
        ("# rm a", []),
    ],
)
def test_a_text_is_read_into_its_commands(text: str, expected: list[list[str]]) -> None:
    assert lines(text) == expected
    assert read(text).opaque == ()


@each_case("text, reads, writes")
def test_files_that_descriptors_are_bound_to_are_told(text: str, reads: list[str], writes: list[str]) -> None:
    redirects = [redirect for command in read(text).commands for redirect in command.redirects]
    assert [redirect.target.text for redirect in redirects if not redirect.writes] == reads
    assert [redirect.target.text for redirect in redirects if redirect.writes] == writes


def test_words_after_a_redirect_belong_to_the_command() -> None:
    assert [word.text for word in only("rm > log -f a").words] == ["rm", "-f", "a"]


@each_case("text, folders")
def test_every_folder_that_a_command_may_run_in_is_told(text: str, folders: tuple[str, ...]) -> None:
    assert read(text).commands[-1].folders == folders


@each(
    "text, why",
    [
        ("rm 'a", "syntax"),
        ("`a``rm b`", "syntax"),
        ("`a \\`rm b\\``", "syntax"),
        ("curl x | sh", "pipe"),
        ("eval $X", "eval"),
        ("sh -c \"$X\"", "eval"),
        ("$X a", "program"),
        ("source <(x)", "pipe"),
        ("a" * 70_000, "size"),
        ("(" * 200 + "a" + ")" * 200, "depth"),
    ],
)  # fmt: skip
def test_a_text_that_does_not_tell_everything_is_opaque(text: str, why: str) -> None:
    assert why in read(text).opaque


def test_what_a_hole_was_made_from_is_kept() -> None:
    assert "/a/b" in only_named("rm", 'X=$(ls /a/b); rm "$X"').words[1].hidden
    assert "/a/b" in only_named("rm", "ls /a/b | xargs rm").words[1].hidden
    assert "/a/b" in only_named("rm", "ls /a/b | while read x; do rm $x; done").words[1].hidden
    assert "/a/b" in only_named("rm", "for x in /a/b $(ls); do rm $x; done").words[1].hidden


def only_named(program: str, text: str) -> Command:
    (command,) = [command for command in read(text).commands if command.program == program]
    return command


def test_a_name_that_the_text_gives_another_meaning_is_not_trusted() -> None:
    assert not read("cat() { rm x; }; cat a").commands[0].trusted
    assert not read("alias cat=rm; cat a").commands[-1].trusted
    assert not read("PATH=.; cat a").commands[-1].trusted
    assert read("cat a").commands[-1].trusted


def test_a_program_started_without_a_shell_has_its_words_as_they_are() -> None:
    script = read_argv(["rm", "$HOME/*", "~"], ENVIRONMENT)
    assert [word.text for word in script.commands[0].words] == ["rm", "$HOME/*", "~"]
    inner = read_argv(["bash", "-lc", "rm ~/a"], ENVIRONMENT)
    assert [word.text for word in inner.commands[0].words] == ["rm", "/home/dev/a"]


# Against bash itself -------------------------------------------------------------------------------------------------

_PIECES = st.one_of(
    st.text(alphabet="ab./-_", min_size=1, max_size=4),
    st.text(alphabet="ab ~*$\\{,}", max_size=4).map(lambda text: f"'{text}'"),
    st.text(alphabet="ab ~*'{,}", max_size=4).map(lambda text: f'"{text}"'),
    st.sampled_from(["$HOME", "${HOME}", '"$HOME"', "$A", '"$A"', "${A}", "${Z:-d}", '"${Z:-d e}"', "${A%b}", "${A#a}"]),
    st.sampled_from([r"\'", r"\~", r"\*", r"\\", r"$'\x41\n'", r"$'\101\''", r'"\$\`\"\\\a"', "{a,b}", "{a}"]),
    st.sampled_from(["$(echo q)", '"$(echo q r)"', "$(pwd)", '"$A $HOME"', '" $A "', "${A/b/c}", "${A:1:2}"]),
)  # fmt: skip


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed")
@settings(max_examples=examples(150), deadline=None)
@given(pieces=st.lists(st.lists(_PIECES, min_size=1, max_size=4).map("".join), min_size=1, max_size=3))
def test_words_are_what_bash_makes_of_them(pieces: list[str]) -> None:
    assume(
        not re.search(r"\$\w+\{", " ".join(pieces))
    )  # bash expands braces before variables: `$HOME{a,b}` is `$HOMEa $HOMEb`
    text = "A='ab  b'; set -f; printf '<%s>' " + " ".join(pieces)
    environment = {"HOME": "/home/dev", "LC_ALL": "C.UTF-8"}
    bash = subprocess.run(["bash", "-c", text], cwd="/", env=environment, capture_output=True, check=True)
    script = read_script(text, Environment(variables={"HOME": "/home/dev", "PWD": "/"}, folder="/"))
    words = [word.plain for word in script.commands[-1].words[2:]]
    assert "".join(f"<{word}>" for word in words if word) == bash.stdout.decode().replace("<>", ""), text


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed")
@settings(max_examples=examples(40), deadline=None)
@given(
    steps=st.lists(
        st.sampled_from(["a", "b", "..", ".", "-", "~", "a/b", "missing", "$OLDPWD"]), min_size=1, max_size=4
    )
)
def test_the_folder_of_a_command_is_among_those_that_are_told(
    tmp_path_factory: pytest.TempPathFactory, steps: list[str]
) -> None:
    root = folder(tmp_path_factory)
    text = "; ".join(f"cd {step}" for step in steps) + "; pwd"
    bash = subprocess.run(["bash", "-c", text], cwd=root, env={"HOME": str(root)}, capture_output=True, check=True)
    found = bash.stdout.decode().splitlines()[-1]
    script = read_script(text, Environment(variables={"HOME": str(root)}, folder=str(root)))
    assert found in [str(Path(path).resolve()) for path in script.commands[-1].folders], text


def folder(factory: pytest.TempPathFactory) -> Path:
    """A folder with folders to change to."""
    root = factory.getbasetemp() / "folders"
    (root / "a" / "b").mkdir(parents=True, exist_ok=True)
    (root / "b").mkdir(exist_ok=True)
    return root.resolve()

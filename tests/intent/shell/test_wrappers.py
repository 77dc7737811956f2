"""Programs that run the program in their arguments."""

from hypothesis import given
from hypothesis import strategies as st

from tallystick.intent.shell import wrappers
from tallystick.intent.shell.feeds import Feed
from tallystick.model.intent import Operation
from tallystick.model.script import HOLE, Word
from tests.support.cases import each, each_case


def words(text: str) -> tuple[Word, ...]:
    return tuple(Word(part) for part in text.split())


@each_case("text, inner")
def test_a_wrapper_leaves_the_command_that_it_runs(text: str, inner: str) -> None:
    name, *rest = words(text)
    assert wrappers.unwrapped(name.text, tuple(rest), Feed()) == words(inner)


@each("text", ["rm a", "uv pip install a", "command -v rm", "poetry install"])
def test_other_programs_wrap_nothing(text: str) -> None:
    name, *rest = words(text)
    assert wrappers.unwrapped(name.text, tuple(rest), Feed()) is None


def test_xargs_takes_what_it_reads_if_that_is_told() -> None:
    told = Feed("a b", Word("a b\n"))
    assert wrappers.unwrapped("xargs", words("rm -f"), told) == words("rm -f a b")
    assert wrappers.unwrapped("xargs", words("-I% mv % %.bak"), Feed("a", Word("a\n"))) == words("mv a a.bak")
    assert wrappers.unwrapped("xargs", words("-rI % rm %"), Feed("a", Word("a\n"))) == words("rm a")
    untold = wrappers.unwrapped("xargs", words("rm"), Feed("ls /q", None, (4,)))
    assert untold == (Word("rm"), Word(HOLE, "ls /q", (4,)))
    found = wrappers.unwrapped("xargs", words("-d , rm"), told)
    assert found is not None
    assert not found[-1].is_known


@each("flags", ["-0", "-0r", "--null", r"-d \n"])
def test_xargs_parts_what_it_reads_at_the_ends_of_lines_where_it_is_told_to(flags: str) -> None:
    told = Feed("a b\nc", Word("a b\nc\n"))
    assert wrappers.unwrapped("xargs", words(f"{flags} rm"), told) == (Word("rm"), Word("a b"), Word("c"))


@each_case("text, inner")
def test_runners_leave_the_command_that_they_run(text: str, inner: str) -> None:
    name, *rest = words(text)
    assert wrappers.unwrapped(name.text, tuple(rest), Feed()) == words(inner)
    assert wrappers.split_string(name.text, tuple(rest)) is None


def test_all_texts_that_hyperfine_measures_are_run() -> None:
    name, *rest = words("hyperfine -w 2 -p c a b")
    assert wrappers.shell_text(name.text, tuple(rest)) == Word("c\na\nb")


@each(
    "text, found",
    [
        ("sh -c x", "x"), ("bash -lc x", "x"), ("bash -o pipefail -c x", "x"), ("eval a b", "a b"), ("watch -n 1 a b", "a b"),
        ("su root -c x", "x"), ("script -qc x out", "x"), ("flock f -c x", "x"), ("nix-shell -p q --run x", "x"),
        ("trap x EXIT", "x"), ("trap - EXIT", None), ("bash x", None), ("rm -c x", None),
        ("tmux new -d -s n a b", "a b"), ("tmux -L q send-keys -t n a Enter", "a"), ("tmux ls", None),
        ("tmux attach -t n", None), ("bash -euo pipefail -c x", "x"), ("bash -oe pipefail -c x", "x"),
        ("zsh -fo a -c x", "x"), ("bash +eo a -c x", "x"), ("script -qefc x out", "x"), ("su -lc x", "x"),
    ],
)  # fmt: skip
def test_text_for_a_shell_is_found(text: str, found: str | None) -> None:
    name, *rest = words(text)
    said = wrappers.shell_text(name.text, tuple(rest))
    assert (said.text if said is not None else None) == found


@each_case("text, expected")
def test_a_shell_without_a_file_reads_its_input(text: str, expected: bool) -> None:
    name, *rest = words(text)
    assert wrappers.reads_its_input(name.text, tuple(rest)) == expected


def test_files_and_folders_of_wrappers_are_told() -> None:
    assert wrappers.touched("time", words("-o f ls")) == [(Operation.WRITE, Word("f"))]
    assert wrappers.touched("flock", words("-n f ls")) == [(Operation.CREATE, Word("f"))]
    assert wrappers.touched("flock", words("9")) == []
    assert wrappers.touched("script", words("-q")) == [(Operation.WRITE, Word("typescript"))]
    assert wrappers.touched("nice", words("ls")) == []
    assert wrappers.folder("env", words("-C d ls")) == Word("d")
    assert wrappers.folder("env", words("ls")) is None


def test_what_gives_other_rights_is_told() -> None:
    assert wrappers.elevates("sudo")
    assert not wrappers.elevates("nice")
    assert wrappers.is_wrapper("su")
    assert not wrappers.is_wrapper("rm")


def test_a_whole_command_line_may_stand_in_one_word_of_parallel() -> None:
    given = (Word("rm {} -f"), Word(":::"), Word("a"), Word("b"))
    assert wrappers.shell_text("parallel", given) == Word("rm a -f")
    assert wrappers.shell_text("parallel", (Word("rm -f"), Word(":::"), Word("a"))) == Word("rm -f a")
    assert wrappers.shell_text("parallel", (Word(":::"), Word("rm a"), Word("b"))) == Word("rm a\nb")
    assert wrappers.shell_text("parallel", (Word("rm {}"),)) is None
    assert wrappers.shell_text("parallel", words("rm {} ::: a")) is None


@given(
    st.sampled_from(
        ["sudo", "env", "xargs", "timeout", "uv", "parallel", "bwrap", "flock", "script", "chroot", "su", "time"]
    ),
    st.lists(
        st.sampled_from(["-c", "-I", "-u", "--", "run", "a", "", HOLE, ":::", "{}", "-exec", ";", "A=1", "-"]),
        max_size=6,
    ),
)
def test_any_arguments_are_read(name: str, arguments: list[str]) -> None:
    given_words = tuple(map(Word, arguments))
    wrappers.unwrapped(name, given_words, Feed())
    wrappers.shell_text(name, given_words)
    wrappers.split_string(name, given_words)
    wrappers.touched(name, given_words)
    wrappers.folder(name, given_words)
    wrappers.executed(given_words)
    wrappers.reads_its_input(name, given_words)


@each("program", ["git-reset", "/usr/lib/git-core/git-reset", r"C:\Git\libexec\git-core\git-reset.exe"])
def test_a_program_of_git_is_a_verb_of_git(program: str) -> None:
    assert wrappers.as_git((Word(program), Word("--hard"))) == words("git reset --hard")


def test_the_folder_of_gits_programs_may_be_asked_for() -> None:
    assert wrappers.as_git((Word(f"{HOLE}/git-push", "$(git --exec-path)"),)) == words("git push")


@each("text", ["git-lfs pull", "./git-reset", "grep git-reset", "tools/git-core.sh a", ""])
def test_others_are_no_verb_of_git(text: str) -> None:
    assert wrappers.as_git(words(text)) == words(text)


def test_a_hole_is_no_folder_of_git_unless_it_was_asked_for() -> None:
    untold = (Word(f"{HOLE}/git-push", "$(cat x)"),)
    assert wrappers.as_git(untold) == untold


def test_what_env_sets_for_a_program_is_known_where_programs_load_by_it() -> None:
    assert wrappers.assigned(words("-i BASH_ENV=x A=1")) == {"BASH_ENV": Word("x")}

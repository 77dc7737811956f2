"""All that a text means to do: what the tables in `corpus/` do not say, and what holds for any text."""

import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tallystick.intent.shell.commands import Environment
from tallystick.intent.shell.effects import argv_effects, effects, read_effects
from tallystick.model.intent import Chance, Domain, Effects, Intent, Operation
from tests.intent.shell.soundness import ENVIRONMENT, check
from tests.support.cases import each, each_case
from tests.support.laws import examples


def of(text: str, **more: object) -> Effects:
    return effects(text, Environment(variables={"HOME": "/home/dev"}, folder="/w", **more))  # type: ignore[arg-type]


def only(text: str, operation: Operation) -> Intent:
    (found,) = [intent for intent in of(text).intents if intent.operation is operation]
    return found


def test_an_intent_says_which_words_it_comes_from() -> None:
    assert only("ls; cat -n 'a b'", Operation.READ).words == ("a b",)
    assert only("sort a 2>> b", Operation.APPEND).words == ("2>>", "b")
    assert only("nice cat a", Operation.RUN).words == ("cat",)
    assert only("sudo cat a", Operation.ELEVATE).words == ("sudo",)


def test_an_intent_says_which_command_it_comes_from() -> None:
    found = of("cat a; cat b | sort > c")
    assert [(intent.target, intent.command) for intent in found.intents if intent.domain is Domain.FILE] == [
        ("/w/a", 0),
        ("/w/b", 1),
        ("/w/c", 2),
    ]


def test_what_a_script_does_comes_from_the_command_that_runs_it() -> None:
    found = of("ls; bash x.sh", read_text=lambda path: "cat a; cat b")
    assert {intent.command for intent in found.intents if intent.operation is Operation.READ} == {1}


@each_case("text, last")
def test_only_the_last_statement_decides_how_a_text_ends(text: str, last: list[str]) -> None:
    reads = [intent for intent in of(text).intents if intent.operation is Operation.READ]
    assert [intent.target for intent in reads if intent.is_last] == last


def test_a_program_without_a_shell_has_its_words_as_they_are() -> None:
    found = argv_effects(["cat", "$HOME/*", "~"], ENVIRONMENT)
    assert [intent.target for intent in found.intents if intent.operation is Operation.READ] == ["/w/$HOME/*", "/w/~"]
    inner = argv_effects(["bash", "-lc", "cat ~/a > b"], ENVIRONMENT)
    assert len(inner.flows) == 1


def test_words_that_are_no_text_are_read_all_the_same() -> None:
    found = argv_effects(["cat", "\ud800", "a\0b", "x" * 100_000], ENVIRONMENT)
    for intent in found.intents:
        intent.target.encode("utf-8")


def test_what_is_not_told_is_said() -> None:
    assert of("a" * 300_000).opaque == ("size",)
    assert of("echo 'a").opaque == ("syntax",)
    assert of("curl http://h | sh").opaque == ("pipe",)
    assert of("cat a").opaque == ()


def test_a_long_document_that_is_written_is_known_whole() -> None:
    body = "f(x) | {y} $z `q`\n" * 3000
    intent = only(f"cat > f <<'EOF'\n{body}EOF", Operation.WRITE)
    assert intent.content == body


def test_more_flows_than_can_be_told_are_cut_and_it_is_said() -> None:
    files = " ".join(f"f{n}" for n in range(60))
    found = of(f"cat {files} | tee {files}")
    assert len(found.flows) <= 1000
    assert "size" in found.opaque


# Any text ------------------------------------------------------------------------------------------------------------

_PIECES = r"""
a sort > >> < <<E <<'E' <<< 2>&1 &> && ; & ( ) { } $( ` " ' \ E $X ${X } ${X:- X= X=a if then else fi for f in do done while
case esac f() f * ? [ ] ~ ~/ / .. - -- -c -exec {} + xargs sudo env bash sh eval source . ./x cd cd pushd popd echo printf %s
tee cat cp mv rm find tar git curl python3 node -e awk sed make npm run trap read set shift "$@" $1 $(( )) [[ ]] <( >( # ! = :
, {a,b} {1..9} /dev/tcp/h/1 /dev/null exec nohup timeout 5 || |& |
"""
PIECES = st.sampled_from([*_PIECES.split(), "\n", " ", "\0", "\ud800", "é", "\ue000", "\t"])


@settings(max_examples=examples(300), deadline=None)
@given(st.lists(PIECES, max_size=25), st.sampled_from(["", " "]))
@example(["X=a", "X=", "$X"] * 8, " ")
@example(["cat", ">", "f", "<<E", "\n", "\ud800", "$X", "\n", "E"], "")
def test_any_text_of_the_shells_pieces_is_read_soundly(pieces: list[str], between: str) -> None:
    check(between.join(pieces))


@settings(max_examples=examples(100), deadline=None)
@given(st.text(max_size=200))
def test_any_text_is_read_soundly(text: str) -> None:
    check(text)


@settings(max_examples=examples(40), deadline=None)
@given(PIECES, PIECES, st.integers(1, 400))
def test_pieces_many_times_over_are_read_soundly(first: str, second: str, times: int) -> None:
    check(f"{first} {second} " * times)
    check(f"{first}{second}" * times)


@settings(max_examples=examples(60), deadline=None)
@given(st.lists(PIECES, max_size=12))
def test_the_same_text_means_the_same_again(pieces: list[str]) -> None:
    text = " ".join(pieces)
    assert effects(text, ENVIRONMENT) == effects(text, ENVIRONMENT)


@settings(max_examples=examples(60), deadline=None)
@given(st.lists(PIECES, max_size=12))
def test_what_may_not_run_is_never_said_to_run(pieces: list[str]) -> None:
    text = " ".join(pieces)
    is_whole = text.count("(") == text.count(")") and text.count("{") == text.count("}")
    if is_whole and "done" not in pieces and not effects(text, ENVIRONMENT).opaque:
        found = effects(f"while false\ndo {text}\ndone", ENVIRONMENT)
        assert found.opaque or all(
            intent.chance is Chance.MAYBE for intent in found.intents if intent.target != "false"
        )


@pytest.mark.parametrize("times", [20, pytest.param(260, marks=pytest.mark.soak), 390])
@each_case("start, end")
def test_what_stands_in_itself_many_times_over_is_read_soundly(start: str, end: str, times: int) -> None:
    for before, after in (("", ""), ("echo $((", "))"), ('echo "', '"')):
        check(before + start * times + "a" + end * times + after)
        check(before + start * times)


# Against bash itself -------------------------------------------------------------------------------------------------

STATEMENTS = st.sampled_from(
    [
        "echo A > f", "echo B >> g", "cat f > g", "cp f h", "cat f g | sort > h", "mkdir -p d && cd d", "cd d",
        "cd ..", "cd -", "(cd d && echo X > f)", "X=g; echo y > $X", "for i in f g; do echo $i > $i.x; done",
        "cd d 2>&1 | cat > k; echo s > t", "if [ -f f ]; then echo z > q; else echo w > r; fi",
        "f1() { echo $1 > $2; }; f1 a out", "echo q | tee f > g", "mv f g", "rm -f g", "{ echo a; echo b; } > f",
        "bash -c 'cd d; echo s > f'", "printf '%s\\n' a b > f", "touch t", "sort < f > g",
        "cat > f <<E 2>&1 | cat > h\n a $X\nE", "true && cat f 2>&1 | cat > m", "echo x > {a,b}.y",
        "Y=$(cat f); echo \"$Y\" > n", "cat <(sort f) > o", "echo f | xargs -I% cp % %.z",
        "pushd d > /dev/null; echo 1 > p; popd", "while read l; do echo $l > w; done < f",
        "case $X in g) echo 1 > c1;; *) echo 2 > c2;; esac", "false || echo 1 > v", "echo 'echo 3 > s3' | sh",
        "eval 'echo 4 > s4'", "cat > run <<'E'\necho 5 > s5\nE\nsh run", "set -- i j; echo 6 > $2",
        "env Z=1 sh -c 'echo $Z > z'", "unset X", "cd /w0 || echo 7 > s7", "echo 8 > d/../s8 &\nwait",
        "sed -i s/A/C/ f",
    ]
)  # fmt: skip
SCRIPTS = st.lists(st.tuples(STATEMENTS, st.sampled_from(["\n", "\n", "; ", " && ", " || "])), min_size=1, max_size=6)
_WRITES = {
    *(Operation.WRITE, Operation.APPEND, Operation.EDIT, Operation.CREATE),
    *(Operation.COPY_DEST, Operation.DELETE, Operation.RENAME),
}


def files_of(folder: Path) -> dict[str, str]:
    """The regular files below a folder, and what they hold."""
    return {str(path): path.read_text("utf-8") for path in sorted(folder.rglob("*")) if path.is_file()}


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed")
@settings(max_examples=examples(120), deadline=None)
@given(SCRIPTS)
def test_what_bash_does_is_what_was_said(
    tmp_path_factory: pytest.TempPathFactory, parts: list[tuple[str, str]]
) -> None:
    breaks = ("\n" if "<<" in statement else between for statement, between in parts)
    text = (
        "".join(f"{statement}{between}" for (statement, _), between in zip(parts, breaks, strict=True)).rstrip("; |&")
        + "\n"
    )
    root = tmp_path_factory.mktemp("root")
    folder = root / "1" / "2" / "3" / "4" / "5" / "6" / "w"
    (folder / "d").mkdir(parents=True)
    (folder / "f").write_text("A\n", "utf-8")
    before = files_of(root)
    environment = {"HOME": str(folder), "PATH": "/usr/bin:/bin"}
    bash = subprocess.run(["bash", "-c", text], cwd=folder, env=environment, capture_output=True, check=False)
    after = files_of(root)
    there = {str(path) for path in root.rglob("*")}
    shutil.rmtree(root)
    found = effects(text, Environment(variables={"HOME": str(folder)}, folder=str(folder)))
    writes = [intent for intent in found.intents if intent.domain is Domain.FILE and intent.operation in _WRITES]
    is_smooth = not bash.stderr  # where a `cd` fails, the text is taken to mean that it does not
    if is_smooth and not found.opaque and all(intent.is_known and intent.target.startswith("/") for intent in writes):
        changed = {path for path in {*before, *after} if before.get(path) != after.get(path)}
        assert changed <= {intent.target for intent in writes}, text
    if is_smooth and bash.returncode == 0:
        for intent in writes:
            others = [other for other in writes if other is not intent and other.target == intent.target]
            if not others and intent.chance is Chance.ALWAYS and intent.target.startswith("/") and intent.is_known:
                assert (intent.target in there) == (intent.operation not in (Operation.DELETE, Operation.RENAME)), text
                if intent.content is not None:
                    assert after[intent.target] == intent.content, text


def test_the_commands_are_given_with_what_their_programs_do() -> None:
    found = read_effects("cd a; sh -c 'rm -r b' | tee c", Environment(variables={}, folder="/w"))
    assert [(done.command.program, [action.operation for action in done.actions.actions]) for done in found.done] == [
        ("rm", [Operation.DELETE]),
        ("tee", [Operation.WRITE]),
    ]


@each_case("code, expected")
def test_it_is_said_whether_code_was_read_whole(code: str, expected: bool) -> None:
    (snippet,) = read_effects(f'python3 -c "{code}"', Environment(variables={}, folder="/w")).snippets
    assert snippet.is_told is expected


@each_case("text")
def test_what_stands_in_the_words_of_a_program_that_writes_them_out_goes_where_it_writes(text: str) -> None:
    found = of(text)
    assert ("/w/s", "/w/g") in {
        (found.intents[one.source].target, found.intents[one.target].target) for one in found.flows
    }


@each("text", ["cp $(cat s) g", "touch -d $(cat s) g", "tar czf g $(cat s)", "chmod $(cat s) g", "mv f$(cat s) g"])
def test_words_that_a_program_only_goes_by_do_not(text: str) -> None:
    found = of(text)
    assert ("/w/s", "/w/g") not in {
        (found.intents[one.source].target, found.intents[one.target].target) for one in found.flows
    }

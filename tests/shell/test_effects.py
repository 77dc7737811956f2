"""All that a text means to do: what the tables in `corpus/` do not say, and what holds for any text."""

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tallystick.model.intent import Chance, Domain, Effects, Intent, Operation
from tallystick.shell import Environment, argv_effects, effects
from tests.shell.soundness import ENVIRONMENT, check


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


@pytest.mark.parametrize(
    ("text", "last"),
    [
        ("cat a; cat b", ["/w/b"]),
        ("cat a && cat b", ["/w/a", "/w/b"]),
        ("cat a & cat b", ["/w/b"]),
        ("cat a; cat b &", []),
        ("cat a\ncat b | sort", ["/w/b"]),
        ("(cat a; cat b)", ["/w/b"]),
        ("cat a; { cat b; cat c; }", ["/w/c"]),
        ("if cat a; then cat b; cat c; fi", ["/w/c"]),
        ("bash -c 'cat a; cat b'", ["/w/b"]),
    ],
)
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


@settings(max_examples=300, deadline=None)
@given(st.lists(PIECES, max_size=25), st.sampled_from(["", " "]))
@example(["X=a", "X=", "$X"] * 8, " ")
def test_any_text_of_the_shells_pieces_is_read_soundly(pieces: list[str], between: str) -> None:
    check(between.join(pieces))


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=200))
def test_any_text_is_read_soundly(text: str) -> None:
    check(text)


@settings(max_examples=40, deadline=None)
@given(PIECES, PIECES, st.integers(1, 400))
def test_pieces_many_times_over_are_read_soundly(first: str, second: str, times: int) -> None:
    check(f"{first} {second} " * times)
    check(f"{first}{second}" * times)


@settings(max_examples=60, deadline=None)
@given(st.lists(PIECES, max_size=12))
def test_the_same_text_means_the_same_again(pieces: list[str]) -> None:
    text = " ".join(pieces)
    assert effects(text, ENVIRONMENT) == effects(text, ENVIRONMENT)


@settings(max_examples=60, deadline=None)
@given(st.lists(PIECES, max_size=12))
def test_what_may_not_run_is_never_said_to_run(pieces: list[str]) -> None:
    text = " ".join(pieces)
    if not effects(text, ENVIRONMENT).opaque:
        found = effects(f"while false\ndo {text}\ndone", ENVIRONMENT)
        assert found.opaque or all(
            intent.chance is Chance.MAYBE for intent in found.intents if intent.target != "false"
        )

"""What is known of a command's output."""

from tallystick.intent.actions import Actions
from tallystick.intent.shell.output import NOTHING, Output, output_of, written_by
from tallystick.model.script import HOLE, STAR, Command, Word

FED = Output("x", is_authored=True)


def of(*words: str, actions: Actions | None = None, fed: Output = NOTHING) -> Output:
    command = Command(words=tuple(map(Word, words)))
    return output_of(words[0], command, actions or Actions(), fed)


def test_what_the_call_writes_is_authored_and_known_if_all_of_it_is() -> None:
    assert written_by([Word("a")]) == Output("a", is_authored=True)
    assert written_by([Word(f"a{HOLE}")]) == Output(None, is_authored=True)
    assert written_by([Word(f" {HOLE}")]) == Output(None, is_authored=False)
    assert written_by([Word(f"a{STAR}")]) == Output(None, is_authored=True)
    assert written_by([Word("")]) == Output("", is_authored=False)


def test_several_outputs_are_one_after_the_other() -> None:
    assert Output.joined([Output("a", True), Output("b", False)]) == Output("ab", True)
    assert Output.joined([Output("a", True), NOTHING]) == Output(None, True)
    assert Output.joined([]) == NOTHING


def test_a_program_prints_what_it_says_or_passes_on() -> None:
    assert of("echo", "a") == Output("a\n", True)
    assert of("echo", r"a\tb") == Output(None, True)
    assert of("printf", r"a\tb") == Output("a\tb", True)
    assert of("mkdir", "a") == Output("")
    assert of("cat", actions=Actions(reads_input=True), fed=FED) == FED
    assert of("sort", actions=Actions(reads_input=True), fed=FED) == Output(None, True)
    assert of("cat", "f", actions=Actions(prints=(0,)), fed=FED) == NOTHING
    assert of("date") == NOTHING

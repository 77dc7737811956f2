"""What cmdlets mean."""

from tallystick.intent.code.cmdlets import FACTS, NAMES, ShellWord, filled, joined, literal, parameter, slot_of
from tests.support.cases import each


@each(
    "written, name",
    [("-Recurse", "recurse"), ("-r", "recurse"), ("-fo", "force"), ("-LiteralP:", "literalpath"), ("-Nope", "")],
)
def test_a_beginning_of_a_parameter_is_enough(written: str, name: str) -> None:
    assert parameter(written) == name


def test_what_a_parameter_gives() -> None:
    assert (slot_of("recurse"), slot_of("literalpath"), slot_of("encoding")) == (None, "path", "")


def test_a_cmdlet_takes_what_it_is_given() -> None:
    def said(name: str, **slots: list[ShellWord]) -> str:
        return filled(FACTS.cmdlets[NAMES[name]], NAMES[name], dict(slots), {"recurse"}, is_fed=False)

    assert said("ri", path=[literal("a b")]) == "rm -r 'a b'"
    assert said("ri", path=[literal("Env:X")]) == "unset X"
    assert said("ri", path=[literal(r"HKCU:\x")]) == r"reg delete 'HKCU\x'"
    assert said("ni", path=[literal("d")], kind=[literal("Directory")]) == "mkdir -p d/"


def test_words_are_joined_with_what_is_known_of_them() -> None:
    assert joined([literal("a"), literal("b")]) == ShellWord("ab", "ab")
    assert joined([ShellWord('"$x"'), literal("b")]).plain is None

from tallystick.model.script import CLASS, HOLE, STAR, Command, Word
from tests.support.cases import each_case


@each_case("word, program")
def test_only_a_program_of_the_system_is_known_by_its_name(word: str, program: str) -> None:
    assert Command(words=(Word(word),)).program == program


def test_a_bare_name_that_may_be_something_else_is_not_the_systems_program() -> None:
    assert Command(words=(Word("cat"),), trusted=False).program == "./cat"
    assert Command(words=(Word("/bin/cat"),), trusted=False).program == "cat"


def test_a_redirect_alone_has_no_program() -> None:
    assert Command(words=()).program == ""
    assert Command(words=()).arguments == ()


def test_a_word_is_shown_as_it_is_written() -> None:
    assert Word(f"a{STAR}{CLASS}b]{HOLE}c").plain == "a*[b]c"
    assert not Word(f"a{HOLE}").is_known
    assert Word("a").is_known

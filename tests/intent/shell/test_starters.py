"""Tools of developers that run what stands in their arguments."""

from tallystick.intent.shell.starters import started, started_text, within
from tallystick.model.script import HOLE, Word
from tests.support.cases import each_case


def words(text: str) -> tuple[Word, ...]:
    return tuple(map(Word, text.split()))


@each_case("text, inner")
def test_what_a_tool_runs_is_found(text: str, inner: str) -> None:
    name, *rest = words(text)
    assert (within(name.text, tuple(rest)) or started(name.text, tuple(rest))) == words(inner)


@each_case("text")
def test_other_words_after_a_tool_are_its_own(text: str) -> None:
    name, *rest = words(text)
    assert started(name.text, tuple(rest)) is None


def test_texts_are_found() -> None:
    assert started_text("concurrently", (Word("-k"), Word("rm a"), Word("npm:dev"), Word("ls b"))) == Word("rm a\nls b")
    assert started_text("nodemon", (Word("--watch"), Word("src"), Word("--exec"), Word("rm a"))) == Word("rm a")
    assert started_text("doppler", (Word("run"), Word("--command=rm a"))) == Word("rm a")
    assert started_text("sops", (Word("exec-env"), Word("f"), Word("rm a"))) == Word("rm a")
    assert started_text("cargo", (Word("watch"), Word("-s"), Word("rm a"))) == Word("rm a")
    assert started_text("cargo", (Word("build"), Word("-s"), Word("rm a"))) is None
    assert started_text("nodemon", words("app.js")) is None
    assert started_text("concurrently", words("npm:a npm:b")) is None


def test_what_is_not_told_of_a_text_goes_along() -> None:
    found = started_text("concurrently", (Word(f"rm {HOLE}", "ls", (3,)), Word("ls b")))
    assert found is not None
    assert (found.hidden, found.commands, found.is_known) == ("ls", (3,), False)

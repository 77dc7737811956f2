"""Programs read by their calls: names, texts and arguments."""

from tests.intent.code.cases import done
from tests.support.cases import each_case


@each_case("text, expected")
def test_a_text_is_known_as_far_as_it_is_told(text: str, expected: str) -> None:
    assert done("javascript", text) == [expected]


def test_an_argument_that_is_not_closed_is_read_to_a_bound() -> None:
    assert done("javascript", "fs.rmSync('a', " + "(" * 5000)[:1] == ["delete a"]


def test_bare_calls_end_with_their_line() -> None:
    assert done("ruby", "File.delete 'a', 'b'\nputs 'c'") == ["delete a", "delete b"]
    assert done("perl", "unlink 'a' or die 'b'; print 'c'") == ["delete a"]

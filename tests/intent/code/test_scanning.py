"""Programs read by their calls: names, texts and arguments."""

import pytest

from tests.intent.code.cases import done


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("const a = 'x'; const b = a + '/y'; fs.rmSync(b)", "delete x/y"),
        ("const a = b; const b = a; fs.rmSync(a)", "delete _"),
        ("let a = 'x'; a += 'y'; fs.rmSync(a)", "delete _"),
        ("const a = 'x'; fs.rmSync(`${a}/${b}`)", "delete x/_"),
        ("fs.rmSync('a' + f(1, 2) + 'b')", "delete a_b"),
        ("fs.rmSync('a' - 1)", "delete a_"),
        ("fs.rmSync(f('a'))", "delete _"),
        ("fs.rmSync(...args)", "delete _"),
        ("fs.rmSync(\n  'a',\n)", "delete a"),
        ("fs.rmSync('a' +\n  'b'\n  + 'c')", "delete abc"),
        ("fs.rmSync(('a'))", "delete _"),
        ("fs.rmSync('a\\x41')", "delete aA"),
        ("a.b.c.fs.rmSync('a')", "delete a"),
        ("if (fs.existsSync('b')) fs.rmSync('a')", "delete a"),
    ],
)
def test_a_text_is_known_as_far_as_it_is_told(text: str, expected: str) -> None:
    assert done("javascript", text) == [expected]


def test_an_argument_that_is_not_closed_is_read_to_a_bound() -> None:
    assert done("javascript", "fs.rmSync('a', " + "(" * 5000)[:1] == ["delete a"]


def test_bare_calls_end_with_their_line() -> None:
    assert done("ruby", "File.delete 'a', 'b'\nputs 'c'") == ["delete a", "delete b"]
    assert done("perl", "unlink 'a' or die 'b'; print 'c'") == ["delete a"]

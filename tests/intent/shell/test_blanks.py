"""Characters on which shells do not agree: parts of words to the reader, and blanks in a second spelling."""

from tallystick.intent.shell.blanks import is_ambiguous, joined, spelled
from tallystick.intent.shell.commands import Environment
from tallystick.intent.shell.read import read_script
from tests.support.cases import each

ENVIRONMENT = Environment(variables={"HOME": "/home/dev"})


def words(text: str) -> list[list[str]]:
    return [[word.text for word in command.words] for command in read_script(text, ENVIRONMENT).commands]


@each("sign", ["\v", "\f", "\r"])
def test_a_word_has_what_bash_takes_for_a_letter(sign: str) -> None:
    assert words(f"cp a/{sign}b '{sign}' c # {sign}") == [["cp", f"a/{sign}b", sign, "c"]]
    assert words(f"echo \N{SNOWMAN}{sign}x") == [["echo", f"\N{SNOWMAN}{sign}x"]]
    assert spelled(f"cat{sign}x") == (f"cat{sign}x", "cat x")


@each("text", ["cat x\r\n", "cat x\r\ncat y\r", "cat\tx\n", "\N{SNOWMAN}\x01\x1c"])
def test_where_shells_agree_there_is_one_spelling(text: str) -> None:
    assert not is_ambiguous(text)
    assert spelled(text) == (text,)


def test_the_end_of_a_line_from_windows_is_no_part_of_a_word() -> None:
    assert words("cat x\r\ncat y\r\n") == [["cat", "x"], ["cat", "y"]]
    assert joined(b"a\r\nb\rc\fd\r") == b"a\r\nb.c.d\r"


def test_a_word_that_goes_on_in_the_next_line_is_read_as_one_too() -> None:
    assert spelled("c\\\np a ~/.ss\\\r\nh/b") == ("c\\\np a ~/.ss\\\r\nh/b", "cp a ~/.ssh/b")
    assert spelled("# a\\\ncat b") == ("# a\\\ncat b", "# acat b"), "the comment ends there, so that counts as well"
    assert spelled("cp \\\n a \\\n  b") == ("cp \\\n a \\\n  b",), "most lines go on between words"
    assert spelled("c\\\np\fa") == ("c\\\np\fa", "c\\\np a", "cp\fa", "cp a")

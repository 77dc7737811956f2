"""Characters that a language takes for others."""

from tallystick.intent.code.characters import spelled
from tallystick.intent.code.languages import read_code
from tests.support.cases import each


def test_a_text_of_plain_characters_is_read_once() -> None:
    assert spelled("javascript", "a\n\tb") == ("a\n\tb",)
    assert spelled("javascript", "a\r\nb \N{SNOWMAN}") == ("a\r\nb \N{SNOWMAN}",)
    assert spelled("python", "\ufeffa") == ("a",)


@each(
    "language, text, taken_for",
    [
        ("javascript", "// a\u2028b", "// a\nb"),
        ("typescript", "// a\rb", "// a\nb"),
        ("php", "# a\rb", "# a\nb"),
        ("powershell", "Remove-Item\xa0\u2013Recurse \u2018a\u2019 \u201cb\u201d", "Remove-Item -Recurse 'a' \"b\""),
    ],
)
def test_what_a_language_takes_for_an_end_a_blank_or_a_quote_is_read_as_one_too(
    language: str, text: str, taken_for: str
) -> None:
    assert spelled(language, text) == (text, taken_for)


@each(
    "language, text",
    [
        ("javascript", "// x\u2029require('fs').readFileSync('/etc/shadow')"),
        ("javascript", "console.log('\u2028'); require('fs').readFileSync('/etc/shadow')"),
        ("php", "// x\recho file_get_contents('/etc/shadow');"),
        ("lua", "-- x\rprint(io.open('/etc/shadow'):read('*a'))"),
        ("python", "\ufeffprint(open('/etc/shadow').read())"),
    ],
)
def test_code_behind_such_an_end_is_read(language: str, text: str) -> None:
    assert "/etc/shadow" in {action.target.text for action in read_code(language, text).actions}

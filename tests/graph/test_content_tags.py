"""The tags of contents, and what they say."""

from tallystick.graph.content_tags import meaning, tags_in
from tests.support.cases import each


@each(
    "content, uri, expected",
    [
        ("cat ~/.ssh/id_rsa", "file:///w/a.sh", ("reads-secret",)),
        ("all:\n\tcat ~/.ssh/id_rsa\n", "file:///w/Makefile", ("reads-secret",)),
        ("echo hi", "file:///w/a.sh", ()),
        ("cat ~/.ssh/id_rsa", "file:///w/a.md", ()),
        ("cat ~/.ssh/id_rsa\n" * 20_000, "file:///w/a.sh", ()),
    ],
)
def test_tags_of_a_content(content: str, uri: str, expected: tuple[str, ...]) -> None:
    assert tags_in(content, uri) == expected


def test_every_tag_has_words() -> None:
    assert meaning("reads-secret") != "reads-secret"
    assert meaning("fork-bomb") != "fork-bomb"
    assert meaning("no-such-tag") == "no-such-tag"

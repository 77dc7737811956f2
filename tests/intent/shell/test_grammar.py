"""Text → syntax tree, quickly whatever is in it."""

from hypothesis import given
from hypothesis import strategies as st

from tallystick.intent.shell.grammar import is_broken, is_slow, parse, text_of


def all_texts(text: str) -> list[tuple[str, str]]:
    """Type and text of every node."""
    root = parse(text)
    assert root is not None
    found, left = [], [root]
    while left:
        node = left.pop()
        found.append((node.type, text_of(node)))
        left += node.children
    return found


@given(st.text(alphabet='ab $()|<>{}\n"é€', min_size=200, max_size=400))
def test_long_quoted_text_is_read_as_it_is(inner: str) -> None:
    filler = "; echo b" * 200
    string = f"echo '{inner}'{filler}"
    assert ("raw_string", f"'{inner}'") in all_texts(string)
    document = f"cat <<'END'\n{inner}\nEND\necho a{filler}\n"
    assert any(kind == "heredoc_body" and inner.strip() in text for kind, text in all_texts(document))


def test_what_only_looks_quoted_is_not_passed_over() -> None:
    hidden = "x\n" * 200
    text = f"echo \"<<'E'\"\nrm {hidden}E\n" + "echo a\n" * 200
    root = parse(text)
    assert root is None or any("rm" in text_of(node) for node in root.children if node.type == "command")


def test_text_made_to_hurt_is_slow_and_quoted_text_is_not() -> None:
    assert is_slow("a|" * 1000)
    assert is_slow("a" * 300_000)
    assert not is_slow("cat <<'E'\n" + "a|(b)\n" * 5000 + "E\n")
    assert not is_slow("python3 -c '" + "f(x)|{}\n" * 5000 + "'")
    assert not is_slow("ls -la\n" * 100)


def test_reading_and_writing_at_once_is_no_error() -> None:
    for text, expected in (("exec 3<> f", False), ("a <> f", False), ("a 'b", True), ("a b", False)):
        root = parse(text)
        assert root is not None
        assert is_broken(root) == expected

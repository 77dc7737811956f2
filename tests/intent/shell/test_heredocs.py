"""Here-documents lifted out of a text."""

from hypothesis import given
from hypothesis import strategies as st

from tallystick.intent.shell.heredocs import Document, Kind, Piece, lifted, pieces
from tests.support.cases import each_case

LINE = st.text(alphabet="ab $'\"\\`#<|", max_size=10)


@given(
    st.lists(LINE.filter(lambda line: line != "E"), max_size=4),
    st.sampled_from(["| head", "2>&1 | head", "; ls", "&& ls"]),
)
def test_a_literal_document_is_kept_as_it_is(lines: list[str], rest: str) -> None:
    body = "".join(f"{line}\n" for line in lines)
    found = lifted(f"cat <<'E' {rest}\n{body}E\nls\n")
    assert found is not None
    text, documents = found
    (name,) = documents
    assert documents[name] == Document(body, Kind.LITERAL)
    assert text == f"cat < {name}  {rest}\nls\n"


def test_several_documents_follow_each_other() -> None:
    found = lifted('cat <<A; cat <<-"B" > f\n1\nA\n\t2\n\tB\n')
    assert found is not None
    assert list(found[1].values()) == [Document("1\n", Kind.BODY), Document("2\n", Kind.LITERAL)]


def test_a_string_is_taken_as_it_is_spelled() -> None:
    found = lifted("cat > a <<< 'x y'")
    assert found is not None
    assert list(found[1].values()) == [Document("'x y'", Kind.STRING)]


@each_case("text")
def test_what_is_not_surely_a_document_is_left_alone(text: str) -> None:
    assert lifted(text) is None


@given(st.text(alphabet="<E\n'\"\\$(){}`# ax", max_size=40))
def test_any_text_is_lifted_or_left(text: str) -> None:
    found = lifted(text)
    assert found is None or found[1]


def test_a_body_is_cut_where_the_shell_expands() -> None:
    found = list(pieces(r"a$X\$b${Y}$(c (d))`e`${Z:-f}$ $1\\"))
    assert "".join(text for _, text in found) == r"aX$bY$(c (d))`e`${Z:-f}$ 1" + "\\"
    assert [text for piece, text in found if piece is Piece.NAME] == ["X", "Y", "1"]
    assert [text for piece, text in found if piece is Piece.SHELL] == ["$(c (d))", "`e`", "${Z:-f}"]

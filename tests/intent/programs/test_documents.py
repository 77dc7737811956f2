from __future__ import annotations

import pytest

from tests.intent.programs.acting import acted, does, flows


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("convert label:@a o.png", ["read a", "write o.png"]),
        ("convert label:Hello o.png", ["write o.png"]),
        ("enscript -o - a", ["read a"]),
        ("qrencode -r a -o o.png", ["read a", "write o.png"]),
        ("ffmpeg -y -ss 1 -i a -c:v x -an b c", ["read a", "write b", "write c"]),
        ("ffmpeg -i pipe:0 b", ["write< b"]),
        ("ffmpeg -i a rtmp://h/x", ["read a", "send rtmp://h/x"]),
        ("ffprobe -show_streams a", ["read a"]),
        ("convert -size 1x1 xc:red a.png", ["write a.png"]),
        ("convert a.png -resize 1x1 -strip b.png", ["read a.png", "write b.png"]),
        ("magick identify a.png", ["read a.png"]),
        ("mogrify -strip a.png b.png", ["edit a.png", "edit b.png"]),
        ("pandoc -s -c a.css a.md -o b.html", ["read a.css", "read a.md", "write b.html"]),
        ("soffice --convert-to pdf d/a.odt", ["read d/a.odt", "write a.pdf"]),
        ("pdftotext -f 1 a.pdf", ["read a.pdf", "write a.txt"]),
        ("pdflatex -output-directory=o d/a.tex", ["read d/a.tex", "write o/a.pdf"]),
        ("tesseract a.png stdout", ["read a.png"]),
        ("qpdf a", []),
        ("cwebp -q 8 a -o b", ["read a", "write b"]),
    ],
)
def test_documents_are_read_and_written(text: str, expected: list[str]) -> None:
    assert does(text) == expected


def test_a_document_comes_from_all_of_its_sources() -> None:
    assert flows("ffmpeg -i a -i b c") == ["a -> c", "b -> c"]
    assert acted("convert a.png -").prints == (0,)
    assert acted("dot -Tpng a").prints == (0,)

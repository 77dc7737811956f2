"""Pictures for other programs."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from tallystick.lineage.drawing_picture import Arrow, Box, Look, Picture
from tallystick.lineage.drawing_text import dot, mermaid
from tests.lineage.test_drawing_svg import ANY_TEXT, pictures

QUOTED = r'"(?:[^"\\]|\\.)*"'


@given(pictures(), ANY_TEXT)
def test_no_text_leaves_its_quotes_in_dot(picture: Picture, title: str) -> None:
    bare = re.sub(QUOTED, "T", dot(picture, title=title))
    assert '"' not in bare
    lines = bare.splitlines()
    assert lines[0] == "digraph T {"
    assert lines[-1] == "}"
    assert len(lines) == 3 + len(picture.boxes) + len(picture.arrows)


@given(pictures())
def test_no_text_leaves_its_quotes_in_mermaid(picture: Picture) -> None:
    lines = mermaid(picture).splitlines()
    assert lines[0] == "flowchart LR"
    drawn = [line for line in lines[1:] if "class" not in line]
    assert len(drawn) == len(picture.boxes) + len(picture.arrows)
    for line in drawn:
        texts = re.findall(r'"([^"]*)"', line)
        assert line.count('"') == 2 * len(texts)
        for text in texts:
            assert not set(text.replace("<br/>", "")) & set('"<>`\\|[]{}()')


def test_both_say_what_is_drawn() -> None:
    boxes = (
        Box(look=Look.REQUEST, lines=("“Sum up”", "a3f9:1"), is_start=True),
        Box(look=Look.ARTIFACT, lines=("summary.md",), is_cut=True),
    )
    picture = Picture(boxes, (Arrow(source=0, target=1, label="made 0.5", confidence=0.5),))
    assert 'n0 [label="“Sum up”\\na3f9:1"' in dot(picture)
    assert 'n0 -> n1 [label="made 0.5", style=dashed];' in dot(picture)
    assert 'n1["summary.md<br/>… cut here"]' in mermaid(picture).replace("#46;", ".")
    assert 'n0 -.->|"made 0.5"| n1' in mermaid(picture)
    assert "class n0 start" in mermaid(picture)


@given(st.sampled_from(Look))
def test_every_kind_of_box_has_a_form(look: Look) -> None:
    picture = Picture((Box(look=look, lines=("a",)),), ())
    assert "shape=" in dot(picture)
    assert "n0" in mermaid(picture)

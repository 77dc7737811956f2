"""Pictures as SVG."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET

from hypothesis import given
from hypothesis import strategies as st

from tallystick.lineage.drawing_picture import Arrow, Box, Look, Picture
from tallystick.lineage.drawing_svg import svg

ANY_TEXT = st.text(st.characters(codec=None), max_size=60)  # lone surrogates and controls among it


@st.composite
def pictures(draw: st.DrawFn) -> Picture:
    boxes = draw(
        st.lists(
            st.builds(
                Box,
                look=st.sampled_from(Look),
                lines=st.lists(ANY_TEXT, min_size=1, max_size=3).map(tuple),
                about=ANY_TEXT,
                is_start=st.booleans(),
                is_cut=st.booleans(),
            ),
            min_size=1,
            max_size=6,
        )
    )
    place = st.integers(0, len(boxes) - 1)
    arrow = st.builds(Arrow, source=place, target=place, label=ANY_TEXT, confidence=st.floats(0, 1))
    return Picture(tuple(boxes), tuple(draw(st.lists(arrow, max_size=8))))


@given(pictures(), ANY_TEXT)
def test_whatever_the_texts_hold_it_is_well_formed_and_runs_nothing(picture: Picture, title: str) -> None:
    text = svg(picture, title=title)
    root = ET.fromstring(text.encode())
    tags = {element.tag.removeprefix("{http://www.w3.org/2000/svg}") for element in root.iter()}
    assert tags <= {"svg", "title", "style", "defs", "marker", "path", "rect", "g", "text"}
    names = {name for element in root.iter() for name in element.attrib}
    assert not any(name.startswith("on") or "href" in name for name in names)


@given(pictures())
def test_each_box_and_each_arrow_is_drawn(picture: Picture) -> None:
    root = ET.fromstring(svg(picture).encode())
    space = "{http://www.w3.org/2000/svg}"
    assert len(root.findall(f"{space}g")) == len(picture.boxes)
    assert sum("marker-end" in path.attrib for path in root.iter(f"{space}path")) == len(picture.arrows)


def test_markup_is_shown_as_it_was_written() -> None:
    box = Box(look=Look.STEP, lines=('<script>alert("1")</script>',), about="]]>&")
    text = svg(Picture((box,), ()))
    assert "<script" not in text
    root = ET.fromstring(text)
    assert [element.text for element in root.iter("{http://www.w3.org/2000/svg}text")] == [
        '<script>alert("1")</script>'
    ]


def test_the_file_needs_no_other_and_reads_on_dark_ground() -> None:
    text = svg(Picture((Box(look=Look.ARTIFACT, lines=("a",)),), ()))
    assert "prefers-color-scheme:dark" in text
    assert re.findall(r"https?://[^\"]*", text) == ["http://www.w3.org/2000/svg"]


def test_less_than_sure_is_drawn_fainter() -> None:
    boxes = (Box(look=Look.STEP, lines=("a",)), Box(look=Look.STEP, lines=("b",)))
    drawn = {
        confidence: svg(Picture(boxes, (Arrow(source=0, target=1, confidence=confidence),)))
        for confidence in (0.9, 0.5, 0.2)
    }
    assert 'class="a"' in drawn[0.9]
    assert 'class="a likely"' in drawn[0.5]
    assert 'class="a faint"' in drawn[0.2]


def test_what_is_cut_says_so() -> None:
    assert "… cut here" in svg(Picture((Box(look=Look.STEP, lines=("a",), is_cut=True),), ()))

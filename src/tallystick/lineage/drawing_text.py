"""A picture in the languages of other programs that draw: DOT of Graphviz, and Mermaid.

Owns their quoting. Must not know the graph.
"""

from __future__ import annotations

from collections.abc import Iterator

from tallystick.lineage.drawing_picture import Arrow, Box, Look, Picture, plain

_MOST = 60
_SURE = 0.85

_DOT_SHAPES = {
    Look.ARTIFACT: "note",
    Look.STEP: "box",
    Look.REQUEST: 'box, style="rounded,filled", fillcolor="#fff4dc"',
    Look.SESSION: "ellipse",
    Look.MISSING: 'box, style="dashed"',
}
_MERMAID_SHAPES = {
    Look.ARTIFACT: ('["', '"]'),
    Look.STEP: ('("', '")'),
    Look.REQUEST: ('[/"', '"/]'),
    Look.SESSION: ('(["', '"])'),
    Look.MISSING: ('{{"', '"}}'),
}
_ENTITIES = str.maketrans({character: f"#{ord(character)};" for character in '"#&<>`\\|[]{}()*_~;:$%@'})


def dot(picture: Picture, *, title: str = "") -> str:
    """For `dot -Tsvg` and its kin."""
    return "\n".join(_dot(picture, title)) + "\n"


def _dot(picture: Picture, title: str) -> Iterator[str]:
    yield f"digraph {_quoted(title or 'tally graph')} {{"
    yield '  rankdir=LR; node [fontname="monospace", fontsize=10]; edge [fontname="monospace", fontsize=9];'
    for number, box in enumerate(picture.boxes):
        yield f"  n{number} [label={_quoted(*_label_lines(box))}, shape={_DOT_SHAPES[box.look]}{_pen(box)}];"
    for arrow in picture.arrows:
        style = ", style=dashed"
        if arrow.confidence >= _SURE:
            style = ""
        yield f"  n{arrow.source} -> n{arrow.target} [label={_quoted(arrow.label)}{style}];"
    yield "}"


def _pen(box: Box) -> str:
    if box.is_start:
        return ", penwidth=2.4"
    return ""


def _quoted(*lines: str) -> str:
    kept = [plain(line, _MOST).replace("\\", "\\\\").replace('"', '\\"') for line in lines]
    return '"' + "\\n".join(kept) + '"'


def _label_lines(box: Box) -> tuple[str, ...]:
    if box.is_cut:
        return (*box.lines, "… cut here")
    return box.lines


def mermaid(picture: Picture) -> str:
    """For pages that draw Mermaid."""
    return "\n".join(_mermaid(picture)) + "\n"


def _mermaid(picture: Picture) -> Iterator[str]:
    yield "flowchart LR"
    for number, box in enumerate(picture.boxes):
        before, after = _MERMAID_SHAPES[box.look]
        words = "<br/>".join(_entities(line) for line in _label_lines(box))
        yield f"  n{number}{before}{words}{after}"
    for arrow in picture.arrows:
        yield f"  n{arrow.source} {_line(arrow)} n{arrow.target}"
    starts = ",".join(f"n{number}" for number, box in enumerate(picture.boxes) if box.is_start)
    if starts:
        yield "  classDef start stroke-width:3px"
        yield f"  class {starts} start"


def _line(arrow: Arrow) -> str:
    line = "-.->"
    if arrow.confidence >= _SURE:
        line = "-->"
    if arrow.label:
        return f'{line}|"{_entities(arrow.label)}"|'
    return line


def _entities(text: str) -> str:
    return plain(text, _MOST).translate(_ENTITIES)

"""A picture as SVG: one file that needs no other, runs nothing, and can be read on a light and on a dark ground.

Owns sizes, colours and the writing of the file. All text is escaped. Must not know the graph.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from itertools import pairwise
from unicodedata import east_asian_width

from tallystick.lineage.drawing_layout import Layout, Size, Spot, lay_out
from tallystick.lineage.drawing_picture import Arrow, Box, Look, Picture, plain

_CHARACTER, _LINE, _PAD, _MARGIN = 7.1, 15.0, 9.0, 16.0
_LEAST_WIDTH = 84.0
_MOST_CHARACTERS = 44
_MOST_ABOUT = 600
_GAP_X, _GAP_Y = 112.0, 16.0
_FOLD = 9.0
_SURE, _LIKELY = 0.85, 0.5

_STYLE = """
svg{font:11px ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;background:#fff;color:#1c2430}
.b{stroke-width:1.2}.n{font-weight:600;fill:#1c2430}.d{fill:#5b6676}
.artifact{fill:#eef4ff;stroke:#3b6fc4}.step{fill:#f5f6f8;stroke:#7b8698}.request{fill:#fff4dc;stroke:#c08a1e}
.session{fill:#eef8ee;stroke:#4d9a57}.missing{fill:none;stroke:#b04a4a;stroke-dasharray:4 3}
.start{stroke-width:2.6}.a{fill:none;stroke:#7b8698;stroke-width:1.2}.likely{stroke-dasharray:6 3}
.faint{stroke-dasharray:2 3}.l{fill:#5b6676;font-size:10px}.g{fill:#fff;stroke:#fff;stroke-width:3;font-size:10px}
.c{fill:#b04a4a;font-weight:600}.h{fill:#7b8698}
@media (prefers-color-scheme:dark){
svg{background:#14181f;color:#e6e9ee}.n{fill:#e6e9ee}.d,.l{fill:#a3adbb}.g{fill:#14181f;stroke:#14181f}
.artifact{fill:#182743;stroke:#6d9bea}.step{fill:#1f252e;stroke:#8793a5}.request{fill:#3a2e12;stroke:#dba53b}
.session{fill:#16301b;stroke:#6fbf7a}.missing{fill:none;stroke:#e07f7f}.c{fill:#e07f7f}
}
""".strip().replace("\n", "")


def svg(picture: Picture, *, title: str = "") -> str:
    """The file's text."""
    sizes = [_size(box) for box in picture.boxes]
    ends = [(arrow.source, arrow.target) for arrow in picture.arrows]
    layout = lay_out(sizes, ends, gap_x=_GAP_X, gap_y=_GAP_Y)
    return "\n".join(_svg_lines(picture, sizes, layout, plain(title, 200))) + "\n"


def _size(box: Box) -> Size:
    widest = max((_columns(plain(line, _MOST_CHARACTERS)) for line in box.lines), default=0)
    cut = 0
    if box.is_cut:
        cut = 1
    return Size(max(widest * _CHARACTER + 2 * _PAD, _LEAST_WIDTH), (len(box.lines) + cut) * _LINE + 2 * _PAD - 4)


def _columns(text: str) -> int:
    if text.isascii():
        return len(text)
    return sum(2 if east_asian_width(one) in ("W", "F") else 1 for one in text)


def _svg_lines(picture: Picture, sizes: Sequence[Size], layout: Layout, title: str) -> Iterator[str]:
    width, height = layout.size.width + 2 * _MARGIN, layout.size.height + 2 * _MARGIN
    yield (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" width="{width:.0f}" height="{height:.0f}"'
        f' viewBox="{-_MARGIN:.0f} {-_MARGIN:.0f} {width:.0f} {height:.0f}">'
    )
    yield f"<title>{escape(title)}</title><style>{_STYLE}</style>"
    yield (
        '<defs><marker id="h" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
        '<path class="h" d="M0 0 8 4 0 8z"/></marker></defs>'
    )
    for arrow, way in zip(picture.arrows, layout.ways, strict=True):
        yield _arrow(arrow, _trimmed(way, sizes[arrow.source], sizes[arrow.target]))
    for box, size, spot in zip(picture.boxes, sizes, layout.spots, strict=True):
        yield from _box(box, size, spot)
    for arrow, way in zip(picture.arrows, layout.ways, strict=True):
        if arrow.label:
            yield _label(arrow, _trimmed(way, sizes[arrow.source], sizes[arrow.target]))
    yield "</svg>"


def _trimmed(way: Sequence[Spot], source: Size, target: Size) -> list[Spot]:
    """The way from the edge of one box to the edge of the other."""
    first, last = way[0], way[-1]
    if way[1].x >= first.x:
        leaves = 1
    else:
        leaves = -1
    arrives = 1
    if way[-2].x <= last.x:
        arrives = -1
    return [
        Spot(first.x + leaves * source.width / 2, first.y),
        *way[1:-1],
        Spot(last.x + arrives * (target.width / 2 + 1), last.y),
    ]


def _arrow(arrow: Arrow, way: Sequence[Spot]) -> str:
    if arrow.confidence >= _SURE:
        look = "a"
    elif arrow.confidence >= _LIKELY:
        look = "a likely"
    else:
        look = "a faint"
    path = f"M{way[0].x:.1f} {way[0].y:.1f}"
    for here, there in pairwise(way):
        bend = (there.x - here.x) / 2
        path += f"C{here.x + bend:.1f} {here.y:.1f} {there.x - bend:.1f} {there.y:.1f} {there.x:.1f} {there.y:.1f}"
    return f'<path class="{look}" d="{path}" marker-end="url(#h)"/>'


def _label(arrow: Arrow, way: Sequence[Spot]) -> str:
    """The words of an arrow, on the last part of its way: there it is nearest to what it is about."""
    here, there = way[-2], way[-1]
    x, y = (here.x + there.x) / 2, (here.y + there.y) / 2 - 3
    place = f'x="{x:.1f}" y="{y:.1f}" text-anchor="middle"'
    words = escape(plain(arrow.label, 40))
    # First the ground behind the words: not all programs know how to draw the outline of letters below them.
    return f'<text class="g" {place}>{words}</text><text class="l" {place}>{words}</text>'


def _box(box: Box, size: Size, spot: Spot) -> Iterator[str]:
    left, top = spot.x - size.width / 2, spot.y - size.height / 2
    look = f"b {box.look.value}" + (" start" if box.is_start else "")
    yield f"<g><title>{escape(plain(box.about or ' '.join(box.lines), _MOST_ABOUT))}</title>"
    yield _outline(box.look, look, left, top, size)
    for number, line in enumerate(box.lines):
        y = top + _PAD + 8 + number * _LINE
        kind = "d"
        if number == 0:
            kind = "n"
        yield f'<text class="{kind}" x="{left + _PAD:.1f}" y="{y:.1f}">{escape(plain(line, _MOST_CHARACTERS))}</text>'
    if box.is_cut:
        y = top + _PAD + 8 + len(box.lines) * _LINE
        yield f'<text class="c" x="{left + _PAD:.1f}" y="{y:.1f}">… cut here</text>'
    yield "</g>"


def _outline(look: Look, kind: str, left: float, top: float, size: Size) -> str:
    width, height = size
    if look is Look.ARTIFACT:  # a sheet with a folded corner
        path = f"M{left:.1f} {top:.1f}h{width - _FOLD:.1f}l{_FOLD} {_FOLD}v{height - _FOLD:.1f}h{-width:.1f}z"
        fold = f"M{left + width - _FOLD:.1f} {top:.1f}v{_FOLD}h{_FOLD}"
        return f'<path class="{kind}" d="{path}{fold}"/>'
    radius = {Look.REQUEST: 10.0, Look.SESSION: height / 2}.get(look, 3.0)
    return (
        f'<rect class="{kind}" x="{left:.1f}" y="{top:.1f}" width="{width:.1f}" height="{height:.1f}"'
        f' rx="{radius:.1f}"/>'
    )

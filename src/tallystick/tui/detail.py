"""The pane below: everything of one step.

Owns which facts of a step are reported and in which order, and that a value of any size fills only so many lines. Must
not know how the step was found.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.style import Style

from tallystick.ask.show import Shown
from tallystick.display import outcome
from tallystick.display.facts import WITHHELD, erased_text, facts, members, reference, short, value_lines, value_names
from tallystick.display.text import counted, one_line
from tallystick.model.recorded import Recorded
from tallystick.review.browse import Line, Whole
from tallystick.tui.rows import Rows
from tallystick.tui.theme import BOLD, DIM, LINK, PLAIN, Piece, bad_or, wrapped

_MOST_LINES = 2_000
_MOST_CHARACTERS = 200_000
_VALUES_FIRST = (
    *("content.error", "content.text", "content.args", "content.output", "content.label", "content.goal"),
    *("content.reason", "content.thinking"),
)


class Text(Rows):
    """A pane of text: it scrolls, and what does not fit in a line goes on in the next."""

    def __init__(self, *, id: str, empty: str = "") -> None:
        super().__init__(id=id, empty=empty)
        self._text: Sequence[list[Piece]] = ()
        self._drawn: list[list[Piece]] = []
        self._width = 0

    def tell(self, text: Sequence[list[Piece]]) -> None:
        """Show other text, from its beginning on."""
        self._text = text
        self._wrap()
        self.show(len(self._drawn), row=0)

    def _wrap(self) -> None:
        self._width = self.columns
        self._drawn = [part for line in self._text for part in wrapped(line, self._width)]

    def on_resize(self) -> None:
        """Wrap the text again."""
        if self.columns != self._width:
            self._wrap()
            self.show(len(self._drawn), row=min(self.row, max(len(self._drawn) - 1, 0)))

    def pieces(self, row: int, width: int) -> list[Piece]:
        """A line of the text."""
        if row < len(self._drawn):
            return self._drawn[row]
        return []

    def style_of(self, row: int) -> Style | None:
        """No line of a text is chosen."""
        return None

    def go(self, row: int, *, tell: bool = True) -> None:
        """Have a line at the top."""
        self.row = min(max(row, 0), max(self.count - self.lines, 0))
        self.scroll_to(y=self.row, animate=False, force=True)

    def action_page(self, by: int) -> None:
        """One page further."""
        self.go(self.row + max(self.lines - 1, 1) * by)


def whole_text(whole: Whole) -> list[list[Piece]]:
    """Everything about a step, as lines that are not wrapped yet."""
    lines: list[list[Piece]] = []
    used = 0
    for line in _whole(whole):
        used += sum(len(text) for text, _ in line)
        if len(lines) >= _MOST_LINES or used > _MOST_CHARACTERS:
            lines.append([(f"… the rest: tally show {reference(whole.shown.step)}", LINK)])
            break
        lines.append(line)
    return lines


def _whole(whole: Whole) -> Iterator[list[Piece]]:
    step = whole.shown.step
    bad = outcome.is_failed(step) or outcome.is_refused(step)
    yield [(f"{reference(step)}  {one_line(step.type)}  {outcome.name_of(step)}".rstrip(), bad_or(BOLD, bad))]
    said = outcome.outcome_of(step, 400)
    if said:
        yield [(said, bad_or(PLAIN, bad))]
    yield from _steps_beside(whole)
    named = value_names(step)
    for name in [*(name for name in _VALUES_FIRST if name in named), *(n for n in named if n not in _VALUES_FIRST)]:
        yield from _value(whole.shown, name)
    yield [("facts", BOLD)]
    yield from _table([*facts(step), ("parents", _parents(step)), ("seal", _seal(whole.shown))])
    if found := members(step):
        yield [("meta", BOLD)]
        yield from _table(found)


def _steps_beside(whole: Whole) -> Iterator[list[Piece]]:
    """What it was for, who decided on it, what came of it, which sessions it began."""
    if whole.cause is not None:
        n = ""
        if whole.cause.n is not None:
            n = f":{whole.cause.n}"
        yield [("cause    ", DIM), (f"{short(whole.cause.session)}{n}", LINK), ("  (c goes there)", DIM)]
    for line in whole.beside:
        yield [("beside   ", DIM), (f"{short(line.entry.session)}:{line.entry.n} ", LINK), *_short(line)]
    for session in whole.line.sessions:
        yield [("began    ", DIM), (f"session {short(session)}", LINK), ("  (o opens it)", DIM)]


def _short(line: Line) -> list[Piece]:
    if line.step is None:
        return [(one_line(line.entry.type), PLAIN)]
    bad = outcome.is_failed(line.step) or outcome.is_refused(line.step)
    return [(f"{one_line(line.entry.type)} {outcome.outcome_of(line.step, 120)}", bad_or(PLAIN, bad))]


def _value(shown: Shown, name: str) -> Iterator[list[Piece]]:
    step, size = shown.step, shown.blobs.get(name)
    if name in step.withheld:
        erased = [item for item in shown.erasures if name in item.names]
        why = WITHHELD
        if erased:
            why = erased_text(erased[-1].recorded, erased[-1].basis, erased[-1].reason)
        yield [(one_line(name), BOLD), (f"  {why}", PLAIN)]
        return
    yield [(one_line(name), BOLD), (f"  (blob of {size:,} bytes)" if size is not None else "", DIM)]
    if name in step.values:
        yield from ([(f"  {line}", PLAIN)] for line in value_lines(step.values[name]))


def _table(rows: Sequence[tuple[str, str]]) -> Iterator[list[Piece]]:
    kept = [(name, text) for name, text in rows if text]
    widest = max((len(name) for name, _ in kept), default=0)
    for name, text in kept:
        yield [(f"  {name:<{widest}}  ", DIM), (text, PLAIN)]


def _parents(step: Recorded) -> str:
    return ", ".join(one_line(parent) for parent in step.parents)


def _seal(shown: Shown) -> str:
    """What stands behind the step, and what does not."""
    if shown.defect is not None:
        return f"✕ the values do not match the hash ({one_line(shown.defect)})"
    if not shown.head_size:
        return "✔ the values match the hash; no head covers it yet"
    covered = counted(shown.head_size, "entry", "entries")
    return f"✔ the values match the hash; a head of the session's first {covered} is in the ledger"

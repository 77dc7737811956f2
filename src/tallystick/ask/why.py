"""Why something is there: the call that made it, what went into it, the prompt that asked for it, up to the first session.

Owns where such a question begins, and which write a line of a file comes from. The walk is `answers`'.
"""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import sha256
from itertools import islice
from pathlib import Path

import msgspec

from tallystick.ask.graph_walk import Answer, Direction, answer
from tallystick.ask.node_resolver import Start, effective, find_start
from tallystick.ask.story import Newest, OnDisk, Story, story_of_node, story_of_thing
from tallystick.graph.nodes import StepNode, describe
from tallystick.graph.resources import Named, versions_of, writes_of
from tallystick.journal.home import Home
from tallystick.journal.read import read_at
from tallystick.lineage.quoting import written_texts
from tallystick.lineage.walk import Limits, NodeId, NodeKind
from tallystick.workspace.index import Index

DEFAULT = Limits()

_MOST_WRITES = 200
_MOST_BYTES = 64 << 20
_MOST_COLUMNS = 20_000
_LARGEST_VALUE = 4 << 20
_TELLING_LETTERS = 4

_EXACT, _SPACED, _FAINT = 0.9, 0.75, 0.4
"""That a line is a write's if it holds the line unchanged; the same but for space; one that says next to nothing."""


class LineOrigin(msgspec.Struct, frozen=True, kw_only=True):
    """Which write a line comes from.

    `text` is the line unchanged in the file now, None where it cannot be read; `why_not` then says why, or why no write
    was found. `writes_since` counts later writes of the file that do not hold the line.
    """

    number: int
    text: str | None = None
    step: str | None = None
    confidence: float = 0.0
    writes_since: int = 0
    writes_looked_at: int = 0
    why_not: str | None = None


class Why(msgspec.Struct, frozen=True, kw_only=True):
    """The causes of something, and where the question was about a line, the write that it comes from.

    `is_as_recorded`: whether a file is now as its newest version left it; None where either is not known.
    """

    answer: Answer
    story: Story
    line: LineOrigin | None = None
    is_as_recorded: bool | None = None


def why(home: Home, index: Index, text: str, *, folder: str, limits: Limits = DEFAULT) -> Why:
    """The causes of the path, line, URL, step or session that `text` names.

    Of a path those of its newest version; of a line those of the version that the last write of that line made.

    Raises what `find_start` raises.
    """
    start = find_start(index, text, folder=folder)
    if start.thing is None:
        story = story_of_node(home, index.graph, effective(index, start))
        return Why(answer=answer(home, index, start, Direction.UP, limits), story=story)
    line, origin = None, None
    (version,) = versions_of(index.graph, start.thing, limit=1)
    if start.line is not None:
        line, origin = _line_origin(home, index, start.thing, start.line)
    newest = Start(text=start.text, nodes=(origin or start.nodes[0],), thing=start.thing, line=start.line)
    same = is_as_recorded(start.thing, version.digest)
    return Why(
        answer=answer(home, index, newest, Direction.UP, limits),
        story=story_of_thing(home, index.graph, start.thing, Newest(version, on_disk(start.thing, same)), origin),
        line=line,
        is_as_recorded=same,
    )


def on_disk(thing: Named, same: bool | None) -> OnDisk:
    """How a file is now; `same` is what `is_as_recorded` says of it."""
    path = thing.uri.removeprefix("file://")
    if thing.kind != "file" or not path.startswith("/"):
        return OnDisk.NOT_A_FILE
    if same is not None:
        return OnDisk.SAME if same else OnDisk.DIFFERS
    try:
        if Path(path).exists():
            return OnDisk.NOT_COMPARED
        return OnDisk.GONE if Path(path).parent.is_dir() else OnDisk.ELSEWHERE
    except (OSError, ValueError):
        return OnDisk.ELSEWHERE


def is_as_recorded(thing: Named, digest: str) -> bool | None:
    """Whether the file that is there now has a digest; None where none exists, or none is known."""
    path = thing.uri.removeprefix("file://")
    if thing.kind != "file" or not path.startswith("/") or not digest.startswith("sha256:"):
        return None
    try:
        if not Path(path).is_file() or Path(path).stat().st_size > _MOST_BYTES:
            return None
        return f"sha256:{sha256(Path(path).read_bytes()).hexdigest()}" == digest
    except (OSError, ValueError):
        return None


# A line of a file -----------------------------------------------------------------------------------------------------


def _line_origin(home: Home, index: Index, thing: Named, number: int) -> tuple[LineOrigin, NodeId | None]:
    """Where a line comes from, and the version that the write made."""
    line, why_not = read_line_of(thing.uri.removeprefix("file://"), number)
    if line is None:
        return LineOrigin(number=number, why_not=why_not), None
    if not line.strip():
        return LineOrigin(number=number, text=line, why_not="the line is empty"), None
    writes = writes_of(index.graph, thing, limit=_MOST_WRITES)
    steps = describe(index.graph, {NodeId(NodeKind.STEP, step) for _, step, _, _ in writes})
    for position, (version, step, _, confidence) in enumerate(writes):
        about = steps.get(NodeId(NodeKind.STEP, step))
        if isinstance(about, StepNode):
            sure = min(_line_match(home, about, line), confidence)
        else:
            sure = 0.0
        if sure and isinstance(about, StepNode):
            origin = LineOrigin(
                number=number,
                text=line,
                step=f"{about.session}:{about.n}",
                confidence=round(sure, 3),
                writes_since=position,
                writes_looked_at=position + 1,
            )
            return origin, NodeId(NodeKind.ARTIFACT, version)
    nothing = "no write of this file is recorded"
    if writes:
        nothing = "no recorded write holds this line unchanged"
    return LineOrigin(number=number, text=line, writes_looked_at=len(writes), why_not=nothing), None


def read_line_of(path: str, number: int) -> tuple[str | None, str | None]:
    """Line `number` of the file at a path, counted from 1 and cut if it is long; else None and why not."""
    if not path.startswith("/"):
        return None, "the folder that the path is relative to is unknown"
    try:
        if not Path(path).is_file():
            return None, "the file no longer exists"
        if Path(path).stat().st_size > _MOST_BYTES:
            return None, f"the file is larger than {_MOST_BYTES >> 20} MiB"
        with Path(path).open(encoding="utf-8", errors="replace", newline="\n") as file:
            found = next(islice(file, number - 1, number), None)
    except (OSError, ValueError) as error:
        return None, f"cannot read the file: {error}"
    if found is None:
        return None, f"the file now has fewer than {number} lines"
    return found.rstrip("\r\n")[:_MOST_COLUMNS], None


def _line_match(home: Home, about: StepNode, line: str) -> float:
    """How sure it is that what a call wrote holds a line; 0 if it does not."""
    path = home.journal(about.session)
    step = None
    if path is not None:
        step = read_at(home, path, about.offset, load_blobs=True, largest=_LARGEST_VALUE)
    if step is None or step.hash != about.hash:
        return 0.0
    return match_of(line, written_texts(step))


def match_of(line: str, texts: Iterator[str]) -> float:
    """How sure it is that one of some texts is where a line comes from; 0 if none holds it as a line of its own."""
    bare, best = line.strip(), 0.0
    for text in texts:
        if bare not in text:
            continue
        for other in text.split("\n"):
            if other.rstrip("\r") in (line, f"+{line}"):
                best = max(best, _EXACT)
            elif other.strip() == bare or other.strip().removeprefix("+").strip() == bare:
                best = max(best, _SPACED)
    letters = sum(character.isalnum() for character in bare)
    if letters < _TELLING_LETTERS:
        return min(best, _FAINT)
    return best

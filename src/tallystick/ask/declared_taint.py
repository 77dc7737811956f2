"""What an agent declares of taint in its own log: blocks of content, their trust, what was made of them, and sub-agents.

Owns reading that of one session, which reads its journal once. Must not know what we find ourselves: `ask.taint` puts both
side by side. Source: specs/headless_agent.md 1.3, 1.4 and 4; there a taint ends at a sub-agent, and here it does not.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import islice

import msgspec

from tallystick.catalog.agents import AGENTS
from tallystick.graph.graph import Graph
from tallystick.journal.home import Home
from tallystick.journal.read import read_session
from tallystick.lineage.quoting import TELLING, Indexed, flat, indexed, is_copied, lines_of, telling_words, words_of
from tallystick.lineage.taint import Trust, Via
from tallystick.lineage.taint_tree import TaintNode, trust_said
from tallystick.model.plain_text import plain_text
from tallystick.model.recorded import Recorded

_MOST_STEPS = 50_000
_MOST_BLOCKS = 2_000
_MOST_NODES = 200
_MOST_MADE_OF = 100
_MOST_CALLS = 64
"""Of the calls before a delegation, and of those of a sub-agent, the newest are looked at."""
_DEEPEST = 12
_MOST_TEXT = 200
_MOST_HEAD = 2_000
_NEAR = 256
"""Agents use the ids of calls again: a check and a block belong to a call at most so many entries away."""
_MAIN = "main"
_SPAWNS = frozenset(AGENTS["headless"].spelling.words["spawns"])
_TAINTED_BY = re.compile(r'\A<block\s[^>]*?\btainted-by="([^"<>]{1,1000})"')
_DECLARES = (
    "SELECT 1 FROM sessions x CROSS JOIN steps s ON s.id >= x.first_id AND s.id < x.first_id + x.size"
    " WHERE x.session_id = ? AND (s.type IN ('security_block', 'subagent_start', 'subagent_end')"
    " OR s.meta LIKE '%\"related_blocks\"%') LIMIT 1"
)


class Block(msgspec.Struct, frozen=True):
    """A block of content that the agent registered."""

    name: str
    n: int
    trust: Trust
    source: str
    made_of: tuple[str, ...]
    corr: str | None


class Call(msgspec.Struct):
    """A call of the session, by the agent's own log."""

    n: int
    corr: str
    role: str
    tool: str
    output: str | None = None
    result: int | None = None


class Handed(msgspec.Struct, frozen=True, kw_only=True):
    """What was given to a sub-agent, or what it gave back."""

    text: str | None
    """None: that is not on record."""
    start: int | None = None
    """Of what came back: where the sub-agent began."""
    calls: tuple[Call, ...]
    """The calls that may have brought in what is in it."""
    known: frozenset[str]
    """Words of the user's own."""

    def via(self, call: Call) -> Via:
        """How what a call gave went into it: word for word, or in words of the model. What is not on record may be either."""
        if self.text is None or call.output is None:
            return Via.QUOTE
        source = indexed(call.output)
        lines = lines_of(self.text)
        if is_copied(lines, source, self.known.__contains__) or _holds_value(self.text, source, self.known):
            return Via.QUOTE
        return Via.MODEL


class Declared:
    """The declarations of one session."""

    def __init__(self, home: Home, graph: Graph, session: str) -> None:
        self._session = session
        self._blocks: dict[str, Block] = {}
        self._calls: list[Call] = []
        self._related: dict[int, tuple[str, ...]] = {}
        self._checks: list[tuple[int, str, tuple[str, ...]]] = []
        self._handed: dict[int, tuple[str | None, str, int | None]] = {}
        self._corr: dict[int, str] = {}
        self._known: set[str] = set()
        self._ends: set[int] = set()
        self._waiting: dict[str, Call] = {}
        self._running: dict[str, list[int]] = {}
        if graph.row(_DECLARES, (session,)) is not None:
            for step in islice(read_session(home, session, load_blobs=True), _MOST_STEPS):
                self._take(step)

    # What a step was made of ----------------------------------------------------------------------------------------

    def of(self, n: int) -> tuple[TaintNode, ...]:
        """The blocks that the agent says entry `n` is, was made of, or brought in, each with what it was made of itself."""
        names = dict.fromkeys(self._related.get(n, ()))
        corr = self._corr.get(n)
        for block in self._blocks.values():
            if block.n == n:
                return tuple(self._trees((block.name,)))
            if n in self._ends and block.corr == corr and abs(block.n - n) < _NEAR:
                names[block.name] = None
        for at, checked, related in self._checks:
            if checked == corr and abs(at - n) < _NEAR:
                names |= dict.fromkeys(related)
        return tuple(self._trees(names))

    def block_call(self, n: int) -> int | None:
        """The call that brought in the block which entry `n` registers; None where it registers none."""
        if all(block.n != n for block in self._blocks.values()):
            return None
        corr = self._corr.get(n)
        return next((call.n for call in reversed(self._calls) if call.corr == corr and 0 <= n - call.n < _NEAR), None)

    def tainted(self) -> tuple[int, ...]:
        """The calls that the agent says were made of blocks; of a check without a call, the check."""
        found: set[int] = set()
        for n in self._related.keys() - {block.n for block in self._blocks.values()}:
            corr = self._corr.get(n)
            found.add(next((one.n for one in self._calls if one.corr == corr and abs(one.n - n) < _NEAR), n))
        return tuple(sorted(found))

    # Sub-agents -----------------------------------------------------------------------------------------------------

    def handed(self, n: int) -> Handed | None:
        """What entry `n` gave to a sub-agent or got from one; None if it did neither."""
        if n not in self._handed:
            return None
        text, role, start = self._handed[n]
        if start is None:
            calls = [call for call in self._calls if call.n < n and call.role == _MAIN and call.tool not in _SPAWNS]
        else:
            calls = [call for call in self._calls if start < call.n < n and self._is_of(call, role)]
        return Handed(text=text, start=start, calls=tuple(calls[-_MOST_CALLS:]), known=frozenset(self._known))

    def result_of(self, n: int) -> int | None:
        """The entry in which the call at entry `n` gave back what a sub-agent said; None if no sub-agent ran in it."""
        return next((call.result for call in self._calls if call.n == n and call.tool in _SPAWNS), None)

    def _is_of(self, call: Call, role: str) -> bool:
        if role:
            return call.role == role
        return call.role != _MAIN

    # Reading --------------------------------------------------------------------------------------------------------

    def _take(self, step: Recorded) -> None:
        corr = _text(step.member("corr"))
        if corr is not None:
            self._corr[step.n] = corr
        related = _names(step.member("related_blocks"))
        if related:
            self._related[step.n] = related
            if corr is not None and step.type != "security_block":
                self._checks.append((step.n, corr, related))
        if step.type == "user" and "origin" not in step.meta:
            self._known |= telling_words(flat(step.text("content.text") or "")).keys()
        elif step.type == "security_block":
            self._take_block(step, corr, related)
        elif step.type in ("subagent_start", "subagent_end"):
            self._take_subagent(step)
        elif corr is not None:
            self._take_call(step, corr)

    def _take_call(self, step: Recorded, corr: str) -> None:
        if step.type == "tool_call":
            role, tool = _text(step.member("agent_role")) or _MAIN, _text(step.member("tool")) or ""
            self._waiting[corr] = call = Call(step.n, corr, role, tool)
            self._calls.append(call)
            self._ends.add(step.n)
            if tool in _SPAWNS:
                self._handed[step.n] = _plain(step, "content.args"), "", None
        elif step.type == "tool_result" and corr in self._waiting:
            call = self._waiting.pop(corr)
            call.output, call.result = _plain(step, "content.output"), step.n
            self._ends.add(step.n)
            if call.tool in _SPAWNS:
                self._handed[step.n] = call.output, "", call.n

    def _take_subagent(self, step: Recorded) -> None:
        role = _text(step.member("agent_role")) or _text(step.member("subagent_role")) or "subagent"
        if step.type == "subagent_start":
            self._running.setdefault(role, []).append(step.n)
            self._handed[step.n] = _plain(step, "content.task"), role, None
            return
        # Where a role runs twice at once the log does not say which of them ended: the first is taken.
        starts = self._running.get(role) or [0]
        self._handed[step.n] = _plain(step, "content.output"), role, starts.pop(0)

    def _take_block(self, step: Recorded, corr: str | None, related: tuple[str, ...]) -> None:
        name = _text(step.member("block_id"))
        if name is None or name in self._blocks or len(self._blocks) >= _MOST_BLOCKS:
            return
        made_of = related or _named_in(step)
        if not made_of and corr is not None:
            checks = (said for at, checked, said in self._checks if checked == corr and step.n - at < _NEAR)
            made_of = tuple(one for said in checks for one in said)
        trust = trust_said(step.member("trust"))
        source = step.text("content.source") or "?"
        self._blocks[name] = Block(name, step.n, trust, source, tuple(dict.fromkeys(made_of)), corr)

    def _trees(self, names: Iterable[str]) -> Iterator[TaintNode]:
        room = [_MOST_NODES]
        for name in names:
            yield from self._tree(name, (), room)

    def _tree(self, name: str, above: tuple[str, ...], room: list[int]) -> Iterator[TaintNode]:
        if name in above or len(above) >= _DEEPEST or room[0] <= 0:
            return
        room[0] -= 1
        block = self._blocks.get(name)
        if block is None:
            yield TaintNode(
                block=name[:_MOST_TEXT],
                step=None,
                kind="block",
                source=f"block {name[:_MOST_TEXT]}, registered by no entry",
                trust=Trust.UNTRUSTED,
                depth=len(above) + 1,
                via=Via.QUOTE,
            )
            return
        yield TaintNode(
            block=name[:_MOST_TEXT],
            step=f"{self._session[:12]}:{block.n}",
            session=self._session,
            n=block.n,
            kind="block",
            source=block.source[:_MOST_TEXT],
            trust=block.trust,
            depth=len(above) + 1,
            via=Via.QUOTE,
            children=tuple(node for one in block.made_of for node in self._tree(one, (*above, name), room)),
        )


def _holds_value(text: str, source: Indexed, known: frozenset[str]) -> bool:
    """Whether a word that is hardly found by chance, and that the user did not say, is in both."""
    telling = (word for word, much in telling_words(flat(text)).items() if much >= TELLING and word not in known)
    return any(source.holds(word, words_of(word)) for word in telling)


def _named_in(step: Recorded) -> tuple[str, ...]:
    """The blocks that the agent wrote into the head of a block's text, where its event has none."""
    found = _TAINTED_BY.match((step.text("content.text") or "")[:_MOST_HEAD])
    if found is None:
        return ()
    return _names([name.strip() for name in found[1].split(",")])


def _names(said: object) -> tuple[str, ...]:
    if not isinstance(said, list):
        return ()
    return tuple(dict.fromkeys(name for name in said[:_MOST_MADE_OF] if isinstance(name, str) and name))


def _text(said: object) -> str | None:
    return said if isinstance(said, str) else None


def _plain(step: Recorded, name: str) -> str | None:
    value = step.values.get(name)
    return plain_text(value) if value is not None else None

"""Where the content came from that a call was made of, as trees of the blocks that a session told of.

Owns the trees of `taint_lineage`, their numbers and depths. Must not know how blocks are found in a call. A block that was
made of two others which share a third shows that one below both; a block never stands below itself.
Source: specs/headless_agent.md 4.
"""

from __future__ import annotations

from collections import OrderedDict

import msgspec

from tallystick.sessions.session_log import Event, TaintNode

_MOST_BLOCKS = 10_000
_MOST_NODES = 1_000
_DEEPEST = 40


class _Block(msgspec.Struct, frozen=True):
    seq: int
    trust: str
    source: str
    made_of: tuple[str, ...]


class Blocks:
    """The blocks of content that a session told of, the newest ten thousand."""

    def __init__(self) -> None:
        self._blocks: OrderedDict[str, _Block] = OrderedDict()

    def take(self, event: Event) -> None:
        """Note the block that a `security_block` event tells of."""
        meta = event.meta
        if event.type != "security_block" or meta is None or not meta.block_id or not event.seq:
            return
        made_of = tuple(name for name in meta.related_blocks if name != meta.block_id)
        self._blocks.setdefault(meta.block_id, _Block(event.seq, meta.trust, meta.source, made_of))
        if len(self._blocks) > _MOST_BLOCKS:
            self._blocks.popitem(last=False)

    def placed(self, event: Event) -> Event:
        """The event with `event_seq` and `depth` in its lineage, where they are known and not given."""
        if event.meta is None or not event.meta.taint_lineage:
            return event
        nodes = tuple(self._placed(node, 0) for node in event.meta.taint_lineage)
        return msgspec.structs.replace(event, meta=msgspec.structs.replace(event.meta, taint_lineage=nodes))

    def _placed(self, node: TaintNode, depth: int) -> TaintNode:
        block = self._blocks.get(node.block_id)
        return msgspec.structs.replace(
            node,
            event_seq=node.event_seq or (block.seq if block else 0),
            depth=node.depth or depth,
            tainted_by=tuple(self._placed(below, depth + 1) for below in node.tainted_by),
        )

    def lineage(self, *block_ids: str) -> tuple[TaintNode, ...]:
        """The tree of each of these blocks; of one that no event told of, the id alone. A thousand nodes at most."""
        left = [_MOST_NODES]
        return tuple(node for name in block_ids if (node := self._tree(name, (), left)) is not None)

    def _tree(self, name: str, above: tuple[str, ...], left: list[int]) -> TaintNode | None:
        if name in above or len(above) >= _DEEPEST or not left[0]:
            return None
        left[0] -= 1
        block = self._blocks.get(name)
        if block is None:
            return TaintNode(block_id=name, depth=len(above))
        below = (self._tree(parent, (*above, name), left) for parent in block.made_of)
        return TaintNode(
            block_id=name,
            trust=block.trust,
            source=block.source,
            event_seq=block.seq,
            depth=len(above),
            tainted_by=tuple(node for node in below if node is not None),
        )

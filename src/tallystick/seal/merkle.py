"""The Merkle tree over a journal (RFC 9162, section 2.1): roots, and the two kinds of proof.

Leaves are entry hashes (32 bytes), so nothing here knows what an entry is.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256

from tallystick.seal.hashes import node_hash

EMPTY_ROOT = sha256(b"").digest()


class Frontier:
    """The roots of the complete subtrees of a growing tree: enough to append and to know the root. O(log n) memory."""

    __slots__ = ("_subtrees", "size")

    def __init__(self, size: int = 0, subtrees: Sequence[bytes] = ()) -> None:
        if size.bit_count() != len(subtrees):
            raise ValueError(f"a tree of {size} leaves has {size.bit_count()} complete subtrees, not {len(subtrees)}")
        self.size = size
        self._subtrees = list(subtrees)

    def append(self, leaf: bytes) -> None:
        """Add one leaf hash."""
        size = self.size
        subtrees = self._subtrees
        while size & 1:
            leaf = sha256(b"\x01" + subtrees.pop() + leaf).digest()
            size >>= 1
        subtrees.append(leaf)
        self.size += 1

    def root(self) -> bytes:
        """The root of all leaves so far."""
        if not self._subtrees:
            return EMPTY_ROOT
        root = self._subtrees[-1]
        for left in reversed(self._subtrees[:-1]):
            root = node_hash(left, root)
        return root

    @property
    def subtrees(self) -> tuple[bytes, ...]:
        """The roots of the complete subtrees, largest first: with `size` they make this frontier again."""
        return tuple(self._subtrees)

    def copy(self) -> Frontier:
        """A frontier that grows apart from this one."""
        return Frontier(self.size, self._subtrees)


def merkle_root(leaves: Sequence[bytes]) -> bytes:
    """MTH of RFC 9162 2.1.1 over leaf hashes."""
    frontier = Frontier()
    for leaf in leaves:
        frontier.append(leaf)
    return frontier.root()


def _split(count: int) -> int:
    """The largest power of two smaller than `count`, for count > 1."""
    return 1 << ((count - 1).bit_length() - 1)


def inclusion_proof(leaves: Sequence[bytes], index: int) -> tuple[bytes, ...]:
    """PATH(index, leaves) of RFC 9162 2.1.3.1, lowest node first.

    Raises:
        IndexError: there is no such leaf.
    """
    if not 0 <= index < len(leaves):
        raise IndexError(f"leaf {index} of a tree of {len(leaves)}")
    path: list[bytes] = []
    low, high = 0, len(leaves)
    while high - low > 1:
        middle = low + _split(high - low)
        if index < middle:
            path.append(merkle_root(leaves[middle:high]))
            high = middle
        else:
            path.append(merkle_root(leaves[low:middle]))
            low = middle
    return tuple(reversed(path))


def verify_inclusion(leaf: bytes, index: int, size: int, proof: Sequence[bytes], root: bytes) -> bool:
    """Whether `proof` shows that `leaf` is leaf `index` of the tree with `size` leaves and `root` (2.1.3.2)."""
    if not 0 <= index < size or any(len(node) != 32 for node in proof):
        return False
    position, last, current = index, size - 1, leaf
    for node in proof:
        if last == 0:
            return False
        if position & 1 or position == last:
            current = node_hash(node, current)
            while not position & 1 and position:
                position >>= 1
                last >>= 1
        else:
            current = node_hash(current, node)
        position >>= 1
        last >>= 1
    return last == 0 and current == root


def consistency_proof(leaves: Sequence[bytes], old_size: int) -> tuple[bytes, ...]:
    """PROOF(old_size, leaves) of RFC 9162 2.1.4.1: that the tree of `leaves` extends the one of its first `old_size`.

    Raises:
        IndexError: `old_size` is not in 1..len(leaves).
    """
    if not 0 < old_size <= len(leaves):
        raise IndexError(f"a tree of {len(leaves)} leaves extends none of size {old_size}")
    path: list[bytes] = []
    low, high, whole = 0, len(leaves), True
    while old_size != high:
        middle = low + _split(high - low)
        if old_size <= middle:
            path.append(merkle_root(leaves[middle:high]))
            high = middle
        else:
            path.append(merkle_root(leaves[low:middle]))
            low, whole = middle, False
    if not whole:
        path.append(merkle_root(leaves[low:high]))
    return tuple(reversed(path))


def verify_consistency(old_size: int, new_size: int, old_root: bytes, new_root: bytes, proof: Sequence[bytes]) -> bool:
    """Whether `proof` shows that the tree (new_size, new_root) extends (old_size, old_root) (RFC 9162 2.1.4.2)."""
    if not 0 < old_size <= new_size or any(len(node) != 32 for node in proof):
        return False
    if old_size == new_size:
        return not proof and old_root == new_root
    path = list(proof)
    if old_size & (old_size - 1) == 0:
        path.insert(0, old_root)
    if not path:
        return False
    position, last = old_size - 1, new_size - 1
    while position & 1:
        position >>= 1
        last >>= 1
    old = new = path[0]
    for node in path[1:]:
        if last == 0:
            return False
        if position & 1 or position == last:
            old = node_hash(node, old)
            new = node_hash(node, new)
            while not position & 1 and position:
                position >>= 1
                last >>= 1
        else:
            new = node_hash(new, node)
        position >>= 1
        last >>= 1
    return last == 0 and old == old_root and new == new_root

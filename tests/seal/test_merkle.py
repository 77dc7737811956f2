"""The Merkle tree: published roots, a plain reading of RFC 9162, every proof of small trees, and proofs that are wrong."""

from __future__ import annotations

from hashlib import sha256

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.seal.merkle import (
    EMPTY_ROOT,
    Frontier,
    consistency_proof,
    inclusion_proof,
    merkle_root,
    verify_consistency,
    verify_inclusion,
)
from tests.support.cases import cases, each

# The leaves and roots that implementations of Certificate Transparency have tested themselves with since 2013.
DATA = [
    bytes.fromhex(text)
    for text in ("", "00", "10", "2021", "3031", "40414243", "5051525354555657", "606162636465666768696a6b6c6d6e6f")
]
ROOTS = cases(__file__, "roots", list[str])
PUBLISHED = [sha256(b"\x00" + data).digest() for data in DATA]
LEAVES = [sha256(b"\x00%d" % number).digest() for number in range(130)]
SIZES = (*range(1, 23), 31, 33, 37, 41, 42, 43, 63, 64, 65, 75, 84, 100, 127, 128, 129, 130)


def plain_root(leaves: list[bytes]) -> bytes:
    """MTH as RFC 9162 2.1.1 defines it."""
    if not leaves:
        return sha256().digest()
    if len(leaves) == 1:
        return leaves[0]
    split = 1
    while split * 2 < len(leaves):
        split *= 2
    return sha256(b"\x01" + plain_root(leaves[:split]) + plain_root(leaves[split:])).digest()


def test_published_roots_come_out() -> None:
    assert EMPTY_ROOT.hex() == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    assert [merkle_root(PUBLISHED[: size + 1]).hex() for size in range(8)] == ROOTS


def test_the_published_path_comes_out() -> None:
    path = inclusion_proof(PUBLISHED, 5)
    assert [node.hex()[:8] for node in path] == ["bc1a0643", "ca854ea1", "d37ee418"]


def test_a_growing_tree_has_the_root_of_the_definition_at_every_size() -> None:
    frontier = Frontier()
    for size, leaf in enumerate(LEAVES):
        assert frontier.size == size
        assert frontier.root() == plain_root(LEAVES[:size])
        frontier.append(leaf)
    assert frontier.root() == merkle_root(LEAVES) == plain_root(LEAVES)


def test_a_copy_grows_by_itself() -> None:
    frontier = Frontier()
    for leaf in LEAVES[:5]:
        frontier.append(leaf)
    other = frontier.copy()
    other.append(LEAVES[5])
    assert (frontier.size, frontier.root()) == (5, plain_root(LEAVES[:5]))
    assert (other.size, other.root()) == (6, plain_root(LEAVES[:6]))


def test_a_frontier_is_continued_from_its_subtrees() -> None:
    kept = [plain_root(LEAVES[:4]), LEAVES[4]]
    frontier = Frontier(5, kept)
    frontier.append(LEAVES[5])
    assert frontier.root() == plain_root(LEAVES[:6])
    assert kept == [plain_root(LEAVES[:4]), LEAVES[4]]
    for size, subtrees in ((5, kept[:1]), (4, kept), (0, kept[:1]), (1, [])):
        with pytest.raises(ValueError, match="subtrees"):
            Frontier(size, subtrees)


@each("size", SIZES)
def test_every_leaf_of_a_tree_has_a_proof_and_no_other_leaf_fits_it(size: int) -> None:
    root = plain_root(LEAVES[:size])
    for index in range(size):
        proof = inclusion_proof(LEAVES[:size], index)
        assert verify_inclusion(LEAVES[index], index, size, proof, root)
        assert not verify_inclusion(LEAVES[(index + 1) % 130], index, size, proof, root)
        assert not verify_inclusion(LEAVES[index], index, size, proof, LEAVES[0] if size > 1 else LEAVES[1])
        assert not verify_inclusion(LEAVES[index], index, size, [*proof, bytes(32)], root)
        assert not proof or not verify_inclusion(LEAVES[index], index, size, proof[:-1], root)
        assert not proof or not verify_inclusion(LEAVES[index], index, size, proof[1:], root)
        for other in {0, index ^ 1, size - 1, size} - {index}:
            assert not verify_inclusion(LEAVES[index], other, size, proof, root)


@each("size", SIZES)
def test_every_earlier_tree_has_a_proof_and_no_other_tree_fits_it(size: int) -> None:
    roots = [plain_root(LEAVES[:old]) for old in range(size + 1)]
    new_root = roots[size]
    for old in range(1, size + 1):
        proof = consistency_proof(LEAVES[:size], old)
        assert verify_consistency(old, size, roots[old], new_root, proof)
        assert not verify_consistency(old, size, LEAVES[129], new_root, proof)
        assert not verify_consistency(old, size, roots[old], LEAVES[129], proof)
        assert not verify_consistency(old, size, roots[old], new_root, [*proof, bytes(32)])
        assert not proof or not verify_consistency(old, size, roots[old], new_root, proof[:-1])
        assert not proof or not verify_consistency(old, size, roots[old], new_root, proof[1:])
        if 1 < old < size:
            assert not verify_consistency(old - 1, size, roots[old - 1], new_root, proof)


@given(st.data())
def test_a_changed_node_of_a_proof_is_found(data: st.DataObject) -> None:
    size = data.draw(st.integers(2, 130))
    index = data.draw(st.integers(0, size - 1))
    old = data.draw(st.integers(1, size - 1))
    for kind in ("inclusion", "consistency"):
        proof = list(
            inclusion_proof(LEAVES[:size], index) if kind == "inclusion" else consistency_proof(LEAVES[:size], old)
        )
        place = data.draw(st.integers(0, len(proof) - 1))
        proof[place] = bytes([proof[place][0] ^ 1]) + proof[place][1:]
        root = plain_root(LEAVES[:size])
        if kind == "inclusion":
            assert not verify_inclusion(LEAVES[index], index, size, proof, root)
        else:
            assert not verify_consistency(old, size, plain_root(LEAVES[:old]), root, proof)


def test_a_tree_of_one_leaf_needs_no_proof() -> None:
    assert inclusion_proof(LEAVES[:1], 0) == ()
    assert verify_inclusion(LEAVES[0], 0, 1, (), LEAVES[0])
    assert consistency_proof(LEAVES[:1], 1) == ()


def test_a_tree_extends_itself_with_an_empty_proof_only() -> None:
    root = plain_root(LEAVES[:6])
    assert consistency_proof(LEAVES[:6], 6) == ()
    assert verify_consistency(6, 6, root, root, ())
    assert not verify_consistency(6, 6, root, LEAVES[0], ())
    assert not verify_consistency(6, 6, LEAVES[0], root, ())
    assert not verify_consistency(6, 6, root, root, (bytes(32),))


@each("old, new", [(0, 1), (0, 0), (-1, 5), (6, 5), (1, 0)])
def test_sizes_that_no_log_has_are_refused(old: int, new: int) -> None:
    root = plain_root(LEAVES[:1])
    assert not verify_consistency(old, new, root, root, ())
    assert not verify_consistency(old, new, EMPTY_ROOT, EMPTY_ROOT, ())


@each("index, size", [(-1, 1), (1, 1), (0, 0), (5, 4), (-2, -1)])
def test_a_leaf_that_is_not_there_has_no_proof(index: int, size: int) -> None:
    assert not verify_inclusion(LEAVES[0], index, size, (), LEAVES[0])
    with pytest.raises(IndexError, match="leaf"):
        inclusion_proof(LEAVES[: max(size, 0)], index)


@each("count, old", [(0, 0), (3, 0), (3, 4), (3, -1)])
def test_there_is_no_proof_from_a_tree_that_is_not_there(count: int, old: int) -> None:
    with pytest.raises(IndexError, match="leaves"):
        consistency_proof(LEAVES[:count], old)


@each("length", [0, 31, 33])
def test_a_node_that_is_no_hash_refuses_the_proof(length: int) -> None:
    proof = list(inclusion_proof(LEAVES[:4], 1))
    right = sha256(b"\x01" + proof[0] + LEAVES[1]).digest()  # what a verifier that cuts nodes would still accept
    assert verify_inclusion(LEAVES[1], 1, 4, proof, plain_root(LEAVES[:4]))
    odd = bytes(length)
    root = sha256(b"\x01" + right + odd).digest()
    assert not verify_inclusion(LEAVES[1], 1, 4, [proof[0], odd], root)
    old_root = LEAVES[0]
    new_root = sha256(b"\x01" + old_root + odd).digest()
    assert not verify_consistency(1, 2, old_root, new_root, [odd])


def test_a_proof_between_two_sizes_is_never_empty() -> None:
    assert not verify_consistency(3, 5, plain_root(LEAVES[:3]), plain_root(LEAVES[:5]), ())
    assert not verify_consistency(4, 5, plain_root(LEAVES[:4]), plain_root(LEAVES[:4]), ())
    assert not verify_consistency(1, 2**40, LEAVES[0], LEAVES[0], ())

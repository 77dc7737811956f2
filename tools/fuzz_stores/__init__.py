"""Stores damaged at random, and three verifiers that must agree on each: `make fuzz-stores N=2000 SEED=1`.

`sources` makes sound stores with the real recorder and importer, and takes those of the golden vectors. `damage` changes
bytes, lines, what lines say, notes, blobs and what kind of file something is; `resealing` makes the hashes right again, so
that the deeper checks are reached too. `verifiers` asks `tally verify`, the one-file verifier and tools/verify.mjs, each in a
process of its own with bounded time and memory. docs/format.md says who is right when they differ.
"""

"""Whether this tree and another commit do the same: `make same REF=<commit>`.

Owns the comparison of two trees by what they seal, index, decide and print as JSON. Both are given the same input, the
reference's own, with the same clock and the same random bytes. Must not know how either tree is arranged inside: `faces`
alone names modules.
"""

"""What makes a record tamper-evident: canonical bytes, commitments, the chain, the tree, signed heads, verdicts.

Everything here is a pure function of bytes. Nothing opens a file, reads a clock or draws a random number.
The format is docs/format.md; `standalone.py` is a second implementation of it that shares no line with this one.
"""

__all__ = [
    "alert_chain",
    "canonical",
    "epochs",
    "extension",
    "fastline",
    "go_json",
    "hashes",
    "keys",
    "ledger",
    "ledgercheck",
    "limits",
    "line",
    "merkle",
    "names",
    "note",
    "proof",
    "redact",
    "tagged",
    "verify",
]

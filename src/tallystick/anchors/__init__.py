"""Places off this machine that keep heads of the ledger, and that anyone who holds this machine cannot make forget.

Each module knows one kind of place, with the same three questions: put a head there, say what is there, say how well it is
guarded. Only heads leave the machine: the store's id, the ledger's size and root, and a signature.
"""

__all__ = ["git", "kept", "nats", "tsa"]

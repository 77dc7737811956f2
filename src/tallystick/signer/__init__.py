"""The stateful signer: a process of another user that holds a log's key and signs only what extends what it signed before."""

__all__ = ["__main__", "entries", "entry_file", "epochs", "peers", "pins", "server", "vault"]

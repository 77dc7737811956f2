"""The resident recorder: one process a store that answers hooks while agents work.

Owns the process: one instance, its socket and its port, starting, idling and ending. What is recorded and answered is
`live.hook_pipeline`'s.
"""

__all__ = ["start"]

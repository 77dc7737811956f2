"""The values every other package speaks in. Frozen, typed, and free of I/O."""

__all__ = [
    "decision",
    "did_you_mean",
    "effect",
    "grant",
    "ids",
    "intent",
    "moments",
    "paths",
    "pattern",
    "plain_text",
    "raw",
    "recorded",
    "request",
    "script",
    "step",
    "table",
    "verdict",
]

"""Modules that run inside other programs: in a client of a model API, in an agent, beside a message broker.

None of them is imported by the rest of Tallystick, and each imports the program it is for only where it must.
"""

__all__ = ["anthropic", "openai"]

"""What gptme calls: its hooks, registered."""

from .record import register

__all__ = ["register"]

"""Hosts, and what a call sends to them or runs from them."""

__all__ = ["egress", "hosts", "payload", "unknown_packages"]

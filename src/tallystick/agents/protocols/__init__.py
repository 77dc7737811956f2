"""Protocols that agents speak with others while they work: what is said over them, as steps.

Owns one pure module a protocol: lines or payloads in, events out. Nothing here opens a file, a socket or a clock.
"""

__all__ = ["_otlp_protobuf", "acp", "ingest", "mcp", "otlp", "splice"]

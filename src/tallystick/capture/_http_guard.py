"""Who may ask: the checks of a request's head before anything of its body is read.

Owns the defence of a port that every program and every web page of the machine can reach: the Host header (a page whose name
was pointed at 127.0.0.1 sends its own), the Origin and Sec-Fetch-Site headers (a page of another site says so), the bearer
token (another user of the machine has none). Must not know paths or what is served.
"""

from __future__ import annotations

import hmac
import ipaddress
from collections.abc import Mapping
from urllib.parse import urlsplit

_NAMES = frozenset(("localhost",))
_OURS = frozenset(("same-origin", "none"))  # `none`: a person typed the address


def is_loopback(host: str) -> bool:
    """Whether a host, as a name or an address without brackets, is this machine and no other."""
    if host.lower() in _NAMES:
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def refusal(headers: Mapping[str, str], *, port: int, token: str | None) -> tuple[int, str] | None:
    """The status and reason by which a request is refused; None lets it in.

    Args:
        headers: names in lower case. port: the one that is listened on. token: what `Authorization: Bearer` must hold.
    """
    if not _is_here(f"//{headers.get('host', '')}", port):
        return 403, "the Host header names another host"
    origin = headers.get("origin")
    if origin is not None and not (origin.startswith("http://") and _is_here(origin[len("http:") :], port)):
        return 403, "a page of another origin asked"
    if headers.get("sec-fetch-site", "none") not in _OURS:
        return 403, "a page of another site asked"
    if token is not None and not bears(headers, token):
        return 401, "the bearer token is missing or wrong"
    return None


def bears(headers: Mapping[str, str], token: str) -> bool:
    """Whether the `Authorization` header holds the token. Takes as long for a nearly right one as for any other."""
    scheme, _, given = headers.get("authorization", "").partition(" ")
    return scheme.lower() == "bearer" and hmac.compare_digest(given.strip().encode(), token.encode())


def _is_here(address: str, port: int) -> bool:
    """Whether `//host:port` is this listener."""
    try:
        parts = urlsplit(address)
        there = 80
        if parts.port is not None:
            there = parts.port
    except ValueError:
        return False
    return parts.hostname is not None and is_loopback(parts.hostname) and there == port and parts.username is None

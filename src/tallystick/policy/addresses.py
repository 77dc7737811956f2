"""Which address a host is, in every spelling that some program takes for it.

Owns numbers as addresses: fewer than four parts, octal and hexadecimal ones, IPv4 in IPv6, and addresses that are in a
name. Must not know which addresses matter. Sources: inet_aton(3); RFC 4291, 6052 and 3056; the WHATWG URL Standard,
"Host parsing".
"""

from __future__ import annotations

import ipaddress
import re
import unicodedata
from collections.abc import Iterator
from typing import TypeAlias
from urllib.parse import unquote

Address: TypeAlias = ipaddress.IPv4Address | ipaddress.IPv6Address

_LONGEST = 300
_NUMBER = re.compile(r"0[xX][0-9a-fA-F]*|\d+")
_DOTS = re.compile("[\u3002\uff0e\uff61]")
_UNSEEN = re.compile("[\u00ad\u200b-\u200f\u2060\ufeff\u180e\u034f\ufe00-\ufe0f\t\r\n]")
_IN_NAME = re.compile(
    r"(?<![0-9a-z])(?:(\d{1,3})[.-](\d{1,3})[.-](\d{1,3})[.-](\d{1,3})|(?:0x)?([0-9a-f]{8}))(?![0-9a-z])"
)
_ALL_BITS = (1 << 32) - 1


def clear(host: str) -> str:
    """A host as programs compare it: small letters, its escapes, wide digits and unseen characters resolved."""
    text = host[:_LONGEST]
    for _ in range(2):  # what a proxy decodes once, the program behind it decodes again
        if "%" in text:
            text = unquote(text, errors="replace")
    if not text.isascii():
        text = unicodedata.normalize("NFKC", _DOTS.sub(".", text))
    return _UNSEEN.sub("", text).lower().strip(" \"'").rstrip(".")


def addresses_of(host: str) -> tuple[Address, ...]:
    """The addresses that a host, made clear, is taken for; several where programs differ, none if it is a name."""
    text = host.strip("[]").partition("%")[0]
    if ":" in text:
        spellings = (text, text.rpartition(":")[0])  # the last part may be a port
        return tuple(found for spelling in spellings if (found := _version_6(spelling)) is not None)
    parts = text.split(".")
    if len(parts) > 4 or not all(part and _NUMBER.fullmatch(part) for part in parts):
        return ()
    readings = {_joined([_number(part, octal=octal) for part in parts]) for octal in (True, False)}
    return tuple(ipaddress.IPv4Address(value) for value in sorted(readings))


def addresses_in(name: str) -> Iterator[ipaddress.IPv4Address]:
    """The addresses that are in a name, as in `10-0-0-1.example.org`: there are name servers that answer with those."""
    for found in _IN_NAME.finditer(name[:_LONGEST]):
        if found[5]:
            yield ipaddress.IPv4Address(int(found[5], 16))
        elif all(int(part) < 256 for part in found.groups()[:4]):
            yield ipaddress.IPv4Address(".".join(str(int(part)) for part in found.groups()[:4]))


def inner(address: Address) -> ipaddress.IPv4Address | None:
    """The IPv4 address that an address is, or that is in the end of it: mapped, translated, tunnelled."""
    if isinstance(address, ipaddress.IPv4Address):
        return address
    if address.sixtofour is not None:
        return address.sixtofour
    return ipaddress.IPv4Address(int(address) & _ALL_BITS)


def is_mapped(address: Address) -> bool:
    """Whether an IPv6 address is nothing but another spelling of an IPv4 address."""
    return isinstance(address, ipaddress.IPv6Address) and (
        address.ipv4_mapped is not None or address in _TRANSLATED or (address in _COMPATIBLE and int(address) > 1)
    )


_TRANSLATED = ipaddress.IPv6Network("64:ff9b::/96")
_COMPATIBLE = ipaddress.IPv6Network("::/96")


def _version_6(text: str) -> ipaddress.IPv6Address | None:
    try:
        return ipaddress.IPv6Address(text)
    except ValueError:
        return None


def _number(part: str, *, octal: bool) -> int:
    if part[:2] in ("0x", "0X"):
        return int(part[2:] or "0", 16)
    if octal and part[0] == "0" and not {"8", "9"} & set(part):
        return int(part, 8)
    return int(part[:40])


def _joined(numbers: list[int]) -> int:
    """Numbers as one address: the last fills what is left. What is too large loses its upper bits, as in some programs."""
    value = 0
    for number in numbers[:-1]:
        value = value << 8 | number & 0xFF
    bits = 8 * (5 - len(numbers))
    return (value << bits | numbers[-1] & ((1 << bits) - 1)) & _ALL_BITS

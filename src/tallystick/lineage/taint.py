"""How far content is trusted, and whether it came from a secret: what passes along the edges of the graph.

Owns the three levels, which things bring content in from outside, and how the taint of what was read becomes that of what was
written. Must not know how edges are kept, nor what follows from a taint. Source of levels and blocks: the headless agent's
log, section 4 of its specification in docs/agents; there a taint ends at a sub-agent and at a file, here it does not.
"""

from __future__ import annotations

import enum
import re
from collections.abc import Iterable
from urllib.parse import urlsplit

import msgspec

from tallystick.model.pattern import pattern_of

MOST_SOURCES = 8


class Trust(enum.StrEnum):
    """How far content is trusted, from the most to the least."""

    TRUSTED = "trusted"
    """It came from the user, the user's repository, or the machine; nothing says otherwise."""
    VETTED = "vetted"
    """Something stood between it and the outside: a model that put it in words of its own, a registry of packages, a service
    that is the user's own, a person who approved it."""
    UNTRUSTED = "untrusted"
    """It is as it came from outside: a page, a search, an MCP server, a download, a mail."""


_ORDER = tuple(Trust)


class Taint(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of some content. `sources` say where it came from, for people, the nearest first."""

    trust: Trust = Trust.TRUSTED
    is_sensitive: bool = False
    """It is a secret, or was made of one."""
    sources: tuple[str, ...] = ()

    @property
    def is_clean(self) -> bool:
        """Whether nothing speaks against it."""
        return self.trust is Trust.TRUSTED and not self.is_sensitive


CLEAN = Taint()


class Via(enum.StrEnum):
    """How data went from what was read into what was written."""

    COMMAND = "command"
    """A program moved it: `curl -o`, `cp`, `sort a > b`."""
    MODEL = "model"
    """The model was shown it, and wrote afterwards."""
    QUOTE = "quote"
    """The same, and most of what was written is a copy of it, or a secret of it stands there."""
    CHANGE = "change"
    """It was there before, and was changed in part."""


def lowest(levels: Iterable[Trust]) -> Trust:
    """The level of content that has several sources: the lowest of theirs."""
    return max(levels, key=_ORDER.index, default=Trust.TRUSTED)


def joined(taints: Iterable[Taint]) -> Taint:
    """The taint of content that came from all of these."""
    some = list(taints)
    if not some:
        return CLEAN
    return Taint(
        trust=lowest(one.trust for one in some),
        is_sensitive=any(one.is_sensitive for one in some),
        sources=tuple(dict.fromkeys(source for one in some for source in one.sources))[:MOST_SOURCES],
    )


def written_in(taint: Taint, what: str, step: str) -> Taint:
    """The taint of something that a step wrote, with that step in its way, unless the same step took it in."""
    if taint.is_clean or (taint.sources and taint.sources[0].endswith(f"({step})")):
        return taint
    return msgspec.structs.replace(taint, sources=(f"{what}, written ({step})", *taint.sources)[:MOST_SOURCES])


def passed(taint: Taint, via: Via) -> Taint:
    """What a taint becomes on its way into something that is written.

    What the model writes in words of its own is vetted, and holds no secret: who read a key and then wrote a test did not
    write the key. A quote is what it quotes.
    """
    if taint.is_clean:
        return CLEAN
    if via is not Via.MODEL:
        return taint
    if taint.trust is Trust.TRUSTED:
        return CLEAN
    return Taint(trust=Trust.VETTED, sources=taint.sources)


def changed(base: Taint, added: Iterable[Taint]) -> Taint:
    """The taint of content to which something was added: a line that is quoted does not make the rest of it a quote."""
    parts = list(added)
    if base.trust is not Trust.UNTRUSTED:
        parts = [msgspec.structs.replace(one, trust=min(one.trust, Trust.VETTED, key=_ORDER.index)) for one in parts]
    return joined([base, *parts])


# What comes from outside ----------------------------------------------------------------------------------------------

_PUBLIC = frozenset(
    ("http", "https", "ftp", "ftps", "sftp", "ssh", "git", "rsync", "tcp", "ipfs", "magnet", "ws", "wss")
)
_LOCAL_HOST = pattern_of(r"(?:localhost|.*\.localhost|127(?:\.\d{1,3}){3}|0\.0\.0\.0|::1|host\.docker\.internal)\Z")
_LOCAL_NAMES = """
filesystem fs files file local serena desktopcommander texteditor ide jetbrains vscode git editor memory everything shell
terminal commander workspace thinking sequential time
"""
_LOCAL_SERVERS = frozenset(_LOCAL_NAMES.split())
_THIRD_PARTY = pattern_of(
    r"/(?:node_modules|bower_components|vendor|third[_-]?party|site-packages|dist-packages|Pods|Carthage|\.cargo/registry"
    r"|\.cargo/git|go/pkg/mod|\.m2/repository|\.gradle/caches|\.gem|Downloads|downloads|Mail|\.thunderbird)/"
)


def trust_of_target(target: str) -> Trust:
    """How far what comes from a target of the network is trusted, by its name: `https://…`, `mcp://server`, `pkg:npm/x`."""
    if target.startswith("websearch:"):
        return Trust.UNTRUSTED
    if target.startswith("pkg:"):
        return Trust.VETTED
    if target.startswith("mcp:"):
        return _trust_of_server(target)
    scheme, colons, _ = target.partition("://")
    if not colons:
        # `origin` and other names of the project's own are as good as the project; a bare host is not.
        if "." in target or ":" in target:
            return Trust.UNTRUSTED
        return Trust.VETTED
    if scheme.lower() not in _PUBLIC:
        return Trust.VETTED
    try:
        host = urlsplit(target).hostname or ""
    except ValueError:
        return Trust.UNTRUSTED
    if _LOCAL_HOST.match(host):
        return Trust.TRUSTED
    return Trust.UNTRUSTED


def _trust_of_server(target: str) -> Trust:
    server = target.removeprefix("mcp:").lstrip("/").partition("/")[0].lower()
    is_local = not _LOCAL_SERVERS.isdisjoint(re.findall(r"[a-z]+", server[:200]))
    if is_local:
        return Trust.TRUSTED
    return Trust.UNTRUSTED


def is_third_party(path: str) -> bool:
    """Whether a path lies where other people's work is put: packages, vendored code, downloads, mail."""
    return _THIRD_PARTY.search(path) is not None


def trust_of_thing(kind: str, uri: str) -> Trust:
    """How far a thing of the graph is trusted of which no one here wrote what it holds."""
    match kind:
        case "file" | "commit":
            return Trust.TRUSTED
        case _:
            return trust_of_target(uri.removeprefix("tcp://") if uri.startswith("tcp://") else uri)

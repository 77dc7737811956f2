"""What holds secrets: keys, credentials, tokens, histories of commands (specs/gensee.md 5.2).

Owns the words for it, and how names, places and the user's settings make one. Both the path as it is spelled and the one
that it leads to count. The lists are in `secret_names` and `secret_places`.
"""

from collections.abc import Iterator
from functools import lru_cache

from tallystick.catalog.agents import AGENTS
from tallystick.catalog.loading import Entry, load
from tallystick.policy.kinds.homes import below_home, is_above_homes, plain
from tallystick.policy.kinds.named import Named
from tallystick.policy.kinds.secret_names import by_name
from tallystick.policy.kinds.secret_places import HOLDERS, HOME_HOLDERS, HOME_SECRETS, at_home, in_system
from tallystick.policy.kinds.wildcards import has_wildcards, may_name
from tallystick.policy.settings import Settings

KINDS: dict[str, str] = {
    "secret": "Keys, credentials, tokens, browsers' stores, histories of commands: no agent reads them.",
    "credential": "May hold credentials, by its name: keys and certificates, files called secrets or tokens.",
    "settings": "Settings of a tool that hold a token now and then: .npmrc, pip.conf.",
    "environment": "The environment variables of a process.",
    "holds-secrets": "A folder with secrets below it: a home folder, `/`, `/etc`, `~/.config`.",
    "broad": "A home folder as a whole, all of them, the settings of the system, or all there is.",
    "above-workspace": "A folder above the one that the agent works in.",
}
_MOST_PARTS = 64
_BROAD = frozenset(("/etc", "/var", "/mnt/c/windows"))
_TEMPORARY = ("/tmp", "/var/tmp", "/dev/shm")


def kinds(named: Named, settings: Settings) -> Iterator[str]:
    """What a path is, of KINDS."""
    paths = (named.path,) if named.real == named.path else (named.path, named.real)
    added, taken = _roots(settings.sensitive, named.home), _roots(settings.not_sensitive, named.home)
    for spelled in paths:
        if not spelled:
            continue
        path = plain(spelled)
        if taken and _is_below(path, taken):
            continue
        if added and _is_below(path, added):
            yield "secret"
        kind = _kind(path, named.home, plain(named.workspace or ""))
        if kind is not None and kind != "work":
            yield kind
        yield from _holder(path, named, added)


def is_exempt(path: str, home: str, settings: Settings) -> bool:
    """Whether the user says that a path is not a secret."""
    taken = _roots(settings.not_sensitive, home)
    return bool(taken) and _is_below(plain(path), taken)


def is_secret(path: str, home: str, workspace: str | None = None) -> bool:
    """Whether a path is a secret as it is spelled, by the lists alone."""
    return kind_of(path, home, workspace) == "secret"


def kind_of(path: str, home: str, workspace: str | None = None) -> str | None:
    """What a path is as it is spelled, by the lists alone: a word of KINDS, `work` for what surely is none, or None."""
    return _kind(plain(path), home, plain(workspace or "")) if path else None


@lru_cache(maxsize=64)
def _roots(places: tuple[str, ...], home: str) -> tuple[str, ...]:
    return tuple(plain(home + place[1:] if place[:1] == "~" else place) for place in places)


def _is_below(path: str, roots: tuple[str, ...]) -> bool:
    return any(path == root or path.startswith(f"{root}/") for root in roots)


@lru_cache(maxsize=4096)
def _kind(path: str, home: str, workspace: str) -> str | None:
    """What a plain path is by place and name: the more certain of both."""
    in_workspace = bool(workspace) and path.startswith(f"{workspace}/")
    rest = below_home(path, home)
    placed = None
    if rest is not None:
        placed = at_home(rest) or (_like_a_place(rest) if has_wildcards(rest) else None) or _kept_by_a_program(rest)
    if placed is None and path.startswith(("/", "c:")):
        placed = in_system(path)
    if placed is not None and placed != "secret":
        return placed
    named = by_name(path[len(workspace) :] if in_workspace else path, in_workspace=in_workspace)
    return named if named == "work" and not _is_folder_of_keys(rest) else placed or named


def _is_folder_of_keys(rest: str | None) -> bool:
    """Whether everything in a folder counts, but for public keys: a template or a test's key does not lie there."""
    return rest is not None and at_home(rest) == "secret" and not rest.endswith((".pub", ".crt", ".cer", ".csr"))


def _kept_by_a_program(rest: str) -> str | None:
    """What a program keeps in its hidden folder under a name that says so, whichever program it is."""
    folder, _, name = rest.rpartition("/")
    if not folder.startswith((".", "library/application support/", "appdata/")):
        return None
    stem = name.lstrip(".").partition(".")[0]
    is_kept = stem in _FACTS.names and not name.endswith(_FACTS.sources) and folder.count("/") <= _DEEPEST
    return "secret" if is_kept and not folder.startswith(_NOT_KEPT) else None


class _Facts(Entry, frozen=True):
    """Facts of catalog/kinds/kept_secrets.toml."""

    names: frozenset[str]
    sources: tuple[str, ...]
    caches: tuple[str, ...]


_FACTS = load("kinds/kept_secrets", _Facts)
_NOT_KEPT = (*_FACTS.caches, *(f"{folder}/plugins" for facts in AGENTS.values() for folder in facts.folders))
_DEEPEST = 3


_PLACES = tuple(tuple(place[:-1].split("/")) for place in HOME_SECRETS)


def _like_a_place(rest: str) -> str | None:
    """What a pattern below a home folder is meant for."""
    parts = rest.split("/")
    for wanted in _PLACES:
        if len(wanted) <= len(parts) <= _MOST_PARTS and all(map(_may_be, parts, wanted)):
            return "secret"
    return None


def _may_be(part: str, wanted: str) -> bool:
    return part == wanted or (has_wildcards(part) and may_name(part, wanted))


def _holder(path: str, named: Named, added: tuple[str, ...]) -> Iterator[str]:
    """Whether secrets, or the work of others, lie below a folder: of a pattern, below the folder where it begins."""
    if named.is_pattern or (not named.is_known and has_wildcards(path)):
        path = _beginning(path)
    elif not named.is_deep:
        return
    if not path:
        return
    rest = below_home(path, named.home) if path[0] in "/~" or path[1:2] == ":" else None
    is_holder = path in HOLDERS or is_above_homes(path, named.home) or (rest is not None and rest in HOME_HOLDERS)
    if is_holder or any(root.startswith(f"{path}/") for root in added):
        yield "holds-secrets"
    if rest == "" or path in _BROAD or is_above_homes(path, named.home):
        yield "broad"
    workspace = plain(named.workspace or "")
    if workspace.startswith(f"{path}/") and path not in _TEMPORARY and not workspace.startswith(_TEMPORARY):
        yield "above-workspace"


def _beginning(pattern: str) -> str:
    """The folder from which a pattern looks widely: below it any folder may follow. Empty: it names files of one folder."""
    parts = pattern.split("/")
    first = next((n for n, part in enumerate(parts) if has_wildcards(part)), len(parts))
    is_wide = first < len(parts) - 1 or parts[-1] in ("*", "**", ".*")
    return ("/".join(parts[:first]) or "/") if is_wide else ""

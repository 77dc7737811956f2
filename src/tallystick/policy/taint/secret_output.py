"""Whether what looks like a secret in the result of a call is one that the machine keeps.

Owns telling keys of this user from those that are in tests, documents and pages, and from what a program prints while
it is tested. Must not know how a secret is recognized: the record has a marker where one stood (docs/secrets.md).
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterator

from tallystick.lineage.taint import is_third_party
from tallystick.model.intent import Domain, Effects, Intent, Operation
from tallystick.model.pattern import pattern_of
from tallystick.policy.taint.origins import TAKES

MARKER = "‹secret:"
"""Stands in the record where a secret stood."""
_MOST_LINES = 200
_OWN_SERVICES = ("docker:", "docker-daemon:", "kubernetes:")
_MOST_LINE = 400
_LAST_PARTS = 3
"""Of a path outside, so many names tell what it is: those above it are of the machine."""
_NOT_REAL = pattern_of(
    r"(?i)(?:\A|[/._-])(?:tests?|spec|specs|fixtures?|testdata|__tests__|mocks?|examples?|samples?|templates?|demos?|docs?"
    r"|documentation|snapshots?|cassettes?|e2e|stubs?|dummy|locales?|i18n)(?:[/._-]|\Z)|\.(?:md|mdx|rst|adoc|snap|ipynb|html?)\Z"
)
_AT_LINE = pattern_of(r"\s*([^\s:|][^:|\n]{0,300}?)[:|-]\d{0,7}[:|-]?")


def shows_secret(
    effects: Effects, output: str, *, root: str | None, is_marked: bool, is_shared: Callable[[str], bool]
) -> bool:
    """Whether the result of a call shows a secret of this user.

    Args:
        output: as it is recorded, with markers. root: the folder that the session works in.
        is_marked: the record says that something in it was replaced.
        is_shared: whether a path is in version control, where everybody who has the project reads it.
    """
    if not is_marked and MARKER not in output:
        return False
    files = [one for one in effects.intents if one.domain is Domain.FILE and one.operation in TAKES]
    if files:
        return any(_may_hold(one, output, root or "", is_shared) for one in files)
    if any(_is_of_others(one) for one in effects.intents):
        return False  # a page, or what a program prints while it runs
    started = {one.target for one in effects.intents if one.operation is Operation.RUN}
    return bool(started) and not started <= {"git"}


def _is_of_others(intent: Intent) -> bool:
    if intent.domain is Domain.NETWORK:
        return not intent.target.startswith(_OWN_SERVICES)
    return intent.operation is Operation.EXECUTE


def _may_hold(file: Intent, output: str, root: str, is_shared: Callable[[str], bool]) -> bool:
    if not file.is_deep and not file.is_pattern:
        return _is_real(file.target, root, is_shared)
    places = list(_places(output))
    if places:
        return any(_is_real(posixpath.join(file.target, place), root, is_shared) for place in places)
    return True


def _places(output: str) -> Iterator[str]:
    """The paths before the lines in which a secret stood, as programs that search print them."""
    lines = [line for line in output.split("\n") if MARKER in line][:_MOST_LINES]
    for line in lines:
        found = _AT_LINE.match(line[:_MOST_LINE])
        if found is not None and ("/" in found[1] or "." in found[1]):
            yield found[1]


def _is_real(path: str, root: str, is_shared: Callable[[str], bool]) -> bool:
    """Whether a secret in a file may be the user's own: it is in no test, document or package, nor in what is shared."""
    is_inside = bool(root) and path.startswith(f"{root}/")
    if is_inside:
        told = path[len(root) :]
    else:
        told = "/" + "/".join(path.split("/")[-_LAST_PARTS:])
    if is_third_party(path) or _NOT_REAL.search(told) is not None:
        return False
    return not is_shared(path)

"""The narrowest exceptions that would have covered what the user said yes to.

Owns which recorded asks were accepted, and the text of a policy that lifts their rule for just these. Never written
anywhere: anyone who wants one puts it into the store's policy folder.
"""

from __future__ import annotations

import posixpath
from collections import defaultdict
from collections.abc import Iterable, Iterator

import msgspec

from tallystick.errors import NotFoundError
from tallystick.guard.policy_text import Verb, id_of, policy_text, same_target
from tallystick.journal.home import Home
from tallystick.journal.read import read_session
from tallystick.model.recorded import Recorded

_MOST_TARGETS = 20
_SEVERAL = 3
"""So many files of one folder are one exception for the folder."""
_ACTIONS = {
    "File": ("read", "list", "write", "delete", "move", "metadata", "execute", "use"),
    "Host": ("fetch", "send", "connect", "listen"),
    "Program": ("run",),
}
ATTRIBUTES = {"File": "path", "Host": "host", "Program": "name"}


class Accepted(msgspec.Struct, frozen=True, order=True):
    """What a rule asked about and the user said yes to: an act and its target."""

    rule: str
    action: str
    target: str


class Suggestion(msgspec.Struct, frozen=True, kw_only=True):
    """An exception: which rule it lifts, for what, how often that was accepted and refused, and its text."""

    rule: str
    action: str
    targets: tuple[str, ...]
    accepted: int
    refused: int
    steps: tuple[str, ...]
    """Asks that it would have covered, `session:n`, the newest last."""
    policy: str


def suggest(home: Home, *, since: str | None = None) -> tuple[Suggestion, ...]:
    """Exceptions for what the user accepted, the most frequent first.

    A target that the user also refused under the same rule is left out. So are asks about a call as a whole: nothing in
    them is narrow enough to be lifted.

    Raises:
        NotFoundError: there is no store.
    """
    if not home.exists:
        raise NotFoundError(f"no store at {home.folder}", hint="create one with `tally init`")
    yes: defaultdict[Accepted, list[str]] = defaultdict(list)
    no: set[Accepted] = set()
    for step, was_made in answered(home, since):
        for one in _asked(step):
            if was_made:
                yes[one].append(f"{step.session[:8]}:{step.n}")
            else:
                no.add(one)
    groups: defaultdict[tuple[str, str], list[Accepted]] = defaultdict(list)
    for one in yes:
        if one not in no:
            groups[one.rule, one.action].append(one)
    found = [_suggestion(rule, action, ones, yes, no) for (rule, action), ones in groups.items()]
    return tuple(sorted(found, key=lambda one: (-one.accepted, one.rule, one.action)))


def answered(home: Home, since: str | None) -> Iterator[tuple[Recorded, bool]]:
    """Each decision that asked, and whether the call was made after it."""
    for sid, _ in home.sessions():
        asked: dict[str, Recorded] = {}
        made: set[str] = set()
        for step in read_session(home, sid, load_blobs=True):
            corr = step.member("corr")
            if not isinstance(corr, str):
                continue
            if (
                step.type == "decision"
                and step.meta.get("effect") == "ask"
                and str(step.meta.get("ts", "")) >= (since or "")
            ):
                asked[corr] = step
            elif step.type == "tool_result" and step.meta.get("decision") != "deny":
                made.add(corr)
        for corr, step in asked.items():
            yield step, corr in made


def _asked(step: Recorded) -> Iterator[Accepted]:
    """What a decision asked about, as its evidence says."""
    evidence = step.values.get("content.evidence")
    for item in evidence if isinstance(evidence, list) else ():
        match item:
            case {"rule": str(rule), "action": str(action), "target": str(target)} if _is_whole(action, target):
                yield Accepted(rule, action, target)
            case _:
                pass


def _is_whole(action: str, target: str) -> bool:
    """Whether an act has one target, and the evidence has all of its name."""
    return bool(target) and type_of(action) is not None and not target.endswith("…") and "\ufffd" not in target


def type_of(action: str) -> str | None:
    """What an action is done to; None: the call as a whole."""
    return next((kind for kind, actions in _ACTIONS.items() if action in actions), None)


def _suggestion(
    rule: str, action: str, ones: list[Accepted], yes: dict[Accepted, list[str]], no: Iterable[Accepted]
) -> Suggestion:
    kind = type_of(action) or "File"
    refused = [one.target for one in no if (one.rule, one.action) == (rule, action)]
    targets = sorted(one.target for one in ones)
    patterns = targets
    if kind == "File":
        patterns = _patterns(targets, refused)
    steps = [step for one in ones for step in yes[one]]
    shown = patterns[:_MOST_TARGETS]
    return Suggestion(
        rule=rule,
        action=action,
        targets=tuple(shown),
        accepted=len(steps),
        refused=len(refused),
        steps=tuple(steps[-_MOST_TARGETS:]),
        policy=_policy(rule, action, kind, shown),
    )


def _patterns(paths: list[str], refused: list[str]) -> list[str]:
    """The paths, those of one folder as one pattern where they are several and none in it was refused."""
    folders: defaultdict[str, list[str]] = defaultdict(list)
    for path in paths:
        folders[posixpath.dirname(path)].append(path)
    found: list[str] = []
    for folder, inside in folders.items():
        is_whole = len(inside) >= _SEVERAL and folder.count("/") >= _SEVERAL
        is_whole = is_whole and not any(path.startswith(f"{folder}/") for path in refused)
        if is_whole:
            found += [f"{folder}/*"]
        else:
            found += inside
    return found


def _policy(rule: str, action: str, kind: str, targets: Iterable[str]) -> str:
    """An exception unchanged in a file."""
    tests = " ||\n  ".join(same_target(ATTRIBUTES[kind], target) for target in targets)
    said = [("id", f"mine.{id_of(rule, action)}"), ("lifts", rule), ("reason", "The user accepted it before.")]
    return policy_text(said, "permit", Verb((action,), kind), condition=tests)

"""Rules that a person adds by a command: written as Cedar into the store's folder of policies, or into a repository's.

Owns where they go, what a relative glob is taken for, and that nothing is written that could not be used or would never
match. Their text is `policy_text`'s.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import msgspec

from tallystick.errors import UsageError
from tallystick.guard.alert_exception import exceptions
from tallystick.guard.policies import (
    Policies,
    Texts,
    load_set,
    packs,
    policies_below,
    read_policy_file,
    repository_folder,
    user_folder,
)
from tallystick.guard.policy_rules import refuse_unmatchable
from tallystick.guard.policy_text import VERBS, id_of, rule_text
from tallystick.journal.durable import replace_file
from tallystick.journal.home import Home
from tallystick.model.decision import Effect
from tallystick.policy.cedar.globs import fault_of, is_anywhere

_FILE = "added.cedar"
_HEAD = "// Rules that `tally policy add` and `tally policy allow` wrote. They may be edited, and removed.\n"


class Wish(msgspec.Struct, frozen=True, kw_only=True):
    """What a person wants of calls: an effect, a key of `policy_text.VERBS`, and what it is done to."""

    effect: Effect
    action: str
    glob: str
    reason: str | None = None


class Added(msgspec.Struct, frozen=True, kw_only=True):
    """A rule that is in force now."""

    id: str
    file: str
    glob: str
    """As it is written: relative to the project, or absolute."""
    policy: str
    remarks: tuple[str, ...] = ()
    """What one might expect of it that it does not do."""


def add_rule(home: Home, wish: Wish, *, folder: Path, root: str | None, project: bool) -> Added:
    """Write a rule.

    Args:
        folder: where the person is, for what begins with `./` or `../`. root: the repository that this lies in.
        project: into the repository, for all who work in it.

    Raises:
        UsageError: it cannot be meant so. PolicyError: there is such a rule already, or what is there cannot be used.
    """
    if project and wish.effect is Effect.ALLOW:
        raise UsageError("a repository's policies cannot permit", hint="leave out --project: the rule is then yours")
    if project and root is None:
        raise UsageError(f"{folder} is not in a git repository", hint="leave out --project, or run git init")
    glob = _as_meant(wish, folder, root)
    where = repository_folder(root) if project and root is not None else user_folder(home)
    name = f"{'project' if project else 'mine'}.{id_of(wish.effect, wish.action, glob)}"
    text = rule_text(wish.effect, wish.action, glob, name=name, reason=wish.reason)
    write_policy(home, where, text)
    remarks = tuple(_remarks(wish, glob, folder, root))
    return Added(id=name, file=str(where / _FILE), glob=glob, policy=text, remarks=remarks)


class Allowed(msgspec.Struct, frozen=True, kw_only=True):
    """Exceptions that are in force now: the file, and their text."""

    file: str
    policy: str


def allow_alert(home: Home, evidence: str | None, *, folder: str | None) -> Allowed:
    """Write exceptions for what an alert tells; in one project, or everywhere.

    Raises: PolicyError: nothing narrow would lift it.
    """
    policies = Policies(home)
    texts = exceptions(evidence, {rule.id: rule for rule in policies.in_force(folder).rules}, folder=folder)
    text = "\n".join(texts)
    write_policy(home, user_folder(home), text)
    return Allowed(file=str(user_folder(home) / _FILE), policy=text)


def write_policy(home: Home, where: Path, text: str) -> None:
    """Put a policy behind those of a folder. Raises PolicyError: it cannot be used there, or never matches."""
    path = where / _FILE
    before = read_policy_file(path) if path.exists() else _HEAD
    whole = f"{before.rstrip()}\n\n{text}"
    beside: Texts = tuple(file for file in policies_below(where) if file[0] != str(path))
    if where != user_folder(home):
        beside = (*policies_below(user_folder(home)), *beside)
    settings = Policies(home).settings
    load_set(settings.profile, packs(settings.packs), beside, ((str(path), whole),))
    refuse_unmatchable([(str(path), text)])
    path.parent.mkdir(parents=True, exist_ok=True)
    replace_file(path, [whole.encode()])


def _as_meant(wish: Wish, folder: Path, root: str | None) -> str:
    """A glob as policies have it. Raises UsageError: it names nothing that there could be."""
    glob = wish.glob
    if VERBS[wish.action].kind != "File":
        return glob.lower()
    if glob.startswith(("./", "../")) or glob in (".", ".."):
        glob = os.path.normpath(folder / glob) + ("/" if glob.endswith("/") else "")
        if root is not None and glob.startswith(f"{root}/"):
            glob = glob[len(root) + 1 :]
            glob = glob if "/" in glob.rstrip("/") else f"{root}/{glob}"
    fault = fault_of(glob)
    if fault is not None:
        raise UsageError(
            f"the glob {glob!r} never matches: {fault}", hint="infra/prod/**, *.pem, ~/notes/**, /srv/data"
        )
    return glob


def _remarks(wish: Wish, glob: str, folder: Path, root: str | None) -> Iterator[str]:
    is_path = VERBS[wish.action].kind == "File" and not (wish.action == "run" and "/" not in glob)
    if not is_path or glob.startswith(("/", "~")):
        return
    if "/" in glob.rstrip("/") and root is not None and folder != Path(root):
        yield f"{glob} is relative to the top of the project, {root}; begin with ./ for the folder that you are in"
    if is_anywhere(glob) and wish.effect is not Effect.ALLOW:
        yield "a folder that holds such files may still be removed as a whole: name folders where that matters"

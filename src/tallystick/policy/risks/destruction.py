"""What is destroyed without a path showing it: databases emptied, history rewritten, volumes, clusters and accounts deleted.

Owns the words for it, and which words of which program delete what is not a file of this machine: resources of clouds and
clusters, packages, volumes, backups. Databases are `data`'s to know, version control is `git`'s. What only looks, or says
what it would do, is not a removal. Must not know what follows from a risk. Sources: the command references of the clouds' and
forges' programs, of Docker, Kubernetes, Terraform and similar, and of the package registries.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from urllib.parse import urlsplit

from tallystick.catalog.programs import programs_with
from tallystick.intent.programs.arguments import names
from tallystick.intent.shell.commands import Environment
from tallystick.intent.shell.read import read_script
from tallystick.model.intent import Domain
from tallystick.model.pattern import pattern_of
from tallystick.model.script import Role
from tallystick.policy.calls.reading import CallReading
from tallystick.policy.risks.call_forms import Forms, group
from tallystick.policy.risks.data import of_code, of_data
from tallystick.policy.risks.git import of_version_control
from tallystick.policy.risks.programs import Started, name_of, programs, shown
from tallystick.policy.risks.risk import Risk
from tallystick.policy.settings import Settings

_REMOTE = "deletes-remote"
_DRY = ("--dry-run", "--dryrun", "--dry-run=client", "--dry-run=server", "--what-if", "--help", "--noop", "--preview")
_VERBS = group("deletes")
_LOCAL = pattern_of(
    r"localhost|127\.[\d.]+|0\.0\.0\.0|\[?::1\]?|host\.docker\.internal|[^.]+|.*\.(?:local|localhost|test|internal|localdomain)|10\.[\d.]+"
    r"|192\.168\.[\d.]+|172\.(?:1[6-9]|2\d|3[01])\.[\d.]+",
    re.IGNORECASE,
)
_LOCAL_CLUSTER = pattern_of(
    r"minikube|kind(?:-.*)?|k3d-.*|k3s.*|docker-desktop|docker-for-desktop|rancher-desktop|orbstack|colima.*|microk8s"
)


def of_program(started: Started) -> str | None:
    """What a program removes, by its words."""
    if started.has(*_DRY):
        return None
    return _FORMS.of(started)


_METHOD = pattern_of(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_METHOD_VERBS = _VERBS | names("truncate unpublish deregister flushall flushdb")
_OF_AGENTS = names(
    "memory memories entities observations relations thought thoughts todo todos task tasks plan tab tabs cell cells draft "
    "cookie cookies breakpoint breakpoints console browser highlight bookmark filter selection playwright puppeteer devtools "
    "subtask subtasks scratchpad notepad clipboard"
)
"""What tools keep for an agent and its session."""
_SMALL = names(
    "label labels reaction reactions listener listeners reviewer reviewers assignee assignees star stars watcher watchers "
    "vote votes import imports duplicates whitespace background override"
)
"""What is set again with one call."""
_ASKING = names("get list search find read describe show count check preview query explain validate")
_RESETS = ("reset", "clear", "empty", "restore")
_HOLDS_DATA = names("branch database databases project table tables bucket index indexes collection queue topic stream")


def of_tools(reading: CallReading) -> Iterator[Risk]:
    """Tools of other servers whose name says that they delete something there."""
    yield from _of_plain_tool(reading)
    for intent in reading.uses.intents:
        if intent.domain is not Domain.NETWORK or not intent.target.startswith("mcp://") or not intent.words:
            continue
        method = [word.lower() for word in _METHOD.findall(intent.words[0][:200])]
        server = re.split(r"\W+", intent.target.lower())
        is_reset = not _HOLDS_DATA.isdisjoint(method) and not set(_RESETS).isdisjoint(method)
        if not is_reset and _METHOD_VERBS.isdisjoint(method):
            continue
        is_small = method[:1] and (
            method[0] in _ASKING or not _SMALL.isdisjoint(method) or _is_own_branch(reading, method)
        )
        if not is_small and _OF_AGENTS.isdisjoint((*method, *server)):
            yield Risk(_REMOTE, f"{intent.target[:100]} {intent.words[0][:90]}")


def _of_plain_tool(reading: CallReading) -> Iterator[Risk]:
    """A tool whose name tells no server, and that deletes what only servers have: `github_delete_repository`."""
    tool = reading.call.tool[:200]
    if any(intent.target.startswith("mcp://") for intent in reading.uses.intents):
        return
    method = [word.lower() for word in _METHOD.findall(tool)]
    is_deletion = not _METHOD_VERBS.isdisjoint(method) and not _OF_SERVERS.isdisjoint(method)
    if is_deletion and _OF_AGENTS.isdisjoint(method) and method[0] not in _ASKING:
        yield Risk(_REMOTE, tool)


_OF_SERVERS = names(
    "repository repo bucket database databases table tables collection index cluster instance deployment namespace project "
    "issue release account customer user users site app domain zone volume"
)
_SHARED_BRANCHES = pattern_of(
    r"(?i)main|master|trunk|dev(?:elop(?:ment)?)?|prod(?:uction)?|staging|stable|release.*|hotfix/.*|v?[\d.]+"
)
_FORGES = pattern_of(r"(?i)git|forgejo|bitbucket|codeberg")


def _is_own_branch(reading: CallReading, method: list[str]) -> bool:
    """Whether a forge is told to delete a branch that has a name of its own, as it does after a merge."""
    args = reading.call.args
    if "branch" not in method or not isinstance(args, dict) or _FORGES.search(reading.call.tool[:200]) is None:
        return False
    branch = args.get("branch", args.get("branch_name", args.get("name")))
    return (
        isinstance(branch, str)
        and branch != ""
        and _SHARED_BRANCHES.fullmatch(branch.removeprefix("refs/heads/")) is None
    )


def _said(started: Started) -> list[str]:
    return [word.lower() for word in started.operands]


def _deletes(started: Started) -> bool:
    """A verb that deletes, or a task whose name ends in one: `apps:destroy`."""
    for word in _said(started):
        parts = re.split(r"[:.]", word)
        is_task = len(parts) > 1 and parts[0].isidentifier() and parts[-1] in _VERBS | {"reset"}
        if word in _VERBS or is_task or word.startswith(("delete-", "destroy-", "purge-")):
            return True
    return False


def _at_home(started: Started, option: str) -> bool:
    """Whether an option names an address of this machine, or of one beside it."""
    address = started.value(option)
    return address != "" and _is_local(address)


def _local_cluster(started: Started) -> bool:
    return _LOCAL_CLUSTER.fullmatch(started.value("--context", "--cluster")) is not None


def _one_pod(started: Started) -> bool:
    """Whether `kubectl delete` names the pods, which are started again."""
    said = _said(started)
    if "delete" not in said:
        return False
    named = said[said.index("delete") + 1 :]
    is_wide = started.has("--all", "-A", "--all-namespaces", "-l", "--selector", "--field-selector")
    is_pod = named[:1] in (["pod"], ["pods"], ["po"]) or (named and named[0].startswith(("pod/", "pods/", "po/")))
    return bool(is_pod) and not is_wide and (len(named) > 1 or "/" in named[0])


_DELETING = pattern_of(r"\bmutation\b[^{]{0,200}\{\s{0,20}(?:\w{1,40}\s{0,3}:\s{0,3})?(?:delete|remove|archive)[A-Z]")
_MOST_QUERY = 4096


def _deleting_query(started: Started) -> bool:
    return any(_DELETING.search(word[:_MOST_QUERY]) for word in started.words)


def _method(started: Started) -> str:
    """The verb of a request: `curl -X DELETE`, `http DELETE URL`."""
    method = started.value("-X", "--request", "--method") or next(
        (word[2:] for word in started.words if re.match(r"-X\w", word)), ""
    )
    if started.name in ("http", "https", "xh", "httpie"):
        method = next((word for word in started.operands[:2] if word.isupper()), method)
    return method


def _deletes_all(started: Started) -> bool:
    return _method(started).upper() == "DELETE" and any(_ALL_INDEXES.search(word) for word in started.operands)


def _deletes_elsewhere(started: Started) -> bool:
    """Whether a host that is not this machine or one beside it is asked to delete."""
    method = _method(started)
    if method.upper() != "DELETE":
        return False
    hosts = [word for word in started.operands if "://" in word or ("." in word.partition("/")[0] and word != method)]
    return any(not _is_local(url) for url in hosts)


_ALL_INDEXES = pattern_of(r"//[^/]+/(?:_all|\*|%2a)(?:/|\?|\Z)", re.IGNORECASE)
"""Of a search server: everything that it holds."""


def _is_local(url: str) -> bool:
    try:
        host = urlsplit(url if "://" in url else f"//{url}").hostname or ""
    except ValueError:
        return False
    return not host or _LOCAL.fullmatch(host) is not None


_DESTROYING = programs_with("destroys-elsewhere")
_SSH_VALUES = names("-p -i -l -o -F -J -L -R -D -b -c -E -e -I -m -O -Q -S -W -w -B")


def _runs_there(started: Started, *options: str) -> bool:
    """What is run on another machine, read as a text of its own: the words of `ssh`, or what an option is given."""
    if options:
        return _destroys(started.value(*options))
    words = list(started.words)
    at = 0
    while at < len(words) and words[at][:1] == "-":
        if words[at] in _SSH_VALUES:
            at += 2
        else:
            at += 1
    return _destroys(" ".join(words[at + 1 :]))


def _destroys(text: str) -> bool:
    """Whether a text that another machine runs removes folders, disks or accounts."""
    for command in read_script(text[:4096], Environment(variables={})).commands:
        inner = [word.plain for word in command.words]
        name = ""
        if inner:
            name = name_of(inner[0])
        is_deep = name == "rm" and any(re.fullmatch(r"-\w*[rR]\w*|--recursive", word) for word in inner[1:])
        if is_deep or name.partition(".")[0] in _DESTROYING or (name == "find" and "-delete" in inner):
            return True
    return False


_FORMS = Forms(
    "destruction",
    *(_at_home, _deletes, _deletes_all, _deletes_elsewhere, _deleting_query, _local_cluster, _one_pod, _runs_there),
)


RISKS: dict[str, str] = {
    "rewrites-history": "Commits, branches or tags that others may need are rewritten or removed.",
    "discards-work": "Changes or files that are in no commit are thrown away by version control.",
    "drops-data": "Tables, databases, or all rows of a table are removed.",
    "deletes-remote": "What lives elsewhere is deleted: resources of a cloud or a cluster, repositories, releases, packages.",
    "deletes-volumes": "Volumes, or containers and machines that the call does not name, are deleted with their data.",
    "deletes-backups": "Backups or snapshots are deleted.",
    "removes-account": "An account of the machine is removed, or all that is scheduled for it.",
}

_MOST_COMMANDS = 500


def risks(reading: CallReading, settings: Settings) -> Iterator[Risk]:
    """What a call destroys, of RISKS."""
    yield from of_version_control(reading)
    yield from of_code(reading)
    yield from of_tools(reading)
    for started in (*programs(reading), *_of_project(reading)):
        for word in (of_data(started), of_program(started)):
            if word is not None:
                yield Risk(word, started.spelled)


def _of_project(reading: CallReading) -> Iterator[Started]:
    """Programs by a path in the project (`bin/rails`): most frameworks have their own there."""
    for script in reading.scripts:
        for command in script.commands[:_MOST_COMMANDS]:
            name = ""
            if command.role is Role.PROGRAM and command.words:
                name = command.words[0].plain
            if "/" in name and not name.startswith("/"):
                yield Started(name.rpartition("/")[2].lower(), command.words[1:200], shown(command.words))

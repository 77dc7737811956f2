"""Kubernetes: kubectl and helm.

Owns which files are sent to a cluster, and which verbs change it. A cluster is named by its server or its context. Sources:
kubectl help, helm help.
"""

from __future__ import annotations

from tallystick.catalog.programs import names_of
from tallystick.intent.programs import containers
from tallystick.intent.programs.arguments import Line, at_home, is_fed, renamed, taken
from tallystick.intent.programs.rules import Builder, Rule, grammar_of
from tallystick.intent.shell.actions import Actions
from tallystick.model.intent import Operation
from tallystick.model.script import Command, Word

_KUBE = grammar_of("kubectl")
_KUBE_READS = names_of("kubectl", "reads")
_KUBE_CHANGES = names_of("kubectl", "changes")


def _kubectl(command: Command) -> Actions:
    """`kubectl VERB`: the cluster is named by its context or server; files of `-f` are sent to it."""
    line = taken(command.arguments, _KUBE)
    verb, own = line.operand(0), tuple(line.operands[:2])
    built = Builder()
    if verb == "cp":
        containers.copies(built, (), tuple(line.operands[1:]), command)
    elif verb == "config":
        if line.operand(1) not in ("view", "get-contexts", "current-context", "get-clusters"):
            built.add(Operation.EDIT, line.value("--kubeconfig") or at_home(".kube/config"), words=own)
    elif verb == "kustomize":
        built.show(*[built.read(word, deep=True) for word in line.operands[1:2]])
    elif verb in _KUBE_ENTERS:
        at = built.add(Operation.CONNECT, _cluster(line), words=own)
        built.show(at)
        if line.has("-i", "--stdin"):
            built.feed(at)
            built.reads_input = is_fed(command)
    elif verb in _KUBE_CHANGES | _KUBE_READS:
        _asks_or_changes(built, line)
    else:
        built.is_unknown = verb not in ("", "completion", "help", "plugin", "options")
    return built.build()


_KUBE_ENTERS = frozenset({"exec", "attach", "port-forward", "proxy", "debug"})


def _cluster(line: Line) -> Word:
    server = line.value("-s", "--server")
    return server or Word(f"kubernetes://{line.said('--context', '--kube-context', '--cluster')}")


def _asks_or_changes(built: Builder, line: Line) -> None:
    verb, own = line.operand(0), tuple(line.operands[:1])
    sources = _manifests(built, line)
    is_read = verb in _KUBE_READS or (verb == "rollout" and line.operand(1) in ("status", "history"))
    if line.has("--dry-run"):
        built.show(*sources)
    elif is_read:
        built.show(built.add(Operation.FETCH, _cluster(line), words=own))
    else:
        at = built.add(Operation.SEND, _cluster(line), words=own)
        built.flow(sources, [at])
        if built.reads_input:
            built.feed(at)


_MANIFESTS = names_of("kubectl", "manifests")


def _manifests(built: Builder, line: Line) -> list[int | None]:
    found: list[int | None] = []
    for name, word in line.options:
        if word is None or name not in _MANIFESTS:
            continue
        path = renamed(word, word.text.rpartition("=")[2])
        if line.operand(0) == "logs":
            continue
        if "://" in path.text:
            found.append(built.add(Operation.FETCH, path, words=(word,)))
        else:
            is_folder = name in ("-f", "--filename", "-k", "--kustomize") and "." not in path.text.rpartition("/")[2]
            found.append(built.read(path, deep=is_folder))
    return found


_HELM_SENDS = names_of("helm", "sends")


def _helm(command: Command) -> Actions:
    """`helm VERB`: charts and values become changes of a cluster, or text."""
    line = taken(command.arguments, _KUBE)
    verb, operands = line.operand(0), line.operands[1:]
    built = Builder()
    own = tuple(line.operands[:1])
    sources = [
        built.read(renamed(word, word.text.rpartition("=")[2])) for word in line.values("-f", "--values", "--set-file")
    ]
    for word in operands:
        if word.text.startswith((".", "/", "~")):
            sources.append(built.read(word, deep=True))
        elif "://" in word.text:
            sources.append(built.add(Operation.FETCH, word))
    if verb in _HELM_SENDS:
        built.flow(sources, [built.add(Operation.SEND, _cluster(line), words=own)])
    elif verb in ("template", "lint", "show", "get", "status", "list", "ls", "history"):
        built.show(*sources)
    elif verb == "create":
        for word in operands:
            built.add(Operation.CREATE, word, deep=True)
    elif verb in ("pull", "fetch", "repo", "dependency", "search", "package"):
        built.is_unknown = verb in ("pull", "fetch", "package", "dependency")
    return built.build()


RULES: dict[str, Rule] = {
    "kubectl": _kubectl,
    "helm": _helm,
}

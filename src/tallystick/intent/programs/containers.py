"""Containers and clusters, and what runs them.

Owns docker, podman and compose: which files go into an image or a container and come out of it, and which folders a
container may change; and kubectl and helm: which files are sent to a cluster, and which verbs change it. What runs
inside is not of this machine. A cluster is named by its server or its context. Sources: docker(1) and its subcommands,
kubectl help, helm help.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from tallystick.catalog.programs import names_of
from tallystick.intent.actions import Action, Actions
from tallystick.intent.programs.arguments import Line, at_home, below, grammar, is_fed, renamed, taken
from tallystick.intent.programs.rules import NOTHING, Builder, Rules, grammar_of
from tallystick.model.intent import Domain, Operation
from tallystick.model.pattern import pattern_of
from tallystick.model.script import Command, Word

RULES = Rules()

_HERE = Word(".")
_DOCKER_HEAD = grammar_of("docker")
_RUN = grammar_of("docker", "run")
_BUILD = grammar_of("docker", "build")
_IMAGE = grammar_of("docker", "image")
_Verb = Callable[[Builder, tuple[Word, ...], tuple[Word, ...], Command], None]
"""Takes the word of the verb, and the words after it."""
_CONTAINER = pattern_of(r"[^/.][^/:]*:", re.DOTALL)


def _docker(command: Command) -> Actions:
    """`docker VERB`; the group before the verb (`docker container run`) means nothing of its own."""
    head = taken(command.arguments, _DOCKER_HEAD)
    words = tuple(head.operands)
    if words and words[0].text in ("container", "image", "builder", "buildx"):
        words = words[1:]
    verb = ""
    if words:
        verb = words[0].text
    if verb == "compose":
        return _composed(words, head)
    built = Builder()
    known = _DOCKER.get(verb)
    if known is not None:
        known(built, words[:1], words[1:], command)
    elif verb in ("system", "volume", "network") and len(words) > 1 and words[1].text in ("prune", "rm"):
        built.add(Operation.UNKNOWN, Word(f"docker {verb} {words[1].text}"), words=words[:2])
    elif verb not in _DOCKER_SILENT:
        built.is_unknown = bool(verb)
    return built.build()


_DOCKER_SILENT = names_of("docker", "silent")


def _run(built: Builder, _: tuple[Word, ...], words: tuple[Word, ...], command: Command) -> None:
    """`run`: the container may change what is mounted into it, and reads what is mounted read-only."""
    line = taken(words, _RUN)
    for word in line.values("-v", "--volume"):
        parts = word.text.split(":")
        if len(parts) > 1 and parts[0][:1] in ("/", ".", "~", "\0"):
            _mounted(built, renamed(word, parts[0]), word, is_read="ro" in parts[2:] or "ro" in parts[-1].split(","))
    for word in line.values("--mount"):
        fields = dict(part.partition("=")[::2] for part in word.text.split(",")[:32])
        source = fields.get("source") or fields.get("src")
        if fields.get("type") == "bind" and source:
            _mounted(built, renamed(word, source), word, is_read=not {"readonly", "ro"}.isdisjoint(fields))
    for word in line.values("--env-file"):
        built.read(word)
    if line.has("-i", "--interactive") and is_fed(command):
        for word in line.operands[:1]:
            at = built.add(Operation.SEND, renamed(word, f"docker://{word.text}"), words=(word,))
            built.feed(at)
            built.reads_input = True
    if line.has("--privileged") or line.said("--pid") == "host":
        built.add(Operation.ELEVATE, Word("docker --privileged"), words=command.words[:1])


def _mounted(built: Builder, path: Word, word: Word, *, is_read: bool) -> None:
    if is_read:
        built.add(Operation.READ, path, words=(word,), deep=True)
    else:
        built.take(Action(domain=Domain.FILE, operation=Operation.UNKNOWN, target=path, words=(word,), is_deep=True))


def _builds(built: Builder, own: tuple[Word, ...], words: tuple[Word, ...], _: Command) -> None:
    """`build`: the folder goes into the image; the recipe is run."""
    line = taken(words, _BUILD)
    context = _HERE
    if line.operands:
        context = line.operands[-1]
    if context.text == "-":
        built.reads_input = True
        return
    if re.match(r"(?:https?|git|ssh)(?:://|@)", context.text):
        built.add(Operation.FETCH, context)
        return
    file = line.value("-f", "--file")
    built.add(
        Operation.EXECUTE,
        file or below(context, Word("Dockerfile")),
        words=(file or context,) if line.operands else own,
    )
    at = built.add(Operation.READ, context, words=(context,) if line.operands else own, deep=True)
    for word in line.values("-o", "--output"):
        path = renamed(word, word.text.partition("dest=")[2] or word.text)
        built.flow([at], [built.write(path, words=(word,), deep=True)])
    for word in line.values("--iidfile", "--metadata-file"):
        built.write(word)
    if line.has("--push"):
        for word in line.values("-t", "--tag"):
            built.flow([at], [built.add(Operation.SEND, renamed(word, f"docker://{word.text}"), words=(word,))])


def copies(built: Builder, own: tuple[Word, ...], words: tuple[Word, ...], _: Command) -> None:
    """`cp`: between this machine and a container, which is named before a colon."""
    line = taken(words, grammar("-c --container -n --namespace --context --retries"))
    if len(line.operands) < 2:
        return
    source, target = line.operands[:2]
    scheme = "kubernetes"
    if own:
        scheme = "docker"
    sources = [_copied(built, source, Operation.FETCH, scheme)]
    targets = [_copied(built, target, Operation.SEND, scheme)]
    built.flow(sources, targets)
    if source.text == "-":
        built.feed(*targets)
    if target.text == "-":
        built.show(*sources)


def _copied(built: Builder, word: Word, operation: Operation, scheme: str) -> int | None:
    if _CONTAINER.match(word.text):
        name, _, path = word.text.partition(":")
        return built.add(operation, renamed(word, f"{scheme}://{name}/{path.lstrip('/')}"), words=(word,))
    if operation is Operation.FETCH:
        return built.read(word, Operation.COPY_SOURCE, deep=True)
    return built.write(word, Operation.COPY_DEST, deep=True)


def _images(operation: Operation) -> _Verb:
    def known(built: Builder, _: tuple[Word, ...], words: tuple[Word, ...], __: Command) -> None:
        for word in taken(words, _IMAGE).operands[:64]:
            built.add(operation, renamed(word, f"docker://{word.text}"), words=(word,))

    return known


def _saves(built: Builder, own: tuple[Word, ...], words: tuple[Word, ...], _: Command) -> None:
    """`save`, `export`: an image or container as an archive."""
    line = taken(words, _IMAGE)
    sources = [
        built.add(Operation.FETCH, renamed(word, f"docker://{word.text}"), words=(word,)) for word in line.operands
    ]
    made = [built.write(word) for word in line.values("-o", "--output")]
    built.flow(sources, made)
    if not made:
        built.show(*sources)


def _loads(built: Builder, own: tuple[Word, ...], words: tuple[Word, ...], _: Command) -> None:
    """`load -i FILE`, `import FILE`."""
    line = taken(words, _IMAGE)
    files = line.values("-i", "--input") or (line.operands[:1] if own[0].text == "import" else [])
    for word in files:
        if "://" in word.text:
            built.add(Operation.FETCH, word)
        else:
            built.read(word)
    built.reads_input = False  # it prints names, not what it reads


def _enters(built: Builder, _: tuple[Word, ...], words: tuple[Word, ...], command: Command) -> None:
    """`exec`, `attach`, `logs`: what runs there is not of this machine; input and output pass through."""
    line = taken(
        words,
        grammar(
            "-e -u -w --env --user --workdir --env-file --detach-keys --index --tail -n --since --until", stops=True
        ),
    )
    for word in line.values("--env-file"):
        built.read(word)
    for word in line.operands[:1]:
        at = built.add(Operation.CONNECT, renamed(word, f"docker://{word.text}"), words=(word,))
        built.show(at)
        if line.has("-i", "--interactive", "-T"):
            built.feed(at)
            built.reads_input = is_fed(command)


_DOCKER: dict[str, _Verb] = {
    "run": _run,
    "create": _run,
    **dict.fromkeys(("build", "bake"), _builds),
    "cp": copies,
    **dict.fromkeys(("exec", "attach", "logs"), _enters),
    "pull": _images(Operation.FETCH),
    "push": _images(Operation.SEND),
    **dict.fromkeys(("save", "export"), _saves),
    **dict.fromkeys(("load", "import"), _loads),
}

_COMPOSE = grammar_of("docker", "compose")


def _compose(command: Command) -> Actions:
    return _composed((command.words[0], *command.arguments), Line([], []))


def _composed(words: tuple[Word, ...], head: Line) -> Actions:
    """`docker compose VERB`: the file says what runs and what is mounted."""
    line = taken(words[1:], _COMPOSE)
    verb = line.operand(0)
    built = Builder()
    if verb in ("exec", "logs", "attach"):
        _enters(built, (), tuple(line.operands[1:]), Command(words=words))
        return built.build()
    if verb in ("", "version", "ls", "ps", "images", "top", "port", "events", "help"):
        return NOTHING
    files = [*head.values("-f", "--file"), *line.values("-f", "--file")]
    folder = line.value("--project-directory")
    for word in files or [Word("docker-compose.yml")]:
        if verb in ("config", "down", "stop", "pull", "push", "rm", "kill"):
            operation = Operation.READ
        else:
            operation = Operation.EXECUTE
        at = built.add(operation, below(folder, word), words=() if files else tuple(line.operands[:1]))
        if verb == "config":
            built.show(at)
    built.is_unknown = verb in ("up", "run", "build", "start", "create", "restart", "watch")
    return built.build()


_KUBE = grammar_of("kubectl")
_KUBE_READS = names_of("kubectl", "reads")
_KUBE_CHANGES = names_of("kubectl", "changes")


@RULES.of("kubectl")
def _kubectl(built: Builder, line: Line, command: Command) -> None:
    """`kubectl VERB`: the cluster is named by its context or server; files of `-f` are sent to it."""
    verb, own = line.operand(0), tuple(line.operands[:2])
    if verb == "cp":
        copies(built, (), tuple(line.operands[1:]), command)
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


@RULES.of("helm", _KUBE)
def _helm(built: Builder, line: Line, command: Command) -> None:
    """`helm VERB`: charts and values become changes of a cluster, or text."""
    verb, operands = line.operand(0), line.operands[1:]
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


RULES |= {
    "docker": _docker,
    "compose": _compose,
}

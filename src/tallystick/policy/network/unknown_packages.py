"""Programs that are fetched and run at once, and that no one here knows: packages, modules, images.

Owns who counts as known: what the project names, what is widely used, what has a version that was chosen, and hosts
that are public registries or the user's own. The lists of what is widely used say that a name is known, not that what
stands behind it is good. A package of a registry is daily work, so of the runners only those calls count that answer
the runner's own question in advance (`npx -y`). Sources: the manuals of npm, go, docker, kubectl and helm; the
templates and manuals of the tools that are named; the clouds' documents on their registries.
"""

import posixpath
from collections.abc import Iterator

from tallystick.catalog.loading import Entry, load
from tallystick.catalog.programs import programs_with
from tallystick.intent.programs.arguments import names
from tallystick.model.pattern import pattern_of
from tallystick.policy.calls.reading import CallReading
from tallystick.policy.network.hosts import host_of, is_below
from tallystick.policy.risks.programs import Started, programs
from tallystick.policy.risks.risk import Risk
from tallystick.policy.settings import Settings
from tallystick.policy.world import Content, FileKind, World


class _Facts(Entry, frozen=True):
    """Facts of catalog/widely_used.toml."""

    packages: frozenset[str]
    scopes: frozenset[str]
    modules: tuple[str, ...]
    image_hosts: frozenset[str]


_FACTS = load("widely_used", _Facts)
PACKAGES = _FACTS.packages
"""Packages of npm whose programs are run without being installed."""
SCOPES = _FACTS.scopes
MODULES = _FACTS.modules
"""What the paths of Go modules begin with."""
IMAGE_HOSTS = _FACTS.image_hosts
"""A name stands for all below it. The public ones that everybody uses are `host_names.REGISTRIES`."""


RISKS: dict[str, str] = {
    "runs-stranger": "A program is fetched and run that neither the project nor many others use, in any version.",
    "runs-strange-image": "An image is run from a host that is no public registry and that the project does not name.",
}
_ENGINES = programs_with("container-engine")
_CLUSTERS = programs_with("cluster-client")
_PROGRAMS = _ENGINES | _CLUSTERS | names("npx npm go helm")
_NAME = pattern_of(r"(?:@[\w.-]+/)?[A-Za-z0-9][\w.-]*")
_NAMING_IMAGES = (
    "Dockerfile", "Containerfile", "compose.yaml", "compose.yml", "docker-compose.yml", "docker-compose.yaml",
    ".gitlab-ci.yml",    "Makefile", "README.md", "Tiltfile", "skaffold.yaml",
)  # fmt: skip


def strangers(reading: CallReading, world: World, settings: Settings) -> Iterator[Risk]:
    """What a call fetches and runs that no one knows, of RISKS."""
    for started in programs(reading):
        if started.name not in _PROGRAMS:
            continue
        if started.name in ("npx", "npm"):
            name = _package(started)
            if name is not None and not _is_of_project(name, reading, world):
                yield Risk("runs-stranger", name[:200])
        elif started.name == "go":
            module = _module(started)
            if module is not None and not _names(reading, world, ("go.mod", "tools.go", "Makefile"), module):
                yield Risk("runs-stranger", module[:200])
        else:
            for host in _image_hosts(started):
                is_known = is_below(host.partition(":")[0], IMAGE_HOSTS) or (
                    host_of(f"https://{host}", settings).kinds & {"registry", "allowed", "local", "private"}
                )
                if not is_known and not _names(reading, world, _NAMING_IMAGES, host):
                    yield Risk("runs-strange-image", f"{host}: {started.spelled}"[:200])


# Packages ------------------------------------------------------------------------------------------------------------


def _package(started: Started) -> str | None:
    """The package that `npx -y NAME` or `npm exec -y NAME` takes without a question, where no one chose a version."""
    words = list(started.words)
    if started.name == "npm":
        if words[:1] not in (["exec"], ["x"]):
            return None
        words = words[1:]
    is_answered = False
    named = ""
    while words:
        word = words.pop(0)
        if word in ("-y", "--yes"):
            is_answered = True
        elif word in ("-p", "--package"):
            named = named or (words.pop(0) if words else "")
        elif word.startswith("--package="):
            named = named or word.partition("=")[2]
        elif word[:1] != "-":
            named = named or word
            break
    if is_answered and _NAME.fullmatch(named) and not _is_widely_known(named):
        return named
    return None


def _is_widely_known(name: str) -> bool:
    """By its name, or by whose it is; what makes a new project is named after what it makes."""
    return name in PACKAGES or (name[:1] == "@" and name.partition("/")[0].lower() in SCOPES)


def _is_of_project(name: str, reading: CallReading, world: World) -> bool:
    """Whether the project has it installed, or names it."""
    last = name.rpartition("/")[2]
    for folder in _folders(reading):
        if world.state(posixpath.join(folder, "node_modules/.bin", last)).kind is not FileKind.NOTHING:
            return True
    return _names(reading, world, ("package.json",), f'"{name}"')


def _folders(reading: CallReading) -> tuple[str, ...]:
    return tuple(dict.fromkeys(folder for folder in (reading.folder, reading.workspace) if folder is not None))


def _names(reading: CallReading, world: World, files: tuple[str, ...], text: str) -> bool:
    """Whether one of some files at the top of the project has a text."""
    for folder in _folders(reading):
        for file in files:
            content = world.content(posixpath.join(folder, file))
            if isinstance(content, Content) and text in content.text:
                return True
    return False


# Modules -------------------------------------------------------------------------------------------------------------


def _module(started: Started) -> str | None:
    """The module that `go run PATH@VERSION` fetches."""
    if started.words[:1] != ("run",):
        return None
    for word in started.words[1:]:
        path, at, _ = word.partition("@")
        if at and "." in path.partition("/")[0] and path[:1] not in "-./":
            if path.startswith(MODULES):
                return None
            return "/".join(path.split("/")[:3])
        if word[:1] != "-":
            return None
    return None


# Images --------------------------------------------------------------------------------------------------------------


def _image_hosts(started: Started) -> Iterator[str]:
    """The hosts of the images and charts that are run."""
    words = started.words
    if started.name in _ENGINES:
        verbs = [word for word in started.operands[:2] if word not in ("container", "image")]
        if verbs[:1] in (["run"], ["create"]):
            yield from _first_image(words)
    elif started.name in _CLUSTERS:
        host = _host(started.value("--image"))
        if host:
            yield host
    elif started.operands[:1] in (("install",), ("upgrade",), ("template",)):
        for word in words:
            if word.startswith("oci://"):
                yield word[6:].partition("/")[0]
        repository = started.value("--repo")
        if "://" in repository:
            yield repository.partition("://")[2].partition("/")[0]


def _first_image(words: tuple[str, ...]) -> Iterator[str]:
    """The first word that has the form of an image with a host; what comes after is the container's own."""
    for n, word in enumerate(words):
        is_value = n > 0 and words[n - 1][:1] == "-" and "=" not in words[n - 1] and words[n - 1] not in _FLAGS
        if word[:1] != "-" and not is_value and word not in ("run", "create", "container"):
            host = _host(word)
            if host:
                yield host
            return


_FLAGS = names(
    "-i -t -it -ti -d -dit -itd -id -di -P -q --rm --init --privileged --read-only --detach --interactive --tty "
    "--no-healthcheck --quiet"
)


def _host(image: str) -> str:
    """The registry that an image's name begins with: it has a dot or a port."""
    first, slash, _ = image.partition("/")
    if slash and ("." in first.strip(".") or ":" in first) and first[:1] != ".":
        return first
    return ""

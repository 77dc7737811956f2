"""Programs that fetch a package and run it: which package a command line means, and whether its version is fixed.

Owns the ways to say it. Must not know who runs the command.
"""

from __future__ import annotations

import re

_NODE = frozenset(("npx", "bunx", "pnpx"))
_NODE_WITH = {"pnpm": ("dlx", "exec"), "yarn": ("dlx",), "npm": ("exec", "x"), "bun": ("x",)}
_PYTHON = frozenset(("uvx",))
_PYTHON_WITH = {"pipx": ("run",), "uv": ("tool",)}
_VALUED = frozenset(("--registry", "--index-url", "--python", "-c", "--call", "--with", "--index", "--userconfig"))
_NAMING = frozenset(("-p", "--package", "--from", "--spec"))
_EXACT_NODE = re.compile(r".+@v?\d+\.\d+\.\d+[\w.+-]*")
_EXACT_PYTHON = re.compile(r".+(?:===?|@)v?\d+(?:\.\d+)*[\w.+!-]*")
_COMMIT = re.compile(r"[#@][0-9a-f]{7,40}$")
_LOCAL = ("./", "../", "/", "file:", "~/", ".\\")
_DIGEST = re.compile(r"@sha256:[0-9a-f]{64}$")
_DOCKER_VALUED = frozenset(
    (
        *("-e", "--env", "--env-file", "-v", "--volume", "--mount", "-w", "--workdir", "-u", "--user", "--name", "-l"),
        *(
            "--network",
            "--net",
            "-p",
            "--publish",
            "--add-host",
            "--entrypoint",
            "-m",
            "--memory",
            "--cpus",
            "--platform",
        ),
        "--pull",
    )
)
"""Options of `docker run` that take the word after them."""


def unpinned(words: list[str]) -> str | None:
    """The package that a command runs in whatever version there is today; None if it runs none, or a fixed one."""
    words = _unwrapped(words)
    if not words:
        return None
    program = _name(words[0])
    if program in _NODE:
        package, exact = _package(words[1:]), _EXACT_NODE
    elif words[1:2] and words[1] in _NODE_WITH.get(program, ()):
        package, exact = _package(words[2:]), _EXACT_NODE
    elif program in _PYTHON:
        package, exact = _package(words[1:]), _EXACT_PYTHON
    elif words[1:2] and words[1] in _PYTHON_WITH.get(program, ()):
        package, exact = _package(words[3 if program == "uv" else 2 :]), _EXACT_PYTHON
    else:
        return None
    if package is None or package.startswith(_LOCAL) or exact.fullmatch(package) or _COMMIT.search(package):
        return None
    return package


def image(words: list[str]) -> str | None:
    """The image that `docker run` or `podman run` starts; None if it is another command."""
    words = _unwrapped(words)
    if len(words) < 3 or _name(words[0]) not in ("docker", "podman") or words[1] != "run":
        return None
    rest = iter(words[2:])
    for word in rest:
        if word in _DOCKER_VALUED:
            next(rest, None)
        elif not word.startswith("-"):
            return word
    return None


def is_fixed_image(name: str) -> bool:
    """Whether an image is named by its digest."""
    return _DIGEST.search(name) is not None


def gives_the_machine(words: list[str]) -> str | None:
    """The option with which a container gets the machine around it: all its rights, its root folder, its Docker socket."""
    for number, word in enumerate(words):
        value = word
        if number + 1 < len(words) and word in ("-v", "--volume", "--mount"):
            value = words[number + 1]
        if word == "--privileged" or word == "--privileged=true":
            return word
        if (
            "docker.sock" in value
            or re.match(r"(?:(?:-v|--volume)=?)?/:", value)
            or re.search(r"\bsource=/(?:,|$)", value)
        ):
            return value
    return None


def _unwrapped(words: list[str]) -> list[str]:
    """Without `cmd /c` and `env NAME=value` before it."""
    if len(words) > 2 and _name(words[0]) == "cmd" and words[1].lower() == "/c":
        return words[2:]
    if words and _name(words[0]) == "env":
        rest = words[1:]
        while rest and "=" in rest[0]:
            rest = rest[1:]
        return rest
    return words


def _name(program: str) -> str:
    return re.split(r"[/\\]", program)[-1].lower().removesuffix(".exe").removesuffix(".cmd")


def _package(words: list[str]) -> str | None:
    rest = iter(words)
    for word in rest:
        option, equals, value = word.partition("=")
        if option in _NAMING:
            if equals:
                return value
            return next(rest, None)
        if option in _VALUED:
            if not equals:
                next(rest, None)
        elif not word.startswith("-"):
            return word
    return None

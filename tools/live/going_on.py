"""How an agent is made to go on with the last session of its project: to resume it, fork it or compact it.

Owns the words of each command line for that. Must not know what the script does then. An agent that is not here, or has no
words for something, cannot be made to do it without a person.
"""

from __future__ import annotations

import msgspec

from tools.live.box import Command
from tools.live.run import Launch, Place, Recipe


class Words(msgspec.Struct, frozen=True, kw_only=True):
    """What is added to the command that begins a session; empty: there is no such thing."""

    resume: tuple[str, ...] = ()
    fork: tuple[str, ...] = ()
    compact: str = ""
    """The prompt that has the session compacted."""
    after: str = ""
    """The word after which they stand; with none, at the end."""
    before_prompt: bool = False


_FIRST_THREAD = "$(basename $(ls ~/.codex/sessions/*/*/*/*.jsonl | head -1) .jsonl | cut -c29-)"

_CODEX = Words(resume=("resume", "--last"), fork=("fork", _FIRST_THREAD), before_prompt=True)

_WORDS: dict[str, Words] = {
    "claude-code": Words(resume=("--continue",), fork=("--continue", "--fork-session"), compact="/compact"),
    "codex": _CODEX,
    "codex-patch": _CODEX,
    "codex-code": _CODEX,
    "gemini": Words(resume=("--resume", "latest"), compact="/compress"),
    "opencode": Words(resume=("--continue",), fork=("--continue", "--fork"), after="run"),
    "qwen": Words(resume=("--continue",), fork=("--continue", "--fork-session"), compact="/compress"),
    "copilot": Words(resume=("--continue",)),
    "gptme": Words(resume=("--resume",), after="--non-interactive"),
    "pi": Words(resume=("--continue",)),
    "hermes": Words(resume=("--continue",)),
}

WAYS = ("resume", "fork", "compact")


def can(recipe: Recipe, way: str) -> bool:
    """Whether the agent can be made to go on in this way."""
    return recipe.name in _WORDS and bool(getattr(_WORDS[recipe.name], way))


def command(recipe: Recipe, place: Place, way: str, prompt: str) -> tuple[str, ...]:
    """The command that goes on: `begin`, or one of WAYS."""
    if way == "begin":
        return recipe.launch(place, prompt).argv
    words = _WORDS[recipe.name]
    if way == "compact":
        launch, added = recipe.launch(place, words.compact), words.resume
    else:
        launch, added = recipe.launch(place, prompt), getattr(words, way)
    return _as_shell_expands(_with(launch, words, added))


def _with(launch: Launch, words: Words, added: tuple[str, ...]) -> tuple[str, ...]:
    argv = launch.argv
    if words.before_prompt:
        return (*argv[:-1], *added, argv[-1])
    place = argv.index(words.after) + 1 if words.after else len(argv)
    return (*argv[:place], *added, *argv[place:])


def _as_shell_expands(argv: tuple[str, ...]) -> tuple[str, ...]:
    """The same command, in which a word that is to be asked of a shell is."""
    if not any(word.startswith("$(") for word in argv):
        return argv
    quoted = " ".join(word if word.startswith("$(") else f"'{word}'" for word in argv)
    return ("/bin/sh", "-c", f"exec {quoted}")


class Part(msgspec.Struct, frozen=True, kw_only=True):
    """A command of a session that is gone on with, and how it ends."""

    way: str
    prompt: str
    stop_at: str | None = None
    """The file at which it is stopped; None: it ends by itself."""
    signal: str = "INT"


def commands(recipe: Recipe, place: Place, parts: tuple[Part, ...], limit_s: float) -> tuple[Command, ...]:
    """The commands of the parts that the agent can be made to do, one after another."""
    possible = [part for part in parts if part.way == "begin" or can(recipe, part.way)]
    return tuple(
        Command(
            name="agent" if part.way == "begin" else f"agent-{n}-{part.way}",
            argv=command(recipe, place, part.way, part.prompt),
            limit_s=limit_s,
            interrupt_at=part.stop_at,
            interrupt_with=part.signal,
        )
        for n, part in enumerate(possible)
    )

"""Files that a call uses for what they are for: a key to log in with, the variables that a program starts with, a memory.

Owns which options of which programs take such a file. Those programs do not show it, so using one is not reading it; and an
agent's own tool for its memory writes where that is kept. Must not know which files are secrets. Sources: the manuals.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise

from tallystick.catalog.programs import fact_of_programs, programs_with
from tallystick.intent.shell.names import canonical
from tallystick.intent.tools.memory import memory_file
from tallystick.model.intent import Domain, Intent, Operation
from tallystick.model.script import Command, Role, Word
from tallystick.policy.calls.reading import CallReading

_VARIABLES = ("--env-file", "--env-file-if-exists", "--envfile", "--env")
_CERTIFICATES = frozenset(("x509", "req", "crl", "verify", "pkcs7", "ocsp"))
"""Commands of `openssl` that show certificates and requests alone, whatever else is in the file."""
_OPTIONS = fact_of_programs("own-files")
_OF_VARIABLES = frozenset((*_VARIABLES, "-e", "-f", "--dotenv-path"))
_OPERANDS = frozenset(("ssh-add",))
"""Programs whose operands are keys that they keep for later."""


def in_use(reading: CallReading) -> frozenset[str]:
    """The files that a call reads or changes only for what they are for, as their intents name them."""
    taken = list(_taken(reading))
    commands = [command for script in reading.scripts for command in script.commands]
    given = Counter((_name_of(one), word) for one in commands if one.role is Role.PROGRAM for word in _given(one))
    around = Counter(word for one in commands if one.role is Role.WRAPPER for word in _given(one))
    by_program = Counter((program, intent.words[-1]) for program, intent in taken if intent.words)
    by_word = Counter(intent.words[-1] for _, intent in taken if intent.words)
    targets = Counter(intent.target for _, intent in taken)
    # Whatever else reads the same file, also by another spelling, reads one more time than is accounted for.
    for program, intent in taken:
        word = ""
        if intent.words:
            word = intent.words[-1]
        is_given = by_program[program, word] <= given[program, word] or by_word[word] <= around[word]
        if intent.words and (is_given or _is_implied(intent)) and "<" not in intent.words[0]:
            targets[intent.target] -= 1
    own = memory_file(reading.call.tool, reading.call.agent)
    if own is not None:
        kept = {f"{reading.home}{own[1:]}"}
    else:
        kept = set()
    return frozenset((*(target for target, left in targets.items() if left <= 0), *kept))


def _taken(reading: CallReading) -> Iterator[tuple[str, Intent]]:
    """Intents that take a file, each with the program that came before it."""
    program = ""
    for intent in reading.effects.intents:
        if intent.operation is Operation.RUN:
            program = canonical(intent.target.rpartition("/")[2].lower())
        elif intent.domain is Domain.FILE and intent.operation in _TAKEN:
            yield program, intent


_TAKEN = frozenset((Operation.READ, Operation.COPY_SOURCE, Operation.LIST, Operation.EDIT, Operation.EXECUTE))


_OWNERS = programs_with("owns-secrets")
_OWN_BY_VERB = {"config": "/.kube/config", "credential": "/.git-credentials"}


def _is_implied(intent: Intent) -> bool:
    """Whether no word names the file: a program's own store, which `gh auth status` looks at without showing it.

    What it does print of it is for `risks.keepers` to say.
    """
    first = intent.words[0]
    if intent.target.endswith(_OWN_BY_VERB.get(first, "\0")):
        return True
    if any(word.startswith("--export-secret") for word in intent.words):
        return False
    name = intent.target.rpartition("/")[2]
    return first in _OWNERS and not any(name in word for word in intent.words[1:])


def used_words(words: Sequence[str]) -> frozenset[str]:
    """The same for the words of one command of which no more is known. One program may run another: `npx dotenv -e .env`."""
    run = [word for word in words if word not in _RUNNERS]
    if len(run) > 2 and run[0].startswith("python") and run[1] == "-m":
        run = run[2:]
    return frozenset(word for some in (words, run) for word in _given(Command(words=tuple(map(Word, some)))))


_RUNNERS = frozenset(
    ("npx", "pnpm", "bunx", "uvx", "pipx", "yarn", "dlx", "exec", "run", "-y", "--yes", "--", "compose")
)


def _name_of(command: Command) -> str:
    if command.role is Role.PROGRAM:
        words = command.words
    else:
        words = command.spelled
    if words:
        return canonical(Command(words=words, trusted=command.trusted).program.rpartition("/")[2].lower())
    return ""


def _given(command: Command) -> Iterator[str]:
    """The words of a command that name a file to use."""
    if command.role is Role.PROGRAM:
        words = command.words
    else:
        words = command.spelled
    if not words:
        return
    name = _name_of(command)
    if name in _OPERANDS:
        yield from (word.plain for word in words[1:] if not word.plain.startswith("-"))
    options = _OPTIONS.get(name, ())
    if name == "openssl" and len(words) > 1 and words[1].plain in _CERTIFICATES:
        options = (*options, "-in")
    if not options:
        return
    for before, word in pairwise(words):
        for option, value in _value(before.plain, word):
            # A program that is given another file says what is wrong with its lines.
            if option in options and (option not in _OF_VARIABLES or "env" in value.rpartition("/")[2]):
                yield value


def _value(before: str, word: Word) -> Iterator[tuple[str, str]]:
    """An option and its value, as far as a word has one: in the word itself, or the word before it may be the option."""
    text = word.plain
    if text.startswith("-"):
        option, joint, value = text.partition("=")
        if joint:
            yield option, value
    elif before.startswith("-"):
        yield before, text

"""The command lines of clouds, and programs that bring machines into a state that files describe.

Owns which of their verbs send and which fetch, and the files that they name; terraform and ansible. A cloud is named by
a URL of its own kind (`aws://s3api`), a bucket by its own (`s3://name/key`). Sources: aws help, gcloud help, az --help,
gsutil help, rclone(1), terraform -help, ansible(1) and similar.
"""

from __future__ import annotations

import re

import msgspec

from tallystick.catalog.programs import Program
from tallystick.intent.actions import Actions
from tallystick.intent.programs.arguments import (
    Line,
    at_home,
    below,
    grammar,
    inside,
    is_folder,
    last_part,
    names,
    renamed,
    taken,
)
from tallystick.intent.programs.rules import NOTHING, Builder, Rule, Rules
from tallystick.model.intent import Operation
from tallystick.model.pattern import pattern_of
from tallystick.model.script import Command, Word

RULES = Rules()

_FILES = pattern_of(r"""\b(?:templatefile|file\w{0,12})\s{0,3}\(\s{0,3}"([^"\n]{1,400})\"""")
"""Functions of Terraform's language that read a file."""


@RULES.of("terraform")
def _terraform(built: Builder, line: Line, command: Command) -> None:
    """`terraform VERB`: the files of the folder are read; `apply` changes what they describe."""
    verb, operands = line.operand(0), line.operands[1:]
    own = tuple(line.operands[:1])
    folder = line.value("-chdir")
    if verb in ("", "version", "workspace", "providers", "login", "logout"):
        return
    for word in line.values("-var-file", "-state"):
        built.read(below(folder, word))
    if verb == "console" and command.input is not None:
        built.show(*[built.read(Word(path)) for path in _FILES.findall(command.input.plain[:20_000])[:64]])
    if verb == "fmt":
        if line.has("-check"):
            operation = Operation.READ
        else:
            operation = Operation.EDIT
        built.add(
            operation,
            below(folder, operands[0]) if operands else folder or _HERE,
            words=tuple(operands) or own,
            deep=True,
        )
        return
    built.add(Operation.READ, folder or _HERE, words=own, deep=True)
    for word in operands if verb in ("apply", "show") else ():
        built.read(below(folder, word))
    sources = list(range(len(built.actions)))
    if verb in ("apply", "destroy", "import", "taint", "untaint", "state", "refresh", "force-unlock") and not (
        verb == "state" and line.operand(1) in ("list", "show", "pull")
    ):
        built.flow(sources, [built.add(Operation.SEND, Word(f"terraform://{verb}"), words=own)])
        built.add(
            Operation.EDIT, below(folder, line.value("-state-out", "-state") or Word("terraform.tfstate")), words=own
        )
    elif verb == "init":
        source = built.add(Operation.FETCH, Word("https://registry.terraform.io"), words=own)
        built.flow([source], [built.add(Operation.WRITE, below(folder, Word(".terraform")), words=own, deep=True)])
    for word in line.values("-out"):
        built.flow(sources, [built.write(below(folder, word))])


@RULES.of("ansible")
def _ansible(built: Builder, line: Line, command: Command) -> None:
    """`ansible-playbook FILE…`, `ansible HOSTS -m MODULE`: what the playbook says happens on other machines."""
    _inputs(built, line)
    match command.program:
        case "ansible-playbook":
            for word in line.operands:
                built.add(Operation.EXECUTE, word)
            built.is_unknown = not line.has("--syntax-check", "--list-tasks", "--list-hosts")
        case "ansible":
            for word in line.operands[:1]:
                built.add(Operation.CONNECT, word)
            built.is_unknown = True
        case "ansible-vault":
            _vault(built, line)
        case _:
            built.is_unknown = bool(line.operands)


def _inputs(built: Builder, line: Line) -> None:
    """Inventories, variables and keys; an inventory with a comma is a list of hosts."""
    for word in line.values("-i", "--inventory"):
        if "," not in word.text:
            built.read(word)
    for word in line.values("-e", "--extra-vars"):
        if word.text.startswith("@"):
            built.read(renamed(word, word.text[1:]))
    for word in line.values("--vault-password-file", "--private-key", "-r"):
        built.read(word)


_VAULT = {"view": Operation.READ, "create": Operation.WRITE}


def _vault(built: Builder, line: Line) -> None:
    operation = _VAULT.get(line.operand(0), Operation.EDIT)
    for word in line.operands[1:]:
        at = built.add(operation, word)
        if operation is Operation.READ:
            built.show(at)
        else:
            built.show(None)


_HERE = Word(".")
_BUCKET = pattern_of(r"(?:s3|gs|azure|az|abfss?|wasbs?|https?|r2|b2)://", re.DOTALL)

# Copies to and from buckets -----------------------------------------------------------------------------------------------


class _Copy(msgspec.Struct, frozen=True, kw_only=True):
    """How a program copies."""

    deep: bool
    moves: bool = False
    """What is copied is gone afterwards."""
    remote: re.Pattern[str] = _BUCKET
    """How a place elsewhere begins."""


def _copied(built: Builder, operands: list[Word], how: _Copy) -> None:
    """`cp SOURCE… TARGET` where either may be a bucket."""
    if len(operands) < 2:
        return
    *sources, target = operands
    is_below = len(sources) > 1 or is_folder(target.text)
    for source in sources:
        is_far = how.remote.match(source.text) is not None
        if is_far:
            at = built.add(Operation.FETCH, source)
        elif how.moves and source.text != "-":
            at = built.add(Operation.RENAME, source, deep=how.deep)
        else:
            at = built.read(source, Operation.COPY_SOURCE, deep=how.deep)
        to = target
        if is_below and not how.deep and not how.remote.match(target.text):
            to = inside(target, source)
        if how.remote.match(target.text):
            made = built.add(Operation.SEND, target)
        elif to.text == "-":
            built.show(at)
            made = None
        else:
            made = built.add(Operation.COPY_DEST, to, words=(source, target), deep=how.deep)
        built.flow([at], [made])
        if built.reads_input:
            built.feed(made)


@RULES.of("aws")
def _aws(built: Builder, line: Line, command: Command) -> None:
    """`aws SERVICE VERB`: `s3 cp`, `mv`, `sync` move files; `file://` among the values is read."""
    service, verb, operands = line.operand(0), line.operand(1), line.operands[2:]
    if service == "s3" and verb in ("cp", "mv", "sync"):
        _copied(built, operands, _Copy(deep=verb == "sync" or line.has("--recursive"), moves=verb == "mv"))
        return
    if service == "s3" and operands:
        sends = verb in ("rm", "mb", "rb", "website", "presign")
        built.show(built.add(Operation.SEND if sends else Operation.FETCH, operands[0]))
        return
    if service == "configure":
        if verb in ("list", "get", "list-profiles"):
            operation = Operation.READ
        else:
            operation = Operation.EDIT
        built.add(operation, at_home(".aws/credentials"), words=command.words[:3])
        return
    if service and verb:
        sources = _sent_files(built, line)
        _service_call(built, command, f"aws://{service}", sources, is_read=_is_asking(verb))
        if service == "s3api" and verb == "get-object" and operands:
            built.flow([0], [built.write(operands[-1])])
            built.prints = []


def _is_asking(verb: str) -> bool:
    return (
        re.match(
            r"(?:get|list|describe|show|ls|head|lookup|search|wait|help|read|view|query|scan|status|info|logs|tail|filter|batch-get|whoami)\b",
            verb,
        )
        is not None
    )


_FILE_VALUE = pattern_of(r"(?:file|fileb)://|@(?=[./~\w])")


def _sent_files(built: Builder, line: Line, *options: str) -> list[int | None]:
    """The files among the values that go to a service: those of some options, and those that a value names as files."""
    sources: list[int | None] = []
    for name, value in line.options:
        if value is None:
            continue
        if name in options or name in ("--body", "--template-file", "--ca-bundle"):
            sources.append(built.read(value))
        elif (found := _FILE_VALUE.match(value.text)) is not None:
            sources.append(built.read(renamed(value, value.text[found.end() :])))
    return sources


def _service_call(built: Builder, command: Command, target: str, sources: list[int | None], *, is_read: bool) -> None:
    """One call of a service: what is sent goes to it, its answer is printed."""
    operation = Operation.SEND
    if is_read:
        operation = Operation.FETCH
    at = built.add(operation, Word(target), words=command.words[:3])
    built.flow(sources, [at])
    built.show(at)
    if is_read:  # the call comes first, as those who look for its place expect
        built.flows = [(a, b) for a, b in built.flows if b != at]


@RULES.of("gcloud")
def _gcloud(built: Builder, line: Line, command: Command) -> None:
    """`gcloud GROUP… VERB`: the verb stands after one or more groups."""
    words = [word.text for word in line.operands]
    if words[:2] == ["storage", "cp"] or words[:2] in (["storage", "mv"], ["storage", "rsync"]):
        _copied(
            built,
            line.operands[2:],
            _Copy(deep=line.has("-r", "-R", "--recursive") or words[1] == "rsync", moves=words[1] == "mv"),
        )
    elif words[:2] == ["compute", "scp"]:
        _copied(built, line.operands[2:], _Copy(deep=line.has("--recurse"), remote=re.compile(r"[^/]+:")))
    elif words[:2] == ["compute", "ssh"]:
        for word in line.operands[2:3]:
            built.show(built.add(Operation.CONNECT, renamed(word, f"{word.text}:22"), words=(word,)))
    elif words[:1] == ["auth"]:
        operation = Operation.EDIT
        if "print" in " ".join(words) or "list" in words:
            operation = Operation.READ
        built.show(
            built.add(
                operation,
                at_home(".config/gcloud"),
                words=command.words[:3],
                deep=True,
            )
        )
    elif words[:1] == ["config"] and "set" in words:
        built.add(Operation.EDIT, at_home(".config/gcloud/configurations/config_default"), words=command.words[:3])
    elif words and words[0] not in ("config", "info", "version", "help", "components", "topic"):
        is_read = any(_is_asking(word) for word in words[1:4])
        folder = line.value("--source")
        sources = _sent_files(built, line, "--data-file", "--env-vars-file", "--key-file", "--config", "--flags-file")
        _service_call(built, command, f"gcloud://{words[0]}", sources, is_read=is_read)
        if folder is not None and not folder.text.startswith("gs://"):
            at = built.read(folder, deep=True)
            built.flow([at], [n for n, action in enumerate(built.actions) if action.operation is Operation.SEND])


@RULES.of("gsutil")
def _gsutil(built: Builder, line: Line, command: Command) -> None:
    """`gsutil`, `s3cmd`, `s5cmd`, `mc`: `cp`, `put`, `get`, `sync` and similar."""
    verb, operands = line.operand(0), line.operands[1:]
    deep = line.has("-r", "-R", "--recursive") or verb in ("rsync", "sync", "mirror")
    if verb in ("cp", "mv", "rsync", "sync", "mirror"):
        _copied(built, operands, _Copy(deep=deep, moves=verb == "mv"))
    elif verb == "put":
        _copied(built, operands, _Copy(deep=deep))
    elif verb == "get":
        if len(operands) == 1:
            operands = [*operands, renamed(operands[0], last_part(operands[0].text))]
        _copied(built, operands, _Copy(deep=deep))
    else:
        for word in operands:
            if _BUCKET.match(word.text):
                is_read = verb in ("ls", "cat", "stat", "du", "hash", "la", "info", "head")
                operation = Operation.SEND
                if is_read:
                    operation = Operation.FETCH
                built.show(built.add(operation, word))


@RULES.of("az")
def _az(built: Builder, line: Line, command: Command) -> None:
    """`az GROUP… VERB`: `storage blob upload -f FILE`, `download -f FILE`."""
    words = [word.text for word in line.operands]
    if not words or words[0] in ("login", "logout", "account", "version", "configure", "config", "help"):
        return
    target = f"azure://{words[0]}"
    verb = words[-1]
    if verb.startswith("download"):
        at = built.add(Operation.FETCH, Word(target), words=command.words[:4])
        for word in line.values("-f", "--file", "-d", "--destination"):
            built.flow([at], [built.write(word, deep="batch" in verb)])
        return
    named = ["-f", "--file", "--src", "--src-path"]
    if "upload" in verb:
        named += ["-s", "--source"]
    _service_call(built, command, target, _sent_files(built, line, *named), is_read=_is_asking(verb))


_REMOTE = pattern_of(r"[\w.+@-]+:")


@RULES.of("rclone")
def _rclone(built: Builder, line: Line, command: Command) -> None:
    """`rclone copy REMOTE:PATH FOLDER` and the other way round."""
    verb, operands = line.operand(0), line.operands[1:]
    if verb in ("copy", "copyto", "sync", "move", "moveto", "bisync"):
        _copied(built, operands, _Copy(deep=not verb.endswith("to"), moves=verb.startswith("move"), remote=_REMOTE))
        if verb == "sync" and len(operands) > 1 and not _REMOTE.match(operands[1].text):
            built.add(Operation.DELETE, operands[1], deep=True)
    elif verb == "rcat" and operands:
        built.feed(built.add(Operation.SEND, operands[0]))
        built.reads_input = True
    elif verb in ("config", "authorize"):
        built.add(
            Operation.EDIT, line.value("--config") or at_home(".config/rclone/rclone.conf"), words=command.words[:2]
        )
    elif verb in ("serve", "mount", "rcd"):
        operation = Operation.CONNECT
        if verb != "mount":
            operation = Operation.LISTEN
        built.add(
            operation,
            operands[0] if operands else Word("rclone"),
            words=command.words[:2],
        )
    else:
        for word in operands:
            if _REMOTE.match(word.text):
                is_read = verb in (
                    "ls",
                    "lsl",
                    "lsd",
                    "lsf",
                    "lsjson",
                    "cat",
                    "size",
                    "tree",
                    "check",
                    "about",
                    "md5sum",
                    "sha1sum",
                )
                built.show(built.add(Operation.FETCH if is_read else Operation.SEND, word))
            elif verb in ("delete", "purge", "rmdir", "deletefile"):
                built.add(Operation.DELETE, word, deep=True)


_HOST_SILENT = names("login logout help version dev whoami")


def platform(entry: Program) -> Rule:
    """A service with one command line, with verbs that send the folder."""
    sends = names(entry.sends)
    rules = grammar(
        "-a -t -e -c -f -S --app --token --scope --config --remote --project --team --env --access-token --cwd --dir "
        "--prod-dir --site --name --region"
    )

    def rule(command: Command) -> Actions:
        line = taken(command.arguments, rules)
        words = [part for word in line.operands[:3] for part in word.text.split(":")[:3]]
        if line.has("--version", "--help", "-h") or (words and words[0] in _HOST_SILENT):
            return NOTHING
        built = Builder()
        if entry.bare if not words else not sends.isdisjoint(words[:2]):
            named = (word for word in line.operands[1:] if "/" in word.text or word.text == ".")
            folder = line.value("--dir", "--cwd") or next(named, None)
            if folder is None:
                own = command.words[:1]
            else:
                own = (folder,)
            at = built.add(Operation.READ, folder or _HERE, words=own, deep=True)
            built.flow([at], [built.add(Operation.SEND, Word(entry.url), words=command.words[:2])])
        elif words:
            if any(map(_is_asking, words)):
                operation = Operation.FETCH
            else:
                operation = Operation.SEND
            built.show(built.add(operation, Word(entry.url), words=command.words[:3]))
        return built.build()

    return rule

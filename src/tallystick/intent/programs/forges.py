"""gh: what goes to a forge and comes from it.

Owns which verbs send and which fetch, and the files that they name. Source: gh help.
"""

from __future__ import annotations

from collections.abc import Iterator

from tallystick.catalog.programs import names_of
from tallystick.intent.programs.arguments import Line, at_home, is_fed, last_part, renamed
from tallystick.intent.programs.rules import Builder, Rules
from tallystick.model.intent import Operation
from tallystick.model.script import Command, Word

RULES = Rules()

_HERE = Word(".")
_WILD = frozenset("*?[")
_GH_READS = names_of("gh", "reads")


@RULES.of("gh")
def _gh(built: Builder, line: Line, command: Command) -> None:
    """`gh GROUP VERB`: files of `--body-file` and uploads are sent, `release download` and `repo clone` write."""
    group, verb = line.operand(0), line.operand(1)
    if group in _OWN or not group:
        built.is_unknown = group in ("alias", "extension", "codespace")
    elif group == "auth":
        is_read = verb in ("token", "status")
        operation = Operation.EDIT
        if is_read:
            operation = Operation.READ
        at = built.add(operation, _TOKENS, words=command.words[:3])
        if is_read:
            built.show(at)
        else:
            built.show(None)
    elif group == "api":
        _api(built, line, command)
    elif (group, verb) == ("repo", "clone"):
        _clone(built, line)
    else:
        _call(built, line, command)


_OWN = names_of("gh", "own")
_TOKENS = at_home(".config/gh/hosts.yml")


def _host(line: Line) -> str:
    return f"https://{line.said('--hostname') or 'github.com'}"


def _clone(built: Builder, line: Line) -> None:
    words = line.operands[2:4]
    if not words:
        return
    is_url = "://" in words[0].text or "@" in words[0].text
    if is_url:
        url = words[0]
    else:
        url = renamed(words[0], f"{_host(line)}/{words[0].text}")
    if len(words) > 1:
        into = words[1]
    else:
        into = renamed(words[0], last_part(words[0].text).removesuffix(".git"))
    source = built.add(Operation.FETCH, url, words=(words[0],))
    built.flow([source], [built.add(Operation.WRITE, into, words=(words[-1],), deep=True)])


def _call(built: Builder, line: Line, command: Command) -> None:
    """One verb of one group: it asks, or it sends what files it names."""
    group, verb, own = line.operand(0), line.operand(1), command.words[:3]
    files = [word for word in line.values("-F", "--body-file", "--notes-file", "--env-file") if "=" not in word.text]
    if verb in ("upload", "create") and group in ("release", "gist"):
        files += line.operands[3 if group == "release" else 2 :]
    sources = [built.read(renamed(word, word.text.partition("#")[0])) for word in files]
    is_read = verb in _GH_READS or (group in ("search", "browse", "run") and verb not in ("rerun", "cancel", "delete"))
    repository = line.said("-R", "--repo")
    target = Word(f"{_host(line)}/{repository}".rstrip("/"))
    operation = Operation.SEND
    if is_read:
        operation = Operation.FETCH
    at = built.add(operation, target, words=own)
    if not is_read:
        built.flow(sources, [at])
        if built.reads_input and is_fed(command):
            built.feed(at)
    _answer(built, line, at, own)


def _answer(built: Builder, line: Line, at: int | None, own: tuple[Word, ...]) -> None:
    if line.operand(1) == "download":
        for made in _downloaded(built, line, own):
            built.flow([at], [made])
    elif line.operand(1) == "checkout":
        built.flow([at], [built.add(Operation.EDIT, _HERE, words=own, deep=True)])
    else:
        built.show(at)


def _downloaded(built: Builder, line: Line, own: tuple[Word, ...]) -> Iterator[int | None]:
    """The files that patterns without wildcards and `--output` name; else whatever comes to lie in the folder."""
    folder = line.value("-D", "--dir")
    output = None
    if line.operand(0) == "release":
        output = line.value("-O", "--output")
    if output is not None:
        named = [output]
    else:
        named = line.values("-p", "--pattern")
    if line.operand(0) == "release":
        for word in named:
            if word.is_known and not _WILD & set(word.plain):
                if output is not None or folder is None:
                    inner = word
                else:
                    inner = renamed(word, f"{folder.text}/{word.text}")
                yield built.write(inner, words=(word,))
    if output is None and (line.operand(0) != "release" or not named or any(_WILD & set(word.plain) for word in named)):
        if folder is None:
            words = own
        else:
            words = (folder,)
        yield built.add(Operation.WRITE, folder or _HERE, words=words, deep=True)


def _api(built: Builder, line: Line, command: Command) -> None:
    method = line.said("-X", "--method").upper()
    fields = line.values("-f", "-F", "--field", "--raw-field")
    sources = [built.read(word) for word in line.values("--input")]
    for word in fields:
        value = word.text.partition("=")[2]
        if value.startswith("@"):
            sources.append(built.read(renamed(word, value[1:])))
    is_sent = method in ("POST", "PUT", "PATCH", "DELETE") or (not method and bool(fields or line.has("--input")))
    if len(line.operands) > 1:
        word = line.operands[1]
    else:
        word = command.words[0]
    path = line.operand(1)
    host = _host(line).replace("https://github.com", "https://api.github.com")
    if "://" in path:
        url = word
    else:
        url = renamed(word, f"{host}/{path.lstrip('/')}")
    operation = Operation.FETCH
    if is_sent:
        operation = Operation.SEND
    at = built.add(operation, url, words=(word,))
    built.flow(sources, [at])
    if built.reads_input:
        built.feed(at)
    built.show(at)

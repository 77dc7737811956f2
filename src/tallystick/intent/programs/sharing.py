"""Programs that give files and messages away, to anyone who has a code, a link or a subscription.

Owns which of their words are files, and where those go. Must not know what a file holds. Sources: the manuals of croc,
magic-wormhole, ipfs, pastebinit, swaks, ncftpput(1), mosquitto_pub(1), websocat --help.
"""

from __future__ import annotations

import re

from tallystick.catalog.programs import names_of
from tallystick.intent.programs.arguments import MOST_WORDS, grammar, is_fed, names, renamed, taken
from tallystick.intent.programs.network import host_of
from tallystick.intent.programs.rules import NOTHING, Builder, Rule, grammar_of
from tallystick.intent.shell.actions import Actions, Code
from tallystick.model.intent import Operation
from tallystick.model.script import Command, Word


def _shares(command: Command) -> Actions:
    """`croc send FILE`, `pastebinit FILE`: files go to anyone who has the code or the link."""
    line = taken(command.arguments, _SHARING)
    built = Builder()
    words = line.operands
    verb = ""
    if words and words[0].text in _SHARING_VERBS:
        verb = words[0].text
    if verb in _RECEIVING:
        return NOTHING
    given = [*(words[1:] if verb else words), *line.values("-f", "-i", "-a", "--file", "--attach")]
    given += [renamed(word, word.text[1:]) for word in line.values("--body", "-d") if word.text[:1] == "@"]
    sources = [built.read(word, deep=True) for word in given if not re.match(r"\w+://", word.text)]
    at = built.add(Operation.SEND, renamed(command.words[0], f"files:{command.program}"), words=command.words[:1])
    built.flow(sources, [at])
    if not given and is_fed(command):
        built.feed(at)
        built.reads_input = True
    return built.build()


_SHARING = grammar_of("croc")
_RECEIVING = names_of("croc", "receiving")
_SHARING_VERBS = names_of("croc", "verbs")


def _uploads(command: Command) -> Actions:
    """`ncftpput HOST FOLDER FILE…`."""
    line = taken(command.arguments, grammar("-u -p -P -j -d -e -t -r"))
    built = Builder()
    sources = [built.read(word, deep=True) for word in line.operands[2:]]
    built.flow(sources, [built.add(Operation.SEND, host_of(word, "21"), words=(word,)) for word in line.operands[:1]])
    return built.build()


def _published(command: Command) -> Actions:
    """`mosquitto_pub -h HOST -f FILE`: a message for a broker."""
    line = taken(command.arguments, grammar("-h -p -t -m -f -u -P -i -q -L --cafile --cert --key --file --host"))
    built = Builder()
    sources = [built.read(word) for word in line.values("-f", "--file")]
    host = line.value("-h", "--host", "-L") or Word("localhost")
    at = built.add(Operation.SEND, host, words=(host,) if host.text != "localhost" else command.words[:1])
    built.flow(sources, [at])
    if line.has("-s", "-l") and is_fed(command):
        built.feed(at)
        built.reads_input = True
    return built.build()


def _websocat(command: Command) -> Actions:
    """`websocat [ADDRESS] URL`: `exec:` and `sh-c:` name a program that is joined with the connection."""
    built = Builder()
    for word in command.arguments[:MOST_WORDS]:
        kind, _, rest = word.text.partition(":")
        if kind in _JOINED:
            built.codes.append(Code("sh", renamed(word, rest)))
        elif kind in ("ws", "wss", "tcp", "ws-c", "tcp-l", "ws-l", "ws-listen"):
            if kind.endswith(("-l", "listen")):
                operation = Operation.LISTEN
            else:
                operation = Operation.CONNECT
            at = built.add(operation, word, words=(word,))
            built.show(at)
            if is_fed(command):
                built.feed(at)
                built.reads_input = True
    return built.build()


_JOINED = names("exec sh-c cmd")


RULES: dict[str, Rule] = {
    "shares": _shares,
    "uploads": _uploads,
    "published": _published,
    "websocat": _websocat,
}

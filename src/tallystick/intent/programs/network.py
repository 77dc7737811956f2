"""Programs that talk to other machines, or give files and messages away.

Owns ssh, netcat, the name services, openssl's client and mail: which host and port they mean; and of programs that give
files to anyone who has a code, a link or a subscription, which of their words are files, and where those go. Must not
know what a file holds. Sources: ssh(1), sftp(1), ncat(1), socat(1), dig(1), openssl(1), and similar; the manuals of
croc, magic-wormhole, ipfs, pastebinit, swaks, ncftpput(1), mosquitto_pub(1), websocat --help.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from tallystick.catalog.programs import Program, arguments_of, names_of, programs_with
from tallystick.intent.actions import Actions, Code
from tallystick.intent.programs.arguments import (
    MOST_WORDS,
    Line,
    grammar,
    is_fed,
    merged,
    names,
    renamed,
    sentence,
    split_words,
    taken,
)
from tallystick.intent.programs.rules import Builder, Rule, Rules, filtering, grammar_of, plain
from tallystick.model.intent import Operation
from tallystick.model.pattern import pattern_of
from tallystick.model.script import HOLE, Command, Word

RULES = Rules()


def host_of(word: Word, port: str) -> Word:
    """`host:port` from `user@host`, with the port if none is written."""
    text = word.text.rpartition("://")[2].rpartition("@")[2].partition("/")[0]
    has_port = re.search(r":\d+$", text) is not None
    return renamed(word, text if has_port or not port or not text else f"{text}:{port}")


_SSH = grammar_of("ssh")


def ssh_line(arguments: tuple[Word, ...]) -> Line:
    """The words of `ssh`, taken apart: the first operand is the host, the others what runs there."""
    return taken(arguments, _SSH)


def _ssh(command: Command) -> Actions:
    """`ssh HOST [COMMAND]`: what runs there is not of this machine. Its input and output pass through."""
    line = ssh_line(command.arguments)
    built = Builder()
    for word in line.values("-i"):
        built.read(word)
    for word in line.operands[:1]:
        at = built.add(Operation.CONNECT, host_of(word, line.said("-p") or "22"), words=(word,))
        built.show(at)
        if not line.has("-n", "-f", "-N"):
            built.feed(at)
            built.reads_input = is_fed(command)
    built.codes += [Code("sh", text) for text in _run_here(line, command.input)]
    for word in line.values("-J", "-W"):
        for each_host in word.text.split(",")[:16]:
            built.add(Operation.CONNECT, host_of(renamed(word, each_host), ""), words=(word,))
    for word in line.values("-L"):
        host = _forwarded(word.text)
        if host:
            built.add(Operation.CONNECT, renamed(word, host), words=(word,))
    return built.build()


def _run_here(line: Line, fed: Word | None) -> Iterator[Word]:
    """What `ssh` runs on a host that is this machine."""
    if not line.operands or not _is_here(line.operands[0]):
        return
    rest = taken(tuple(line.operands[1:]), _SSH)  # options may follow the host
    for option, value in (*line.options, *rest.options):
        if option == "-o" and value is not None and value.text.lower().startswith("remotecommand="):
            yield renamed(value, value.text.partition("=")[2])
    words = rest.operands
    if fed is not None and fed.is_known:
        yield merged(f"{sentence(words).text or 'sh'} <<'{_END_OF_INPUT}'\n{fed.text}\n{_END_OF_INPUT}\n", *words, fed)
    elif words:
        yield sentence(words)


_END_OF_INPUT = "END_OF_INPUT_OF_SSH"
_HERE = pattern_of(
    r"(?:.*\.)?localhost(?:\.localdomain)?|127\.[\d.]{1,11}|0|0\.0\.0\.0|\[?::1\]?|ip6-(?:localhost|loopback)",
    re.IGNORECASE,
)
_OWN_NAME = pattern_of(r"\bhostname\b|\bHOSTNAME\b|\buname\s{1,3}-n\b")


def _is_here(word: Word) -> bool:
    """Whether a host is this machine: what runs there runs here."""
    host = word.text.rpartition("://")[2].rpartition("@")[2].rstrip("/").removesuffix(".")
    if HOLE in host:
        return _OWN_NAME.search(word.hidden[:_MOST_HIDDEN]) is not None
    return _HERE.fullmatch(host[:_MOST_HIDDEN]) is not None


_MOST_HIDDEN = 300


def _forwarded(text: str) -> str:
    """The host that `-L [ADDRESS:]PORT:HOST:PORT` leads to."""
    found = re.search(r":(\[[^\]]*\]|[^:/]+):(\d{1,5})$", text[:400])
    if found is None:
        return ""
    return f"{found[1]}:{found[2]}"


_PUT = pattern_of(r"^[ \t]*-?@?(m?put|reput|send|append)[ \t]+(?:-\w+[ \t]+){0,4}([^\n;]{1,400})", re.MULTILINE)
_MOST_PUT = 20


def _put(commands: str) -> list[str]:
    """The files of this machine that commands for `sftp` and `ftp` send: `put LOCAL [REMOTE]`, `mput LOCAL…`."""
    found = [split_words(one[2])[: None if one[1] == "mput" else 1] for one in _PUT.finditer(commands[:20_000])]
    return [word for words in found for word in words][:_MOST_PUT]


def _orders(command: Command) -> str:
    """What `lftp -e`, `tftp -c` and `smbclient -c` are told to do, an order a line."""
    words = [word.text for word in command.arguments[:MOST_WORDS]]
    at = next((n for n, word in enumerate(words) if word in ("-e", "-c")), len(words))
    return " ".join(words[at + 1 :]).replace(";", "\n")


@RULES.of("smb", grammar("-c -U -W -p -D -I -A -L -m -T --command --user"))
def _smb(built: Builder, line: Line, command: Command) -> None:
    """`smbclient //HOST/SHARE -c 'put FILE'`."""
    for word in line.operands[:1]:
        host = renamed(word, f"smb:{word.text.replace(chr(92), '/')}")
        at = built.add(Operation.CONNECT, host, words=(word,))
        built.show(at)
        built.flow([built.read(Word(path)) for path in _put(f"{command.fed}\n{_orders(command)}")], [at])


def session(entry: Program) -> Rule:
    """Programs that open a session with the host of their first operand: `sftp`, `ftp`, `telnet`."""
    rules = grammar(entry.takes)

    def rule(command: Command) -> Actions:
        line = taken(command.arguments, rules)
        built = Builder()
        for word in line.values("-i", "-F", "-b"):
            built.read(word)
        own = ""
        if line.operand(1).isdigit():
            own = line.operand(1)
        for word in line.operands[:1]:
            host = renamed(word, re.sub(r"^((?:\w+://)?[^/:]+):(?!\d+$).*", r"\1", word.text, flags=re.DOTALL))
            at = built.add(Operation.CONNECT, host_of(host, own or line.said("-P", "-p") or entry.port), words=(word,))
            built.show(at)
            built.flow([built.read(Word(path)) for path in _put(f"{command.fed}\n{_orders(command)}")], [at])
            if is_fed(command):
                built.feed(at)
                built.reads_input = True
        built.is_unknown = command.program in ("sftp", "lftp", "ftp") and bool(is_fed(command) or line.has("-b"))
        return built.build()

    return rule


_NC = grammar_of("nc.openbsd")


_GIVEN = ("-e", "-c", "--sh-exec", "--exec")


def program_given(command: Command) -> Word | None:
    """The program that `nc -e` or `socat … EXEC:` joins with a connection, or None."""
    if command.program == "socat":
        return next((inner for word in _addresses(command) if (inner := _executed(word)) is not None), None)
    return taken(command.arguments, _NC).value(*_GIVEN)


NETCATS = programs_with("netcat")


@RULES.of("netcat", _NC)
def _netcat(built: Builder, line: Line, command: Command) -> None:
    """`nc HOST PORT`: both ways. `-l` waits for others; `-e` and `-c` give them a program."""
    for word in line.values(*_GIVEN):
        built.codes.append(Code("sh", word))
    for word in line.values("-x", "--proxy"):
        built.add(Operation.CONNECT, word)
    is_listening = line.has("-l", "--listen")
    if is_listening:
        target = _listened(line)
    else:
        target = _called(line)
    if target is not None:
        operation = Operation.CONNECT
        if is_listening:
            operation = Operation.LISTEN
        at = built.add(operation, target, words=tuple(line.operands[:2]))
        built.show(at)
        if not line.has("-z"):
            built.feed(at)
            built.reads_input = is_fed(command)
    for word in line.values("-o", "--output"):
        built.write(word)


def _listened(line: Line) -> Word | None:
    port = line.value("-p", "--source-port") or (line.operands[-1] if line.operands else None)
    host = ""
    if len(line.operands) > 1:
        host = line.operand(0)
    if port is None:
        return None
    return renamed(port, f"{host}:{port.text}")


def _called(line: Line) -> Word | None:
    if not line.operands:
        return None
    host = line.operands[0]
    if len(line.operands) < 2 or line.has("-U"):
        return host
    return renamed(host, f"{host.text}:{line.operand(1)}")


_SOCAT_TAKES = names_of("socat", "takes")


def _addresses(command: Command) -> list[Word]:
    """The two addresses of `socat`."""
    words = command.arguments
    left = [n for n, word in enumerate(words) if n and words[n - 1].text in _SOCAT_TAKES]
    return [word for n, word in enumerate(words) if n not in left and (word.text[:1] != "-" or word.text == "-")][:2]


_RUNS = ("EXEC", "SYSTEM", "SHELL")


def _executed(word: Word) -> Word | None:
    """What an address of `socat` runs, without the address's options."""
    kind, _, rest = word.text.partition(":")
    if kind.upper() in _RUNS:
        return renamed(word, re.sub(r"(?:,[\w.=/-]*)+$", "", rest[:4000]))
    return None


def _socat(command: Command) -> Actions:
    """`socat ADDRESS ADDRESS`: data goes from each to the other."""
    words = _addresses(command)
    built = Builder()
    sources: list[int | None] = []
    targets: list[int | None] = []
    for word in words:
        kind, _, rest = word.text.partition(":")
        kind, value = kind.upper(), renamed(word, rest.partition(",")[0])
        if kind in ("-", "STDIO", "STDIN", "STDOUT"):
            built.reads_input = True
        elif kind.endswith(("LISTEN", "RECVFROM", "RECV", "-L")):
            at = built.add(Operation.LISTEN, renamed(word, f":{value.text}"), words=(word,))
            sources, targets = [*sources, at], [*targets, at]
        elif kind.startswith(("TCP", "UDP", "SSL", "OPENSSL", "SCTP", "SOCKS", "PROXY")):
            at = built.add(Operation.CONNECT, value, words=(word,))
            sources, targets = [*sources, at], [*targets, at]
        elif kind in ("OPEN", "FILE", "GOPEN"):
            sources.append(built.read(value))
        elif kind in ("CREATE", "CREAT"):
            targets.append(built.write(value))
        elif (inner := _executed(word)) is not None:
            built.codes.append(Code("sh", inner))
        else:
            built.is_unknown = True
    built.flow(sources, targets)
    if built.reads_input:
        built.feed(*targets)
        built.show(*sources)
    return built.build()


_DNS = grammar_of("dig")
_RECORD = pattern_of(r"(?:[A-Z]{1,10}\d?|\+.*|@.*|-.*)", re.DOTALL)
_TYPES = names_of("dig", "types")


@RULES.of("asks-names", _DNS)
def _asks_names(built: Builder, line: Line, command: Command) -> None:
    """`dig`, `host`, `nslookup`: the name goes to a name server, which may be the one meant to read it."""
    server = next((renamed(word, word.text[1:]) for word in line.operands if word.text.startswith("@")), None)
    is_digging = command.program in ("dig", "kdig", "drill", "delv")
    if is_digging:
        types = _TYPES
    else:
        types = frozenset[str]()
    names = [word for word in line.operands if not _RECORD.fullmatch(word.text) and word.text not in types]
    names += line.values("-x", "-q")
    for word in names if is_digging else names[:1]:
        built.show(built.add(Operation.CONNECT, word))
    if server is None and not is_digging and len(names) > 1:
        server = names[1]
    if server is not None:
        built.add(Operation.CONNECT, renamed(server, f"{server.text}:53"), words=(server,))
    for word in line.values("-f"):
        built.read(word)


_ENTRY = arguments_of("openssl")
_OPENSSL, _OPENSSL_FILTER = plain(_ENTRY), filtering(_ENTRY)
_OPENSSL_LINE = grammar(f"{_ENTRY.takes} {_ENTRY.read} -out -keyout -verify", is_long=True)
_FILTERS = names_of("openssl", "filters")


def _openssl(command: Command) -> Actions:
    """`openssl COMMAND`: `dgst` reads its operands, most others `-in` or what they are fed; the makers of keys nothing."""
    verb = ""
    if command.arguments:
        verb = command.arguments[0].text
    if verb == "dgst" or verb.startswith(("sha", "md5")):
        return _digest(command)
    if verb in ("s_client", "s_server"):
        return _tls(command)
    has_input = any(word.text in ("-in", "--in") for word in command.arguments[:200])
    is_filter = (verb in _FILTERS or verb.startswith(("aes", "des"))) and not has_input and is_fed(command)
    return (_OPENSSL_FILTER if is_filter else _OPENSSL)(command)


def _tls(command: Command) -> Actions:
    """`openssl s_client`, `s_server`: what comes over the connection is printed, what it is fed is sent."""
    line = taken(command.arguments[1:], _TLS_LINE)
    built = Builder()
    for word in line.values(*_ENTRY.read.split()):
        built.read(word)
    is_server = command.arguments[0].text == "s_server"
    if is_server:
        named = line.values("-accept", "-port")
    else:
        named = [*line.values("-connect"), *line.operands[:1]]
    for word in named or ([renamed(command.arguments[0], "localhost:4433")] if not line.has("-help") else []):
        operation = Operation.CONNECT
        if is_server:
            operation = Operation.LISTEN
        at = built.add(operation, word)
        built.show(at)
        if is_fed(command):
            built.feed(at)
            built.reads_input = True
    for word in line.values("-proxy"):
        built.add(Operation.CONNECT, word)
    return built.build()


_TLS_LINE = grammar(f"{_ENTRY.takes} {_ENTRY.read} -connect -accept -port -proxy -bind -host", is_long=True)


def _digest(command: Command) -> Actions:
    line = taken(command.arguments[1:], _OPENSSL_LINE)
    built = Builder()
    sources = [built.read(word) for word in [*line.values("-sign", "-verify", "-signature"), *line.operands]]
    built.reads_input = built.reads_input or not line.operands
    made = [built.write(word) for word in line.values("-out")]
    built.flow(sources, made)
    if not made:
        built.show(*sources)
    return built.build()


@RULES.of("mail")
def _mail(built: Builder, line: Line, command: Command) -> None:
    """`mail`, `mutt`, `sendmail`: the input and the files of `-a` go to the addresses."""
    sent = [built.read(word) for word in line.values("-a", "-A", "-q")]
    to = [built.add(Operation.SEND, renamed(word, f"mailto:{word.text}"), words=(word,)) for word in line.operands]
    built.flow(sent, to)
    built.feed(*to)
    built.reads_input = True


@RULES.of("shares", grammar_of("croc"))
def _shares(built: Builder, line: Line, command: Command) -> None:
    """`croc send FILE`, `pastebinit FILE`: files go to anyone who has the code or the link."""
    words = line.operands
    verb = ""
    if words and words[0].text in _SHARING_VERBS:
        verb = words[0].text
    if verb in _RECEIVING:
        return
    given = [*(words[1:] if verb else words), *line.values("-f", "-i", "-a", "--file", "--attach")]
    given += [renamed(word, word.text[1:]) for word in line.values("--body", "-d") if word.text[:1] == "@"]
    sources = [built.read(word, deep=True) for word in given if not re.match(r"\w+://", word.text)]
    at = built.add(Operation.SEND, renamed(command.words[0], f"files:{command.program}"), words=command.words[:1])
    built.flow(sources, [at])
    if not given and is_fed(command):
        built.feed(at)
        built.reads_input = True


@RULES.of("serves-folder", grammar_of("http-server"))
def _serves_folder(built: Builder, line: Line, command: Command) -> None:
    """`serve FOLDER`, `http-server FOLDER`: all below a folder can be fetched."""
    folder = line.operands[0] if line.operands else Word(".")
    source = built.add(Operation.READ, folder, words=tuple(line.operands[:1]) or command.words[:1], deep=True)
    port = line.value("-l", "--listen", "-p", "--port") or Word("8080")
    target = built.add(Operation.LISTEN, renamed(port, f":{port.text}"), words=command.words[:1])
    built.flow([source], [target])


_RECEIVING = names_of("croc", "receiving")
_SHARING_VERBS = names_of("croc", "verbs")


@RULES.of("uploads", grammar("-u -p -P -j -d -e -t -r"))
def _uploads(built: Builder, line: Line, command: Command) -> None:
    """`ncftpput HOST FOLDER FILE…`."""
    sources = [built.read(word, deep=True) for word in line.operands[2:]]
    built.flow(sources, [built.add(Operation.SEND, host_of(word, "21"), words=(word,)) for word in line.operands[:1]])


@RULES.of("published", grammar("-h -p -t -m -f -u -P -i -q -L --cafile --cert --key --file --host"))
def _published(built: Builder, line: Line, command: Command) -> None:
    """`mosquitto_pub -h HOST -f FILE`: a message for a broker."""
    sources = [built.read(word) for word in line.values("-f", "--file")]
    host = line.value("-h", "--host", "-L") or Word("localhost")
    words = command.words[:1]
    if host.text != "localhost":
        words = (host,)
    at = built.add(Operation.SEND, host, words=words)
    built.flow(sources, [at])
    if line.has("-s", "-l") and is_fed(command):
        built.feed(at)
        built.reads_input = True


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


RULES |= {
    "ssh": _ssh,
    "socat": _socat,
    "openssl": _openssl,
    "websocat": _websocat,
}

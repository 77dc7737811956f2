"""Programs that move data between files and URLs.

Owns curl, wget, HTTPie and the downloaders: what is fetched, from which file something is sent, and where the answer
goes. Sources: curl(1), wget(1), the HTTPie manual, aria2c(1), yt-dlp(1).
"""

from __future__ import annotations

import re
from itertools import pairwise

from tallystick.catalog.programs import names_of, words_of
from tallystick.intent.actions import Actions
from tallystick.intent.programs.arguments import (
    Line,
    below,
    is_fed,
    last_part,
    literal,
    renamed,
    split_words,
    taken,
)
from tallystick.intent.programs.curl_settings import words_in
from tallystick.intent.programs.rules import Builder, Rules, grammar_of
from tallystick.model.intent import Operation
from tallystick.model.pattern import pattern_of
from tallystick.model.script import HOLE, Command, Word

RULES = Rules()

_SCHEME = pattern_of(r"[A-Za-z][A-Za-z0-9+.-]*://")


def url_of(word: Word) -> Word:
    """A URL; the scheme that is meant where none is written."""
    text = word.text
    if _SCHEME.match(text) or text.startswith(HOLE) or not text:
        return word
    return renamed(word, f"http://{text}")


def _after_scheme(text: str) -> str:
    found = _SCHEME.match(text)
    if found is None:
        return text
    return text[found.end() :]


def _name_in(url: Word, *, default: str) -> Word:
    """The file that a URL is kept in: the last part of its path."""
    text = literal(url).text.partition("#")[0].partition("?")[0]
    path = _after_scheme(text)
    name = ""
    if "/" in path and not path.endswith("/"):
        name = last_part(path)
    return renamed(url, name or (HOLE if HOLE in path else default))


# curl -----------------------------------------------------------------------------------------------------------------

_CURL = grammar_of("curl")
_CURL_DATA = words_of("curl", "data")
_CURL_SENDS = names_of("curl", "sends")
_CURL_READS = words_of("curl", "reads")
_CURL_WRITES = words_of("curl", "writes")
_CHANGING = names_of("curl", "changing")


def _curl(command: Command) -> Actions:
    """`curl`: `-o` and `-O` belong to the URLs in their order; more URLs than those are printed."""
    line = taken((*command.arguments, *_configured(command)), _CURL)
    built = Builder()
    for word in line.values(*_CURL_READS):
        if word.text == "-":
            continue  # a configuration, and nothing that is sent
        if word.text.count(":") == 1:
            built.read(renamed(word, word.text.partition(":")[0]))
        else:
            built.read(word)
    for word in line.values("-b", "--cookie"):
        if "=" not in word.text:
            built.read(word)
    sent, is_fed = _curl_bodies(built, line)
    urls = [*line.operands, *line.values("--url")]
    operation = Operation.FETCH
    if sent or is_fed or _curl_sends(line):
        operation = Operation.SEND
    outputs = _curl_outputs(line)
    _curl_ways(built, line)
    for n, url in enumerate(urls):
        at = built.add(operation, url_of(url), words=(url,))
        built.flow(sent, [at])
        if is_fed:
            built.feed(at)
        _curl_answer(built, line, url, at, _curl_output(line, outputs, n))
    for word in line.values(*_CURL_WRITES):
        built.write(word)
    built.is_unknown = not urls and line.has("-K", "--config")
    return built.build()


_MOST_FED = 64


def _curl_sends(line: Line) -> bool:
    """Whether the method or an option means that data goes to the host."""
    if line.said("-X", "--request").upper() in _CHANGING:
        return True
    return not line.has("-G", "--get") and any(name in _CURL_SENDS for name, _ in line.options)


def _configured(command: Command) -> list[Word]:
    """The options in the configuration that `curl -K -` reads from its input."""
    is_asked = any(a.text in ("-K", "--config") and b.text == "-" for a, b in pairwise(command.arguments[:200]))
    if not is_asked or command.input is None or not command.input.is_known:
        return []
    return list(map(Word, words_in(command.input.plain)))


_PROXIES = words_of("curl", "proxies")


def _curl_ways(built: Builder, line: Line) -> None:
    """The hosts that `curl` really talks to: proxies, and the addresses that it is told to take for a name."""
    for word in line.values(*_PROXIES):
        built.add(Operation.CONNECT, word)
    for word in line.values("--resolve"):
        for address in word.text.removeprefix("+").split(":", 2)[2:]:
            for host in address.split(",")[:16]:
                built.add(Operation.CONNECT, renamed(word, host), words=(word,))
    for word in line.values("--connect-to"):
        parts = re.findall(r"\[[^\]]*\]|[^:]+|(?<=:)(?=:)|^(?=:)|(?<=:)$", word.text[:400])
        host = ""
        if len(parts) > 2:
            host = parts[2]
        if host:
            built.add(Operation.CONNECT, renamed(word, host), words=(word,))


def _curl_bodies(built: Builder, line: Line) -> tuple[list[int | None], bool]:
    """The files that are sent, and whether the standard input is."""
    found: list[int | None] = []
    for name, value in line.options:
        if value is None:
            continue
        path: Word | None = None
        if name in ("-T", "--upload-file"):
            path = value
            if value.text == ".":
                path = renamed(value, "-")
        elif name in _CURL_DATA and "@" in value.text[: 1 if name != "--data-urlencode" else 200]:
            path = renamed(value, value.text.partition("@")[2])
        elif name in ("-F", "--form"):
            found += [built.read(word) for word in _form_files(value)]
        if path is not None:
            found.append(built.read(path))
    return found, built.reads_input


def _form_files(value: Word) -> list[Word]:
    """The files of `name=@FILE[,FILE…][;type=…]` and `name=<FILE`."""
    text = value.text.partition("=")[2]
    if text[:1] not in ("@", "<"):
        return []
    paths = text[1:].partition(";")[0].split(",")[:64]
    return [renamed(value, path.strip('"')) for path in paths if path]


def _curl_outputs(line: Line) -> list[Word | None]:
    """Where the answers go, in order; None is the name in the URL."""
    return [
        value if name in ("-o", "--output") else None
        for name, value in line.options
        if name in ("-o", "--output", "-O", "--remote-name", "--remote-name-all")
    ]


def _curl_output(line: Line, outputs: list[Word | None], number: int) -> Word | None:
    """Where the answer of one URL goes."""
    if number < len(outputs):
        return outputs[number]
    if line.has("--remote-name-all"):
        return outputs[-1]
    return None


_PRINTED = Word("-")


def _curl_answer(built: Builder, line: Line, url: Word, at: int | None, output: Word | None) -> None:
    is_named = line.has("-O", "--remote-name", "--remote-name-all")
    has_output = line.has("-o", "--output")
    if output is not None:
        target = output
    elif is_named:
        target = _name_in(url, default=HOLE)
    else:
        target = _PRINTED
    if output is None and has_output and not is_named:
        target = _PRINTED
    if target.text == "-":
        built.show(at)
        return
    folder = line.value("--output-dir")
    if output is not None:
        words = (target,)
    else:
        words = (url,)
    built.flow([at], [built.write(below(folder, target), words=words)])


# wget -----------------------------------------------------------------------------------------------------------------


@RULES.of("wget")
def _wget(built: Builder, line: Line, command: Command) -> None:
    """`wget`: one file for each URL, or all in the one of `-O`."""
    if any(word.text == "-nd" for word in command.arguments[:200]):  # two letters that are one option
        line.options.append(("--no-directories", None))
    for word in line.values("--load-cookies", "--ca-certificate", "--certificate", "--private-key"):
        built.read(word)
    lists = [built.read(word) for word in line.values("-i", "--input-file")]
    sent = [built.read(word) for word in line.values("--post-file", "--body-file")]
    is_sent = bool(sent) or line.has("--post-data", "--body-data") or line.said("--method").upper() in _CHANGING
    output, folder = line.value("-O", "--output-document"), line.value("-P", "--directory-prefix")
    for word in line.values("-e", "--execute"):
        name, _, value = word.text.partition("=")
        if name.strip().lower().endswith("_proxy") and value.strip():
            built.add(Operation.CONNECT, renamed(word, value.strip()), words=(word,))
    for url in (*line.operands, *_listed(command, line)):
        at = built.add(Operation.SEND if is_sent else Operation.FETCH, url_of(url), words=(url,))
        built.flow(sent, [at])
        if line.has("--spider"):
            continue
        if output is not None and output.text == "-":
            built.show(at)
        else:
            built.flow([at], [_wget_file(built, line, url, output, folder)])
    built.is_unknown = bool(lists)
    for word in line.values("-o", "--output-file", "--save-cookies"):
        built.write(word)
    for word in line.values("-a", "--append-output"):
        built.write(word, Operation.APPEND)


def _listed(command: Command, line: Line) -> list[Word]:
    """The URLs that `wget -i -` is fed."""
    is_fed = any(word.text == "-" for word in line.values("-i", "--input-file"))
    if not is_fed or command.input is None or not command.input.is_known:
        return []
    return [Word(url) for url in split_words(command.input.plain[:20_000])[:_MOST_FED]]


def _wget_file(built: Builder, line: Line, url: Word, output: Word | None, folder: Word | None) -> int | None:
    if output is not None:
        return built.write(output)
    if line.has("-r", "-m", "-p", "--recursive", "--mirror", "--page-requisites"):
        host = renamed(url, _after_scheme(url.text).partition("/")[0])
        if line.has("--no-directories"):
            into = folder or Word(".")
        else:
            into = below(folder, host)
        return built.add(Operation.WRITE, into, words=(url,), deep=True)
    return built.write(below(folder, _name_in(url, default="index.html")), words=(url,))


# Others ---------------------------------------------------------------------------------------------------------------

_HTTPIE = grammar_of("http")
_METHOD = pattern_of(r"[A-Z]{3,10}")


@RULES.of("httpie", _HTTPIE)
def _httpie(built: Builder, line: Line, command: Command) -> None:
    """`http [METHOD] URL [ITEM…]`: `name=value` and `name@file` are sent."""
    words = line.operands
    method = ""
    if words and _METHOD.fullmatch(words[0].text):
        method = words[0].text
    if method:
        words = words[1:]
    if not words:
        return
    url, items = words[0], words[1:]
    if url.text.startswith(":"):
        url = renamed(url, f"localhost{url.text}" if url.text[1:2].isdigit() else f"localhost{url.text[1:]}")
    files = [found for item in items if (found := re.match(r"[^=:@]*(?:@|=@|:=@)(.+)", item.text, re.DOTALL))]
    sent = [built.read(Word(found[1])) for found in files]
    has_data = any(re.match(r"[^=:@]+:?=(?!=)", item.text) for item in items) or line.has("--raw")
    is_sent = method in _CHANGING or (not method and (has_data or bool(sent) or is_fed(command)))
    scheme = ""
    if command.program in ("https", "xhs") and not _SCHEME.match(url.text):
        scheme = "https"
    if scheme:
        told = renamed(url, f"{scheme}://{url.text}")
    else:
        told = url_of(url)
    at = built.add(Operation.SEND if is_sent else Operation.FETCH, told, words=(words[0],))
    built.flow(sent, [at])
    if is_sent and is_fed(command):
        built.feed(at)
        built.reads_input = True
    output = line.value("-o", "--output")
    if output is not None:
        built.flow([at], [built.write(output)])
    elif line.has("-d", "--download"):
        built.flow([at], [built.write(_name_in(url, default=HOLE), words=(url,))])
    else:
        built.show(at)


_FETCH = grammar_of("fetch")


@RULES.of("bsd-fetch", _FETCH)
def _bsd_fetch(built: Builder, line: Line, command: Command) -> None:
    """`fetch`, which comes with FreeBSD."""
    output = line.value("-o")
    for url in line.operands:
        at = built.add(Operation.FETCH, url_of(url), words=(url,))
        if output is not None and output.text == "-":
            built.show(at)
        else:
            built.flow([at], [built.write(output or _name_in(url, default=HOLE), words=(url,))])


def _windows_fetch(command: Command) -> Actions:
    """`certutil -urlcache -f URL FILE`, `bitsadmin /transfer NAME URL FILE`: the file stands after the URL."""
    built = Builder()
    words = command.arguments
    for n, word in enumerate(words[:200]):
        if _SCHEME.match(word.text):
            at = built.add(Operation.FETCH, word, words=(word,))
            built.flow([at], [built.write(file) for file in words[n + 1 : n + 2]])
    return built.build()


_FETCHER = grammar_of("aria2c")


@RULES.of("fetcher", _FETCHER)
def _fetcher(built: Builder, line: Line, command: Command) -> None:
    """`aria2c`, `axel`, `yt-dlp`, `lynx -dump`: URLs into files whose names are known by an option or by the server."""
    output = line.value("-o", "--out", "--output")
    folder = line.value("-d", "--dir", "-P", "--paths", "--output-dir")
    is_shown = command.program in ("lynx", "w3m", "links", "elinks")
    for url in line.operands:
        at = built.add(Operation.FETCH, url_of(url), words=(url,))
        if is_shown:
            built.show(at)
        else:
            target = output or _name_in(url, default=HOLE)
            if output:
                words = (target,)
            else:
                words = (url,)
            built.flow([at], [built.write(below(folder, target), words=words)])
    built.is_unknown = line.has("-i", "--input-file")


@RULES.of("twine")
def _twine(built: Builder, line: Line, command: Command) -> None:
    """`twine upload FILE…`."""
    files = [built.read(word) for word in line.operands[1:]]
    if line.operand(0) == "upload":
        url = line.value("--repository-url") or Word("pkg:pypi")
        built.flow(files, [built.add(Operation.SEND, url, words=tuple(line.operands[:1]))])


RULES |= {
    "curl": _curl,
    "windows-fetch": _windows_fetch,
}

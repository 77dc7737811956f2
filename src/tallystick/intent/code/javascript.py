"""JavaScript and TypeScript → what they do, read by their calls.

Owns the functions of Node, Deno and Bun that touch files, hosts and processes. Must not know statements: `scanning` reads
calls. Sources: the reference of Node.js (fs, child_process, http, net), of Deno and of Bun; the READMEs of axios, got, execa
and fs-extra.
"""

import re
from collections.abc import Mapping

from tallystick.catalog.loading import Entry, load
from tallystick.intent.actions import HOME, Found, or_hole
from tallystick.intent.code.indirect import plain_members
from tallystick.intent.code.scanning import Call, Language, Scan, scan, words_of
from tallystick.intent.code.tokens import Dialect, Token, unescaped
from tallystick.model.intent import Operation
from tallystick.model.pattern import pattern_of
from tallystick.model.script import HOLE

# Each group takes all that it could ever take (`*+`) and then surely ends: else a text of quotes takes quadratic time.
_PATTERN = pattern_of(
    r"(?P<space>[^\S\n]+|//[^\n]*|/\*[^*]*+(?:\*(?!/)[^*]*+)*(?:\*/|\Z))"
    r"|(?P<line>\n)"
    r'|(?P<string_1>"(?:[^"\\\n]|\\.?)*+(?:"|(?=\n)|\Z))'
    r"|(?P<string_2>'(?:[^'\\\n]|\\.?)*+(?:'|(?=\n)|\Z))"
    r"|(?P<template>`(?:[^`\\]|\\.?)*+(?:`|\Z))"
    r"|(?P<name>[A-Za-z_$][\w$]*)"
    r"|(?P<number>\d[\w.]*)"
    r"|(?P<sign>=>|\?\.|\+=|===?|!==?|&&|\|\||\S)",
    re.DOTALL,
)
_DIALECT = Dialect(
    pattern=_PATTERN,
    joins=frozenset("+"),
    variable=pattern_of(r"\$\{([^{}]{0,200})\}"),
    unescape=unescaped,
    declares=frozenset(("const", "let", "var")),
    loads=frozenset(("require",)),
)

_HOME_FOLDER = pattern_of(
    r"""(?:Deno\.env\.get\(\s?|(?:process|Bun)\.env\[\s?)(['"])HOME\1\s?[\])]|Bun\.env\.HOME\b|(?<=\$\{)(?:os\.)?homedir\(\)(?=\})"""
)
_TAGGED = pattern_of(r"(?<![\w$])(?:Bun\.)?\$(`(?:[^`\\]|\\.)*+`)", re.DOTALL)
"""Commands of zx and Bun."""


class _Facts(Entry, frozen=True):
    """Facts of catalog/code/javascript.toml."""

    writes: frozenset[str]
    copies: frozenset[str]
    file_modules: frozenset[str]
    telling: frozenset[str]
    node: frozenset[str]
    packages: frozenset[str]
    done: Mapping[str, tuple[str, ...]]


_FACTS = load("code/javascript", _Facts)
_TO_ONE = {name: Operation(operation) for operation, names in _FACTS.done.items() for name in names}
_INERT = _FACTS.node | _FACTS.packages
_MOVES = frozenset(("rename", "move"))
_LINKS = frozenset(("symlink", "link"))
_FETCHERS = {
    **dict.fromkeys(("get", "head", "options"), Operation.FETCH),
    **dict.fromkeys(("post", "put", "patch", "delete"), Operation.SEND),
    "request": Operation.CONNECT,
    "stream": Operation.FETCH,
}
_FETCHING = frozenset(("axios", "got", "http", "https", "undici", "ky", "superagent", "request"))
_MODULE = pattern_of(r"(?:node:|npm:|jsr:|bun:)?(.+)")


def read_javascript(text: str, found: Found) -> None:
    """Note what a program does, as far as its calls tell."""
    if "HOME" in text or "homedir" in text:
        text = _HOME_FOLDER.sub("process.env.HOME", text)
    text = plain_members(text)
    scan(_TAGGED.sub(r"execSync(\1)", text) if "$`" in text else text, found, _LANGUAGE)


def _module(said: str) -> str:
    found = _MODULE.fullmatch(unescaped(said)[:200])
    if found is not None:
        return found[1].replace("/promises", "")
    return said


def _names(program: list[Token]) -> Mapping[str, str]:
    """What is bound to a module or to its functions: `NAMES = require("module")`, `import NAMES from "module"`."""
    found: dict[str, str] = {}
    for place, token in enumerate(program):
        if token.kind != "name" or token.text not in ("require", "from", "import"):
            continue
        module = next((part.text for part in program[place + 1 : place + 3] if part.kind == "string"), None)
        if module is not None:
            _bind(found, _names_before(program, place), _module(module))
    return found


def _names_before(program: list[Token], place: int) -> list[Token]:
    """The tokens that are bound: up to `import` before `from`, the name or the braces before `=`."""
    before = [token for token in program[max(0, place - 80) : place] if token.kind != "line" and token.text != "await"]
    if program[place].text == "from":
        start = max((at for at, token in enumerate(before) if token.text == "import"), default=len(before))
        return before[start + 1 :]
    if not before or before[-1].text != "=":
        return []
    if before[-2:-1] and before[-2].text == "}":
        return before[max((at for at, token in enumerate(before) if token.text == "{"), default=0) : -1]
    return before[-2:-1]


def _bind(found: dict[str, str], names: list[Token], module: str) -> None:
    in_braces = False
    for at, token in enumerate(names):
        in_braces = token.text == "{" or (in_braces and token.text != "}")
        if token.kind != "name" or token.text in ("as", "type"):
            continue
        after = ""
        if at + 1 < len(names):
            after = names[at + 1].text
        if not in_braces:
            found[token.text] = module
        elif after not in (":", "as"):
            if at >= 2 and names[at - 1].text in (":", "as"):
                original = names[at - 2].text
            else:
                original = token.text
            if original == "promises":
                found[token.text] = module
            else:
                found[token.text] = f"{module}.{original}"


def _texts(scan: Scan, call: Call) -> str | None:
    """Functions that give a path or a text."""
    method = call.name.rpartition(".")[2]
    if call.name in ("path.join", "path.resolve", "path.posix.join", "join", "resolve"):
        parts = [or_hole(argument.text) for argument in call.args]
        kept = [part for part in parts if part not in ("", ".")] or ["."]
        rooted = max((at for at, part in enumerate(kept) if part.startswith(("/", HOME))), default=0)
        return "/".join(part.rstrip("/") or "/" for part in kept[rooted if method == "resolve" else 0 :]).replace(
            "//", "/"
        )
    if call.name in ("os.homedir", "homedir"):
        return HOME
    if call.name in ("process.cwd", "Deno.cwd"):
        return "."
    if call.name in ("os.tmpdir", "tmpdir"):
        return "/tmp"
    if call.name in ("String", "path.normalize", "String.raw"):
        return call.text(0)
    if call.name in ("URL", "fileURLToPath", "url.fileURLToPath") and (text := call.text(0)) is not None:
        return text.removeprefix("file://")
    return None


def _calls(scan: Scan, call: Call) -> None:
    owner, _, function = call.name.rpartition(".")
    owner = owner.replace(".promises", "")
    name = function.removesuffix("Sync")
    if call.name in ("require", "import"):
        _loads(scan, call.text(0))
    elif owner in _FACTS.file_modules or function in _FACTS.telling:
        _file(scan, name, call)
    elif owner in ("child_process", "execa", "cross-spawn", "shelljs") or call.name in (
        "execa",
        "execSync",
        "spawnSync",
    ):
        _program(scan, name, call)
    elif owner in _FETCHING and name in _FETCHERS:
        _request(scan, _FETCHERS[name], call)
    elif call.name in ("fetch", "axios", "got", "ky", "node-fetch", "undici.fetch", "request"):
        _request(scan, Operation.FETCH, call)
    else:
        _other(scan, call, owner, name)


def _loads(scan: Scan, module: str | None) -> None:
    """A module that is in no library: its code runs, and was not read."""
    name = None
    if module is not None:
        name = _module(module)
    if name is None or (name not in _INERT and "/".join(name.split("/")[:1]) not in _INERT):
        scan.found.is_unknown = True


def _content(call: Call) -> str | None:
    """All that a file gets, where the call tells: with options it may be added to what is there."""
    content = call.text(1)
    if content is None or HOLE in content or "{" in {token.text for token in call.at(2).tokens}:
        return None
    return content


def _file(scan: Scan, name: str, call: Call) -> None:
    found = scan.found
    path = scan.placed(call.text(0))
    is_deep = any(argument.says("recursive") == "true" for argument in call.args[1:])
    if name in _FACTS.writes:
        found.writes(path, None if name == "createWriteStream" else _content(call))
    elif name in _TO_ONE:
        operation = _TO_ONE[name]
        found.file(
            operation, path, is_deep=operation in (Operation.DELETE, Operation.LIST) and (is_deep or name == "remove")
        )
    elif name in _FACTS.copies:
        found.copies(path, scan.placed(call.text(1)), is_deep=name == "cp" and is_deep)
    elif name in _MOVES:
        found.moves(path, scan.placed(call.text(1)))
    elif name in _LINKS:
        found.links(call.text(0), scan.placed(call.text(1)))
    elif name == "open":
        found.file(_of_flags(call.text(1) if len(call.args) > 1 else "r"), path)
    elif name in ("mkdtemp", "makeTempDir", "makeTempFile"):
        found.file(Operation.CREATE, None)
    elif call.name == "Deno.Command":
        found.runs_program([call.text(0), *_listed(call.at(1).tokens, "args")])
    elif call.name == "Deno.run":
        found.runs_program(_listed(call.at(0).tokens, "cmd"))


def _listed(tokens: tuple[Token, ...], name: str) -> list[str | None]:
    """The texts of a list that a member of an object holds: `{cmd: ["rm", "-r"]}`."""
    start = next((at for at, token in enumerate(tokens) if token.text == name), len(tokens))
    found: list[str | None] = []
    words: list[str] = []
    for token in tokens[start + 3 :]:
        if token.kind == "sign" and token.text in ",]":
            if words:
                found += [_LANGUAGE.constants.get("".join(words))]
            words = []
            if token.text == "]":
                break
        elif token.kind in ("string", "template"):
            found.append(unescaped(token.text))
        else:
            words.append(token.text)
    return found


def _of_flags(flags: str | None) -> Operation:
    if flags is None or HOLE in flags:
        return Operation.UNKNOWN
    if flags.startswith("a"):
        return Operation.APPEND
    if flags.startswith("w"):
        return Operation.WRITE
    if "+" in flags:
        return Operation.EDIT
    return Operation.READ


def _program(scan: Scan, name: str, call: Call) -> None:
    if name in ("exec", "execaCommand", "command"):
        scan.found.runs("sh", call.text(0))
    elif name == "fork":
        scan.found.file(Operation.EXECUTE, scan.placed(call.text(0)))
        scan.found.is_unknown = True
    elif name in ("spawn", "execFile", "execa", "sync", "cross-spawn", "default"):
        is_shell = any(argument.says("shell") == "true" for argument in call.args[1:])
        words = words_of(call.text(0), [argument for argument in call.args[1:2] if argument.items is not None])
        if is_shell:
            scan.found.runs("sh", " ".join(or_hole(word) for word in words))
        else:
            scan.found.runs_program(words)


def _request(scan: Scan, operation: Operation, call: Call) -> None:
    method = next((said for argument in call.args for said in [argument.says("method")] if said), "")
    if method.upper() in ("POST", "PUT", "PATCH", "DELETE"):
        operation = Operation.SEND
    address = call.text(0)
    if address is None:
        host = next(
            (said for argument in call.args[:1] for key in ("url", "hostname", "host") if (said := argument.says(key))),
            None,
        )
        address = host
    scan.found.network(operation, address)


def _other(scan: Scan, call: Call, owner: str, name: str) -> None:
    found = scan.found
    if call.name in ("eval", "Function", "vm.runInThisContext", "vm.runInNewContext", "vm.Script"):
        found.runs("javascript", call.text(len(call.args) - 1 if call.name == "Function" and call.args else 0))
    elif call.name == "process.chdir":
        scan.folder = scan.placed(call.text(0)) or HOLE
    elif call.name == "process.kill":
        found.process(Operation.SIGNAL, call.text(0))
    elif call.name in ("WebSocket", "net.connect", "net.createConnection", "tls.connect", "EventSource"):
        found.network(Operation.CONNECT, call.text(0))
    elif call.name == "Bun.write":
        found.file(Operation.WRITE, scan.placed(call.text(0)))
    elif call.name == "Bun.file":
        found.file(Operation.READ, scan.placed(call.text(0)))
    elif call.name in ("Bun.spawn", "Bun.spawnSync"):
        found.runs_program(list(call.at(0).items or ()))
    elif call.name in ("rimraf", "rimraf.sync", "del", "trash"):
        found.file(Operation.DELETE, scan.placed(call.text(0)), is_deep=True)
    elif call.name in ("glob", "glob.sync", "fast-glob", "globby", "fast-glob.sync"):
        found.file(Operation.LIST, None if call.text(0) is None else scan.placed(call.text(0)), is_deep=True)


_LANGUAGE = Language(
    dialect=_DIALECT,
    calls=_calls,
    texts=_texts,
    names=_names,
    constants={"process.env.HOME": HOME, "__dirname": HOLE, "__filename": HOLE, "path.sep": "/"},
)

"""Tools in no table: those of MCP servers, and whatever else an agent calls.

Owns what names of members and verbs in a tool's name say: paths, URLs, commands, and whether data is fetched or sent;
and of servers that run git, with members instead of words (`git_reset {"mode": "hard"}`), turning those of their calls
that take something away, or send it, into git's own words. Must not claim more: where no verb tells what is done to a
path, the operation is unknown. Source: specs of MCP servers in use; the tools of the reference server for git, and of
git-mcp-server.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from tallystick.intent.programs import known_programs
from tallystick.intent.shell.names import canonical
from tallystick.intent.tools.arguments import (
    Members,
    any_text,
    decoded,
    has_blank,
    members_of,
    strings,
    text_among,
    texts_among,
)
from tallystick.intent.tools.draft import MOST, Draft
from tallystick.intent.tools.paths import is_url
from tallystick.intent.tools.reaching import of_server, reaches, urls_in
from tallystick.intent.tools.running import take
from tallystick.intent.tools.uses import Code
from tallystick.model.intent import Domain, Operation
from tallystick.model.pattern import pattern_of
from tallystick.model.step import Json

_METHOD = pattern_of(r"git_(reset|push|clean|branch|stash|checkout)\Z")
_PLACES = ("repopath", "repositorypath", "path", "cwd", "workingdirectory")


def runs_git(draft: Draft, method: str) -> None:
    """Add the git command that a call comes to, where it is one of those."""
    found = _METHOD.search(method[:200])
    if found is not None:
        words = _words(found[1], draft.members)
    else:
        words = ()
    if words:
        place = text_among(draft.members, *_PLACES)
        if place is not None:
            words = ("-C", place, *words)
        draft.programs.append(("git", *words))


def _given(members: Members, *names: str) -> tuple[str, ...]:
    """The member of one of these names as a word of a command; no word without it."""
    found = text_among(members, *names)
    if found is None:
        return ()
    return (found,)


def _words(verb: str, members: Members) -> tuple[str, ...]:
    is_forced = any(members.get(name) is True for name in ("force", "forcedelete"))
    match verb:
        case "reset" if (mode := text_among(members, "mode")) is not None:
            return ("reset", f"--{mode}", *_given(members, "commit", "target", "ref"))
        case "push":
            named = (*_given(members, "remote"), *_given(members, "branch"))
            if is_forced:
                return ("push", "--force", *named)
            return ("push", *named)
        case "clean" if is_forced and members.get("directories") is True:
            return ("clean", "-f", "-d")
        case "clean" if is_forced:
            return ("clean", "-f")
        case "branch" if (text_among(members, "operation", "mode", "action") or "").startswith("delete"):
            flag = "-d"
            if is_forced:
                flag = "-D"
            return ("branch", flag, *_given(members, "branchname", "name", "branch"))
        case "stash" if text_among(members, "mode", "operation", "action") in ("drop", "clear"):
            return ("stash", text_among(members, "mode", "operation", "action") or "")
        case "checkout" if is_forced:
            return ("checkout", "--force", text_among(members, "target", "branchname", "branch") or "HEAD")
        case _:
            return ()


_WORD = pattern_of(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_VERBS = {
    verb: operation
    for operation, verbs in {
        Operation.READ: "read view get cat show open load describe stat info check inspect parse diagnostics analyze "
        "upload attach send share publish submit post transcribe scan ocr summarize",
        Operation.LIST: "list ls glob find search grep tree query lookup count",
        Operation.WRITE: "write create save put store export generate download screenshot",
        Operation.APPEND: "append",
        Operation.EDIT: "edit update patch replace insert modify set format rename move",
        Operation.DELETE: "delete remove rm unlink trash",
    }.items()
    for verb in verbs.split()
}
_SEARCHING = frozenset(("search", "grep", "query", "find", "lookup"))
_FETCHING_VERBS = """
get read list search find query fetch view show describe lookup download ls count stat navigate browse resolve check info
watch snapshot
"""
_SENDING_VERBS = """
send post publish create comment reply submit update add write upload put delete remove merge push invite assign close edit
set save notify email share deploy move rename label approve
"""
_LOCAL_SERVERS = """
filesystem fs files file local serena desktopcommander texteditor ide jetbrains vscode git editor memory everything shell
terminal commander workspace
"""
_REMOTE_MEMBERS = """
owner repo repository bucket projectid projectkey project branch ref sha site siteid host hostname database table spaceid
pageid issue issuenumber pullnumber teamid fileid folderid namespace org
"""
_PATH_MEMBERS = "source destination dest dst src target from to output input uri root cwd"
_FETCHING, _SENDING, _LOCAL, _REMOTE, _PATH_NAMES = (
    frozenset(names.split())
    for names in (_FETCHING_VERBS, _SENDING_VERBS, _LOCAL_SERVERS, _REMOTE_MEMBERS, _PATH_MEMBERS)
)
# _LOCAL: servers whose relative paths are on this machine; `git` is the reference server, which works on local repositories.
# _REMOTE: members beside which a relative path is one of a remote repository, a bucket, a page.
_COMMAND = pattern_of(
    r".*(?:command|cmd)(?:s|lines?|strings?|str|text|list)?|(?:.*(?:shell|bash|zsh))(?:script|code|line)?s?|argv|sh"
)
"""What a member is called that is a command line, whatever stands before it: `cmdLine`, `run_command`, `bashScript`."""
_MAY_BE_COMMAND = frozenset(("script", "scripts", "run", "runs", "exec", "execute", "entrypoint", "line", "lines"))
_PROGRAMS = ("program", "executable", "binary", "command", "cmd")
_CODE = pattern_of(
    r"(python|py|javascript|js|node|sql)(?:code|script|source|snippet|text|expression)?|(?:code|script|source)(python|py|javascript|js|node|sql)"
)
_CODES = {"py": "python", "js": "javascript", "node": "javascript"}
_TERMINALS = frozenset(("term", "terminal", "tmux", "screen", "pty", "tty", "console", "iterm", "shell", "ssh", "repl"))
_TYPING = frozenset(("type", "send", "write", "press", "paste", "input", "enter", "keys", "feed"))
_KEYS = ("keys", "text", "input", "chars", "keystrokes", "data", "content")
_SHELL_OPTION = pattern_of(r"-[a-z]{0,3}c|/[cC]|-Command")
"""What comes before a command line among the words of a shell."""
_OPERATIONS = ("op", "operation", "action", "verb", "method", "kind", "type")
"""Members that say what is done, where the tool's name does not."""
_NEW_TEXTS = ("newtext", "newcontent", "newstring", "newstr", "replacement", "content", "contents", "filetext")
_MOST_DEPTH = 8
_MOST_BEFORE = 4096
"""Characters of comments before a statement."""
_QUERIES = frozenset(("query", "statement", "sqlquery"))
_LOOKING = frozenset(("search", "find", "lookup", "grep", "ask"))
_SQL = pattern_of(
    r"\s*(?:(?:--[^\n]*\n|/\*[^*]*\*/)\s*){0,8}(?:select|with|insert\s+into|update|delete\s+from|create|alter|drop|truncate|copy|attach"
    r"|pragma|load\s+data|merge|grant|vacuum|replace\s+into|call|do)\b",
    re.IGNORECASE,
)
"""How SQL begins that does more than it says in one word; what people look for begins otherwise, or hardly does harm."""
_PATH_END = pattern_of(r"(?:path|paths|file|files|filename|filenames|dir|directory|folder|notebook|attachments?)\Z")
_FROM = pattern_of(r"source|src|input|from\Z|(?<!f)old")
_TO = pattern_of(r"dest|target|output|dst|new|saveto")
_NO_PATH = pattern_of(r"[\n\r\0]")


def unlisted(draft: Draft, server: str | None, method: str) -> None:
    """Add what the arguments tell of a tool that is in no table. `server` is the MCP server, None if it is none's."""
    verbs = [word.lower() for word in _WORD.findall(method[:200])]
    draft.is_told = any(verb in _VERBS for verb in verbs)
    before = _count(draft)
    runs_git(draft, method)
    _commands(draft, is_search=not _LOOKING.isdisjoint(verbs))
    _typed(draft, server, verbs)
    _paths(draft, server, verbs)
    operation = _direction(verbs)
    for url in urls_in(draft):
        reaches(draft, operation, url)
    is_told = _count(draft) > before
    if server is None:
        draft.unknown()
    elif not is_told or not is_local(server):
        draft.other(Domain.NETWORK, operation, of_server(server), method)


def _count(draft: Draft) -> int:
    return len(draft.intents) + len(draft.commands) + len(draft.codes) + len(draft.typed)


def is_local(server: str) -> bool:
    """Whether an MCP server's name says that it works on this machine's files."""
    return bool(_LOCAL & set(re.findall(r"[a-z]+", server.lower())))


def _direction(verbs: list[str]) -> Operation:
    """Whether the first verb that is known gets data or gives it."""
    for verb in verbs:
        if verb in _FETCHING:
            return Operation.FETCH
        if verb in _SENDING:
            return Operation.SEND
    return Operation.CONNECT


def _typed(draft: Draft, server: str | None, verbs: list[str]) -> None:
    """Text for a program that runs already: what a terminal shall type."""
    named = {*_WORD.findall((server or "").lower()), *verbs}
    text = text_among(draft.members, *_KEYS)
    if text is not None and not named.isdisjoint(_TERMINALS) and not named.isdisjoint(_TYPING):
        draft.typed.append(text)


def _commands(draft: Draft, *, is_search: bool) -> None:
    _runs_in(draft, draft.args, 0)
    for name, text in strings(draft.args):
        if len(draft.commands) + len(draft.codes) >= MOST:
            return
        found = _CODE.fullmatch(name)
        if found is not None:
            language = found[1] or found[2]
            draft.codes.append(Code(_CODES.get(language, language), text))
        elif name in _QUERIES and not is_search and _SQL.match(text[:_MOST_BEFORE]):
            draft.codes.append(Code("sql", text))


def _runs_in(draft: Draft, value: Json, depth: int) -> None:
    """Take the commands in members, however deep they lie: texts, the words of a program, a program beside its words."""
    value = decoded(value)
    if isinstance(value, list):
        items = [("", item) for item in value]
        texts = [item for item in value[:2] if isinstance(item, str)]
        if len(texts) > 1 and _SHELL_OPTION.fullmatch(texts[0]) and _looks_run(texts[1]):
            draft.commands.append(texts[1])
    elif isinstance(value, dict):
        members = members_of(value)
        items = list(members.items())
        program, words = text_among(members, *_PROGRAMS), texts_among(members, "args", "arguments", "argv")
        if program is not None and words and not has_blank(program):
            draft.programs.append((program, *words))
            items = [(name, item) for name, item in items if name not in (*_PROGRAMS, "args", "arguments", "argv")]
    else:
        return
    for name, item in items[:MOST] if depth < _MOST_DEPTH else ():
        if len(draft.commands) + len(draft.programs) >= MOST:
            return
        if name and _means_command(name, item):
            take(draft, item, depth, is_several=name.endswith("s"))
        else:
            _runs_in(draft, item, depth + 1)


def _means_command(name: str, value: Json) -> bool:
    """Whether a member is a command: by its name, or by a name that may mean one and how its text begins."""
    if _COMMAND.fullmatch(name):
        return True
    first = value[0] if isinstance(value, list) and value else value
    return name in _MAY_BE_COMMAND and isinstance(first, str) and _looks_run(first)


def _looks_run(text: str) -> bool:
    line = next((line for line in text[:_MOST_BEFORE].split("\n") if line.strip() and line.lstrip()[:1] != "#"), "")
    word = (line.split() or [""])[0]
    if text.startswith("#!") or _ASSIGNED.match(line):
        return True
    return word.startswith(("./", "/", "~/")) or canonical(word.rpartition("/")[2]) in known_programs()


_ASSIGNED = pattern_of(r"[A-Za-z_]\w*=\S* ")


def _paths(draft: Draft, server: str | None, verbs: list[str]) -> None:
    is_remote = server is not None and not is_local(server) and not _REMOTE.isdisjoint(draft.members)
    for name, text, said in _said_of(draft.args, verbs, 0):
        if len(draft.intents) >= MOST:
            return
        text = text.replace("\0", "")  # no path has one: a tool leaves it out, or fails
        if _means_command(name, text) or not _may_be_path(name, text):
            continue
        is_rooted = text.startswith(("/", "~/", "file://"))
        if is_rooted or not is_remote:
            # A relative path of a server that works elsewhere may mean anything.
            is_told = server is not None and (is_rooted or is_local(server))
            if is_told:
                operation = _operation(name, said)
            else:
                operation = Operation.UNKNOWN
            is_search = operation is Operation.LIST and not _SEARCHING.isdisjoint(verbs)
            at = draft.file(operation, text, is_deep=is_search)
            if is_search:
                draft.searched.append(at)


def _said_of(value: Json, verbs: list[str], depth: int) -> Iterator[tuple[str, str, list[str]]]:
    """Every text with the name of its member, and the verbs that say what is done with it.

    Those of the tool's name; where that has none, what the object says in which it stands: an operation, or a new text.
    """
    if isinstance(value, list) and depth < _MOST_DEPTH:
        for item in value[:MOST]:
            yield from _said_of(item, verbs, depth + 1)
    elif isinstance(value, dict) and depth < _MOST_DEPTH:
        members = members_of(value)
        if not any(verb in _VERBS for verb in verbs):
            told = _WORD.findall((text_among(members, *_OPERATIONS) or "")[:200].lower())
            has_text = any_text(members, *_NEW_TEXTS) is not None
            verbs = [*(told or (["edit"] if has_text else [])), *verbs]
        for name, item in members.items():
            if isinstance(item, dict) or (isinstance(item, list) and any(isinstance(one, dict) for one in item)):
                yield from _said_of(item, verbs, depth + 1)
            else:
                yield from ((known, text, verbs) for known, text in strings(item, name))
    elif isinstance(value, str):
        yield "", value, verbs


def _may_be_path(name: str, text: str) -> bool:
    """Whether a text is a path: by the name of its member, or by how it begins. Not prose, not code, not a URL of the web."""
    if not text or len(text) > 4096 or _NO_PATH.search(text):
        return False
    if is_url(text) and text[:7].lower() != "file://":
        return False
    if _PATH_END.search(name):
        return True
    looks = text.startswith(("/", "~/", "./", "../", "file://")) and not has_blank(text)
    return looks and (name in _PATH_NAMES or len(text) > 1)


def _operation(name: str, verbs: list[str]) -> Operation:
    """What is done to the path in the member `name`: its name says it first, then the verbs of the tool's name."""
    found = next((_VERBS[verb] for verb in verbs if verb in _VERBS), Operation.UNKNOWN)
    if _FROM.search(name):
        return Operation.READ
    if _TO.search(name) and found not in (Operation.LIST, Operation.DELETE):
        if found is not Operation.EDIT:
            return Operation.WRITE
        return Operation.EDIT
    return found

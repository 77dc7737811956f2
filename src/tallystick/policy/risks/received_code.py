"""Code that joins a shell with a connection, or runs what a connection or a host gives, in any language.

Owns how such code looks, as text: a socket, a shell that is started to take commands, and what ties them; or a text that came
in and is run, by the names that it is given on the way. Must not know where code comes from. Each expression is bounded, so
that long texts take linear time.
"""

from __future__ import annotations

import re

from tallystick.model.pattern import Near, pattern_of

_MOST_CHARACTERS = 64 << 10
_MOST_NAMES = 200
_SOCKET = Near(
    "sock net tls dgram tcp udp dial connection create_server start_server",
    r"""socket\s*\(|socket["']?\s*\)?\s*\.\s*(?:tcp|udp|connect|bind)|create_connection|create_server|open_connection
    |require\s*\(?\s*["']socket["']|start_server|(?:TCP|UDP|SSL)(?:Socket|Server|Client)|socketserver|IO::Socket|use\s+Socket|fsockopen|stream_socket_\w+
    |socket_(?:create|connect)|net\s*\.\s*(?:connect|createConnection|createServer|Socket|Dial|Listen)
    |\(\s*["'](?:node:)?(?:net|tls|dgram)["']\s*\)|["'](?:node:)?net["']|/inet\d?/(?:tcp|udp)|Tcp(?:Client|Listener|Stream)
    |Net\.Sockets|java\.net|new\s+(?:Server)?Socket|gen_tcp|\bztcp\b""",
    re.IGNORECASE | re.VERBOSE,
)
_SHELL = pattern_of(
    r"""["'`](?:/usr)?(?:/[\w.-]{1,20}){0,4}/?(?:env\ )?(?:ba|z|da|k|mk|a|c|tc|fi)?sh(?:\.exe)?
    (?:\s{1,3}(?:-[a-z]{1,4}|\d?[<>]&?\s?[\w&%$]{1,12}|\d?[<>]&?-))*\s?["'`]
    (?!\s{0,3},\s{0,3}\[?\s{0,3}["'](?!-?-[ilp]))
    |["'`](?:[\w:\\/.]{0,60}[\\/])?(?:cmd|powershell|pwsh)(?:\.exe)?["'`](?!\s{0,3},\s{0,3}\[?\s{0,3}["'][/-]c)
    |\bqw?\(\s?(?:/usr)?/bin/(?:ba|z|da|k)?sh""",
    re.IGNORECASE | re.VERBOSE,
)
_TIED = pattern_of(
    r"""dup2?\s*\(|pty\.spawn|\.pipe\s*\(|STD(?:IN|OUT|ERR)\s{0,3}[,)]?\s{0,3}["'(]?\s{0,3}[<>+]{1,2}&|\d?[<>]&\s?[\$%]?\w
    |std(?:in|out|err)\s{0,3}[=:]\s{0,3}(?!subprocess|sp\.|None|PIPE|-1|True|False|["'])\w|\.Std(?:in|out|err)\s{0,3}=
    |getInputStream|getOutputStream|proc_open|fdopen|reopen\s*\(|StandardInput|io\.Copy|stdin\.(?:write|puts|print)
    |stdio\s{0,3}:\s{0,3}\[\s{0,3}\w|\[\s?:(?:in|out)\b|:in\s?=>""",
    re.VERBOSE,
)
_RECEIVED = pattern_of(
    r"""\.recv\w*\s*\(|[.:]receive\s*\(|\.gets\b|\.makefile\s*\(|fgets\s*\(|fread\s*\(|socket_read|stream_get_\w+
    |stream_socket_recvfrom|sysread|\brecv\s*\(|<\$?\w{0,30}>|\.GetStream|\.Read\w*\s*\(|reader\.read\w*\s*\(
    |\bawait\s{1,3}\w{1,30}\.read\w{0,10}\s*\(
    |getInputStream|bufio\.New|gen_tcp:recv""",
    re.VERBOSE,
)
_GIVEN = pattern_of(
    r"""(?<![\w$@])((?:[$@]?\w{1,40}\s{0,3},\s{0,3}){0,5}[$@]?\w{1,40})\s{0,3}(?::=|=(?!=)|<-|\bin\b)\s{0,3}(?=[^;\n])"""
)
_END = pattern_of(r"[;\n]|\\n")
_MOST_RIGHT = 200
_CALLED_BACK = pattern_of(
    r"""\.on\(\s{0,3}["'](?:data|message|line)["']\s{0,3},\s{0,3}(?:async\s)?(?:function\s{0,3}\w{0,30})?
    \s{0,3}\(?\s{0,3}(\w{1,40})""",
    re.VERBOSE,
)
_THEN = pattern_of(
    r"\.then\s{0,3}\(\s{0,3}(?:async\s)?(?:\(?\s{0,3}(\w{1,40})\s{0,3}\)?\s{0,3}=>|function\s{0,3}\(\s{0,3}(\w{1,40}))"
)
_RUN = pattern_of(
    r"""(?:\bsystem|\bpopen\d?|subprocess\.\w{1,20}|create_subprocess_\w{4,5}
    |\bexec\w{0,10}|\bspawn\w{0,10}|shell_exec|passthru|\beval|os\.execute
    |[iI][oO]\.popen|getoutput|check_output|Open3\.\w{1,12}|Invoke-Expression|\biex|\.exec\w{0,6}|ProcessBuilder|exec\.Command
    |\bqx|loadstring|\bload)\s{0,3}[({\[\s]{0,4}([^;\n]{1,200})|`([^`\n]{1,200})`""",
    re.IGNORECASE | re.VERBOSE,
)
_NAME = pattern_of(r"[$@]?\w{1,40}")


def _right(text: str, start: int) -> str:
    """What stands on the right of an assignment, to its end."""
    found = _END.search(text, start, start + _MOST_RIGHT)
    return text[start : found.start() if found is not None else start + _MOST_RIGHT]


_AWK_READ = pattern_of(r"""([\w$]{1,40})["')\s]{0,3}\|&?\s{0,3}getline""")
_AWK_SOCKET = pattern_of(r"""([\w$]{1,40})\s{0,3}=\s{0,3}"/inet""")
_AWK_RUNS = pattern_of(r"system\s{0,3}\(|print[^|;}]{0,80}\|(?!&)\s{0,3}[A-Za-z_(]")


def joins_a_shell(language: str, text: str) -> bool:
    """Whether code gives a shell to a connection, or runs what a connection gives."""
    text = text[:_MOST_CHARACTERS]
    if language == "tcl":
        return _tcl_runs_received(text)
    if _SOCKET.search(text) is None:
        return False
    if language == "awk":
        read = set(_AWK_READ.findall(text)) - set(_AWK_SOCKET.findall(text))
        return bool(read) or _AWK_RUNS.search(text) is not None
    if _SHELL.search(text) is not None and _TIED.search(text) is not None:
        return True
    return _runs_received(text)


_TCL_SOCKET = pattern_of(r"\bsocket\s{1,3}(?:-\w{1,12}\s{1,3}){0,3}[\w.$:-]{1,100}\s{1,3}[\w$]{1,30}")
_TCL_READ = pattern_of(
    r"\bgets\s{1,3}\$?\w{1,40}\s{1,3}(\w{1,40})|\bset\s{1,3}(\w{1,40})\s{1,3}\[\s{0,3}(?:gets|read)\b"
)
_TCL_RUNS = pattern_of(r"\b(?:exec|eval|uplevel)\b[^\n;\]]{0,80}?\$\{?(\w{1,40})")


def _tcl_runs_received(text: str) -> bool:
    """`gets $s c; exec {*}$c`: a line of a connection is run."""
    if _TCL_SOCKET.search(text) is None:
        return False
    read = {name for found in _TCL_READ.findall(text) for name in found if name}
    return not read.isdisjoint(_TCL_RUNS.findall(text))


def _runs_received(text: str) -> bool:
    """Whether something that came in is run, by the names that it is given."""
    if _RECEIVED.search(text) is None and _CALLED_BACK.search(text) is None:
        return False
    names = _named(text, _RECEIVED)
    for found in _RUN.finditer(text):
        given = found[1] or found[2]
        if given[:1] in "\"'" and "$" not in given and "#{" not in given and "{" not in given and "," not in given:
            continue
        if _RECEIVED.search(given) is not None or not names.isdisjoint(_NAME.findall(given)):
            return True
    return False


def runs_named(text: str, source: re.Pattern[str]) -> bool:
    """Whether what a source gives is run as a command or as code, not merely given to a program that is known."""
    names = _named(text, source)
    for found in _RUN.finditer(text):
        given = (found[1] or found[2]).lstrip(" ([{")
        shell = _TO_SHELL.match(given)
        if shell is not None:
            given = given[shell.end() :]
        first = _FIRST.match(given)
        if first is not None and (first[1] in names or source.match(given) is not None):
            return True
    return False


_TO_SHELL = pattern_of(
    r"""["'](?:/\w{1,10}){0,3}/?[\w.]{1,12}["']\s{0,3},\s{0,3}\[?\s{0,3}["'](?:-\w{0,3}c|-e|/c)["']\s{0,3},\s{0,3}"""
)
_FIRST = pattern_of(r"""(?:f?["']{1,3}\{)?([$@]?\w{1,40})""")


def _named(text: str, source: re.Pattern[str]) -> set[str]:
    """The names that hold what a source gives, or what was made of it."""
    given = [(_NAME.findall(found[1]), _right(text, found.end())) for found in _GIVEN.finditer(text)]
    names = set(_CALLED_BACK.findall(text))
    if source.search(text) is not None:
        names.update(name for found in _THEN.findall(text) for name in found if name)
    if source.search(text) is not None and "$_" in text:
        names.add("$_")
    for _ in range(4):
        before = len(names)
        for left, right in given[:2000]:
            if source.search(right) is not None or not names.isdisjoint(_NAME.findall(right)):
                names.update(left)
        if len(names) in (before, _MOST_NAMES):
            break
    return names

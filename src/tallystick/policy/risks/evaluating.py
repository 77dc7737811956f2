"""Code that runs a text as code or as a command, where the text does not stand in it.

Owns how that looks in each language: what a text is run with, and the decoders that hide one. Must not know where code comes
from, nor what follows. Each expression is bounded, so that long texts take linear time.
"""

from __future__ import annotations

import base64
import binascii
import re

from tallystick.policy.risks.reverse_shell_code import runs_named

_MOST_CHARACTERS = 64 << 10
_FLAGS = re.VERBOSE | re.IGNORECASE
_PYTHON = re.compile(
    r"""(?<![\w.])(?:exec|eval|compile|execfile)\s{0,3}\(\s{0,10}
    (?![)]|[rRbBuU]{0,2}(?:"[^"\n]{0,500}"|'[^'\n]{0,500}')\s{0,3}[),]|[rRbBuU]{0,2}(?:\"""|''')|open\b|Path\b|pathlib\b)
    |(?:pickle|marshal|dill|cloudpickle)\.loads?\s{0,3}\([^)\n]{0,60}(?:urlopen|requests\.|httpx\.|urllib)
    |(?:os\.(?:system|popen)|subprocess\.\w{1,20})\s{0,3}\([^)\n]{0,80}(?:urlopen|requests\.|httpx\.)
    |\bexec_module\b|\bInteractiveInterpreter\b|\brunsource\b""",
    re.VERBOSE,
)
_JAVASCRIPT = re.compile(
    r"""(?<![\w.$])(?:eval|Function)\s{0,3}\(\s{0,10}(?!["'`)]) | \.then\s{0,3}\(\s{0,3}(?:eval|Function)\b
    |\bvm\.(?:runIn\w{1,20}|Script|compileFunction)\b | \._compile\s{0,3}\(
    |(?:globalThis|window|global)\.eval\b | \(\s{0,3}0\s{0,3},\s{0,3}eval\s{0,3}\)
    |\.then\s{0,3}\([^;]{0,60}=>\s{0,3}[\w.]{0,30}exec(?:Sync)?\s{0,3}\(\s{0,3}[A-Za-z_]
    |\.on\s{0,3}\(\s{0,3}["']data["'][^;]{0,80}\b(?:exec(?:Sync)?|eval|Function)\s{0,3}\(""",
    re.VERBOSE,
)
_PERL = re.compile(
    r"""\beval\b\s{0,3}\(?\s{0,3}(?![\s{"'(;)]|q\b)|(?:\bsystem|\bexec)\s{0,3}\(?\s{0,3}(?:get\b|\$\w+->)|`\s?\$""",
    re.VERBOSE,
)
_RUBY = re.compile(
    r"""(?<![\w.])(?:(?:instance_|class_|module_)?eval)\s{0,3}[(\s]\s{0,3}(?!["'{)\s])
    |(?:\bsystem|\bexec|\bload|IO\.popen)\s{0,3}[(\s]\s{0,3}(?:URI|Net::HTTP|open)\b|`\#\{""",
    re.VERBOSE,
)
_PHP = re.compile(
    r"""(?<![\w>:$])(?:eval|assert|create_function)\s{0,3}\(\s{0,3}(?!["')])
    |\b(?:include|require)(?:_once)?\s{0,3}\(?\s{0,3}["'](?:https?|ftp|data|php):
    |\b(?:system|exec|shell_exec|passthru)\s{0,3}\(\s{0,3}(?:file_get_contents|curl_exec)""",
    _FLAGS,
)
_LUA = re.compile(r"""\bload(?:string)?\s{0,3}\(\s{0,3}(?!["')])|os\.execute\s{0,3}\(\s{0,3}(?!["')])""", re.VERBOSE)
_POWERSHELL = re.compile(
    r"""\b(?:iex|invoke-expression)\b|\.invokescript\b|\[scriptblock\]::create|\|\s{0,3}(?:cmd|sh|bash)\b""", _FLAGS
)
_OTHER = re.compile(
    r"""\bsource\s{0,3}\(\s{0,3}["']https?:|\beval\s{0,3}\(\s{0,3}parse\s{0,3}\(|include_string|\(\s{0,3}load(?:-file)?\s{1,3}\(\s{0,3}url-|\binclude\s{0,3}\(\s{0,3}download
    |\b(?:Eval\.me|GroovyShell|Code\.eval_string|ScriptEngine)|(?<![\w.])eval\s{0,3}[(\s]\s{0,3}(?!["')\s])|do\sshell\sscript""",
    _FLAGS,
)
_RUNS: dict[str, re.Pattern[str]] = {
    "python": _PYTHON,
    "javascript": _JAVASCRIPT,
    "typescript": _JAVASCRIPT,
    "perl": _PERL,
    "ruby": _RUBY,
    "php": _PHP,
    "lua": _LUA,
    "powershell": _POWERSHELL,
}
_HINTS_NAMES = """
eval exec compile function( loads popen system subprocess runsource interactiveinterpreter vm. assert include require
load open execute iex invoke scriptblock source( engine groovyshell shell ` | create_function .then( .on( global
"""
_HINTS = frozenset(_HINTS_NAMES.split())
_FROM_URL = re.compile(
    r"""(?:\binclude|\brequire)(?:_once)?\s{0,3}\(?\s{0,3}["']((?:https?|ftp)://[^"'\s]{1,300})
    |(?:\bimport|\bfrom)\s{0,3}\(?\s{0,3}["']((?:https?)://[^"'\s]{1,300})
    |\b(?:source|source_url|devtools::source_url)\s{0,3}\(\s{0,3}["']((?:https?)://[^"'\s]{1,300})""",
    _FLAGS,
)
_FETCHED = re.compile(
    r"""\bfetch\s{0,3}\(|urlopen|\brequests\.\w{1,10}\s{0,3}\(|\bhttpx\.\w|\baxios\b|\bgot\s{0,3}\(|https?\.(?:get|request|Get)\s{0,3}\(
    |Net::HTTP|URI\.open|OpenURI|file_get_contents\s{0,3}\(\s{0,3}["']https?:|curl_exec|LWP|\bget\s{0,3}\(?\s{0,3}["']https?:
    |responseText|socket\.http|(?:popen|check_output|getoutput|execSync|`|%x)[^\n;]{0,20}\b(?:curl|wget)\b""",
    re.VERBOSE,
)
_FETCHES = re.compile(
    r"""https?://|ftp://|downloadstring|downloaddata|downloadfile|\birm\b|\biwr\b|invoke-webrequest|invoke-restmethod
    |net\.webclient|start-bitstransfer""",
    _FLAGS,
)
_DECODES = re.compile(
    r"""b(?:16|32|64|85)decode|a2b_\w{1,8}|unhexlify|fromhex|codecs\.decode|rot_?13|zlib\.decompress|marshal\.loads
    |gzip\.decompress|bz2\.decompress|lzma\.decompress|["']base64["']|["']hex["']|\batob\s{0,3}\(|fromCharCode|decodeURIComponent
    |unescape\s{0,3}\(|base64_decode|gzinflate|gzuncompress|str_rot13|hex2bin|convert_uudecode|decode_base64|\bunpack\b
    |\bpack\b|Base64\.(?:\w{1,10}_)?decode64|frombase64string|inflate|\bchr\s{0,3}\(|\[::-1\]|\.reverse\(\)|strrev""",
    _FLAGS,
)
_FROM_INPUT = re.compile(
    r"""(?<![\w.])(?:exec|eval)\s{0,3}\(\s{0,3}(?:\w{1,20}\s{0,3}\(\s{0,3})?(?:sys\.stdin|input\s{0,3}\(|open\s{0,3}\(\s{0,3}(?:0|["']/dev/stdin))
    |\beval\s{0,3}\(?\s{0,3}(?:<STDIN>|<>|join|STDIN\.read|\$stdin\.read|ARGF\.read|gets)
    |(?:eval|Function)\s{0,3}\([^;\n]{0,60}(?:readFileSync\s{0,3}\(\s{0,3}(?:0|["']/dev/stdin)|process\.stdin)
    |eval\s{0,3}\(\s{0,3}(?:file_get_contents|stream_get_contents)\s{0,3}\(\s{0,3}(?:["']php://stdin|STDIN)""",
    re.VERBOSE,
)


def runs_a_text(language: str, text: str) -> bool:
    """Whether code runs a text that does not stand in it."""
    small = text[:_MOST_CHARACTERS].lower()
    if not any(hint in small for hint in _HINTS):
        return False
    return _RUNS.get(language, _OTHER).search(text, 0, _MOST_CHARACTERS) is not None


def runs_what_it_fetched(text: str) -> bool:
    """Whether a text that came from a host is run as a command, by the names that it is given on the way."""
    return _FETCHED.search(text, 0, _MOST_CHARACTERS) is not None and runs_named(text[:_MOST_CHARACTERS], _FETCHED)


def url_that_runs(text: str) -> str | None:
    """The URL that code takes other code from."""
    found = _FROM_URL.search(text, 0, _MOST_CHARACTERS) if "://" in text else None
    return None if found is None else next((url for url in found.groups() if url), None)


def runs_its_input(text: str) -> bool:
    """Whether code runs what reaches its standard input."""
    return _FROM_INPUT.search(text, 0, _MOST_CHARACTERS) is not None


def fetches(text: str) -> bool:
    """Whether code of a language that is not read asks something of a host."""
    return _FETCHES.search(text, 0, _MOST_CHARACTERS) is not None


def runs_what_it_decodes(language: str, text: str) -> bool:
    """Whether code runs a text that it decodes first."""
    return runs_a_text(language, text) and _DECODES.search(text, 0, _MOST_CHARACTERS) is not None


def powershell_text(encoded: str) -> str | None:
    """What `-EncodedCommand` means: UTF-16 in Base64; None if it is none."""
    try:
        return base64.b64decode(encoded[:_MOST_CHARACTERS] + "=" * (-len(encoded) % 4)).decode("utf-16-le")
    except (binascii.Error, ValueError):
        return None

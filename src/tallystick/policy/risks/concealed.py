"""Code that hides what it runs: it decodes or unpacks a text and runs the result.

Owns what that looks like in each language: what a text is run with, and the decoders that hide one. Must not know what
is hidden; where the reader could decode it, what it does is judged by itself. A program that only decodes is none. What
the agent gave itself gets a word of its own, since files that run are inspected elsewhere. Each expression is bounded,
so that long texts take linear time.
"""

import ast
import base64
import binascii
import re
import warnings
from collections.abc import Iterator, Mapping
from functools import cache

from ahocorasick_rs import AhoCorasick

from tallystick.catalog.loading import Entry, load
from tallystick.policy.calls.reading import CallReading
from tallystick.policy.risks.programs import programs
from tallystick.policy.risks.received_code import runs_named
from tallystick.policy.risks.risk import Risk
from tallystick.policy.settings import Settings

_MOST_CHARACTERS = 64 << 10


class _Facts(Entry, frozen=True):
    """Facts of catalog/code/evaluating.toml."""

    hints: frozenset[str]
    runs: Mapping[str, str]
    from_url: str
    fetched: str
    fetches: str
    decodes: str
    from_input: str


_FACTS = load("code/evaluating", _Facts)
_SAME = {"typescript": "javascript"}


@cache
def _compiled(text: str) -> re.Pattern[str]:
    """Compiled when code is first looked at: few calls bring any."""
    return re.compile(text.strip())


def _runs(language: str) -> re.Pattern[str]:
    return _compiled(_FACTS.runs.get(_SAME.get(language, language), _FACTS.runs["other"]))


def runs_a_text(language: str, text: str) -> bool:
    """Whether code runs a text that does not are in it."""
    small = text[:_MOST_CHARACTERS].lower()
    if not any(hint in small for hint in _FACTS.hints):
        return False
    return _runs(language).search(text, 0, _MOST_CHARACTERS) is not None


def runs_what_it_fetched(text: str) -> bool:
    """Whether a text that came from a host is run as a command, by the names that it is given on the way."""
    pattern = _compiled(_FACTS.fetched)
    return pattern.search(text, 0, _MOST_CHARACTERS) is not None and runs_named(text[:_MOST_CHARACTERS], pattern)


def url_that_runs(text: str) -> str | None:
    """The URL that code takes other code from."""
    found = None
    if "://" in text:
        found = _compiled(_FACTS.from_url).search(text, 0, _MOST_CHARACTERS)
    if found is None:
        return None
    return next((url for url in found.groups() if url), None)


def runs_its_input(text: str) -> bool:
    """Whether code runs what reaches its standard input."""
    return _compiled(_FACTS.from_input).search(text, 0, _MOST_CHARACTERS) is not None


def fetches(text: str) -> bool:
    """Whether code of a language that is not read asks something of a host."""
    return _compiled(_FACTS.fetches).search(text, 0, _MOST_CHARACTERS) is not None


def runs_what_it_decodes(language: str, text: str) -> bool:
    """Whether code runs a text that it decodes first."""
    return runs_a_text(language, text) and _compiled(_FACTS.decodes).search(text, 0, _MOST_CHARACTERS) is not None


def powershell_text(encoded: str) -> str | None:
    """What `-EncodedCommand` means: UTF-16 in Base64; None if it is none."""
    try:
        return base64.b64decode(encoded[:_MOST_CHARACTERS] + "=" * (-len(encoded) % 4)).decode("utf-16-le")
    except (binascii.Error, ValueError):
        return None


RISKS: dict[str, str] = {
    "hidden-code": "Code decodes a text and runs it, so that it cannot be seen what runs.",
    "decodes-and-runs": "A text that is decoded, decrypted or put together from numbers is run as code.",
}


def hidden_risks(reading: CallReading, settings: Settings) -> Iterator[Risk]:
    """What a call does as a whole, of RISKS."""
    for snippet in reading.snippets:
        if runs_what_it_decodes(snippet.language, snippet.text) and _is_given(snippet.text, reading):
            yield Risk("hidden-code", f"{snippet.language} code")
    for started in programs(reading):
        if started.name in ("powershell", "pwsh") and any(_is_encoded(word) for word in started.words):
            yield Risk("hidden-code", started.spelled)


def _is_given(text: str, reading: CallReading) -> bool:
    """Whether a text is in the call, and not only in a file that it runs."""
    piece = text.strip()[:60].partition("\n")[0].partition("'")[0].partition('"')[0].partition("\\")[0]
    return any(piece in given for given in reading.texts)


def _is_encoded(word: str) -> bool:
    option = word.lower().lstrip("-/")
    return word[:1] in "-/" and len(option) > 0 and ("encodedcommand".startswith(option) or option == "ec")


"""Words, and what they mean."""

_MOST = 256 << 10
_MOST_BETWEEN = 200
_DECODERS = (
    r"(?:b64decode|a85decode|b85decode|b32decode|b16decode|unhexlify|fromhex|decompress|marshal\.loads|codecs\.decode"
    r"|decode_base64|decode64|unpack1?|base64_decode|gzinflate|gzuncompress|str_rot13|hex2bin|convert_uudecode|strrev|atob"
    r"|fromCharCode|inflateSync|gunzipSync|createDecipheriv|FromBase64String|Decompress|chr\s*\([^()]{1,40}\)\s*for"
    r"|Buffer\.from\([^()]{1,200},\s*['\"](?:base64|hex)['\"]|map\s*\(\s*chr)"
)
_BY_LANGUAGE = {
    "javascript": r"(?<![\w.])(?:eval|Function|execSync|exec|vm\.\w+|setTimeout)\s*\(|\bnew\s+Function\s*\(",
    "perl": r"(?<![\w.])(?:eval|system|exec)\b",
    "php": r"(?<![\w.])(?:eval|assert|system|exec|shell_exec|passthru|create_function)\s*\(",
    "ruby": r"(?<![\w.])(?:eval|instance_eval|class_eval|system|exec)\b",
    "powershell": r"\b(?:iex|Invoke-Expression|\[scriptblock\]::create|Assembly\]::Load)\b",
    "lua": r"(?<![\w.])(?:load|loadstring|os\.execute)\s*\(",
}
_CASELESS = frozenset(("powershell",))


@cache
def _pattern(language: str) -> re.Pattern[str] | None:
    """Code of a language that runs what it decodes. Compiled when such code is first looked at."""
    runs = _BY_LANGUAGE.get(language)
    flags = 0
    if language in _CASELESS:
        flags = re.IGNORECASE
    if runs is None:
        return None
    return re.compile(rf"(?:{runs})[^\n;]{{0,{_MOST_BETWEEN}}}?{_DECODERS}", flags)


@cache
def _bound() -> re.Pattern[str]:
    return re.compile(rf"\b(\w{{1,60}})\s*=(?!=)[^\n;=]{{0,{_MOST_BETWEEN}}}?{_DECODERS}")


_HINTS = """
b64decode a85decode b85decode b32decode b16decode unhexlify fromhex decompress marshal.loads decode( decrypt decode_base64
decode64 unpack base64_decode gzinflate gzuncompress rot13 hex2bin uudecode strrev atob fromcharcode inflatesync gunzipsync
createdecipher frombase64string buffer.from( chr( chr,
"""
_HINT = AhoCorasick(_HINTS.split())
_ALIKE = {"typescript": "javascript"}


def risks(reading: CallReading, settings: Settings) -> Iterator[Risk]:
    """What a call does as a whole, of RISKS."""
    for snippet in reading.snippets:
        if _HINT.find_matches_as_indexes(snippet.text[:_MOST].lower()):
            yield from _concealed(_ALIKE.get(snippet.language, snippet.language), snippet.text[:_MOST])


def _concealed(language: str, text: str) -> Iterator[Risk]:
    """Directly, or by a name that is bound to what was decoded."""
    if language == "python":
        yield from _in_python(text)
        return
    pattern = _pattern(language)
    if pattern is None:
        return
    found = pattern.search(text)
    if found is not None:
        yield Risk("decodes-and-runs", found[0][:200])
        return
    for bound in _bound().finditer(text):
        used = re.compile(rf"(?:{_BY_LANGUAGE[language]})[^\n;]{{0,80}}?\b{bound[1]}\b")
        later = used.search(text, bound.end())
        if later is not None:
            yield Risk("decodes-and-runs", later[0][:200])
            return


# Python: what is in a string, as in a test of such code, is not a call
# ------------------------------------------------

_RUN = frozenset(("exec", "eval", "compile", "system", "popen", "getoutput"))
_SURE = """
b64decode urlsafe_b64decode standard_b64decode a85decode b85decode b32decode b16decode unhexlify fromhex decompress decrypt
"""
_SURELY = frozenset(_SURE.split())


def _in_python(text: str) -> Iterator[Risk]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    decoded = {
        target.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign) and _decodes(node.value, frozenset())
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    calls = (node for node in ast.walk(tree) if isinstance(node, ast.Call) and _called(node) in _RUN and node.args)
    for call in calls:
        if _decodes(call.args[0], frozenset(decoded)):
            yield Risk("decodes-and-runs", (ast.get_source_segment(text, call) or _called(call))[:200])
            return


def _decodes(value: ast.expr, decoded: frozenset[str]) -> bool:
    """Whether a value is made by a decoder, or from characters by their numbers."""
    for node in ast.walk(value):
        if isinstance(node, ast.Name) and node.id in decoded:
            return True
        if isinstance(node, ast.Call):
            name = _called(node)
            if name in _SURELY or (name in ("join", "bytes", "bytearray") and _has_numbers(node)):
                return True
            if name == "decode" and len(node.args) > 0 and _says(node, ("rot", "hex", "base64", "zlib")):
                return True
            if name == "loads" and isinstance(node.func, ast.Attribute) and _owner(node.func) == "marshal":
                return True
    return False


def _called(node: ast.Call) -> str:
    if isinstance(node.func, ast.Attribute):
        return node.func.attr
    if isinstance(node.func, ast.Name):
        return node.func.id
    return ""


def _owner(node: ast.Attribute) -> str:
    if isinstance(node.value, ast.Name):
        return node.value.id
    return ""


def _says(node: ast.Call, words: tuple[str, ...]) -> bool:
    texts = (arg.value for arg in node.args if isinstance(arg, ast.Constant) and isinstance(arg.value, str))
    return any(text.startswith(words) for text in texts)


def _has_numbers(node: ast.Call) -> bool:
    """Text that is put together from the numbers of its characters."""
    inner = [part for arg in node.args for part in ast.walk(arg)]
    is_made = any(isinstance(part, ast.Name) and part.id == "chr" for part in inner) or _called(node) != "join"
    return is_made and sum(isinstance(part, ast.Constant) and isinstance(part.value, int) for part in inner) > 3

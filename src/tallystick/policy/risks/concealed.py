"""Code that hides what it runs: it decodes or unpacks a text and runs the result.

Owns what that looks like in the languages that agents write: a function that runs text, given one that decodes. Must not know
what is hidden; where the reader could decode it, what it does is judged by itself. A program that only decodes is none.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator
from functools import cache

from ahocorasick_rs import AhoCorasick

from tallystick.policy.reading import CallReading
from tallystick.policy.risks.risk import Risk
from tallystick.policy.settings import Settings

RISKS = {"decodes-and-runs": "A text that is decoded, decrypted or put together from numbers is run as code."}
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

"""Calls that name what they call in a text, spelled as plain calls: `require("fs")["rmSync"](x)`, `send(:system, x)`.

Owns these spellings of JavaScript, Lua, Ruby and PHP. A name that is put together from more than texts is unknown.
"""

from __future__ import annotations

from tallystick.model.pattern import pattern_of

_LITERALS = r"(?:[\"']\w{0,40}[\"']\s{0,3}(?:\+|\.\.?)?\s{0,3}){1,6}"
_MEMBER = pattern_of(rf"\s{{0,3}}(?<=[\w)\s])\[\s{{0,3}}({_LITERALS})\]\s{{0,3}}(?=\()")
_PARTS = pattern_of(r"[\"'](\w{0,40})[\"']")
_IMPORTED = pattern_of(
    r"\bimport\s{0,3}\(\s{0,3}([\"'][\w:/.@-]{1,80}[\"'])\s{0,3}\)\s{0,3}\.\s{0,3}then\s{0,3}\(\s{0,3}(?:async\s{1,3})?"
    r"(\(\s{0,3})?(\w{1,40})\s{0,3}(?(2)\))\s{0,3}=>"
)
_SENT = pattern_of(
    r"\b(?:(?:Kernel|Object|self)\s{0,3}\.\s{0,3})?(?:public_send|__send__|send)\b\s{0,3}(\(?)\s{0,3}(?::|[\"'])(\w{1,40}[!?]?)[\"']?\s{0,3},"
)
_BY_NAME = pattern_of(r"\bcall_user_func(?:_array)?\s{0,3}\(\s{0,3}[\"'](\w{1,60})[\"']\s{0,3},")
_NAMED = pattern_of(rf"(\$\w{{1,40}})\s{{0,3}}=\s{{0,3}}({_LITERALS});")
_MOST_NAMED = 20


def plain_members(text: str) -> str:
    """JavaScript and Lua: members that are named by a text, and modules that are given to a function."""
    if "[" in text:
        text = _MEMBER.sub(lambda found: f".{''.join(_PARTS.findall(found[1]))}", text)
    if "import" in text:
        return _IMPORTED.sub(r"\3 = require(\1); (", text)
    return text


def plain_sends(text: str) -> str:
    """Ruby: methods that are sent by name."""
    if "send" in text:
        return _SENT.sub(lambda found: f"{found[2]}{found[1] or ' '}", text)
    return text


def plain_names(text: str) -> str:
    """PHP: functions that are called by name, and by a variable that holds one."""
    if "call_user_func" in text:
        text = _BY_NAME.sub(r"\1(", text)
    for variable, said in _NAMED.findall(text)[:_MOST_NAMED]:
        text = text.replace(f"{variable}(", f"{''.join(_PARTS.findall(said))}(")
    return text

"""Names of fields and the members of `meta` (docs/format.md 6): what may be in which class.

Owns the rule that `meta` holds nothing a person wrote. `fit_meta` is the writer's half, `check_meta` the verifier's.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from typing import TypeAlias

from tallystick.errors import FormatError
from tallystick.model.ids import HASH, SESSION_ID
from tallystick.model.moments import is_time
from tallystick.model.raw import Instead
from tallystick.model.step import Json
from tallystick.seal.limits import META_DEPTH, SAFE_INTEGER

_NAME = re.compile(r"(?:meta|(?:personal|content|local)\.[a-z][a-z0-9_]{0,39})\Z")
_STRING = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:/@#~+-]{0,199}\Z")
_KEY = re.compile(r"[a-z][a-z0-9_]{0,47}\Z")
_TYPE = _KEY

_DID_KEY = re.compile(r"did:key:z[1-9A-HJ-NP-Za-km-z]{40,60}\Z")
_Shapes: TypeAlias = Mapping[str, Callable[[Json], bool]]

# The common shape of a canonical `meta`: one match instead of a walk. It accepts less than the walk, never more.
_KEY_BYTES = rb'"[a-z][a-z0-9_]{0,47}":'
_SCALAR = rb'(?:"[A-Za-z0-9][A-Za-z0-9._:/@#~+-]{0,199}"|-?[0-9]+|true|false)'
_LIST = rb"\[" + _SCALAR + rb"(?:," + _SCALAR + rb")*\]"
_FLAT = _KEY_BYTES + rb"(?:" + _SCALAR + rb"|" + _LIST + rb")"
_OBJECT = rb"\{" + _FLAT + rb"(?:," + _FLAT + rb")*\}"
_MEMBER = _KEY_BYTES + rb"(?:" + _SCALAR + rb"|" + _LIST + rb"|" + _OBJECT + rb")"
_COMMON_META = re.compile(rb"\{" + _MEMBER + rb"(?:," + _MEMBER + rb")*\}")


@lru_cache(maxsize=4096)
def is_field_name(name: str) -> bool:
    """Whether `name` is one of section 6.1: `meta`, or a class and a word."""
    return _NAME.match(name) is not None


@lru_cache(maxsize=4096)
def is_type(text: str) -> bool:
    """Whether `text` can be the type of a step."""
    return _TYPE.match(text) is not None


def is_meta_string(text: str) -> bool:
    """Whether `text` may be in `meta`: an identifier, a number, a time, and never `..`."""
    return _STRING.match(text) is not None and ".." not in text


def check_meta(meta: Json, text: bytes, *, in_ledger: bool) -> None:
    """Check `meta`, whose canonical bytes are `text`, against section 6.2.

    Raises:
        FormatError: rule `class`, with the member and what is wrong with it.
    """
    if not isinstance(meta, dict):
        raise _refuse("is no object")
    if b".." in text or _COMMON_META.fullmatch(text) is None:
        for key, value in meta.items():
            if not _KEY.match(key):
                raise _refuse(f"has a member {key[:60]!r}")
            _check_value(value, key, depth=2)
    kind = meta.get("type")
    if not isinstance(kind, str) or not is_type(kind):
        raise _refuse("has no type")
    if not is_time(meta.get("recorded")):
        raise _refuse("has no `recorded` time")
    if "ts" in meta and not is_time(meta["ts"]):
        raise _refuse("has a `ts` that is no time")
    if in_ledger:
        _check_ledger_members(meta)
    elif not isinstance(meta.get("source"), str):
        raise _refuse("has no source")


def _is_session(value: Json) -> bool:
    return isinstance(value, str) and SESSION_ID.match(value) is not None


def _is_hash(value: Json) -> bool:
    return isinstance(value, str) and HASH.match(value) is not None


def _is_count(value: Json) -> bool:
    return type(value) is int and value >= 0


def _is_key(value: Json) -> bool:
    return isinstance(value, str) and _DID_KEY.match(value) is not None


def _are_names(value: Json) -> bool:
    return isinstance(value, list) and all(isinstance(name, str) and is_field_name(name) for name in value)


_HEAD: _Shapes = {"session": _is_session, "size": _is_count, "root": _is_hash}
# What verification reads of ledger entries, by type and, of a retention, by action. Types it does not know hold what
# they like.
_LEDGER: dict[str, _Shapes] = {
    "store_start": {"key": _is_key},
    "session_head": _HEAD,
    "erasure": {"session": _is_session, "n": _is_count, "entry": _is_hash, "names": _are_names},
    "retention": {"action": lambda value: isinstance(value, str)},
    "retention drop_content": {"session": _is_session, "from": _is_count, "to": _is_count, "names": _are_names},
    "retention drop_session": _HEAD,
    "key_add": {"key": _is_key},
    "key_retire": {"key": _is_key},
}


def _check_ledger_members(meta: Mapping[str, Json]) -> None:
    """Check the members of section 9.2 that verification reads."""
    kind = str(meta["type"])
    for member, fits in {**_LEDGER.get(kind, {}), **_LEDGER.get(f"{kind} {meta.get('action')}", {})}.items():
        if not fits(meta.get(member)):
            raise _refuse(f"of a {kind} has no {member} as the format has it")


def _refuse(why: str) -> FormatError:
    return FormatError(f"meta {why}", rule="class")


def _check_value(value: Json, key: str, *, depth: int) -> None:
    if isinstance(value, str):
        if isinstance(value, Instead) or not is_meta_string(value):
            raise _refuse(f"{key}: {value[:60]!r} is no word of the program")
    elif isinstance(value, dict | list):
        if depth > META_DEPTH:
            raise _refuse(f"{key} is nested deeper than {META_DEPTH}")
        items: Iterable[Json] = value
        if isinstance(value, dict):
            for name in value:
                if not is_meta_string(name):
                    raise _refuse(f"{key} has a member {name[:60]!r}")
            items = value.values()
        for item in items:
            _check_value(item, key, depth=depth + 1)
    elif value is None or isinstance(value, float) or abs(value) > SAFE_INTEGER:
        raise _refuse(f"{key}: neither null, nor a fraction, nor a number beyond ±(2^53−1) may stand there")


def fit_meta(members: Mapping[str, Json]) -> tuple[dict[str, Json], dict[str, Json]]:
    """Part members into what fits `meta` and what must go to `content.meta` instead (section 6.2).

    Members that are None are left out: absence is how `meta` says "unknown".
    """
    meta: dict[str, Json] = {}
    rest: dict[str, Json] = {}
    for key, value in members.items():
        if value is None:
            continue
        if _fits(key, value):
            meta[key] = value
        else:
            rest[key] = value
    return meta, rest


def _fits(key: str, value: Json) -> bool:
    if type(value) is str:
        return is_meta_string(value) and _KEY.match(key) is not None
    if type(value) is int:
        return abs(value) <= SAFE_INTEGER and _KEY.match(key) is not None
    try:
        if not _KEY.match(key):
            return False
        _check_value(value, key, depth=2)
    except FormatError:
        return False
    return True

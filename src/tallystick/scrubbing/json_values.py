"""Secrets in JSON values and in raw bytes.

Owns the way through a value as it was said: members whose key says "secret", pairs of a name and a value, options in lists of
arguments. Must not know what a step is, nor how anything is sealed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import TypeAlias

import orjson

from tallystick.model.raw import NestedText, Raw
from tallystick.model.step import Json
from tallystick.scrubbing.budget import Counts
from tallystick.scrubbing.finding import may_hold_secrets, scrub_again, scrub_bytes, scrub_text
from tallystick.scrubbing.judging import Stands, is_secret
from tallystick.scrubbing.markers import marker
from tallystick.scrubbing.names import KIND, Says, says

_MayHold: TypeAlias = Callable[[bytes], bool]
"""Whether something may be in a JSON text; False is certain."""
_DEEPEST = 200
"""Deeper values cannot be sealed (docs/format.md 3.2): their deeper parts are text by then."""
_HEADERS = frozenset(("authorization", "proxy-authorization", "cookie", "set-cookie"))
_NAMES = ("name", "key", "Name", "Key", "header", "variable")
_LEAST_NUMBER = 1000
_NAMED_WORK = 8
"""How many times as long as a literal alone it takes to judge a member."""
_PART, _DEEPEST_PARTS = 64, 3
"""So many items of a long list, or members of an object, get one look together, down to this depth."""


def scrub_json(value: Raw, counts: Counts, *, depth: int = 0) -> Json:
    """A JSON value with a marker for each secret; the very same object if none exists."""
    if isinstance(value, str):
        return scrub_string(value, counts)
    if depth >= _DEEPEST:
        return value
    if isinstance(value, dict):
        return _object(value, counts, depth)
    if isinstance(value, list | tuple):
        return _array(value, counts, depth)
    return value


def scrub_string(text: str, counts: Counts) -> str:
    """A string with a marker for each secret. What is left of the text of a deep part is still that."""
    clean = scrub_text(text, counts)
    if clean is not text and isinstance(text, NestedText):
        return NestedText(clean)
    return clean


def scrub_repeats(value: Json, counts: Counts, *, depth: int = 0) -> Json:
    """A JSON value with a marker for each secret that was found elsewhere; the very same object if none is in it."""
    if isinstance(value, str):
        return scrub_again(value, counts)
    if depth >= _DEEPEST:
        return value
    may_hold = counts.repeats.may_be_in
    if isinstance(value, dict):
        found = {
            key: scrub_repeats(value[key], counts, depth=depth + 1) for key in _likely_members(value, depth, may_hold)
        }
        if all(value[key] is item for key, item in found.items()):
            return value
        return {**value, **found}
    if isinstance(value, list | tuple):
        items: list[Json] = list(value)
        for part in _likely_parts(value, depth, may_hold):
            for at in part:
                items[at] = scrub_repeats(value[at], counts, depth=depth + 1)
        if all(clean is item for clean, item in zip(items, value, strict=True)):
            return value
        return items
    return value


def scrub_raw(data: bytes, counts: Counts) -> bytes:
    """Raw bytes with a marker for each secret. In bytes that are not text only what is known by its form is one."""
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return _utf16(data, counts)
    return scrub_bytes(data, counts, by_form_alone=not _is_text(data))


def _utf16(data: bytes, counts: Counts) -> bytes:
    encoding = "utf-16-be"
    if data[:1] == b"\xff":
        encoding = "utf-16-le"
    try:
        text = data[2:].decode(encoding)
    except UnicodeDecodeError:
        return scrub_bytes(data, counts, by_form_alone=True)
    clean = scrub_text(text, counts)
    if clean is text:
        return data
    return data[:2] + clean.encode(encoding)


def _is_text(data: bytes) -> bool:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return b"\0" not in data


# Objects and lists ---------------------------------------------------------------------------------------------------


def _object(value: dict[str, Json], counts: Counts, depth: int) -> dict[str, Json]:
    changed: dict[str, Json] = {}
    name = _pair_name(value)
    looked_at = value
    if name is None:
        looked_at = _likely_members(value, depth, _secrets_in(counts))
    for key, item in looked_at.items():
        named = key
        if name is not None and key in ("value", "Value"):
            named = name
        clean = _member(named, item, counts, depth)
        if clean is not item:
            changed[key] = clean
    clean_keys = {key: scrub_string(key, counts) for key in looked_at}
    if all(clean is key for key, clean in clean_keys.items()):
        if changed:
            return {**value, **changed}
        return value
    return _with_keys({**value, **changed}, {key: clean_keys.get(key, key) for key in value})


def _with_keys(value: dict[str, Json], clean_keys: dict[str, str]) -> dict[str, Json]:
    """The object with its keys replaced. Keys that are the same by then get a number, so that no member is lost."""
    made: dict[str, Json] = {}
    numbers: dict[str, int] = {}
    for key, item in value.items():
        clean, number = clean_keys[key], numbers.get(clean_keys[key], 1)
        if number > 1:
            clean = f"{clean_keys[key]}~{number}"
        while clean in made or (clean != key and clean in value):
            number += 1
            clean = f"{clean_keys[key]}~{number}"
        numbers[clean_keys[key]] = number
        made[clean] = item
    return made


def _pair_name(value: dict[str, Json]) -> str | None:
    """The name in `{"name": "API_KEY", "value": "…"}`."""
    if "value" in value or "Value" in value:
        for key in _NAMES:
            if isinstance(value.get(key), str):
                return str(value[key])
    return None


def _member(name: str, item: Json, counts: Counts, depth: int) -> Json:
    if not isinstance(item, str | int) or isinstance(item, bool):
        return scrub_json(item, counts, depth=depth + 1)
    if isinstance(item, int):
        return _number(name, item, counts)
    if _is_header(name):
        return _header(name, item, counts)
    clearly = says(name)
    if is_secret(item.encode("utf-8", "surrogatepass"), clearly, Stands.MEMBER):
        return _under_name(item, clearly, counts)
    return scrub_string(item, counts)


def _under_name(item: str, clearly: Says, counts: Counts) -> str:
    """The marker for a value that is a secret because of its name: of the kind that its form says, if it says one."""
    counts.budget.spend(_NAMED_WORK)
    own = counts.inner()
    by_form = scrub_string(item, own)
    if by_form in map(marker, own):
        counts.update(own)
        return by_form
    counts.repeats.add(item.encode("utf-8", "surrogatepass"), KIND[clearly])
    counts[KIND[clearly]] += 1
    return marker(KIND[clearly])


def _number(name: str, item: int, counts: Counts) -> Json:
    if abs(item) < _LEAST_NUMBER or says(name) is not Says.PASSWORD:
        return item
    counts[KIND[Says.PASSWORD]] += 1
    return marker(KIND[Says.PASSWORD])


@lru_cache(maxsize=4096)
def _is_header(name: str) -> bool:
    return name.lower() in _HEADERS


def _header(name: str, item: str, counts: Counts) -> str:
    """The value of a header, read as the line it would be."""
    line = f"{name}: {item}"
    clean = scrub_text(line, counts)
    if clean is line:
        return item
    return clean.removeprefix(f"{name}: ")


def _array(value: list[Json] | tuple[Json, ...], counts: Counts, depth: int) -> Json:
    items: list[Json] = list(value)
    for part in _likely_parts(value, depth, _secrets_in(counts)):
        for at in part:
            before = value[at - 1] if at else None
            items[at] = _item(before, value[at], counts, depth)
    if all(clean is item for clean, item in zip(items, value, strict=True)):
        return value
    return items


def _item(before: Json, item: Json, counts: Counts, depth: int) -> Json:
    """An item of a list; after `--token`, or as the second of a pair of two texts, it is the value of a name."""
    if isinstance(before, str) and isinstance(item, str) and not item.startswith("-") and _is_name(before):
        if _is_header(before):
            return _header(before, item, counts)
        clearly = says(before)
        is_option = before.startswith("-") and clearly is not Says.NOTHING
        if is_option:
            stands = Stands.MEMBER
            clearly = max(clearly, Says.SECRET)
        else:
            stands = Stands.QUOTED
        if is_secret(item.encode("utf-8", "surrogatepass"), clearly, stands):
            return _under_name(item, clearly, counts)
    return scrub_json(item, counts, depth=depth + 1)


def _is_name(text: str) -> bool:
    return len(text) <= 100 and text.replace("-", "").replace("_", "").replace(".", "").isalnum()


# Long lists and objects ----------------------------------------------------------------------------------------------


def _likely_members(value: dict[str, Json], depth: int, may_hold: _MayHold) -> dict[str, Json]:
    """The members of an object among which something may be, those of a large one part by part."""
    if len(value) <= _PART or depth > _DEEPEST_PARTS:
        return value
    keys, found = list(value), dict[str, Json]()
    for low in range(0, len(keys), _PART):
        part = {key: value[key] for key in keys[low : low + _PART]}
        if _is_worth_a_look(part, may_hold):
            found.update(part)
    return found


def _likely_parts(value: list[Json] | tuple[Json, ...], depth: int, may_hold: _MayHold) -> Iterator[range]:
    """The places of a list at which something may be, those of a long one part by part."""
    if len(value) <= _PART or depth > _DEEPEST_PARTS:
        yield range(len(value))
        return
    for low in range(0, len(value), _PART):
        high = min(len(value), low + _PART)
        if _is_worth_a_look(list(value[max(0, low - 1) : high]), may_hold):
            yield range(low, high)


def _secrets_in(counts: Counts) -> _MayHold:
    known = counts.known
    if not known:
        return may_hold_secrets
    return lambda data: may_hold_secrets(data) or known.may_be_in(data)


def _is_worth_a_look(value: Json, may_hold: _MayHold) -> bool:
    try:
        return may_hold(orjson.dumps(value))
    except (TypeError, RecursionError):  # what JSON in UTF-8 cannot hold is walked
        return True

"""What models used, summed up from the steps of the index by whatever a person asks for.

Owns which steps count: those with tokens, or with a cost that their source says, each once, as it was last revised. Sums
are split as finely as prices may differ: by model, half hour, length of the prompt, and by whether the source said a cost.
Must not know prices.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable, Sequence

import msgspec

from tallystick.graph.graph import Graph
from tallystick.graph.projects import SESSION_IN_FOLDERS
from tallystick.graph.queries import id_list
from tallystick.graph.tables import TOKENS
from tallystick.graph.times import asked_time

_HALF_HOUR_US = 1_800_000_000
HALF_HOURS_A_DAY = 48
_MOST = 1 << 40  # so that no sum leaves 64 bits
_SAID = "json_extract(s.meta, '$.cost_microusd')"
_COUNTED = "s.revised_by IS NULL AND s.corroborates IS NULL AND s.type <> 'sighting'"
_USED = f"(s.tokens_input IS NOT NULL OR s.tokens_output IS NOT NULL OR typeof({_SAID}) = 'integer') AND {_COUNTED}"
_TOKENS = ", ".join(f"ifnull(s.tokens_{kind}, 0) AS {kind}" for kind in TOKENS)
_KEPT = "json_extract(s.meta, '$.cache_write_1h_tokens')"
_COLUMNS = (
    f"ifnull(s.model, '') AS model, s.at_us, {_TOKENS}, {_SAID} AS said, {_KEPT} AS kept,"
    " (s.tokens_input IS NULL AND s.tokens_output > 0) OR ifnull(json_extract(s.meta, '$.partial'), 0) = 1 AS half"
)
_IS_SAID = f"(typeof(said) = 'integer' AND said BETWEEN 0 AND {_MOST})"
_IS_KEPT = f"(typeof(kept) = 'integer' AND kept BETWEEN 0 AND {_MOST})"


class By(enum.StrEnum):
    """What sums are asked for."""

    SESSION = "session"
    MODEL = "model"
    AGENT = "agent"
    DAY = "day"
    MONTH = "month"
    PROJECT = "project"
    REQUEST = "request"


_KEYS = {
    By.SESSION: "s.session_id",
    By.MODEL: "ifnull(s.model, '')",
    By.AGENT: "s.agent_id",
    By.DAY: f"s.at_us / {_HALF_HOUR_US * HALF_HOURS_A_DAY}",
    By.MONTH: "strftime('%Y-%m', s.at_us / 1000000, 'unixepoch')",
    By.PROJECT: "(SELECT ifnull(q.cwd, '') FROM sessions q WHERE q.session_id = s.session_id)",
    By.REQUEST: "s.session_id || ':' || ifnull(s.request, 0)",
}


class UsedFilter(msgspec.Struct, frozen=True, kw_only=True):
    """Which steps count. None and nothing given: all. Times are as the record writes them."""

    sessions: tuple[str, ...] | None = None
    """Whole ids."""
    since: str | None = None
    until: str | None = None
    folders: tuple[str, ...] = ()
    """In which their sessions work: `graph.projects` finds them by name."""


class UsedSum(msgspec.Struct, frozen=True, array_like=True):
    """A sum over steps that cost the same a token."""

    key: str | int
    model: str
    half_hour: int
    """Of when they happened, counted since 1970."""
    length: int
    """How many of the lengths that were asked for their prompts exceed."""
    is_said: int
    calls: int
    input: int
    output: int
    cache_read: int
    cache_write: int
    reasoning: int
    cache_write_1h: int
    said_microusd: int
    half_told_calls: int
    """Of which only a part is reported: the output, or what a sub-agent's parent was shown of it."""


def used_models(graph: Graph) -> tuple[str, ...]:
    """All models that used tokens in any session. Raises GraphError."""
    return tuple(model for (model,) in graph.rows("SELECT DISTINCT model FROM usage"))


def used_sums(graph: Graph, by: By, wanted: UsedFilter, *, lengths: Iterable[int] = ()) -> list[UsedSum]:
    """What was used, summed up. Raises GraphError, and UsageError for a time that is none.

    Args:
        lengths: of prompts, in tokens, where a price may change; ascending.
    """
    steps, values = _steps(by, wanted)
    length = " + ".join(f"(input + cache_read + cache_write > {int(length)})" for length in lengths) or "0"
    sums = ", ".join(f"sum({kind})" for kind in TOKENS)
    rows = graph.rows(
        f"WITH used AS MATERIALIZED ({steps})"
        f" SELECT key, model, at_us / {_HALF_HOUR_US}, {length}, {_IS_SAID}, count(*), {sums},"
        f" sum(iif({_IS_KEPT}, kept, 0)), sum(iif({_IS_SAID}, said, 0)), sum(half)"
        " FROM used GROUP BY 1, 2, 3, 4, 5",
        values,
    )
    return [UsedSum(*row) for row in rows]


def _steps(by: By, wanted: UsedFilter) -> tuple[str, Sequence[object]]:
    """The statement that gives the steps that count."""
    conditions, values = [_USED], list[object]()
    source = "steps s"
    if wanted.sessions is not None:
        # A session's steps lie together: no index has to say where.
        source = "sessions q CROSS JOIN steps s ON s.id >= q.first_id AND s.id < q.first_id + q.size"
        conditions.append("q.session_id IN (SELECT value FROM json_each(?))")
        values.append(msgspec.json.encode(wanted.sessions).decode())
    for bound, sign in ((wanted.since, ">="), (wanted.until, "<")):
        if bound is not None:
            conditions.append(f"s.at_us {sign} ?")
            values.append(asked_time(bound))
    if wanted.folders:
        conditions.append(SESSION_IN_FOLDERS)
        values.append(id_list(wanted.folders))
    return f"SELECT {_KEYS[by]} AS key, {_COLUMNS} FROM {source} WHERE {' AND '.join(conditions)}", values


def steps_query(by: By, keys: Sequence[str | int] | None, wanted: UsedFilter) -> str:
    """The statement for `tally sql` that lists the steps behind some sums; `keys` None: behind all of them."""
    conditions = [_USED]
    if keys is not None:
        conditions.append(f"{_KEYS[by]} IN ({', '.join(map(_literal, keys))})")
    if wanted.sessions is not None:
        conditions.append(f"s.session_id IN ({', '.join(map(_literal, wanted.sessions))})")
    for bound, sign in ((wanted.since, ">="), (wanted.until, "<")):
        if bound is not None:
            conditions.append(f"s.at_us {sign} {asked_time(bound)}")
    if wanted.folders:
        named = ", ".join(map(_literal, wanted.folders))
        conditions.append(f"s.session_id IN (SELECT session_id FROM sessions WHERE cwd IN ({named}))")
    tokens = ", ".join(f"s.tokens_{kind}" for kind in TOKENS)
    return (
        f"SELECT s.session_id, s.n, s.type, s.ts, s.model, {tokens}, {_SAID} AS said_microusd FROM steps s"
        f" WHERE {' AND '.join(conditions)} ORDER BY s.id"
    )


def _literal(value: str | int) -> str:
    if isinstance(value, int):
        return str(value)
    return "'" + value.replace("'", "''") + "'"


# What lines are called -----------------------------------------------------------------------------------------------

_NAMES = {
    By.SESSION: (
        "SELECT q.session_id, q.title, q.agent_id FROM sessions q WHERE q.session_id IN (SELECT value FROM json_each(?))"
    ),
    By.REQUEST: (
        "SELECT k.value, r.original_user_prompt, q.agent_id FROM json_each(?) k"
        " CROSS JOIN sessions q ON q.session_id = substr(k.value, 1, instr(k.value, ':') - 1)"
        " LEFT JOIN requests r ON r.session_id = q.session_id"
        " AND r.n = CAST(substr(k.value, instr(k.value, ':') + 1) AS INTEGER)"
    ),
}


def names_of(graph: Graph, by: By, keys: Sequence[str]) -> dict[str, tuple[str | None, str]]:
    """What people call sessions and requests, and whose they are; nothing of other keys. Raises GraphError."""
    if by not in _NAMES:
        return {}
    rows = graph.rows(_NAMES[by], (msgspec.json.encode(list(keys)).decode(),))
    return {key: (label, agent) for key, label, agent in rows}


def requests_at(graph: Graph, hashes: Iterable[str]) -> dict[str, str]:
    """By a step's hash the key of the request that it belongs to, as By.REQUEST has it. Raises GraphError."""
    rows = graph.rows(
        f"SELECT s.hash, {_KEYS[By.REQUEST]} FROM json_each(?) k CROSS JOIN steps s ON s.hash = k.value",
        (msgspec.json.encode(list(hashes)).decode(),),
    )
    return dict(rows)

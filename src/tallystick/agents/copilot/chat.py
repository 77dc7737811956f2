"""Copilot Chat in VS Code: a session as one value and the changes made to it.

Owns that log (`{"kind": 0, "v": …}`, then sets, pushes and deletes by path) and the meaning of its requests. Must not
know the command line's event log. The value grows with the session, so its steps are yielded at the end of the file.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from tallystick.agents.kit.columns import known, number
from tallystick.agents.kit.point import Point
from tallystick.agents.kit.reading import BadJson, dict_of, int_of, list_of, loads, loads_text, text_of
from tallystick.agents.kit.trail import Trail
from tallystick.model.moments import epoch_time
from tallystick.model.step import Event, Json, Loss, Opening, Step

_INITIAL, _SET, _PUSH, _DELETE = range(4)
_DEPTH = 40


class BadChange(ValueError):
    """A change does not fit the value."""


def change(session: Json, line: dict[str, Json]) -> Json:
    """The session after one line of the log.

    Raises:
        BadChange: the line is of no known kind, or its path leads nowhere.
    """
    kind, path = line.get("kind"), list_of(line.get("k"))
    if kind == _INITIAL:
        return line.get("v")
    if kind not in (_SET, _PUSH, _DELETE) or not path:
        raise BadChange(f"kind {kind!r} with path {path!r}")
    try:
        holder = session
        for key in path[:-1]:
            holder = holder[key]
        _apply(holder, path[-1], line)
    except (LookupError, TypeError, AttributeError, ValueError) as error:
        raise BadChange(f"path {path!r}: {error}") from error
    return session


def _apply(holder: Json, key: Json, line: dict[str, Json]) -> None:
    if line["kind"] == _DELETE:
        del holder[key]
    elif line["kind"] == _PUSH:
        items = holder[key]
        start = int_of(line.get("i"))
        items[len(items) if start is None else start :] = list_of(line.get("v"))
    elif isinstance(holder, list) and key == len(holder):
        holder.append(line.get("v"))
    else:
        holder[key] = line.get("v")


class ChatLog:
    """Reads one chat session."""

    def __init__(self, name: str, agent: str) -> None:
        self._name = name
        self._agent = agent
        self._session: Json = None

    def feed(self, data: bytes, offset: int) -> Iterator[Event]:
        """Apply one change."""
        try:
            value = loads(data).value
            self._session = change(self._session, dict_of(value))
        except BadJson as error:
            yield Loss(kind="bad_line", detail=f"byte {offset}: {error}", fault=True)
        except BadChange as error:
            yield Loss(kind="bad_change", detail=f"byte {offset}: {str(error)[:200]}", fault=True)

    def finish(self) -> Iterator[Event]:
        """The steps of the session as it is now."""
        session = dict_of(self._session)
        if not session:
            return
        name = text_of(session.get("sessionId")) or self._name
        values = {
            "content.title": text_of(session.get("customTitle")),
            "personal.user": text_of(session.get("requesterUsername")),
        }
        yield Opening(
            session=name,
            agent=self._agent,
            ts=_time(session.get("creationDate")),
            meta={"originator": "vscode", **_version(list_of(session.get("requests")))},
            values=known(values),
        )
        talk = _Talk(name)
        for place, request in enumerate(list_of(session.get("requests"))):
            yield from talk.request(dict_of(request), f"#{place}")


def _version(requests: list[Json]) -> dict[str, Json]:
    versions = (text_of(dict_of(dict_of(request).get("agent")).get("extensionVersion")) for request in requests)
    found = next((version for version in versions if version is not None), None)
    if found is None:
        return {}
    return {"agent_version": found}


def _time(milliseconds: Json) -> str | None:
    found = number(milliseconds)
    if found is not None:
        return epoch_time(found / 1000)
    return None


class _Talk:
    """The steps of one session."""

    def __init__(self, session: str) -> None:
        self._session = session
        self._trail = Trail()
        self._ts: str | None = None
        self._model: str | None = None

    def request(self, request: dict[str, Json], fallback: str) -> Iterator[Event]:
        """A prompt, and what came of it."""
        self._ts, self._model = _time(request.get("timestamp")), text_of(request.get("modelId"))
        prompt = text_of(request.get("requestId")) or fallback
        result = dict_of(request.get("result"))
        metadata = dict_of(result.get("metadata"))
        values = {
            "content.text": text_of(dict_of(request.get("message")).get("text")),
            "content.sent": _rendered(metadata.get("renderedUserMessage")),
            "content.attachments": dict_of(request.get("variableData")).get("variables") or None,
        }
        yield self._trail.along(msgspec.structs.replace(self._at(prompt).step("user", {}, values), opens_request=True))
        response = text_of(request.get("responseId")) or f"{prompt}/response"
        rounds = [dict_of(round_) for round_ in list_of(metadata.get("toolCallRounds"))]
        yield from self._parts(list_of(request.get("response")), response, written=not rounds)
        for place, round_ in enumerate(rounds):
            yield from self._round(round_, text_of(round_.get("id")) or f"{response}/{place}", metadata)
        yield from self._trouble(request, result, prompt)

    def _parts(self, parts: list[Json], response: str, *, written: bool) -> Iterator[Event]:
        """What the person saw. It repeats the rounds of the model, except for edits; without rounds it is all there is."""
        texts = [text for part in parts if (text := _markdown(dict_of(part)))]
        if written and texts:
            yield self._model_call(response)
            yield self._trail.along(self._at(f"{response}/0").step("assistant", {}, {"content.text": "".join(texts)}))
        for index, part in enumerate(parts):
            found = dict_of(part)
            if found.get("kind") == "textEditGroup":
                place = dict_of(found.get("uri"))
                path = text_of(place.get("fsPath")) or text_of(place.get("path"))
                values = {"content.path": path, "content.changes": found.get("edits")}
                yield self._trail.beside(self._at(f"{response}/edit/{index}").step("file_effect", {}, values))
            elif not (written and _markdown(found)):
                yield Loss(kind="shown_part", detail=f"{response} part {index}: {str(found.get('kind'))[:40]}")

    def _round(self, round_: dict[str, Json], name: str, metadata: dict[str, Json]) -> Iterator[Event]:
        """One model call: what it said, and the calls it made with their results."""
        yield self._model_call(name)
        thought = dict_of(round_.get("thinking")).get("text")
        if thought:
            yield self._trail.along(self._at(f"{name}/0").step("assistant", {}, {"content.thinking": thought}))
        if round_.get("response"):
            yield self._trail.along(self._at(f"{name}/1").step("assistant", {}, {"content.text": round_["response"]}))
        calls = [dict_of(call) for call in list_of(round_.get("toolCalls"))]
        names = [text_of(call.get("id")) or f"{name}/call/{number}" for number, call in enumerate(calls)]
        for sid, call in zip(names, calls, strict=True):
            meta = {"tool": text_of(call.get("name")), "corr": sid}
            yield self._trail.along(
                self._at(sid).step("tool_call", meta, {"content.args": _object(call.get("arguments"))})
            )
        results = dict_of(metadata.get("toolCallResults"))
        for sid, call in zip(names, calls, strict=True):
            if sid in results:
                meta = {"tool": text_of(call.get("name")), "corr": sid}
                values = {"content.output": _flat(dict_of(results[sid]).get("content"))}
                yield self._trail.along(self._at(f"{sid}/result").step("tool_result", meta, values), answers=sid)

    def _trouble(self, request: dict[str, Json], result: dict[str, Json], prompt: str) -> Iterator[Event]:
        error = text_of(dict_of(result.get("errorDetails")).get("message"))
        canceled = request.get("isCanceled") is True
        if error or canceled:
            reason = "error"
            if canceled:
                reason = "canceled"
            yield self._trail.beside(
                self._at(f"{prompt}/error").step("warning", {"reason": reason}, {"content.error": error})
            )

    def _at(self, source_id: str) -> Point:
        return Point(self._session, source_id, self._ts)

    def _model_call(self, name: str) -> Step:
        # The instructions and the history that the extension adds are not in the file.
        return self._trail.along(self._at(f"{name}/usage").model_call({"model": self._model}, is_shown=False))


def _markdown(part: dict[str, Json]) -> str | None:
    """The text of a part of an answer."""
    value = part.get("value")
    if "kind" not in part:
        return text_of(value) or text_of(dict_of(value).get("value"))
    return None


def _rendered(parts: Json) -> str | None:
    """The prompt as the model was given it."""
    texts = [text for part in list_of(parts) if (text := text_of(dict_of(part).get("text")))]
    return "\n".join(texts) or None


def _object(args: Json) -> Json:
    try:
        value = args
        if isinstance(args, str):
            value = loads_text(args).value
    except BadJson:
        return args
    if isinstance(value, dict):
        return value
    return args


def _flat(content: Json) -> str | None:
    """The text of a tool's result, which VS Code keeps as a tree of nodes."""
    texts = list(_leaves(content, _DEPTH))
    if texts:
        return "".join(texts)
    return None


def _leaves(node: Json, depth: int) -> Iterator[str]:
    if isinstance(node, list):
        for item in node:
            yield from _leaves(item, depth)
    elif isinstance(node, dict) and depth:
        if isinstance(node.get("text"), str):
            yield node["text"]
        for name in ("value", "node", "children"):
            if name in node:
                yield from _leaves(node[name], depth - 1)
    elif isinstance(node, str):
        yield node

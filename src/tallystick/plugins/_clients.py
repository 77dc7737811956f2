"""A client of a model API whose calls are recorded: what the OpenAI and Anthropic libraries have in common.

Both libraries send every request through the client's public `post`, whichever helper was called: plain, streamed,
parsed, raw. Owns taking requests and answers there. Must not know what is in either API's messages: an `Api` does.
"""

from __future__ import annotations

import inspect
import re
import weakref
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from typing import Any, Protocol, TypeVar

import msgspec

from tallystick.model.step import Json
from tallystick.recording.jsonify import is_omitted, plain
from tallystick.recording.model_inputs import Said
from tallystick.recording.session import Session, current_session
from tallystick.recording.spans import ModelCall, said_error

Client = TypeVar("Client")
_SECRETS = ("api_key", "auth_token", "admin_api_key", "webhook_secret", "webhook_key")
_RAW = "x-stainless-raw-response"
_KEPT_BACK = "<withheld>"
_SECRET_NAME = re.compile(r"authorization|api_?key|token\Z|secret|password|headers\Z|cookie", re.IGNORECASE)


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """A request to a model, read: the model's name, all it was given, and how it was to answer."""

    model: str | None
    given: Sequence[Said]
    settings: Mapping[str, Json]
    continues: str | None = None
    """The earlier answer that this request goes on from without repeating what led to it."""
    is_hidden: bool = False
    """True: the model is given more than the request holds."""


class Answer(Protocol):
    """An answer that comes in pieces."""

    def add(self, event: dict[str, Json]) -> None:
        """Take a piece."""
        ...

    def whole(self) -> dict[str, Json]:
        """The answer as it would have come in one piece, as far as it came."""
        ...


class Api(Protocol):
    """What must be known of a model API to record its calls."""

    def asked(self, path: str, body: dict[str, Json]) -> Asked | None:
        """What a request asks; None: it is not for a model's answer."""
        ...

    def answered(self, path: str, call: ModelCall, answer: dict[str, Json]) -> None:
        """Put into `call` what a whole answer says."""
        ...

    def streamed(self, path: str) -> Answer:
        """An empty answer, to which the events of a stream are added."""
        ...


def recorded(client: Client, session: Session | None, api: Api) -> Client:
    """A copy of `client` whose calls are recorded; it shares the connections of the original, which is left as it is.

    Raises: TypeError: it is not a client of this kind.
    """
    if not callable(getattr(client, "post", None)) or not callable(getattr(client, "copy", None)):
        raise TypeError(
            f"a {type(client).__name__} is not a client whose calls can be recorded: it has no `post` and `copy`"
        )
    copied: Any = client.copy()  # type: ignore[attr-defined]
    post, copy, recording = copied.post, copied.copy, _Recording(client, session, api)

    def again(**options: Any) -> Any:
        return recorded(copy(**options), session, api)

    if inspect.iscoroutinefunction(post):
        copied.post = _async_post(post, recording)
    else:
        copied.post = _post(post, recording)
    copied.copy = copied.with_options = again
    return copied  # type: ignore[no-any-return]


def _post(post: Callable[..., Any], recording: _Recording) -> Callable[..., Any]:
    def recorded_post(path: str, **request: Any) -> Any:
        going = recording.begin(path, request)
        if going is None:
            return post(path, **request)
        try:
            result = post(path, **request)
        except BaseException as error:
            going.fail(error)
            raise
        return going.take(result, is_stream=bool(request.get("stream")))

    return recorded_post


def _async_post(post: Callable[..., Any], recording: _Recording) -> Callable[..., Any]:
    async def recorded_post(path: str, **request: Any) -> Any:
        going = recording.begin(path, request)
        if going is None:
            return await post(path, **request)
        try:
            result = await post(path, **request)
        except BaseException as error:
            going.fail(error)
            raise
        is_stream = bool(request.get("stream"))
        if going.is_raw and not is_stream:
            await going.take_raw(result)
            return result
        return going.take(result, is_stream=is_stream)

    return recorded_post


class _Recording:
    """What is to be recorded of one client."""

    def __init__(self, client: object, session: Session | None, api: Api) -> None:
        self.api = api
        self._client = client
        self._session = session

    def begin(self, path: str, request: Mapping[str, Any]) -> _Going | None:
        """A call that begins; None if it is none of a model, or no one records."""
        session = self._session
        if session is None:
            session = current_session()
        if session is None:
            return None
        try:
            path = path.partition("?")[0]
            body = plain(request.get("body"))
            asked = None
            if isinstance(body, dict):
                asked = self.api.asked(path, body)
            if asked is None:
                return None
            return _Going(self, path, _call_of(session, asked), _raw_kind(request.get("options")))
        except Exception as error:  # a body of a shape no one thought of must still reach the model
            session.note_loss("model_call", error)
            return None

    def clean(self, text: str) -> str:
        """A text without the client's own keys, which servers are known to send back."""
        for name in _SECRETS:
            key = getattr(self._client, name, None)
            if isinstance(key, str) and len(key) >= 4:
                text = text.replace(key, _KEPT_BACK)
        return text


def _raw_kind(options: Any) -> str | None:
    """Whether the caller wants the response itself: `raw`, or `stream` if it reads that piece by piece."""
    headers = None
    if isinstance(options, Mapping):
        headers = options.get("headers")
    for name, value in (headers or {}).items():
        if name.lower() == _RAW and not is_omitted(value):
            if value == "stream":
                return "stream"
            return "raw"
    return None


def _call_of(session: Session, asked: Asked) -> ModelCall:
    """The call that a request asks for. What it continues may not be known here."""
    call = ModelCall(session, asked.model, asked.given, asked.settings).quietly()
    call.is_hidden = asked.is_hidden
    if asked.continues is not None:
        earlier = session.conversation.up_to(asked.continues)
        call.is_hidden = asked.is_hidden or earlier is None
        call.before = earlier or ()
    return call


class _Going:
    """A model call that is going on."""

    def __init__(self, recording: _Recording, path: str, call: ModelCall, raw: str | None) -> None:
        self.session = call.session
        self._recording = recording
        self._path = path
        self._raw = raw
        self.is_raw = raw == "raw"
        self._is_over = False
        self.call = call
        self.call.begin()

    def take(self, result: Any, *, is_stream: bool) -> Any:
        """Take an answer on its way to the program; what the program is to get instead, which acts the same."""
        if self._raw == "stream" or (is_stream and self._raw is not None):
            self.call.meta["output"] = "not-visible"
            self.finish(None)
            return result
        if not is_stream:
            self._finish_with(lambda: plain(result.parse() if self._raw is not None else result))
            return result
        return _watch(result, _Watch(self, self._recording.api.streamed(self._path)))

    async def take_raw(self, result: Any) -> None:
        """Take an answer that the program wants as a response. Reading it here does not take it from the program."""
        try:
            found = result.parse()
            whole = plain(await found if inspect.isawaitable(found) else found)
        except Exception as error:  # it is the program's to meet that when it reads the response itself
            self.session.note_loss("answer", error)
            whole = None
        self.finish(whole)

    def finish(self, answer: dict[str, Json] | None) -> None:
        """Record the call and its answer, once."""
        self._finish_with(lambda: answer)

    def _finish_with(self, answer: Callable[[], dict[str, Json] | None]) -> None:
        if self._is_over:
            return
        self._is_over = True
        try:
            whole = answer()
            if whole is not None:
                self._recording.api.answered(self._path, self.call, whole)
                if self.call.error is not None:
                    self.call.error = self._recording.clean(self.call.error)
        except Exception as error:  # an answer of a shape no one thought of
            self.session.note_loss("answer", error)
        self._end()

    def fail(self, error: BaseException) -> None:
        """Record that the call failed."""
        if not self._is_over:
            self._is_over = True
            self.call.error = self._recording.clean(said_error(error))
            if not isinstance(error, Exception):
                self.call.meta["interrupted"] = True
            self._end()

    def _end(self) -> None:
        try:
            self.call.end(None)
        except Exception as error:  # what is recorded must not decide what the agent gets
            self.session.note_loss("model_call", error)

    def drop(self, answer: Answer) -> None:
        """A stream was left unread, perhaps at a moment when nothing can be recorded: do it later."""
        if not self._is_over:
            self.call.meta["interrupted"] = True
            self.session.late.append(lambda: self.finish(answer.whole()))


# Streams -------------------------------------------------------------------------------------------------------------


class _Watch:
    """What is noted of a stream on its way to the program."""

    def __init__(self, going: _Going, answer: Answer) -> None:
        self._going = going
        self._answer = answer

    def saw(self, event: Any) -> None:
        """An event came."""
        try:
            found = plain(event)
            if isinstance(found, dict):
                self._answer.add(found)
        except Exception as error:
            self._going.session.note_loss("event", error)

    def over(self) -> None:
        """The stream ended."""
        self._going.finish(self._answer.whole())

    def failed(self, error: BaseException) -> None:
        """The stream broke, or anyone who read it was stopped."""
        self._going.call.meta["interrupted"] = True
        self._going.call.error = said_error(error)
        self._going.finish(self._answer.whole())

    def closed(self) -> None:
        """The program wants no more of it."""
        if not self._going._is_over:
            self._going.call.meta["interrupted"] = True
            self.over()

    def dropped(self) -> None:
        """The program forgot it."""
        self._going.drop(self._answer)


def _watch(stream: Any, watch: _Watch) -> Any:
    """The same stream, with what it gives noted. It keeps its type, since helpers and programs look at that."""
    is_async = hasattr(stream, "__anext__")
    if not hasattr(stream, "_iterator"):
        return _Pieces(stream, watch)
    if is_async:
        stream._iterator = _AsyncPieces(stream._iterator, watch)
    else:
        stream._iterator = _Pieces(stream._iterator, watch)
    reference = weakref.ref(stream)  # no cycle: a stream that is dropped must close at once

    def close() -> None:
        watch.closed()
        if (found := reference()) is not None:
            type(found).close(found)

    async def aclose() -> None:
        watch.closed()
        if (found := reference()) is not None:
            await type(found).close(found)

    if is_async:
        stream.close = aclose
    else:
        stream.close = close
    return stream


class _Pieces:
    """An iterator that lets another's items pass."""

    def __init__(self, inner: Iterator[Any], watch: _Watch) -> None:
        self._inner = inner
        self._watch = watch

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        try:
            event = next(self._inner)
        except StopIteration:
            self._watch.over()
            raise
        except BaseException as error:
            self._watch.failed(error)
            raise
        self._watch.saw(event)
        return event

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def __del__(self) -> None:
        self._watch.dropped()


class _AsyncPieces:
    """The same for an asynchronous one."""

    def __init__(self, inner: AsyncIterator[Any], watch: _Watch) -> None:
        self._inner = inner
        self._watch = watch

    def __aiter__(self) -> AsyncIterator[Any]:
        return self

    async def __anext__(self) -> Any:
        try:
            event = await anext(self._inner)
        except StopAsyncIteration:
            self._watch.over()
            raise
        except BaseException as error:
            self._watch.failed(error)
            raise
        self._watch.saw(event)
        return event

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def __del__(self) -> None:
        self._watch.dropped()


# What both APIs' requests have ---------------------------------------------------------------------------------------


def settings_of(body: Mapping[str, Json], known: frozenset[str], told: frozenset[str]) -> dict[str, Json]:
    """How a model was to answer. Of arguments that are not known, only the names are kept: they might hold a key."""
    settings = {name: body[name] for name in sorted(body) if name in known and body[name] is not None}
    others = sorted(set(body) - known - told)
    if others:
        return {**settings, "others": others}
    return settings


def tools_of(tools: Json) -> list[Said]:
    """The tools a model was offered, as the step that holds them."""
    if not isinstance(tools, list) or not tools:
        return []
    values = {"content.tools": without_secrets(tools)}
    return [Said(type="system", values=values, meta={"subtype": "tools"}, is_lasting=False)]


def without_secrets(value: Json) -> Json:
    """Definitions of tools without what gives access to them: headers and tokens of remote servers."""
    if isinstance(value, list):
        return [without_secrets(item) for item in value]
    if not isinstance(value, dict):
        return value
    if value.get("type") == "function" or "input_schema" in value or "parameters" in value:
        return value  # names in there are the function's own
    return {key: _KEPT_BACK if _SECRET_NAME.search(key) else without_secrets(item) for key, item in value.items()}

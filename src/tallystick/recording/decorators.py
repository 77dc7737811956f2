"""Decorators: functions of a program that record their calls by themselves.

Owns how a function of any kind, plain, async or generator, is wrapped, and what of its arguments and result is recorded.
Must not know what blocks record. Outside of any session a decorated function runs as if it were not decorated.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import AsyncIterator, Callable, Generator, Mapping
from typing import Any, TypeVar, cast, overload

from tallystick.model.step import Json
from tallystick.recording.jsonify import plain
from tallystick.recording.session import current_session
from tallystick.recording.spans import Block, Enclosing, ModelCall, Request, ToolCall

F = TypeVar("F", bound=Callable[..., Any])
Begin = Callable[[Mapping[str, Any]], Block | None]
"""Makes the block of a call from its arguments; None: nothing is to be recorded."""
End = Callable[[Any, Any], None]
"""Takes what a block's function returned."""


@overload
def tool_call(function: F, /) -> F: ...
@overload
def tool_call(*, tool: str | None = None, omit: tuple[str, ...] = ()) -> Callable[[F], F]: ...
def tool_call(
    function: Callable[..., Any] | None = None, /, *, tool: str | None = None, omit: tuple[str, ...] = ()
) -> Any:
    """Have each call of a function recorded as a tool call of the current session, with arguments and result.

    Functions may be plain, async, generators or async generators: what generators yield is their result. A fault of the
    recorder never reaches the function; what could not be recorded is told of by a `gap`.

    Args:
        tool: the tool's name; default: the function's. omit: arguments that are not recorded, such as a connection.
    """

    def decorate(function: F) -> F:
        name = tool
        if name is None:
            name = function.__name__

        def begin(arguments: Mapping[str, Any]) -> Block | None:
            session = current_session()
            if session is None:
                return None
            shown = {key: value for key, value in arguments.items() if key not in omit and key not in ("self", "cls")}
            return ToolCall(session, name, plain(shown), None).quietly()

        return _wrapped(function, begin, _output)

    if function is None:
        return decorate
    return decorate(cast(Any, function))


def model_call(
    model: str | None = None, *, messages: str = "messages", answer: Callable[[Any], str | None] | None = None
) -> Callable[[F], F]:
    """Have each call of a function recorded as a model call of the current session.

    Args:
        model: the model's name; default: the argument `model` of the call.
        messages: the argument that holds the conversation the model is given.
        answer: the text in what the function returns; default: the result itself if it is text. For tokens and calls,
            use `Session.ask`.
    """

    def decorate(function: F) -> F:
        def begin(arguments: Mapping[str, Any]) -> Block | None:
            session = current_session()
            if session is None:
                return None
            given = arguments.get(messages)
            conversation = given
            if isinstance(given, str):
                conversation = [given]
            asked = model
            if asked is None:
                asked = arguments.get("model")
            return ModelCall(session, asked if isinstance(asked, str) else None, conversation, {}).quietly()

        def end(block: ModelCall, result: Any) -> None:
            text = result
            if answer is not None:
                text = answer(result)
            if isinstance(text, list):
                text = "".join(map(str, text))
            if isinstance(text, str):
                block.says(text)

        return _wrapped(function, begin, end)

    return decorate


def request(prompt: str = "prompt") -> Callable[[F], F]:
    """Have each call of a function recorded as a request of the current session: a human's prompt, and what is done for it.

    Args:
        prompt: the argument that holds what the human said.
    """

    def decorate(function: F) -> F:
        def begin(arguments: Mapping[str, Any]) -> Block | None:
            session, text = current_session(), arguments.get(prompt)
            if session is not None and isinstance(text, str):
                return Request(session, text, {})
            return None

        return _wrapped(function, begin, lambda block, result: None)

    return decorate


def subagent(role: str | None = None, *, goal: str = "goal") -> Callable[[F], F]:
    """Have each call of a function recorded as a sub-agent of the current session, in a session of its own.

    Args:
        role: what the sub-agent is; default: the function's name. goal: the argument that says what it is to do.
    """

    def decorate(function: F) -> F:
        name = role
        if name is None:
            name = function.__name__

        def begin(arguments: Mapping[str, Any]) -> Block | None:
            session, told = current_session(), arguments.get(goal)
            if session is None:
                return None
            return session.subagent(name, told if isinstance(told, str) else None)

        return _wrapped(function, begin, _output)

    return decorate


def _output(block: Any, result: Any) -> None:
    block.output = plain(result)


# Wrapping ------------------------------------------------------------------------------------------------------------


def _wrapped(function: F, begin: Begin, end: End) -> F:
    binds = inspect.signature(function)

    def block_of(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Quiet | None:
        if current_session() is None:
            return None
        try:
            bound = binds.bind(*args, **kwargs)
        except TypeError:  # it is the function's to complain
            return None
        block = begin(_flat(bound))
        if block is None:
            return None
        return Quiet(block)

    if inspect.isasyncgenfunction(function):
        wrapper = _async_generator(function, block_of, end)
    elif inspect.iscoroutinefunction(function):
        wrapper = _coroutine(function, block_of, end)
    elif inspect.isgeneratorfunction(function):
        wrapper = _generator(function, block_of, end)
    else:
        wrapper = _plain(function, block_of, end)
    return cast(F, functools.wraps(function)(wrapper))


def _flat(bound: inspect.BoundArguments) -> Mapping[str, Any]:
    """Arguments by name, with those of `**kwargs` among them."""
    arguments = dict(bound.arguments)
    for name, parameter in bound.signature.parameters.items():
        if parameter.kind is inspect.Parameter.VAR_KEYWORD:
            arguments |= arguments.pop(name, {})
    return arguments


class Quiet(Block):
    """A block whose faults of recording do not reach the program. One that could not begin does not end either."""

    def __init__(self, block: Block) -> None:
        self.session = block.session
        self._block: Block | None = block

    def begin(self) -> None:
        """Begin the block, if that is possible."""
        if not self._tried(lambda block: block.begin()):
            self._block = None

    def end(self, error: BaseException | None) -> None:
        """End it."""
        self._tried(lambda block: block.end(error))

    def returned(self, end: End, result: Any) -> None:
        """Say what the function returned."""
        self._tried(lambda block: end(block, result))

    def leave(self) -> None:
        """Step out at a yield."""
        if isinstance(self._block, Enclosing):
            self._block.leave()

    def come_back(self) -> None:
        """Step in again after it."""
        if isinstance(self._block, Enclosing):
            self._block.come_back()

    def _tried(self, work: Callable[[Any], None]) -> bool:
        if self._block is None:
            return False
        try:
            work(self._block)
        except Exception as error:  # also what a foreign value does when it is looked at
            self.session.note_loss(type(self._block).__name__, error)
            return False
        return True


BlockOf = Callable[[tuple[Any, ...], dict[str, Any]], Quiet | None]


def _plain(function: Callable[..., Any], block_of: BlockOf, end: End) -> Callable[..., Any]:
    def call(*args: Any, **kwargs: Any) -> Any:
        block = block_of(args, kwargs)
        if block is None:
            return function(*args, **kwargs)
        with block:
            result = function(*args, **kwargs)
            block.returned(end, result)
            return result

    return call


def _coroutine(function: Callable[..., Any], block_of: BlockOf, end: End) -> Callable[..., Any]:
    async def call(*args: Any, **kwargs: Any) -> Any:
        block = block_of(args, kwargs)
        if block is None:
            return await function(*args, **kwargs)
        with block:
            result = await function(*args, **kwargs)
            block.returned(end, result)
            return result

    return call


class _Yielded:
    """The block of a generator, which is left at each yield and entered again, and what was yielded."""

    def __init__(self, block: Quiet, end: End) -> None:
        self._block = block
        self._end = end
        self._values: list[Any] = []
        block.begin()

    def leave(self, value: Any) -> None:
        self._values.append(value)
        self._block.leave()

    def come_back(self) -> None:
        self._block.come_back()

    def close(self, error: BaseException | None) -> None:
        values: Json = self._values
        if values and all(isinstance(value, str) for value in values):
            values = "".join(values)
        self._block.returned(self._end, values)
        # Anyone who asked has had enough: not a failure.
        if isinstance(error, GeneratorExit):
            self._block.end(None)
        else:
            self._block.end(error)


def _generator(function: Callable[..., Any], block_of: BlockOf, end: End) -> Callable[..., Any]:
    def call(*args: Any, **kwargs: Any) -> Generator[Any, Any, Any]:
        inner = function(*args, **kwargs)
        block = block_of(args, kwargs)
        if block is None:
            return (yield from inner)
        yielded = _Yielded(block, end)
        try:
            sent: Any = None
            while True:
                value = inner.send(sent)
                yielded.leave(value)
                sent = yield from _passed(inner, value, yielded)
        except StopIteration as stop:
            yielded.close(None)
            return stop.value
        except BaseException as error:
            yielded.close(error)
            raise
        finally:
            inner.close()

    return call


def _passed(inner: Any, value: Any, yielded: _Yielded) -> Generator[Any, Any, Any]:
    """Give a value to anyone who asked; what is thrown in is thrown on."""
    while True:
        try:
            sent = yield value
        except GeneratorExit:
            yielded.come_back()
            raise
        except BaseException as error:
            yielded.come_back()
            value = inner.throw(error)
            yielded.leave(value)
        else:
            yielded.come_back()
            return sent


def _async_generator(function: Callable[..., Any], block_of: BlockOf, end: End) -> Callable[..., Any]:
    async def call(*args: Any, **kwargs: Any) -> AsyncIterator[Any]:
        inner = function(*args, **kwargs)
        block = block_of(args, kwargs)
        if block is None:
            async for value in inner:
                yield value
            return
        yielded = _Yielded(block, end)
        try:
            async for value in inner:
                yielded.leave(value)
                yield value
                yielded.come_back()
        except BaseException as error:
            yielded.close(error)
            raise
        else:
            yielded.close(None)
        finally:
            await inner.aclose()

    return call

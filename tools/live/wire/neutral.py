"""What the four model APIs have in common: a request that offers tools, an answer that calls them.

Owns the neutral values. Must not know any wire format, nor what is answered.
"""

from __future__ import annotations

import secrets
from typing import Any

import msgspec

Json = Any
"""A JSON value: bodies are the vendors' and are taken apart in the module of each API, nowhere else."""

Event = tuple[str | None, Json]
"""One server-sent event: its name, if the API names events, and its data; a plain text stands for itself."""


class Tool(msgspec.Struct, frozen=True, kw_only=True):
    """A tool that a request offers."""

    name: str
    description: str = ""
    properties: dict[str, Json] = {}
    freeform: bool = False
    """It takes one text instead of an object (OpenAI's custom tools)."""
    builtin: str | None = None
    """The type of a tool that the vendor defines and the request only names."""
    namespace: str | None = None


class Message(msgspec.Struct, frozen=True):
    """One turn of the conversation so far: role `user`, `assistant` or `tool`, its text, how many calls it makes."""

    role: str
    text: str = ""
    calls: int = 0


class Request(msgspec.Struct, kw_only=True):
    """A model request, read from any of the four formats."""

    model: str = "fake-model"
    stream: bool = False
    system: str = ""
    schema: Json = None
    """The JSON Schema that the answer must satisfy, if the request names one."""
    messages: list[Message] = []
    tools: dict[str, Tool] = {}

    def say(self, role: str, text: str = "", calls: int = 0) -> None:
        """Append a message; what the assistant says in several items is one turn."""
        if role == "assistant" and self.messages and self.messages[-1].role == "assistant":
            last = self.messages.pop()
            text, calls = f"{last.text}\n{text}".strip(), last.calls + calls
        self.messages.append(Message(role, text, calls))

    def offer(self, tool: Tool) -> None:
        """Add a tool to those that may be called."""
        self.tools[tool.name] = tool


class Called(msgspec.Struct, frozen=True, kw_only=True):
    """A call that the answer makes: its id, the tool's name and its input (a text for a freeform tool)."""

    id: str
    name: str
    input: Json
    tool: Tool


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """What the model says."""

    text: str = ""
    thinking: str = ""
    calls: tuple[Called, ...] = ()
    input_tokens: int = 100
    output_tokens: int = 20
    cached_tokens: int = 10


def fresh(prefix: str) -> str:
    """An id as the vendors make them."""
    return prefix + secrets.token_hex(12)


def text_of(content: Json) -> str:
    """The text in a content field, which may be a text, a block or a list of blocks."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "\n".join(filter(None, map(text_of, content)))
    if isinstance(content, dict):
        return text_of(next(filter(None, map(content.get, ("text", "content", "parts", "encrypted_content"))), ""))
    return ""


def pieces(text: str, size: int = 24) -> list[str]:
    """A text in the pieces in which a stream brings it; at least one."""
    return [text[at : at + size] for at in range(0, len(text), size)] or [""]

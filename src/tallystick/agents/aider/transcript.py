"""aider's chat history: `.aider.chat.history.md` in each project, to which every chat is appended as Markdown.

Owns where a block of it begins and what the block says as steps. It is prose for people, in which nothing has an id or, but
for the start of a chat, a time: blocks are named by their place in the chat. aider tells them apart when it appends to the
file: an own line ends with two spaces, begins with `#### ` (typed) or `>` (a note), and stands after a blank line or right
below another own line; whatever else begins after a blank line is the model's. A model may write such lines too, so marks
are believed only where aider would have put them. Source: aider 0.86, `io.py`.
"""

from __future__ import annotations

import enum
import posixpath
import re
from collections.abc import Iterator

import msgspec
from msgspec.structs import replace

from tallystick.agents import Reader, Shape, SourceFile
from tallystick.agents.kit.point import Point
from tallystick.agents.recognition import IN_ITS_PLACE
from tallystick.catalog.agents import AGENTS
from tallystick.model.step import Event, Json, Loss, Opening, Step

_CHAT = re.compile(r"# aider chat started at (\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)\s*\Z", re.ASCII)
_USAGE_LINE = re.compile(r"> Tokens: \d[\d.]*[kM]? sent, .*received\.", re.ASCII)
_END = "  "


class Kind(enum.Enum):
    """What a block of the history is."""

    CHAT = "chat"
    """aider was started; the text is the time."""
    TYPED = "typed"
    NOTE = "note"
    """One message of aider: a line, or several if they were written at once."""
    ANSWER = "answer"


class Block(msgspec.Struct, frozen=True):
    """One block, without its marks."""

    kind: Kind
    text: str


def blocks_of(text: str) -> Iterator[Block]:
    """The blocks of a history, in order. Every line that is not blank is in one of them."""
    splitter = _Splitter()
    for line in text.split("\n"):
        yield from splitter.take(line.removesuffix("\r"))
    yield from splitter.flush()


class _Splitter:
    """The block being read: a note that is held is one whose end, two spaces, is yet to come."""

    def __init__(self) -> None:
        self._kind: Kind | None = None
        self._lines: list[str] = []
        self._is_after_blank = True
        self._is_below_own = False
        self._is_after_chat = False

    def take(self, line: str) -> Iterator[Block]:
        """The blocks that are known to have ended when this line is read."""
        is_blank = not line.strip()
        if is_blank:
            yield from self._blank(line)
        elif self._is_after_blank and (chat := _CHAT.match(line)):
            yield from self.flush()
            yield Block(Kind.CHAT, chat[1])
        else:
            yield from self._full(line)
        self._is_below_own = not is_blank and self._kind is not Kind.ANSWER
        self._is_after_chat = _CHAT.match(line) is not None or (is_blank and self._is_after_chat)
        self._is_after_blank = is_blank

    def flush(self) -> Iterator[Block]:
        """The block being read, which has ended."""
        if self._kind is not None:
            yield Block(self._kind, "\n".join(self._lines).strip("\n"))
        self._kind, self._lines = None, []

    def _blank(self, line: str) -> Iterator[Block]:
        if self._kind in (Kind.ANSWER, Kind.NOTE):
            self._lines.append(line)
        else:
            yield from self.flush()

    def _full(self, line: str) -> Iterator[Block]:
        if self._is_typed(line):
            if self._kind is not Kind.TYPED:
                yield from self._begin(Kind.TYPED)
            self._lines.append(line[5:].rstrip())
        elif self._kind is Kind.NOTE or self._is_note(line):
            text = line.removesuffix(_END)
            if self._kind is not Kind.NOTE:
                yield from self._begin(Kind.NOTE)
                text = text.removeprefix(">").removeprefix(" ")
            self._lines.append(text)
            if line.endswith(_END):
                yield from self.flush()
        else:
            if self._kind is not Kind.ANSWER:
                yield from self._begin(Kind.ANSWER)
            self._lines.append(line)

    def _begin(self, kind: Kind) -> Iterator[Block]:
        yield from self.flush()
        self._kind = kind

    def _is_typed(self, line: str) -> bool:
        """A line that was typed. Inside a note it has a blank line before it."""
        may_begin = self._is_after_blank or (self._is_below_own and self._kind is not Kind.NOTE)
        return may_begin and line.startswith("#### ") and line.endswith(_END)

    def _is_note(self, line: str) -> bool:
        """A note, or the rest of one: a model's answer never begins right below an own line."""
        if self._is_below_own:
            return True
        if not self._is_after_blank or not line.startswith(">"):
            return False
        return line.endswith(_END) or self._is_after_chat or _USAGE_LINE.match(line) is not None


NAME = "aider"
SHAPE = Shape.DOCUMENT
GLOBAL_IDS = False
COMPANIONS: tuple[str, ...] = ()

_FILE = ".aider.chat.history.md"
_HEAD = b"# aider chat started at "
_COMMAND = re.compile(r"[/!](\S*)\s*(.*)", re.DOTALL)
_THOUGHT = re.compile(r"<(thinking-content-[0-9a-f]{32})>\s*(.*?)\s*</\1>\s*(.*)\Z", re.DOTALL)
_VERSION = re.compile(r"Aider v(\S+)\Z")
_MODEL = re.compile(r"(?:Main model|Model): (\S+) with (\S+) edit format")
_USAGE = re.compile(
    r"Tokens: (?P<sent>\d[\d.]*[kM]?) sent"
    r"(?:, (?P<written>\d[\d.]*[kM]?) cache write)?(?:, (?P<hit>\d[\d.]*[kM]?) cache hit)?"
    r", (?P<received>\d[\d.]*[kM]?) received\.(?:\s+Cost: \$(?P<cost>[\d.]+) message, \$[\d.]+ session\.)?\Z",
    re.ASCII,
)
_ASKED = re.compile(
    r"(.*) \(Y\)es/\(N\)o(?:/\(A\)ll)?(?:/\(S\)kip all)?(?:/\(D\)on't ask again)? \[\w+\]: (\w+)\Z", re.DOTALL
)
_APPLIED = re.compile(r"Applied edit to (.+)\Z", re.DOTALL)
_COMMIT = re.compile(r"(?P<scope>Commit|Removed:) (?P<id>[0-9a-f]{4,40}) (?P<text>.*)\Z", re.DOTALL)
_RUNNING = re.compile(r"Running (.+)\Z", re.DOTALL)
_SCALE = {"k": 1000, "M": 1_000_000}


def locate() -> tuple[str, ...]:
    """Globs below the home folder: histories lie in projects, and only those that lie near are looked for."""
    return AGENTS[NAME].histories["transcript"].patterns


def recognises(path: str, head: bytes) -> int:
    """Whether a file is a chat history: by its name, or as Markdown that begins with the start of a chat."""
    if posixpath.basename(path.replace("\\", "/")) == _FILE:
        if head.strip():
            return IN_ITS_PLACE
        return 0
    if path.endswith(".md") and head.lstrip().startswith(_HEAD):
        return 1
    return 0


def reader(file: SourceFile) -> Reader:
    """A reader for one history."""
    return _Reader(file.path)


class _Reader:
    def __init__(self, path: str) -> None:
        self._project = posixpath.basename(posixpath.dirname(path.replace("\\", "/"))) or "aider"
        self._names: set[str] = set()

    def feed(self, data: bytes, offset: int) -> Iterator[Event]:
        """The events of the whole history."""
        try:
            text = data.decode("utf-8")
        except UnicodeDecodeError as error:
            yield Loss(kind="bad_text", detail=f"byte {offset + error.start}: not UTF-8", fault=True)
            text = data.decode("utf-8", "replace")
        for started, blocks in _chats(blocks_of(text)):
            yield from _Chat(self._session(started), started, blocks).events()

    def finish(self) -> Iterator[Event]:
        """Nothing is held back."""
        return iter(())

    def _session(self, started: str | None) -> str:
        """A chat is named by its project and its start; of two in one second, the second gets a number."""
        name = first = f"{self._project}/{(started or 'before').replace(' ', 'T')}"
        while name in self._names:
            name = f"{first}.{len(self._names) + 1}"
        self._names.add(name)
        return name


def _chats(blocks: Iterator[Block]) -> Iterator[tuple[str | None, list[Block]]]:
    """The chats of a file: when each started (None: what stands before the first start), and its blocks."""
    started: str | None = None
    held: list[Block] = []
    for block in blocks:
        if block.kind is not Kind.CHAT:
            held.append(block)
            continue
        if started is not None or held:
            yield started, held
        started, held = block.text, []
    if started is not None or held:
        yield started, held


class _Chat:
    """One chat. `_plain` are notes that are kept together, since each is a line of one message."""

    def __init__(self, session: str, started: str | None, blocks: list[Block]) -> None:
        self._session = session
        self._started = started
        self._blocks = blocks
        self._plain: list[str] = []
        self._count = 0
        self._model: str | None = None
        self._repeated: str | None = None

    def events(self) -> Iterator[Event]:
        """The opening, then the steps."""
        yield self._opening()
        place = 0
        while place < len(self._blocks):
            block = self._blocks[place]
            place += 1
            if block.kind is Kind.NOTE:
                yield from self._note(block.text)
                continue
            yield from self._notes()
            if block.kind is Kind.TYPED:
                yield self._typed(block.text)
                continue
            usage = self._usage_at(place)
            place += usage is not None
            yield from self._answer(block.text, usage)
        yield from self._notes()

    def _opening(self) -> Opening:
        meta: dict[str, Json] = {}
        for block in self._blocks:
            if block.kind is not Kind.NOTE:
                break
            if version := _VERSION.match(block.text):
                meta["agent_version"] = version[1]
            elif model := _MODEL.match(block.text):
                meta |= {"model": model[1], "edit_format": model[2]}
        return Opening(session=self._session, agent=NAME, ts=self._started, meta=meta)

    # What was typed and answered -------------------------------------------------------------------------------------

    def _typed(self, text: str) -> Step:
        """A prompt; a command; the prompt that a command repeats; an answer to a question for a group of files."""
        is_repeated, self._repeated = text == self._repeated, None
        if is_repeated or _ASKED.match(text):
            return self._step("user", {"origin": "command"}, {"content.text": text})
        command = _COMMAND.match(text)
        meta: dict[str, Json] = {}
        if command is not None:
            self._repeated = command[2] or None
            meta = {"command": command[1] or None}
        return replace(self._step("user", meta, {"content.text": text}), opens_request=True)

    def _usage_at(self, place: int) -> re.Match[str] | None:
        """The usage that stands right behind an answer."""
        for block in self._blocks[place : place + 1]:
            if block.kind is Kind.NOTE:
                return _USAGE.match(block.text)
        return None

    def _answer(self, text: str, usage: re.Match[str] | None) -> Iterator[Step]:
        name = self._name()
        yield self._model_call(name, usage)
        if thought := _THOUGHT.match(text):
            yield self._step("assistant", {}, {"content.thinking": thought[2]}, f"{name}/0")
            text = thought[3]
        if text:
            yield self._step("assistant", {}, {"content.text": text}, f"{name}/1")

    def _model_call(self, name: str, usage: re.Match[str] | None) -> Step:
        meta: dict[str, Json] = {"model": self._model}
        if usage:
            meta |= _usage_members(usage)
        # Files, the map of the repository and summaries of older messages are sent too, and are not in the history.
        return Point(self._session, f"{name}/usage").model_call(meta, is_shown=False)

    # Notes -----------------------------------------------------------------------------------------------------------

    def _note(self, text: str) -> Iterator[Step]:
        if model := _MODEL.match(text):
            self._model = model[1]
        told = _told(text)
        if told is None:
            self._plain.append(text)
            return
        yield from self._notes()
        if usage := _USAGE.match(text):
            yield self._model_call(self._name(), usage)
        else:
            yield self._step(*told)

    def _notes(self) -> Iterator[Step]:
        """The notes held, as one step."""
        text = "\n".join(self._plain).strip("\n")
        self._plain = []
        if text:
            yield self._step("system", {}, {"content.text": text})

    # Steps -----------------------------------------------------------------------------------------------------------

    def _name(self) -> str:
        self._count += 1
        return f"#{self._count - 1}"

    def _step(self, kind: str, meta: dict[str, Json], values: dict[str, Json], name: str | None = None) -> Step:
        return Point(self._session, name or self._name()).step(kind, meta, values)


def _told(text: str) -> tuple[str, dict[str, Json], dict[str, Json]] | None:
    """The type, meta and values of the step that a note tells of; None if it is only said."""
    if asked := _ASKED.match(text):
        decision = "deny"
        if asked[2].lower().startswith(("y", "a")):
            decision = "allow"
        return "permission", {"decision": decision, "answer": asked[2]}, {"content.text": asked[1]}
    if applied := _APPLIED.match(text):
        return "file_effect", {"action": "edit"}, {"content.path": applied[1]}
    if commit := _COMMIT.match(text):
        scope = "undo"
        if commit["scope"] == "Commit":
            scope = "commit"
        return "file_effect", {"scope": scope, "commit": commit["id"]}, {"content.text": commit["text"]}
    if running := _RUNNING.match(text):
        return "process", {}, {"content.args": {"command": running[1]}}
    if _USAGE.match(text):
        return "model_call", {}, {}
    return None


def _usage_members(usage: re.Match[str]) -> dict[str, Json]:
    """What a line of usage says. What was sent holds what a cache gave; counts from 1000 on are rounded."""
    counts = {
        "input": usage["sent"],
        "output": usage["received"],
        "cache_read": usage["hit"],
        "cache_write": usage["written"],
    }
    tokens = {kind: _number(count) for kind, count in counts.items() if count is not None}
    cached = tokens.get("cache_read", 0) + tokens.get("cache_write", 0)
    if tokens["input"] >= cached:
        tokens["input"] -= cached
    is_rounded = any(count is not None and count[-1] in _SCALE for count in counts.values())
    found: dict[str, Json] = {"tokens": tokens, "approximate": is_rounded or None}
    if usage["cost"] is not None:
        found["cost_microusd"] = _number(usage["cost"], 1_000_000)
    return found


def _number(text: str, scale: int = 1) -> int:
    """`1.2k` as 1200; 0 for what is not a number after all."""
    digits = text.rstrip("kM")
    try:
        return round(float(digits) * scale * _SCALE.get(text[len(digits) :], 1))
    except (ValueError, OverflowError):
        return 0

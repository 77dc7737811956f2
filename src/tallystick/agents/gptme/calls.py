"""Tool calls in the text of a gptme message: fenced blocks, XML, and `@tool(call_id): {json}`.

Owns the grammar by which gptme finds calls in what a model wrote. Must not know messages, results or steps.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator

import msgspec

from tallystick.agents.kit.reading import BadJson, loads_text
from tallystick.agents.kit.spelling import words
from tallystick.model.step import Json


class Part(msgspec.Struct, frozen=True):
    """A stretch of a message, `start` to `end`: text, thinking, or a call if `tool` is set."""

    start: int
    end: int
    text: str = ""
    is_thinking: bool = False
    tool: str | None = None
    args: Json = None
    call_id: str | None = None
    syntax: str | None = None
    """`markdown`, `xml` or `native`."""


TOOLS = re.compile("(?:" + "|".join(words("gptme", "fences")) + r")\Z")
"""Words after a fence that make a block a call. `python`, `bash`, `json`… only show something."""

_ALIASES = {"py": "ipython"}
_PARAMETERS: dict[str, tuple[str | None, str]] = {
    "append": ("path", "content"),
    "ipython": (None, "code"),
    "morph": ("path", "edit"),
    "patch": ("path", "patch"),
    "save": ("path", "content"),
    "shell": (None, "command"),
    "tmux": (None, "command"),
}
"""What the words after a fence and the block itself are called in the native form of the same call."""

_THINKING = re.compile(r"^<(think|thinking)>(.*?)(?:</\1>|\Z)", re.MULTILINE | re.DOTALL)
_NATIVE = re.compile(r"^@([^\r\n(]{1,200})\(([\w\-:.]{1,200})\):[ \t]*(?=\{)", re.MULTILINE)
_XML = re.compile(r"<(tool-use|function_calls)>(.*?)</\1>", re.DOTALL)
_XML_CALL = re.compile(r"<([A-Za-z_][\w.-]*)((?:\s[^<>]*)?)>(.*?)</\1>", re.DOTALL)
_XML_ATTRIBUTE = re.compile(r"""([\w-]+)\s*=\s*("[^"]*"|'[^']*')""")
_JSON_TOKEN = re.compile(r'[{}"\\]')


def parts_of(text: str) -> list[Part]:
    """A message's text as the stretches it is made of, in order. Stretches of white space alone are left out."""
    begin = _end_of_thinking(text)
    if begin is None:
        fences = []
    else:
        fences = fenced_blocks(text, begin)
    calls = [call for call in _native_calls(text) if not _within(call.start, fences)]
    calls += [call for call in map(_fenced_call, fences) if call is not None]
    calls += [call for call in _xml_calls(text) if not _within(call.start, [*fences, *calls])]
    thinking = [_thinking(match, calls) for match in _THINKING.finditer(text) if not _within(match.start(), fences)]
    return list(_with_text_between(text, sorted([*thinking, *calls], key=lambda part: part.start)))


def _end_of_thinking(text: str) -> int | None:
    """Where gptme begins to look for blocks: behind the first thinking, nowhere if that never ends."""
    for tag in ("thinking", "think"):
        end = text.find(f"</{tag}>")
        if end >= 0 and (f"<{tag}>" not in text[:end] or re.search(f"^<{tag}>", text[:end], re.MULTILINE)):
            return end + len(tag) + 3
    if _THINKING.search(text):
        return None
    return 0


def _thinking(match: re.Match[str], calls: list[Part]) -> Part:
    """A stretch of thinking. It ends before a call at the latest: what gptme ran is not a mere thought."""
    end = min((call.start for call in calls if match.start() <= call.start < match.end()), default=match.end())
    if end == match.end():
        thought = match[2]
    else:
        thought = match.string[match.start(2) : end]
    return Part(match.start(), end, thought.strip(), is_thinking=True)


def _within(position: int, parts: list[Part]) -> bool:
    return any(part.start <= position < part.end for part in parts)


def _with_text_between(text: str, parts: list[Part]) -> Iterator[Part]:
    at = 0
    for part in [*parts, Part(len(text), len(text))]:
        if part.start < at:
            continue
        between = text[at : part.start]
        if between.strip():
            yield Part(at, part.start, between)
        if part.end > part.start:
            yield part
        at = part.end


# Fenced blocks -------------------------------------------------------------------------------------------------------

_FENCE = re.compile(r"(`{3,})[ \t]*([^`\r\n]*)\r?\Z")
_HEREDOC = re.compile(r"<<-?\s*['\"\\]?([A-Za-z_][\w-]*)")
_SHELLS = frozenset(("shell", "sh", "bash", "zsh", "fish", "ksh"))
_TRIPLE_QUOTE = re.compile(r'"""|\'\'\'')
_SHELL_TOKEN = re.compile(r"""\\|'|"|(?:^|(?<=\s))#""")
_HEREDOC_LINES = 200


class _Lines(msgspec.Struct, frozen=True):
    """A text's lines, and where each begins."""

    lines: list[str]
    starts: list[int]

    def is_blank(self, index: int) -> bool:
        return index >= len(self.lines) or not self.lines[index].strip()


def fenced_blocks(text: str, begin: int = 0) -> list[Part]:
    """The closed blocks between fences of backticks, outermost only: `args` is the fence's words, `text` the block.

    A block that is not closed ends the search, as it does for gptme: all that follows is in it.
    """
    if text.count("```", begin) < 2:
        return []
    lines = text[begin:].split("\n")
    starts = [begin]
    for line in lines:
        starts.append(starts[-1] + len(line) + 1)
    page, found, index = _Lines(lines, starts), [], 0
    while index < len(lines):
        fence = _FENCE.match(lines[index])
        if fence:
            close = _closing_line(page, index, fence)
            if close is None:
                break
            body = "\n".join(line.removesuffix("\r") for line in lines[index + 1 : close])
            end = min(starts[close + 1], len(text))
            found.append(Part(starts[index], end, body, args=fence[2].strip()))
            index = close
        index += 1
    return found


def _closing_line(page: _Lines, opening: int, fence: re.Match[str]) -> int | None:
    """The line that closes the block opened at a line, by the rules of gptme's own reader; None if none does."""
    word = fence[2].split(" ")[0]
    depth, literal = 1, _Literal(word)
    for index in range(opening + 1, len(page.lines)):
        if literal.covers(page, index):
            continue
        inner = _FENCE.match(page.lines[index])
        if inner is None:
            continue
        if inner[2].strip():
            depth += inner[2][0].isalnum() or inner[2][0] in "_/.~"
        elif depth > 1:
            depth -= 1
        elif len(inner[1]) == len(fence[1]):
            if word in _SHELLS or word == "ipython" or page.is_blank(index + 1) or _FENCE.match(page.lines[index + 1]):
                return index
            depth += _opens_nested(page, index)
    return None


def _opens_nested(page: _Lines, index: int) -> bool:
    """Whether a bare fence with text below it opens a block inside the block: one closes it soon, and more follows."""
    for line in range(index + 1, min(index + 20, len(page.lines))):
        inner = _FENCE.match(page.lines[line])
        if inner and inner[2].strip():
            return False
        if inner:
            return any(not page.is_blank(after) for after in range(line + 1, line + 5))
    return False


class _Literal:
    """Whether lines of a block are inside a here-document or a string over several lines, where fences mean nothing."""

    def __init__(self, word: str) -> None:
        self._word = word
        self._until: str | None = None
        self._quote: str | None = None

    def covers(self, page: _Lines, index: int) -> bool:
        if self._word in _SHELLS:
            return self._is_heredoc(page, index) or self._is_quoted(page.lines[index])
        return self._word == "ipython" and self._is_string(page.lines[index])

    def _is_heredoc(self, page: _Lines, index: int) -> bool:
        line = page.lines[index]
        if self._until is not None:
            if line.strip() == self._until:
                self._until = None
            return True
        match = _HEREDOC.search(line)
        window = page.lines[index + 1 : index + 1 + _HEREDOC_LINES]
        if match and any(later.strip() == match[1] for later in window):
            self._until = match[1]
        return False

    def _is_quoted(self, line: str) -> bool:
        was_quoted, skip = self._quote is not None, -1
        for token in _SHELL_TOKEN.finditer(line):
            if token.start() <= skip:
                continue
            if token[0] == "\\":
                if self._quote != "'":
                    skip = token.end()
            elif token[0][-1] == "#":
                if self._quote is None:
                    break
            elif self._quote in (None, token[0]):
                if self._quote:
                    self._quote = None
                else:
                    self._quote = token[0]
        return was_quoted

    def _is_string(self, line: str) -> bool:
        was_inside = self._until is not None
        for quote in _TRIPLE_QUOTE.findall(line):
            if self._until is None:
                self._until = quote
            elif quote == self._until:
                self._until = None
        return was_inside


def _fenced_call(block: Part) -> Part | None:
    word, _, words = str(block.args).partition(" ")
    if TOOLS.match(word) is None:
        return None
    tool = _ALIASES.get(word, word)
    return msgspec.structs.replace(
        block, text="", tool=tool, args=arguments(tool, words.strip(), block.text), syntax="markdown"
    )


def arguments(tool: str, words: str, body: str) -> dict[str, Json]:
    """Arguments under the names that the native form of the call gives them."""
    words_name, body_name = _PARAMETERS.get(tool, (None, "content"))
    args: dict[str, Json] = {}
    if words:
        args = {words_name or "args": words}
    if body or body_name != "content":
        args[body_name] = body
    return args


# XML and native calls ------------------------------------------------------------------------------------------------


def _xml_calls(text: str) -> Iterator[Part]:
    for block in _XML.finditer(text):
        calls = list(_XML_CALL.finditer(text, block.start(2), block.end(2)))
        for number, call in enumerate(calls):
            attributes = {name: html.unescape(value[1:-1]) for name, value in _XML_ATTRIBUTE.findall(call[2])}
            if call[1] == "invoke":
                tool = attributes.pop("name", "")
            else:
                tool = call[1]
            tool = _ALIASES.get(tool, tool)
            args = arguments(tool, " ".join(attributes.values()), html.unescape(call[3]).strip())
            if number:
                start = call.start()
            else:
                start = block.start()
            if number + 1 < len(calls):
                end = calls[number + 1].start()
            else:
                end = block.end()
            yield Part(start, end, tool=tool or "unknown", args=args, syntax="xml")


def _native_calls(text: str) -> Iterator[Part]:
    at = 0
    while match := _NATIVE.search(text, at):
        end = _json_end(text, match.end())
        if end is None:
            return
        try:
            args = loads_text(text[match.end() : end]).value
        except BadJson:
            args = text[match.end() : end]
        yield Part(match.start(), end, tool=match[1], args=args, call_id=match[2], syntax="native")
        at = end


def _json_end(text: str, start: int) -> int | None:
    """Where the object that begins at `start` ends; None if it does not."""
    depth, in_string, skip = 0, False, -1
    for token in _JSON_TOKEN.finditer(text, start):
        if token.start() == skip:
            continue
        if token[0] == "\\":
            skip = token.end()
        elif token[0] == '"':
            in_string = not in_string
        elif not in_string:
            if token[0] == "{":
                depth += 1
            else:
                depth += -1
            if depth == 0:
                return token.end()
    return None

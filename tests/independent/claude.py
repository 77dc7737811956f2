"""Claude Code's transcript: `uuid` and `parentUuid` link the lines; a queue beside them holds prompts that waited."""

from __future__ import annotations

import re
from collections import Counter, deque
from typing import Any

from tests.independent.facts import Edit, History, Request
from tests.independent.lines import Lines, text_of

__all__ = ("read",)

_EDITORS = {"Edit": "file_path", "Write": "file_path", "MultiEdit": "file_path", "NotebookEdit": "notebook_path"}
_COMMAND = re.compile(r"<command-name>(.*?)</command-name>", re.DOTALL)
_ARGUMENTS = re.compile(r"<command-args>(.*?)</command-args>", re.DOTALL)
_MESSAGE = re.compile(r"<teammate-message[^>]*>(.*?)</teammate-message>", re.DOTALL)
_PLAN = "Implement the following plan:"
_ADDED = re.compile(
    r"<(system-reminder|ide_opened_file|ide_selection|ide_diagnostics|user-prompt-submit-hook)\b.*?</\1>", re.DOTALL
)
_NOT_ASKED = (
    "[Request interrupted",
    "<local-command-",
    "<bash-",
    "Caveat: The messages below were generated",
    "<user-memory-input>",
)
_DONE = (
    '{"task_id":',
    "<task-notification",
    "<agent-notification",
    "<background-task",
    "<bash-notification",
    "<monitor-event",
)
_SAID = "he user said:\n"
_REFUSED = (
    "The user doesn't want to",
    "The tool use was rejected",
    "Permission to use",
    "Permission for this",
    "PreToolUse:",
    "Claude requested permissions",
)


def read(lines: Lines) -> History:
    history = History("claude-code", bad_lines=lines.bad)
    _Reading(history, lines).run()
    return history


class _Reading:
    """One pass over the file. `at` maps a line's uuid to the request that holds after it."""

    def __init__(self, history: History, lines: Lines) -> None:
        self.history = history
        self.lines = lines
        self.at: dict[str, Request | None] = {}
        self.main: Request | None = None
        self.began: dict[str, Request | None] = {}
        self.usage: dict[str, dict[str, Any]] = {}
        self.tools: dict[str, tuple[str, Request | None]] = {}
        self.queue: deque[str] = deque()
        self.delivered: Request | None = None
        self.sides: dict[str, Request] = {}
        self.seen: set[str] = set()
        self.attached = Counter(
            text_of(attachment.get("prompt"))
            for _, line in lines
            if (attachment := _dict(line.get("attachment"))).get("type") == "queued_command"
        )
        self.local = {
            str(line.get("parentUuid"))
            for _, line in lines
            if line.get("type") == "user"
            and text_of(_dict(line.get("message")).get("content")).startswith("<local-command-std")
        }

    def run(self) -> None:
        for number, line in self.lines:
            self.history.session = self.history.session or str(line.get("sessionId") or "")
            uuid = line.get("uuid")
            if uuid in self.seen:
                continue
            if isinstance(uuid, str):
                self.seen.add(uuid)
            match line.get("type"):
                case "user":
                    self.user(number, line)
                case "assistant":
                    self.assistant(number, line)
                case "attachment":
                    self.attachment(number, line)
                case "queue-operation":
                    self.queued(number, line)
                case "progress":
                    self.progress(number, line)
                case _:
                    self.keep(line, self.before(line))
        self.history.tokens = _sum(self.usage.values())

    # Which request holds.

    def before(self, line: dict[str, Any]) -> Request | None:
        parent = line.get("parentUuid") or line.get("logicalParentUuid")
        if parent in self.at:
            return self.at[parent]
        return None if line.get("isSidechain") else self.main

    def keep(self, line: dict[str, Any], request: Request | None) -> None:
        if isinstance(line.get("uuid"), str):
            self.at[line["uuid"]] = request
            if not line.get("isSidechain") and line.get("type") != "progress":
                self.main = request

    def ask(self, number: int, kind: str, text: str, above: Request | None) -> Request:
        request = Request(number, kind, text, above)
        self.history.requests.append(request)
        return request

    # The kinds of lines.

    def user(self, number: int, line: dict[str, Any]) -> None:
        held = self.before(line)
        content = _dict(line.get("message")).get("content")
        blocks = [b for b in content if isinstance(b, dict)] if isinstance(content, list) else []
        results = [b for b in blocks if b.get("type") == "tool_result"]
        for block in results:
            held = self.result(number, line, block, held)
        text = text_of(content)
        if results and not line.get("isMeta"):
            said = _ADDED.sub("", text).strip()
            if said and not said.startswith(_NOT_ASKED):
                held = self.delivered = self.ask(number, "queued", said, held)
        if not results:
            kind, said = self.kind(line, text, blocks)
            if kind:
                held = self.ask(number, kind, said, self.newest(held) if kind == "continuation" else held)
        self.keep(line, held)
        self.ends(line, text)

    def ends(self, line: dict[str, Any], text: str) -> None:
        if not line.get("isSidechain"):
            self.history.status = "interrupted" if text.startswith("[Request interrupted") else "ended"

    def kind(  # noqa: PLR0911 a table of cases, one below the other
        self, line: dict[str, Any], text: str, blocks: list[dict[str, Any]]
    ) -> tuple[str, str]:
        said = _ADDED.sub("", text).strip()
        if line.get("isCompactSummary"):
            return "continuation", said
        if said.startswith("Stop hook feedback:"):
            return "hook", said
        if line.get("isMeta") or said.startswith(_NOT_ASKED):
            return "", said
        if said.startswith(("<command-name>", "<command-message>")):
            name, arguments = _COMMAND.search(said), _ARGUMENTS.search(said)
            words = f"{name[1] if name else said} {arguments[1] if arguments else ''}"
            return ("" if line.get("uuid") in self.local else "command"), words.strip()
        if said.startswith(_DONE):
            return "notification", said
        if said.startswith("<teammate-message"):
            inner = _MESSAGE.search(said)
            kind = "task" if 'teammate_id="team-lead"' in said[:200] else "notification"
            return kind, inner[1].strip() if inner else said
        if line.get("isSidechain"):
            return "task", said
        if said.startswith(_PLAN):
            return "plan", said.removeprefix(_PLAN).strip()
        if not said and not any(b.get("type") in {"image", "document"} for b in blocks):
            return "", said
        return "prompt", said

    def result(self, number: int, line: dict[str, Any], block: dict[str, Any], held: Request | None) -> Request | None:
        call = str(block.get("tool_use_id"))
        words = text_of(block.get("content"))
        failed = bool(block.get("is_error"))
        refused = failed and (words.startswith(_REFUSED) or "hook error:" in words[:200])
        name, _ = self.tools.get(call, ("", None))
        if name:
            self.history.outcomes[call] = ("refused" if refused else "failed") if failed else "ok"
        if failed and words.startswith(_REFUSED) and _SAID in words:
            return self.answer(number, line, "answer", words.split(_SAID, 1)[1].strip())
        if name == "ExitPlanMode" and words.startswith("User has approved"):
            return self.answer(number, line, "plan", words)
        if name == "AskUserQuestion" and not failed:
            given = _dict(_dict(line.get("toolUseResult")).get("answers"))
            return self.answer(number, line, "answer", "\n".join(f"{q} {a}" for q, a in given.items()) or words)
        return held

    def answer(self, number: int, line: dict[str, Any], kind: str, words: str) -> Request:
        """Of several results the next message follows only the last: what is said in any of them, it was given."""
        request = self.ask(number, kind, words, self.newest(self.before(line)))
        if not line.get("isSidechain"):
            self.delivered = request
        return request

    def newest(self, held: Request | None) -> Request | None:
        return max((r for r in (held, self.delivered) if r), key=lambda r: r.line, default=None)

    def assistant(self, number: int, line: dict[str, Any]) -> None:
        message = _dict(line.get("message"))
        held = self.before(line)
        ident = str(message.get("id") or line.get("uuid"))
        if ident not in self.began:
            queued = self.delivered
            if queued is not None and not line.get("isSidechain") and (held is None or held.line < queued.line):
                held = queued
            self.began[ident] = held
        held = self.began[ident]
        self.said(number, message, held)
        self.keep(line, held)
        if not line.get("isSidechain"):
            self.history.status = "ended"

    def said(self, number: int, message: dict[str, Any], held: Request | None) -> None:
        if isinstance(message.get("usage"), dict) and message.get("model") != "<synthetic>":
            self.usage[str(message.get("id"))] = message["usage"]
        content = message.get("content")
        for block in content if isinstance(content, list) else []:
            if not isinstance(block, dict) or block.get("type") != "tool_use":
                continue
            call, name = str(block.get("id")), str(block.get("name"))
            if call in self.tools:
                continue
            self.tools[call] = (name, held)
            self.history.outcomes.setdefault(call, "open")
            if name in _EDITORS:
                path = str(_dict(block.get("input")).get(_EDITORS[name]) or "")
                self.history.edits.append(Edit(number, call, name, (path,), held))

    def attachment(self, number: int, line: dict[str, Any]) -> None:
        held = self.before(line)
        attachment = _dict(line.get("attachment"))
        text = text_of(attachment.get("prompt"))
        if attachment.get("type") == "queued_command":
            done = attachment.get("commandMode") == "task-notification" or text.startswith(_DONE)
            held = self.ask(number, "notification" if done else "queued", text, held)
        elif attachment.get("type") == "hook_blocking_error" and "Stop" in str(attachment.get("hookEvent")):
            held = self.ask(number, "hook", text_of(attachment.get("blockingError")), held)
        self.keep(line, held)

    def queued(self, number: int, line: dict[str, Any]) -> None:
        """A prompt that leaves the queue by `remove` was given to the model between two calls, without a line of its own."""
        match line.get("operation"):
            case "enqueue":
                self.queue.append(text_of(line.get("content")))
            case "popAll":
                self.queue.clear()
            case "dequeue":
                if self.queue:
                    self.queue.popleft()
            case "remove" if self.queue:
                text = self.queue.popleft()
                if self.attached[text]:
                    self.attached[text] -= 1
                elif text:
                    kind = "notification" if text.startswith(_DONE) else "queued"
                    self.delivered = self.ask(number, kind, text, self.newest(self.main))

    def progress(self, number: int, line: dict[str, Any]) -> None:
        """What a sub-agent does, where only its parent's file shows it."""
        data = _dict(line.get("data"))
        inner = _dict(data.get("message"))
        message = _dict(inner.get("message"))
        self.keep(line, self.before(line))
        if data.get("type") != "agent_progress" or not message:
            return
        agent = str(data.get("agentId"))
        if agent not in self.sides:
            _, above = self.tools.get(str(line.get("parentToolUseID")), ("", None))
            self.sides[agent] = self.ask(
                number, "task", str(data.get("prompt") or text_of(message.get("content"))), above
            )
        if inner.get("type") == "assistant":
            usage = dict(self.usage)
            self.said(number, message, self.sides[agent])
            self.usage = usage
        elif inner.get("type") == "user":
            for block in message.get("content") or []:
                if isinstance(block, dict) and block.get("type") == "tool_result":
                    self.result(number, inner, block, None)


def _sum(usages: Any) -> dict[str, int]:
    names = {
        "input": "input_tokens",
        "output": "output_tokens",
        "cache_read": "cache_read_input_tokens",
        "cache_write": "cache_creation_input_tokens",
    }
    total = dict.fromkeys(names, 0)
    for usage in usages:
        for ours, theirs in names.items():
            total[ours] += int(usage.get(theirs) or 0)
    return total


def _dict(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}

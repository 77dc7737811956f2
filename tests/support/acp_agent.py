"""A small agent that speaks ACP: it does what a prompt's text says, and asks before it does it.

`write PATH TEXT` asks for permission to edit and writes; `run COMMAND` asks and runs; anything else is repeated.
"""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

numbers = iter(range(10_000))


def send(**message: Any) -> None:
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def update(what: str, /, **members: Any) -> None:
    send(method="session/update", params={"sessionId": "s-1", "update": {"sessionUpdate": what, **members}})


def may(call: str, kind: str, title: str, **members: Any) -> bool:
    """Ask; whether it was allowed."""
    update("tool_call", toolCallId=call, kind=kind, title=title, status="pending", **members)
    options = [
        {"optionId": "yes", "name": "Yes", "kind": "allow_once"},
        {"optionId": "no", "name": "No", "kind": "reject_once"},
    ]
    shown = {"toolCallId": call, "kind": kind, "title": title, **members}
    send(
        id=next(numbers),
        method="session/request_permission",
        params={"sessionId": "s-1", "toolCall": shown, "options": options},
    )
    answer = json.loads(sys.stdin.readline())["result"]["outcome"]
    return bool(answer.get("optionId") == "yes")


def work(text: str) -> None:
    word, _, rest = text.partition(" ")
    if word == "write":
        path, _, content = rest.partition(" ")
        allowed = may("c-write", "edit", f"write {path}", rawInput={"file_path": path, "content": content})
        if allowed:
            Path(path).write_text(content)
        update("tool_call_update", toolCallId="c-write", status="completed" if allowed else "failed")
    elif word == "run":
        allowed = may("c-run", "execute", rest, rawInput={"command": rest})
        output = subprocess.run(rest, shell=True, capture_output=True, text=True).stdout if allowed else "refused"
        update("tool_call_update", toolCallId="c-run", status="completed", rawOutput=output)
    else:
        update("agent_message_chunk", content={"type": "text", "text": text})


for line in sys.stdin:
    message = json.loads(line)
    method, params = message.get("method"), message.get("params", {})
    if method == "initialize":
        info = {"name": "small-agent", "version": "1"}
        send(id=message["id"], result={"protocolVersion": 1, "agentInfo": info})
    elif method in ("session/new", "session/load"):
        send(id=message["id"], result={"sessionId": "s-1"})
    elif method == "session/prompt":
        work(params["prompt"][0]["text"])
        send(id=message["id"], result={"stopReason": "end_turn"})

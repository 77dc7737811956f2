"""An MCP server of one tool, `leave_note`, on stdio: it appends its text to the file named on its command line.

Alone on the standard library, because agents start it with whatever Python is there.
Source: Model Context Protocol 2025-06-18, "Base protocol", "Lifecycle" and "Tools".
"""

import json
import sys
from pathlib import Path
from typing import Any

TOOL = {
    "name": "leave_note",
    "description": "Leave a note for the people who look after this project.",
    "inputSchema": {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]},
}


def answer(method: str, params: dict[str, Any], notes: Path) -> dict[str, Any] | None:
    """The result of a request; None: there is no such method."""
    match method:
        case "initialize":
            version = params.get("protocolVersion", "2025-06-18")
            about = {"name": "live", "version": "1"}
            return {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": about}
        case "tools/list":
            return {"tools": [TOOL]}
        case "tools/call":
            with notes.open("a", encoding="utf-8") as file:
                file.write(params["arguments"]["text"] + "\n")
            return {"content": [{"type": "text", "text": "The note was left."}], "isError": False}
        case "ping":
            return {}
        case _:
            return None


def main(notes: Path) -> None:
    """Answer requests until stdin ends."""
    for line in sys.stdin:
        message = json.loads(line)
        if "id" not in message:
            continue
        result = answer(message.get("method", ""), message.get("params") or {}, notes)
        reply = {"result": result} if result is not None else {"error": {"code": -32601, "message": "no such method"}}
        sys.stdout.write(json.dumps({"jsonrpc": "2.0", "id": message["id"], **reply}) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main(Path(sys.argv[1]))

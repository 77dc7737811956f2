"""A real MCP client: does one of each thing with the server whose command it is given, and prints what it was told."""

import asyncio
import json
import sys
import warnings
from typing import Any

from mcp import Client, MCPError, StdioServerParameters
from mcp.types import CreateMessageResult, ElicitResult, TextContent


async def say_yes(context: Any, params: Any) -> ElicitResult:
    return ElicitResult(action="accept", content={"sure": True})


async def think(context: Any, params: Any) -> CreateMessageResult:
    return CreateMessageResult(role="assistant", content=TextContent(type="text", text="4"), model="small-model")


async def attempt(answer: Any) -> str:
    try:
        return str((await answer).model_dump_json())
    except MCPError as error:
        return f"error {error}"


async def talk(mode: str, command: list[str]) -> list[str]:
    server = StdioServerParameters(command=command[0], args=command[1:])
    async with Client(server, mode=mode, elicitation_callback=say_yes, sampling_callback=think) as client:
        asked = [
            client.list_tools(),
            client.call_tool("add", {"first": 1, "second": 2}),
            client.call_tool("fail", {}),
            client.call_tool("picture", {}),
            client.call_tool("forget", {}),
            client.call_tool("think", {}),
            client.read_resource("notes://all"),
            client.read_resource("notes://none"),
            client.get_prompt("tidy", {"place": "here"}),
        ]
        return [await attempt(answer) for answer in asked]


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    sys.stdout.write(json.dumps(asyncio.run(talk(sys.argv[1], sys.argv[2:]))))

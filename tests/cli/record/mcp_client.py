"""A real MCP client: does one of each thing with a server, and prints what it was told.

Arguments: how it begins, and the command of a server. The same is then asked of the server here, with nothing in between.
"""

import asyncio
import json
import sys
import warnings
from typing import Any

from mcp import Client, MCPError, StdioServerParameters
from mcp.server import MCPServer
from mcp.types import CreateMessageResult, ElicitResult, TextContent

from tests.cli.record import mcp_notes


async def say_yes(context: Any, params: Any) -> ElicitResult:
    return ElicitResult(action="accept", content={"sure": True})


async def think(context: Any, params: Any) -> CreateMessageResult:
    return CreateMessageResult(role="assistant", content=TextContent(type="text", text="4"), model="small-model")


async def attempt(answer: Any) -> str:
    try:
        return str((await answer).model_dump_json())
    except MCPError as error:
        return f"error {error}"


async def talk(mode: str, server: StdioServerParameters | MCPServer) -> list[str]:
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
    _, mode, command, *words = sys.argv
    asked = (StdioServerParameters(command=command, args=words), mcp_notes.server)
    sys.stdout.write(json.dumps([asyncio.run(talk(mode, one)) for one in asked]))

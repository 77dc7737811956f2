"""A real MCP server on stdio, with the protocol's own package: tools, a resource, a prompt, and questions to the client."""

from typing import Any

from mcp.server import MCPServer
from mcp.server.mcpserver import Context, Image
from mcp.types import SamplingMessage, TextContent
from pydantic import BaseModel

server = MCPServer("notes server", version="1.2", instructions="Leave notes.")


class Sure(BaseModel):
    """What the user is asked."""

    sure: bool


@server.tool()
def add(first: int, second: int) -> int:
    """Add two numbers."""
    return first + second


@server.tool()
def fail() -> str:
    """Fail."""
    raise ValueError("it went wrong")


@server.tool()
def picture() -> Image:
    """Give a picture."""
    return Image(data=b"\x89PNG and so on", format="png")


@server.tool()
async def forget(context: Context[Any, Any]) -> str:
    """Ask the user first."""
    answer = await context.elicit("Forget all notes?", Sure)
    return f"the answer was {answer.action}"


@server.tool()
async def think(context: Context[Any, Any]) -> str:
    """Ask the client's model."""
    message = SamplingMessage(role="user", content=TextContent(type="text", text="What is 2 + 2?"))
    answer: Any = await context.session.create_message([message], max_tokens=10)
    return f"it said {answer.content.text}"


@server.resource("notes://all")
def notes() -> str:
    """All notes."""
    return "no notes"


@server.prompt()
def tidy(place: str) -> str:
    """A prompt."""
    return f"Tidy up {place}."


if __name__ == "__main__":
    server.run("stdio")

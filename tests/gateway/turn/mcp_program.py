"""A small real MCP server: `python mcp_program.py stdio`, or `... http PORT_FILE`."""

import asyncio
import base64
import os
import socket
import sys
from pathlib import Path

import uvicorn
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import (
    AudioContent,
    BlobResourceContents,
    ContentBlock,
    EmbeddedResource,
    ImageContent,
    ResourceLink,
    TextContent,
    TextResourceContents,
    ToolAnnotations,
)
from starlette.applications import Starlette
from starlette.types import Receive, Scope, Send

PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010804000000b51c0c020000000b4944415478da6364f80f"
    "00010501012718e3660000000049454e44ae426082"
)
server = MCPServer("test")


@server.tool(annotations=ToolAnnotations(read_only_hint=True))
def add(a: float, b: float) -> str:
    """Adds two numbers."""
    return f"{a + b:g}"


@server.tool()
def write_note(text: str) -> str:
    """Writes a note."""
    return f"noted: {text}"


def encoded(data: bytes) -> str:
    return base64.b64encode(data).decode()


@server.tool(annotations=ToolAnnotations(read_only_hint=True))
def chart() -> list[ContentBlock]:
    """Draws a chart."""
    csv, audio = b"month,sum\n5,7\n", b"RIFF-wave"
    return [
        TextContent(text="Sales of May"),
        ImageContent(data=encoded(PNG), mime_type="image/png"),
        EmbeddedResource(
            resource=BlobResourceContents(
                uri="file:///tmp/sales.csv", mime_type="text/csv", blob=encoded(csv)
            )
        ),
        EmbeddedResource(resource=TextResourceContents(uri="file:///notes", text="the notes")),
        AudioContent(data=encoded(audio), mime_type="audio/wav"),
        ResourceLink(name="the page", uri="https://example.com/page"),
    ]


@server.tool()
def fail() -> str:
    """Fails."""
    raise ToolError("no such thing")


@server.tool()
def flood() -> str:
    """Says very much."""
    return "x" * 500_000


@server.tool()
def environment(name: str) -> str:
    """Tells a variable of the environment."""
    return os.environ.get(name, "(not set)")


@server.tool()
def where() -> str:
    """Tells the working directory."""
    return str(Path.cwd())


@server.tool()
async def hang() -> str:
    """Never answers."""
    await asyncio.Event().wait()
    return ""


@server.tool()
def die() -> str:
    """Ends the program in the middle of the call."""
    os._exit(3)


@server.tool(name="a name with spaces and " + "x" * 60)
def odd() -> str:
    """Has a name that models do not take."""
    return "odd done"


class OnlyWithKey:
    """Asks for a header, as a server on the internet does."""

    def __init__(self, app: Starlette) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = dict(scope.get("headers") or ())
        if scope["type"] == "http" and headers.get(b"x-key") != b"sesame":
            await send({"type": "http.response.start", "status": 401, "headers": []})
            await send({"type": "http.response.body", "body": b""})
            return
        await self._app(scope, receive, send)


def serve_http(port_file: Path) -> None:
    """Serve on a free port, or the one that the file names, and write it there."""
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind(("127.0.0.1", int(port_file.read_text() or 0) if port_file.exists() else 0))
    listener.listen()
    port_file.write_text(str(listener.getsockname()[1]))
    app = OnlyWithKey(server.streamable_http_app(streamable_http_path="/mcp"))
    config = uvicorn.Config(app, log_level="error", timeout_graceful_shutdown=1)
    uvicorn.Server(config).run(sockets=[listener])


if __name__ == "__main__":
    if sys.argv[1] == "stdio":
        server.run("stdio")
    else:
        serve_http(Path(sys.argv[2]))

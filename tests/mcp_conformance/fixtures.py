"""The tools, resources and prompts that the official conformance suite calls, for tests only.

The suite names them and their results; the program has none of them. They run behind the program's
own authentication and checks of requests (`parley/http/mcp_endpoint.py`).
"""

import asyncio
import base64
import json
import struct
import zlib
from typing import Annotated, Any, Final

import mcp_types as types
from mcp.server.caching import CacheHint
from mcp.server.mcpserver import MCPServer, RequestStateSecurity
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.mcpserver.prompts.base import Message, UserMessage
from pydantic import Field

from tests.mcp_conformance.asking import (
    Ctx,
    add_asking_tools,
    answer,
    field_of,
    needed,
    question,
    text,
)

FRESH: Final = CacheHint(60_000, "private")
SCHEMA_2020_12: Final[dict[str, Any]] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {
        "address": {
            "$anchor": "addressDef",
            "type": "object",
            "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
        }
    },
    "properties": {
        "name": {"type": "string"},
        "address": {"$ref": "#/$defs/address"},
        "contactMethod": {"type": "string", "enum": ["phone", "email"]},
        "phone": {"type": "string"},
        "email": {"type": "string"},
    },
    "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
    "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
    "then": {"required": ["phone"]},
    "else": {"required": ["email"]},
    "additionalProperties": False,
}


def red_pixel() -> str:
    """A PNG of one red pixel, in Base64."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        checksum = zlib.crc32(kind + data)
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", checksum)

    header = struct.pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0)
    pixels = zlib.compress(b"\x00\xff\x00\x00")
    parts = (chunk(b"IHDR", header), chunk(b"IDAT", pixels), chunk(b"IEND", b""))
    return base64.b64encode(b"\x89PNG\r\n\x1a\n" + b"".join(parts)).decode()


def silence() -> str:
    """A WAV file without samples, in Base64."""
    form = struct.pack("<4sIHHIIHH", b"fmt ", 16, 1, 1, 8_000, 8_000, 1, 8)
    data = struct.pack("<4sI", b"data", 0)
    body = b"WAVE" + form + data
    return base64.b64encode(b"RIFF" + struct.pack("<I", len(body)) + body).decode()


def image() -> types.ImageContent:
    """The red pixel."""
    return types.ImageContent(type="image", data=red_pixel(), mime_type="image/png")


def embedded(uri: str, content: str, mime: str = "text/plain") -> types.EmbeddedResource:
    """A resource in a result."""
    resource = types.TextResourceContents(uri=uri, mime_type=mime, text=content)
    return types.EmbeddedResource(type="resource", resource=resource)


def fixture_server() -> MCPServer[Any]:
    """The server of the suite's fixtures."""
    server: MCPServer[Any] = MCPServer(
        "conformance-fixtures",
        version="1",
        instructions="Fixtures of the conformance suite.",
        request_state_security=RequestStateSecurity.ephemeral(),
        cache_hints=dict.fromkeys(
            (
                "server/discover",
                "tools/list",
                "prompts/list",
                "resources/list",
                "resources/templates/list",
                "resources/read",
            ),
            FRESH,
        ),
        log_level="ERROR",
    )
    _simple_tools(server)
    _telling_tools(server)
    add_asking_tools(server)
    _schema_tools(server)
    _changing_tools(server)
    _resources(server)
    _prompts(server)
    _further_methods(server)
    return server


def _simple_tools(server: MCPServer[Any]) -> None:
    @server.tool()
    async def test_simple_text() -> types.TextContent:
        """Return a text."""
        return text("This is a simple text response for testing.")

    @server.tool()
    async def test_image_content() -> types.ImageContent:
        """Return an image."""
        return image()

    @server.tool()
    async def test_audio_content() -> types.AudioContent:
        """Return a sound."""
        return types.AudioContent(type="audio", data=silence(), mime_type="audio/wav")

    @server.tool()
    async def test_embedded_resource() -> types.EmbeddedResource:
        """Return a resource."""
        return embedded("test://embedded-resource", "This is an embedded resource content.")

    @server.tool()
    async def test_multiple_content_types() -> list[types.ContentBlock]:
        """Return three kinds of content."""
        data = json.dumps({"test": "data", "value": 123})
        resource = embedded("test://mixed-content-resource", data, "application/json")
        return [text("Multiple content types test:"), image(), resource]

    @server.tool()
    async def test_error_handling() -> str:
        """Fail."""
        raise ToolError("This tool intentionally returns an error for testing")


def _telling_tools(server: MCPServer[Any]) -> None:
    @server.tool()
    async def test_tool_with_logging(ctx: Ctx) -> str:
        """Log three times."""
        for line in ("Tool execution started", "Tool processing data", "Tool execution completed"):
            await ctx.info(line)
            await asyncio.sleep(0.05)
        return "Logged three times."

    @server.tool()
    async def test_logging_tool(ctx: Ctx) -> str:
        """Log once."""
        await ctx.info("One log message")
        return "Logged."

    @server.tool()
    async def test_tool_with_progress(ctx: Ctx) -> str:
        """Report progress three times."""
        for part in (0, 50, 100):
            await ctx.report_progress(part, 100)
            await asyncio.sleep(0.05)
        return "Reported progress."

    @server.tool()
    async def test_reconnection(ctx: Ctx) -> str:
        """Close the stream of the response before the result."""
        await ctx.close_sse_stream()
        await asyncio.sleep(0.2)
        return "Reconnected."


def _schema_tools(server: MCPServer[Any]) -> None:
    @server.tool()
    async def json_schema_2020_12_tool() -> str:
        """Have a schema with many keywords."""
        return "The schema was accepted."

    tool = server._tool_manager.get_tool("json_schema_2020_12_tool")
    assert tool is not None
    tool.parameters = SCHEMA_2020_12

    @server.tool()
    async def test_custom_header(
        region: Annotated[str, Field(json_schema_extra={"x-mcp-header": "Region"})],
    ) -> str:
        """Repeat a parameter that a header repeats."""
        return f"Region: {region}"


def _changing_tools(server: MCPServer[Any]) -> None:
    @server.tool()
    async def test_trigger_tool_change(ctx: Ctx) -> str:
        """Tell subscribers that the tools changed."""
        await ctx.notify_tools_changed()
        return "Told."

    @server.tool()
    async def test_trigger_prompt_change(ctx: Ctx) -> str:
        """Tell subscribers that the prompts changed."""
        await ctx.notify_prompts_changed()
        return "Told."


def _resources(server: MCPServer[Any]) -> None:
    @server.resource("test://static-text", name="static-text", mime_type="text/plain")
    async def static_text() -> str:
        """A text."""
        return "This is the content of the static text resource."

    @server.resource("test://static-binary", name="static-binary", mime_type="image/png")
    async def static_binary() -> bytes:
        """An image."""
        return base64.b64decode(red_pixel())

    @server.resource("test://watched-resource", name="watched-resource", mime_type="text/plain")
    async def watched() -> str:
        """A resource that clients subscribe to."""
        return "Watched."

    @server.resource("test://template/{id}/data", name="template", mime_type="application/json")
    async def template(id: str) -> str:  # noqa: A002 - the suite's name
        """A text with a parameter."""
        return json.dumps({"id": id, "templateTest": True, "data": f"Data for ID: {id}"})


def _prompts(server: MCPServer[Any]) -> None:
    @server.prompt()
    async def test_simple_prompt() -> str:
        """A text."""
        return "This is a simple prompt for testing."

    @server.prompt()
    async def test_prompt_with_arguments(arg1: str, arg2: str) -> str:
        """A text with two arguments."""
        return f"Prompt with arguments: arg1='{arg1}', arg2='{arg2}'"

    @server.prompt()
    async def test_prompt_with_embedded_resource(resourceUri: str) -> list[Message]:  # noqa: N803 - the suite's name
        """A resource and a text."""
        resource = embedded(resourceUri, "Embedded resource content for testing.")
        return [
            UserMessage(resource),
            UserMessage("Please process the embedded resource above."),
        ]

    @server.prompt()
    async def test_prompt_with_image() -> list[Message]:
        """An image and a text."""
        return [UserMessage(image()), UserMessage("Please analyze the image above.")]

    @server.prompt()
    async def test_input_required_result_prompt(
        ctx: Ctx,
    ) -> list[Message] | types.InputRequiredResult:
        """Ask for a context."""
        context = field_of(answer(ctx, "user_context"), "context")
        if not isinstance(context, str):
            request = question("What context should the prompt use?", "context")
            return needed({"user_context": request})
        return [UserMessage(f"The context is {context}.")]


def _further_methods(server: MCPServer[Any]) -> None:
    """Serve methods for which the SDK's server has no typed decorator."""
    lowlevel = server._lowlevel_server

    async def done(_ctx: object, _params: object) -> types.EmptyResult:
        return types.EmptyResult()

    async def complete(_ctx: object, params: types.CompleteRequestParams) -> types.CompleteResult:
        begun = params.argument.value
        words = [word for word in ("paris", "park", "party") if word.startswith(begun)]
        return types.CompleteResult(
            completion=types.Completion(values=words, total=len(words), has_more=False)
        )

    lowlevel.add_request_handler("completion/complete", types.CompleteRequestParams, complete)
    lowlevel.add_request_handler("logging/setLevel", types.SetLevelRequestParams, done)
    lowlevel.add_request_handler("resources/subscribe", types.SubscribeRequestParams, done)
    lowlevel.add_request_handler("resources/unsubscribe", types.UnsubscribeRequestParams, done)

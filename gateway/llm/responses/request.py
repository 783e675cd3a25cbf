"""Writes a request of OpenAI's Responses API."""

import base64
from collections.abc import Iterator
from typing import Any, Final

from gateway.llm.call_ids import CallIds
from gateway.llm.json_text import parse_object
from gateway.ports import (
    ImageBlock,
    ModelMessage,
    ModelRequest,
    OpaqueBlock,
    TextBlock,
    ToolCall,
    ToolOutcome,
)

ENCRYPTED: Final = "reasoning.encrypted_content"
PHASE: Final = "phase"
"""The type of the object that keeps the phase of the text behind it."""


def to_body(
    request: ModelRequest, model: str, maker: str, *, encrypted: bool = True
) -> dict[str, Any]:
    """Return the JSON body. `maker` is this service and model: reasoning of others is left out.

    The service stores nothing (`store`), so that reasoning goes back whole within the turn,
    `encrypted` where the model can do that.
    """
    ids = CallIds()
    messages = [ids.fitted(message) for message in request.messages]
    body: dict[str, Any] = {
        "model": model,
        "store": False,
        "max_output_tokens": request.max_tokens,
        "input": [item for message in messages for item in _items(message, maker)],
    }
    if encrypted:
        body["include"] = [ENCRYPTED]
    if system := request.whole_system:
        body["instructions"] = system
    if request.tools:
        body["tools"] = [
            {
                "type": "function",
                "name": tool.name,
                "description": tool.description,
                "parameters": dict(tool.schema),
                "strict": False,
            }
            for tool in request.tools
        ]
        if request.tool_choice == "none":
            body["tool_choice"] = "none"
    return body


def _items(message: ModelMessage, maker: str) -> Iterator[dict[str, Any]]:
    return _assistant(message, maker) if message.role == "assistant" else _user(message)


def _user(message: ModelMessage) -> Iterator[dict[str, Any]]:
    parts: list[dict[str, Any]] = []
    for block in message.content:
        match block:
            case ToolOutcome(call_id=call_id, content=content, is_error=is_error):
                text = content if content.strip() else "(no output)"
                output = f"Error: {text}" if is_error else text
                yield {"type": "function_call_output", "call_id": call_id, "output": output}
            case TextBlock(text=text) if text.strip():
                parts.append({"type": "input_text", "text": text})
            case ImageBlock(mime=mime, data=data):
                url = f"data:{mime};base64,{base64.b64encode(data).decode('ascii')}"
                parts.append({"type": "input_image", "image_url": url, "detail": "auto"})
            case _:
                pass
    if parts:
        yield {"role": "user", "content": parts}


def _assistant(message: ModelMessage, maker: str) -> Iterator[dict[str, Any]]:
    phase: dict[str, Any] = {}
    for block in message.content:
        match block:
            case OpaqueBlock(maker=made_by, data=data) if made_by == maker:
                item = parse_object(data)
                if item.get("type") == PHASE:
                    phase = {PHASE: item[PHASE]}
                else:
                    yield item
            case TextBlock(text=text) if text.strip():
                yield {"role": "assistant", "content": text, **phase}
                phase = {}
            case ToolCall(id=call_id, name=name, arguments=arguments):
                yield {
                    "type": "function_call",
                    "call_id": call_id,
                    "name": name,
                    "arguments": arguments,
                }
            case _:
                pass

"""Answers as they go over the wire: one JSON message, or its server-sent events."""

import itertools
import json
from collections.abc import Iterator, Mapping
from typing import Any

from simulators.anthropic.answers import Answer
from simulators.anthropic.web_tools import CONTENT, citations, web_blocks

PIECE = 24
"""Characters of one delta."""

Event = tuple[str, dict[str, object]]


def sse(event: Event) -> bytes:
    """One server-sent event."""
    name, data = event
    return f"event: {name}\ndata: {json.dumps(data, ensure_ascii=False)}\n\n".encode()


def blocks_of(answer: Answer, new_id: Iterator[int], signature: str) -> list[dict[str, Any]]:
    """The content blocks of an answer. Arguments that are no JSON object read as `{}`."""
    blocks: list[dict[str, Any]] = []
    if answer.thinking:
        blocks.append({"type": "thinking", "thinking": answer.thinking, "signature": signature})
    blocks.extend(web_blocks(answer, new_id))
    if answer.text:
        text = {"type": "text", "text": answer.text}
        blocks.append({**text, "citations": citations(answer)} if answer.web else text)
    blocks.extend(
        {
            "type": "tool_use",
            "id": f"toolu_{next(new_id):012d}",
            "name": use.name,
            "input": dict(use.input),
            "_json": use.json,
        }
        for use in answer.tools
    )
    return blocks


def whole(message: Mapping[str, object], blocks: list[dict[str, Any]]) -> dict[str, object]:
    """The body of an answer that is not streamed."""
    content = [{k: v for k, v in block.items() if k != "_json"} for block in blocks]
    return {**message, "content": content}


def events(message: Mapping[str, Any], blocks: list[dict[str, Any]]) -> Iterator[Event]:
    """The events of a streamed answer; every kind the service sends, a ping included."""
    usage = message["usage"]
    start = {**message, "content": [], "stop_reason": None, "usage": {**usage, "output_tokens": 1}}
    yield "message_start", {"type": "message_start", "message": start}
    for index, block in enumerate(blocks):
        yield (
            "content_block_start",
            {"type": "content_block_start", "index": index, "content_block": _opening(block)},
        )
        if index == 0:
            yield "ping", {"type": "ping"}
        for delta in _deltas(block):
            yield (
                "content_block_delta",
                {"type": "content_block_delta", "index": index, "delta": delta},
            )
        yield "content_block_stop", {"type": "content_block_stop", "index": index}
    yield (
        "message_delta",
        {
            "type": "message_delta",
            "delta": {"stop_reason": message["stop_reason"], "stop_sequence": None},
            "usage": {
                "output_tokens": usage["output_tokens"],
                **{name: usage[name] for name in ("server_tool_use",) if name in usage},
            },
        },
    )
    yield "message_stop", {"type": "message_stop"}


def _opening(block: Mapping[str, Any]) -> dict[str, object]:
    match block["type"]:
        case "text":
            return {
                "type": "text",
                "text": "",
                **({"citations": []} if "citations" in block else {}),
            }
        case "server_tool_use":
            return {**block, "input": {}}
        case kind if kind in CONTENT:
            return dict(block)
        case "thinking":
            return {"type": "thinking", "thinking": "", "signature": ""}
        case _:
            return {"type": "tool_use", "id": block["id"], "name": block["name"], "input": {}}


def _deltas(block: Mapping[str, Any]) -> Iterator[dict[str, object]]:
    match block["type"]:
        case "text":
            for piece in _pieces(block["text"]):
                yield {"type": "text_delta", "text": piece}
            for citation in block.get("citations", ()):
                yield {"type": "citations_delta", "citation": citation}
        case "thinking":
            for piece in _pieces(block["thinking"]):
                yield {"type": "thinking_delta", "thinking": piece}
            yield {"type": "signature_delta", "signature": block["signature"]}
        case "server_tool_use":
            for piece in _pieces(json.dumps(block["input"], ensure_ascii=False)):
                yield {"type": "input_json_delta", "partial_json": piece}
        case kind if kind in CONTENT:
            return
        case _:
            yield {"type": "input_json_delta", "partial_json": ""}
            for piece in _pieces(block["_json"]):
                yield {"type": "input_json_delta", "partial_json": piece}


def _pieces(text: str) -> Iterator[str]:
    characters = iter(text)
    while piece := "".join(itertools.islice(characters, PIECE)):
        yield piece

"""Checks requests by the rules of Anthropic's Messages API, as pure functions.

The messages of the errors are worded as the service words them, because clients look at them.
"""

import base64
import binascii
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from simulators.anthropic.web_tools import CONTENT, TYPES, problem_of

MAX_IMAGE_BYTES: Final = 5 * 1024 * 1024
"""Of the base64 text, not of the file behind it."""

MAX_PDF_BYTES: Final = 32 * 1024 * 1024
MEDIA_TYPES: Final = ("image/jpeg", "image/png", "image/gif", "image/webp")
MAX_REQUEST_BYTES: Final = 32 * 1024 * 1024
MAX_MESSAGES: Final = 100_000
MAX_CACHE_MARKS: Final = 4
_FIELDS: Final = frozenset(
    {
        *("model", "messages", "max_tokens", "system", "tools", "tool_choice", "stream"),
        *("stop_sequences", "metadata", "thinking", "output_config", "cache_control", "speed"),
        *("service_tier", "container", "diagnostics", "inference_geo"),
    }
)
_TOOL_NAME: Final = re.compile(r"[a-zA-Z0-9_-]{1,128}")
_TOOL_ID: Final = re.compile(r"[a-zA-Z0-9_-]+")
_PROPERTY: Final = re.compile(r"[a-zA-Z0-9_.-]{1,64}")
_BLOCKS: Final = {
    "user": ("text", "image", "tool_result", "document"),
    "assistant": ("text", "tool_use", "thinking", "redacted_thinking", *sorted(CONTENT)),
}


def media_type_of(data: bytes) -> str:
    """Return the media type of the bytes; "" for a type that the service does not read."""
    if data.startswith(b"\xff\xd8\xff"):
        return "image/jpeg"
    if data.startswith(b"\x89PNG\r\n\x1a\n"):
        return "image/png"
    if data[:6] in (b"GIF87a", b"GIF89a"):
        return "image/gif"
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "image/webp"
    return ""


def check_image(block: Mapping[str, Any]) -> str:
    """Return the error of an image block; "" if there is none."""
    source = block.get("source")
    if not isinstance(source, dict) or source.get("type") != "base64":
        return "image.source.type: this simulator reads base64 only"
    declared = source.get("media_type")
    if declared not in MEDIA_TYPES:
        allowed = ", ".join(f"'{name}'" for name in MEDIA_TYPES)
        return f"image.source.base64.media_type: Input should be {allowed}"
    text = source.get("data")
    if not isinstance(text, str) or not text:
        return "image.source.base64.data: Field required"
    if len(text) > MAX_IMAGE_BYTES:
        return (
            f"image.source.base64: image exceeds 5 MB maximum: {len(text)} bytes > "
            f"{MAX_IMAGE_BYTES} bytes"
        )
    try:
        data = base64.b64decode(text, validate=True)
    except binascii.Error:
        return "image.source.base64.data: Invalid base64 data"
    actual = media_type_of(data)
    if not actual:
        return "image.source.base64.data: Could not process image"
    if actual != declared:
        return (
            f"image.source.base64.data: The image was specified using the {declared} media type, "
            f"but the image appears to be a {actual} image"
        )
    return ""


class Refused(Exception):
    """The service says no: an HTTP status, the error's type and its message."""

    def __init__(self, status: int, kind: str, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.kind = kind
        self.message = message


def check_pdf(block: Mapping[str, Any]) -> str:
    """Return the error of a document block with a PDF; "" if there is none, or it is a text."""
    source = block.get("source")
    if not isinstance(source, dict) or source.get("type") not in ("base64", "text"):
        return "document.source.type: this simulator reads base64 and text only"
    if source["type"] == "text":
        return ""
    if source.get("media_type") != "application/pdf":
        return "document.source.base64.media_type: Input should be 'application/pdf'"
    text = source.get("data")
    if not isinstance(text, str) or not 0 < len(text) <= MAX_PDF_BYTES:
        return "document.source.base64.data: a PDF of at most 32 MB is required"
    try:
        data = base64.b64decode(text, validate=True)
    except binascii.Error:
        return "document.source.base64.data: Invalid base64 data"
    return "" if b"%PDF-" in data[:1_024] else "The PDF specified was not valid."


def invalid(message: str) -> Refused:
    """A 400."""
    return Refused(400, "invalid_request_error", message)


def check_request(body: object, *, counting: bool = False) -> dict[str, Any]:
    """The request, or `Refused`. `counting` is for count_tokens, which needs no max_tokens."""
    if not isinstance(body, dict):
        raise invalid("The request body must be a JSON object.")
    for name in body:
        if name not in _FIELDS:
            raise invalid(f"{name}: Extra inputs are not permitted")
    required = ("model", "messages") if counting else ("model", "messages", "max_tokens")
    for name in required:
        if name not in body:
            raise invalid(f"{name}: Field required")
    if not isinstance(body["model"], str) or not body["model"]:
        raise invalid("model: Input should be a valid string")
    if not counting:
        _check_max_tokens(body["max_tokens"])
    _check_system(body.get("system"))
    tools = _check_tools(body.get("tools"))
    _check_tool_choice(body.get("tool_choice"), tools)
    _check_messages(body["messages"], tools)
    marks = sum(1 for _ in cache_marks(body))
    if marks > MAX_CACHE_MARKS:
        raise invalid(
            f"A maximum of {MAX_CACHE_MARKS} blocks with cache_control may be provided. "
            f"Found {marks}."
        )
    _check_marks(body)
    return body


def _check_marks(body: Mapping[str, Any]) -> None:
    """Marks of an hour stand before those of five minutes (platform.claude.com/docs/en/
    build-with-claude/prompt-caching, "Mixing different TTLs")."""
    shorter = False
    for part in ("tools", "system", "messages"):
        for mark in cache_marks(body.get(part)):
            lasts = mark.get("ttl", "5m") if isinstance(mark, dict) else None
            if lasts not in ("5m", "1h"):
                raise invalid("cache_control.ephemeral.ttl: Input should be '5m' or '1h'")
            if lasts == "1h" and shorter:
                raise invalid(
                    "cache_control.ttl: a ttl='1h' block must not come after a ttl='5m' block"
                )
            shorter = shorter or lasts == "5m"


def cache_marks(body: object) -> Iterator[object]:
    """Every cache_control in the request."""
    if isinstance(body, dict):
        if body.get("cache_control"):
            yield body["cache_control"]
        for value in body.values():
            yield from cache_marks(value)
    elif isinstance(body, list):
        for value in body:
            yield from cache_marks(value)


def _check_max_tokens(value: object) -> None:
    if not isinstance(value, int) or isinstance(value, bool):
        raise invalid("max_tokens: Input should be a valid integer")
    if value < 0:
        raise invalid("max_tokens: Input should be greater than or equal to 0")


def _check_system(system: object) -> None:
    if system is None or isinstance(system, str):
        return
    if not isinstance(system, list):
        raise invalid("system: Input should be a valid string or a list of text blocks")
    for index, block in enumerate(system):
        if not isinstance(block, dict) or block.get("type") != "text":
            raise invalid(f"system.{index}.type: Input should be 'text'")
        _check_text(block, "system")


def _check_text(block: Mapping[str, Any], where: str) -> None:
    text = block.get("text")
    if not isinstance(text, str):
        raise invalid(f"{where}.text: Field required")
    if not text:
        raise invalid(f"{where}: text content blocks must be non-empty")
    if not text.strip():
        raise invalid(f"{where}: text content blocks must contain non-whitespace text")


def _check_tools(tools: object) -> set[str]:
    if tools is None:
        return set()
    if not isinstance(tools, list):
        raise invalid("tools: Input should be a valid list")
    names: set[str] = set()
    for index, tool in enumerate(tools):
        where = f"tools.{index}.custom"
        if not isinstance(tool, dict) or not isinstance(tool.get("name"), str):
            raise invalid(f"{where}.name: Field required")
        if not _TOOL_NAME.fullmatch(tool["name"]):
            raise invalid(f"{where}.name: String should match pattern '^[a-zA-Z0-9_-]{{1,128}}$'")
        if tool["name"] in names:
            raise invalid("tools: Tool names must be unique.")
        names.add(tool["name"])
        if "input_schema" not in tool and tool.get("type") is not None:
            if TYPES.get(tool["type"]) != tool["name"]:
                raise invalid(f"tools.{index}: Input tag {tool['type']!r} does not match")
            continue
        _check_schema(tool.get("input_schema"), f"{where}.input_schema")
    return names


def _check_schema(schema: object, where: str) -> None:
    if not isinstance(schema, dict):
        raise invalid(f"{where}: Field required")
    if "type" not in schema:
        raise invalid(f"{where}.type: Field required")
    if schema["type"] != "object":
        raise invalid(f"{where}.type: Input should be 'object'")
    if any(name in schema for name in ("oneOf", "allOf", "anyOf")):
        raise invalid(f"{where}: does not support oneOf, allOf, or anyOf at the top level")
    for name in schema.get("properties") or {}:
        if not _PROPERTY.fullmatch(name):
            raise invalid(
                f"{where}.properties: Property keys should match pattern '^[a-zA-Z0-9_.-]{{1,64}}$'"
            )


def _check_tool_choice(choice: object, tools: set[str]) -> None:
    if choice is None:
        return
    if not tools:
        raise invalid("tool_choice: may only be specified while providing tools")
    kind = choice.get("type") if isinstance(choice, dict) else None
    if kind in ("any", "tool"):
        raise invalid(f'tool_choice: type "{kind}" is not supported by this model')
    if kind not in ("auto", "none"):
        raise invalid("tool_choice.type: Input should be 'auto', 'any', 'tool' or 'none'")


def _check_messages(messages: object, tools: set[str]) -> None:
    if not isinstance(messages, list) or not messages:
        raise invalid("messages: at least one message is required")
    if len(messages) > MAX_MESSAGES:
        raise invalid(f"messages: at most {MAX_MESSAGES} messages are allowed")
    for index, message in enumerate(messages):
        _check_message(message, index)
    if messages[0]["role"] != "user":
        raise invalid('messages: first message must use the "user" role')
    if messages[-1]["role"] != "user" and not _is_paused(messages[-1]):
        raise invalid(
            "This model does not support assistant message prefill. "
            "The conversation must end with a user message."
        )
    _check_tool_pairs(_combined(messages), tools)


def _is_paused(message: Mapping[str, Any]) -> bool:
    """A paused answer goes back as it came ("Handling stop reasons", `pause_turn`)."""
    content = message["content"]
    return isinstance(content, list) and any(b["type"] in CONTENT for b in content)


def _check_message(message: object, index: int) -> None:
    where = f"messages.{index}"
    if not isinstance(message, dict) or message.get("role") not in _BLOCKS:
        raise invalid(f"{where}.role: Input should be 'user' or 'assistant'")
    extra = set(message) - {"role", "content"}
    if extra:
        raise invalid(f"{where}.{min(extra)}: Extra inputs are not permitted")
    content = message.get("content")
    if isinstance(content, str):
        if not content:
            raise invalid(f"{where}: all messages must have non-empty content")
        _check_text({"text": content}, "messages")
        return
    if not isinstance(content, list) or not content:
        raise invalid(f"{where}: all messages must have non-empty content")
    for number, block in enumerate(content):
        _check_block(block, message["role"], f"{where}.content.{number}")


def _check_block(block: object, role: str, where: str) -> None:
    kind = block.get("type") if isinstance(block, dict) else None
    if not isinstance(block, dict) or kind not in _BLOCKS[role]:
        raise invalid(f"{where}: Input tag {kind!r} found does not match any of the expected tags")
    if problem := problem_of(block):
        raise invalid(f"{where}: {problem}")
    if kind == "text":
        _check_text(block, "messages")
    elif kind in ("image", "document"):
        problem = (check_image if kind == "image" else check_pdf)(block)
        if problem:
            raise invalid(f"{where}.{problem}")
    elif kind == "tool_use":
        if not isinstance(block.get("id"), str) or not _TOOL_ID.fullmatch(block["id"]):
            raise invalid(f"{where}.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'")
        if not isinstance(block.get("input"), dict):
            raise invalid(f"{where}.tool_use.input: Input should be a valid dictionary")
    elif kind == "tool_result":
        if not isinstance(block.get("tool_use_id"), str):
            raise invalid(f"{where}.tool_result.tool_use_id: Field required")
        _check_result_content(block.get("content"), f"{where}.tool_result.content")


def _check_result_content(content: object, where: str) -> None:
    if content is None or isinstance(content, str):
        return
    if not isinstance(content, list):
        raise invalid(f"{where}: Input should be a valid string or list")
    for number, block in enumerate(content):
        if not isinstance(block, dict) or block.get("type") not in ("text", "image", "document"):
            raise invalid(f"{where}.{number}: unexpected block")
        if block["type"] == "text":
            _check_text(block, "messages")


def _combined(messages: list[dict[str, Any]]) -> list[tuple[str, list[dict[str, Any]]]]:
    """Consecutive messages of one role count as one turn."""
    turns: list[tuple[str, list[dict[str, Any]]]] = []
    for message in messages:
        content = message["content"]
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        if turns and turns[-1][0] == message["role"]:
            turns[-1][1].extend(blocks)
        else:
            turns.append((message["role"], list(blocks)))
    return turns


def _check_tool_pairs(turns: list[tuple[str, list[dict[str, Any]]]], tools: set[str]) -> None:
    seen: set[str] = set()
    open_ids: list[str] = []
    for index, (role, blocks) in enumerate(turns):
        if role == "assistant":
            open_ids = [block["id"] for block in blocks if block["type"] == "tool_use"]
            if len(set(open_ids)) < len(open_ids) or seen.intersection(open_ids):
                raise invalid("messages: `tool_use` ids must be unique")
            seen.update(open_ids)
        else:
            _check_results(blocks, open_ids, index)
            open_ids = []
    if seen and not tools:
        raise invalid("Requests which include `tool_use` or `tool_result` blocks must define tools")


def _check_results(blocks: list[dict[str, Any]], open_ids: list[str], index: int) -> None:
    """Results come first in the message, one for each call of the message before."""
    leading: list[str] = []
    for block in blocks:
        if block["type"] != "tool_result":
            break
        leading.append(block["tool_use_id"])
    missing = [call for call in open_ids if call not in leading]
    if missing:
        raise invalid(
            f"messages.{index}: `tool_use` ids were found without `tool_result` blocks immediately "
            f"after: {', '.join(missing)}. Each `tool_use` block must have a corresponding "
            "`tool_result` block in the next message."
        )
    results = [block["tool_use_id"] for block in blocks if block["type"] == "tool_result"]
    for number, call in enumerate(results):
        if call not in open_ids:
            raise invalid(
                f"messages.{index}.content.{number}: unexpected `tool_use_id` found in "
                f"`tool_result` blocks: {call}. Each `tool_result` block must have a corresponding "
                "`tool_use` block in the previous message."
            )
    if len(set(results)) < len(results):
        raise invalid(f"messages.{index}: each tool_use must have a single result")

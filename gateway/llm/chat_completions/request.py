"""Writes a request of chat completions, as far as a server takes it."""

import base64
import hashlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from gateway.llm.chat_completions.arguments import is_complete
from gateway.llm.chat_completions.calls import fitting_id
from gateway.llm.chat_completions.limits import Part, ServerLimits, length_field
from gateway.llm.chat_completions.reasoning import of_maker
from gateway.ports import (
    DocumentBlock,
    ImageBlock,
    ModelMessage,
    ModelRequest,
    OpaqueBlock,
    TextBlock,
    ToolCall,
    ToolOutcome,
    ToolSpec,
)

PICTURE_LEFT_OUT: Final = "(A picture was left out here: the model's server does not take it.)"
SIGNATURE: Final = "skip_thought_signature_validator"
"""The value that Google takes in place of the signature of a thought that another model had."""
_NO_TEXT: Final = "(no text)"
_NO_ANSWER: Final = "(no answer)"
_BEGIN: Final = "(The conversation begins here.)"
MAX_DESCRIPTION: Final = 1_024
"""Characters that the strictest services take."""
_SHORT_ID: Final = 9
"""Characters of an id at Mistral: letters and digits."""

Message = dict[str, Any]


def to_body(
    request: ModelRequest, model: str, limits: ServerLimits, maker: str, usual_length: str
) -> dict[str, Any]:
    """Return the JSON body. `usual_length` is `max_completion_tokens` at OpenAI, `max_tokens` at
    most others; `maker` is this service and model."""
    without = limits.without
    body: dict[str, Any] = {
        "model": model,
        "messages": _Messages(limits, maker).all_of(request),
    }
    if length := length_field(limits, usual_length):
        most = limits.most_tokens or request.max_tokens
        body[length] = min(request.max_tokens, most)
    if "stream" in without:
        body["stream"] = False
    elif "stream_options" not in without:
        body["stream_options"] = {"include_usage": True}
    if request.tools and "tools" not in without:
        plain = "schema_keywords" in without
        body["tools"] = [_tool(tool, plain=plain) for tool in request.tools]
        if request.tool_choice == "none" and "tool_choice" not in without:
            body["tool_choice"] = "none"
    for name in limits.fields:
        body.pop(name, None)
    return body


def _tool(tool: ToolSpec, *, plain: bool) -> Message:
    schema = plain_schema(tool.schema) if plain else dict(tool.schema)
    description = tool.description[:MAX_DESCRIPTION] if plain else tool.description
    function = {"name": tool.name, "description": description, "parameters": schema}
    return {"type": "function", "function": function}


class _Messages:
    """Writes the messages of one request."""

    def __init__(self, limits: ServerLimits, maker: str) -> None:
        self._without: frozenset[Part] = limits.without
        self._maker = maker
        self._ids: dict[str, str] = {}
        self._used: set[str] = set()

    def all_of(self, request: ModelRequest) -> list[Message]:
        """Return all messages with the system prompt."""
        messages: list[Message] = []
        for message in request.messages:
            if message.role == "user":
                messages.extend(self._user(message))
            else:
                messages.extend(self._assistant(message))
        if "repeated_roles" in self._without:
            messages = _alternating(messages)
        if system := request.whole_system:
            if "system" in self._without:
                messages = _with_system(messages, system)
            else:
                messages.insert(0, {"role": "system", "content": system})
        return messages

    def _user(self, message: ModelMessage) -> Iterator[Message]:
        parts: list[Message] = []
        for block in message.content:
            if isinstance(block, ToolOutcome):
                text = block.content if block.content.strip() else "(no output)"
                content = f"Error: {text}" if block.is_error else text
                if "tools" in self._without:
                    parts.append(_text(f"Result of a tool:\n{content}"))
                    continue
                call_id = self._ids.get(block.call_id) or self._id(block.call_id)
                yield {"role": "tool", "tool_call_id": call_id, "content": content}
            elif isinstance(block, TextBlock) and block.text.strip():
                parts.append(_text(block.text))
            elif isinstance(block, ImageBlock):
                parts.append(self._picture(block))
            elif isinstance(block, DocumentBlock):
                parts.append(self._pdf(block))
        texts = all(part["type"] == "text" for part in parts)
        if texts and (len(parts) == 1 or "text_parts" in self._without):
            joined = "\n\n".join(part["text"] for part in parts)  # some servers read texts only
            if joined:
                yield {"role": "user", "content": joined}
        elif parts:
            yield {"role": "user", "content": parts}

    def _picture(self, block: ImageBlock) -> Message:
        if not self._without.isdisjoint(("pictures", "text_parts")):
            return _text(PICTURE_LEFT_OUT)
        url = f"data:{block.mime};base64,{base64.b64encode(block.data).decode('ascii')}"
        return {"type": "image_url", "image_url": {"url": url}}

    def _pdf(self, block: DocumentBlock) -> Message:
        if not self._without.isdisjoint(("pdf", "text_parts")):
            return _text(block.instead)
        url = f"data:application/pdf;base64,{base64.b64encode(block.data).decode('ascii')}"
        return {"type": "file", "file": {"filename": block.name, "file_data": url}}

    def _assistant(self, message: ModelMessage) -> Iterator[Message]:
        texts = [b.text for b in message.content if isinstance(b, TextBlock)]
        text = "\n\n".join(text for text in texts if text.strip())
        calls = [block for block in message.content if isinstance(block, ToolCall)]
        if not calls or "tools" in self._without:
            if text:
                yield {"role": "assistant", "content": text}
            return
        own: Mapping[str, Any] = {}
        for block in message.content:
            if isinstance(block, OpaqueBlock):
                own = own or of_maker(block, self._maker)
        of_calls = own.get("calls") or {}
        written: Message = {"role": "assistant", "content": text or self._no_text()}
        written["tool_calls"] = [self._call(call, of_calls.get(call.id) or {}) for call in calls]
        if "reasoning" not in self._without:
            written.update(own.get("fields") or {})
            if content := own.get("content"):
                written["content"] = content
        if "calls_without_reasoning" in self._without:
            _add_reasoning(written)
        yield written

    def _no_text(self) -> str | None:
        if "empty_content" in self._without:
            return _NO_TEXT
        return "" if "null_content" in self._without else None

    def _call(self, call: ToolCall, own: Mapping[str, Any]) -> Message:
        """Write a call with what its maker added to it."""
        self._ids[call.id] = call_id = self._id(call.id, str(own.get("id") or ""))
        self._used.add(call_id)
        arguments = call.arguments if is_complete(call.arguments) else "{}"
        function: Message = {"name": call.name, "arguments": arguments}
        written: Message = {"id": call_id, "type": "function", "function": function}
        if (extra := own.get("extra")) and "reasoning" not in self._without:
            function.update(extra.get("function") or {})
            written.update((k, v) for k, v in extra.items() if k != "function")
        return written

    def _id(self, given: str, original: str = "") -> str:
        """Return the id of a call: the service's own if it is not used yet, else one that every
        service takes."""
        if "call_ids" not in self._without:
            wanted = original if original and original not in self._used else fitting_id(given)
            if wanted not in self._used:
                return wanted
        seed = f"{given} {len(self._used)}" if given in self._ids else given
        digest = hashlib.blake2b(seed.encode("utf-8", "replace"), digest_size=8).hexdigest()
        return digest[:_SHORT_ID]


def _text(text: str) -> Message:
    return {"type": "text", "text": text}


def _add_reasoning(message: Message) -> None:
    """Add a placeholder for reasoning that another model had, or none."""
    message.setdefault("reasoning_content", " ")
    for call in message["tool_calls"]:
        call.setdefault("extra_content", {"google": {"thought_signature": SIGNATURE}})


def _with_system(messages: Sequence[Message], system: str) -> list[Message]:
    """Put the system prompt before the first question."""
    result = list(messages)
    for number, message in enumerate(result):
        if message["role"] == "user":
            result[number] = {**message, "content": _joined(system, message["content"])}
            return result
    return [{"role": "user", "content": system}, *result]


def _alternating(messages: Sequence[Message]) -> list[Message]:
    """Join messages of one role. An answer stands between the result of a tool and a person's
    words: these are no part of the result."""
    result: list[Message] = []
    for message in messages:
        before = result[-1] if result else None
        role = message["role"]
        if before is None and role != "user":
            result.append({"role": "user", "content": _BEGIN})
        elif before is not None and role == "user" and before["role"] == "tool":
            result.append({"role": "assistant", "content": _NO_ANSWER})
        elif before is not None and role == "user" == before["role"]:
            before["content"] = _joined(before["content"], message["content"])
            continue
        elif before is not None and role == "assistant" == before["role"]:
            content = _joined(before["content"] or "", message["content"] or "")
            if "tool_calls" not in before:
                result[-1] = {**message, "content": content}
                continue
        result.append(dict(message))
    return result


def _joined(first: Any, second: Any) -> Any:
    """Join two contents, each a text or a list of parts."""
    if isinstance(first, str) and isinstance(second, str):
        return "\n\n".join(text for text in (first, second) if text)
    parts = [_text(one) if isinstance(one, str) else one for one in (first, second) if one]
    return [part for each in parts for part in (each if isinstance(each, list) else [each])]


MAX_DEPTH: Final = 12
_KEPT: Final = ("description", "enum", "required")


def plain_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schema of an object with the keywords that every server takes: `type`,
    `description`, `enum`, `properties`, `required`, `items`. The first of alternatives counts."""
    result = _plain(schema, MAX_DEPTH)
    result.pop("description", None)
    return {**result, "type": "object", "properties": result.get("properties", {})}


def _plain(schema: object, depth: int) -> dict[str, Any]:
    if not isinstance(schema, Mapping) or not depth:
        return {"type": "string"}
    for name in ("anyOf", "oneOf", "allOf"):
        choices = schema.get(name)
        if isinstance(choices, list) and choices and "type" not in schema:
            usable = [one for one in choices if one != {"type": "null"}] or choices
            first = usable[0] if isinstance(usable[0], Mapping) else {}
            schema = {**schema, **first}
    result: dict[str, Any] = {"type": _type(schema)}
    result.update((name, schema[name]) for name in _KEPT if name in schema)
    if "const" in schema and isinstance(schema["const"], str):
        result["enum"] = [schema["const"]]
    if result["type"] != "string" or not _texts(result.get("enum")):
        result.pop("enum", None)
    properties = schema.get("properties")
    if result["type"] == "object" and isinstance(properties, Mapping):
        result["properties"] = {key: _plain(each, depth - 1) for key, each in properties.items()}
        required = result.get("required")
        kept = [n for n in required if n in properties] if isinstance(required, list) else []
        result["required"] = kept
    if not result.get("required"):
        result.pop("required", None)
    if result["type"] == "array":
        result["items"] = _plain(schema.get("items"), depth - 1)
    return result


def _type(schema: Mapping[str, Any]) -> str:
    kind = schema.get("type")
    if isinstance(kind, list):
        kind = next((each for each in kind if each != "null"), None)
    if isinstance(kind, str) and kind != "null":
        return kind
    return "object" if "properties" in schema else "array" if "items" in schema else "string"


def _texts(values: object) -> bool:
    return isinstance(values, list) and all(isinstance(v, str) and v for v in values)

"""What MCP servers say, in our terms. No I/O, and nothing of the `mcp` library is imported."""

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

from gateway.ports import ToolSpec
from gateway.turn.clip import clip

MAX_TOOL_NAME: Final = 64
MAX_DESCRIPTION: Final = 2_000
MAX_SCHEMA: Final = 20_000
MAX_RESULT: Final = 100_000
"""Characters; a turn shortens a result much further."""

_NOT_ALLOWED: Final = re.compile(r"[^a-zA-Z0-9_-]")
_PROPERTY: Final = re.compile(r"[a-zA-Z0-9_.-]{1,64}")


def tool_name(server: str, name: str) -> str:
    """`server__tool` as models take it: letters, digits, `_` and `-`, at most 64 characters.

    A name that had to be changed ends in a short hash, so that two never become one.
    """
    clean = f"{server}__{_NOT_ALLOWED.sub('_', name)}"
    if clean == f"{server}__{name}" and len(clean) <= MAX_TOOL_NAME:
        return clean
    mark = hashlib.blake2b(name.encode("utf-8", "surrogatepass"), digest_size=4).hexdigest()
    return f"{clean[: MAX_TOOL_NAME - 9]}_{mark}"


def tool_spec(server: str, tool: Any) -> ToolSpec | None:
    """The tool as the model sees it; None when its schema is one that no service accepts, which
    would make every request fail, not only those that use the tool."""
    schema = usable_schema(tool.input_schema)
    if schema is None:
        return None
    annotations = tool.annotations
    reads_only = bool(annotations and annotations.read_only_hint)
    return ToolSpec(
        tool_name(server, tool.name),
        clip(tool.description or tool.title or tool.name, MAX_DESCRIPTION),
        schema,
        side_effects=not reads_only,
    )


def usable_schema(schema: object) -> dict[str, object] | None:
    """An object's schema as the services take it: no alternatives at its top level, plain names."""
    if not isinstance(schema, Mapping) or schema.get("type", "object") != "object":
        return None
    usable = {k: v for k, v in schema.items() if k not in ("oneOf", "anyOf", "allOf", "$schema")}
    usable["type"] = "object"
    properties = usable.get("properties", {})
    if not isinstance(properties, Mapping):
        return None
    if not all(isinstance(name, str) and _PROPERTY.fullmatch(name) for name in properties):
        return None
    try:
        size = len(json.dumps(usable))
    except (TypeError, ValueError, RecursionError):
        return None
    return usable if size <= MAX_SCHEMA else None


def result_text(content: Iterable[Any], structured: object) -> str:
    """A tool's result as text: texts as they are, everything else named."""
    parts = [text for text in map(_block_text, content) if text]
    if not parts and structured is not None:
        parts.append(json.dumps(structured, ensure_ascii=False, default=str))
    return clip("\n\n".join(parts), MAX_RESULT)


def _block_text(block: Any) -> str:
    match block.type:
        case "text":
            return str(block.text)
        case "image" | "audio":
            return f"({block.type}, {block.mime_type}: cannot be shown here)"
        case "resource":
            text = getattr(block.resource, "text", None)
            return text if isinstance(text, str) else f"(file {block.resource.uri})"
        case "resource_link":
            return f"({block.name}: {block.uri})"
        case other:
            return f"({other})"

"""The schemas of tools for servers that take a part of JSON Schema only."""

from collections.abc import Mapping
from typing import Any, Final

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

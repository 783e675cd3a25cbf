"""The reference of the HTTP API, made from the OpenAPI description that the program serves."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from docs_site.reference.tables import code, table
from docs_site.slugs import slug
from parley.http.api.addresses import OPERATIONS
from parley.http.api.openapi import describe

_HEAD: Final = """\
# HTTP API

Every request and response of the interface to memory.
[Use the memory over HTTP](../how-to/use-memory-over-http.md) explains tokens, rights and refusals,
with examples. A running program serves the same description, as OpenAPI 3.1, at
`/api/v1/openapi.json` of its local listener.
"""
_LIMITS: Final = (
    ("minLength", "maxLength", " characters"),
    ("minItems", "maxItems", " items"),
    ("minimum", "maximum", ""),
)
"""The keys of the lowest and the highest value, and what is counted."""
_REFUSAL: Final = 400

Schema = Mapping[str, Any]


def http_api(description: Schema | None = None) -> str:
    """The page as Markdown."""
    described = describe(OPERATIONS) if description is None else description
    paths: Any = described["paths"]
    operations = [
        (f"{method.upper()} {path}", operation)
        for path, methods in paths.items()
        for method, operation in methods.items()
    ]
    rows = [(f"[`{name}`](#{slug(each['summary'])})", each["summary"]) for name, each in operations]
    lines = [_HEAD, *table(("Request", "Purpose"), rows)]
    for name, operation in operations:
        lines += ["", *_operation(name, operation)]
    components: Any = described["components"]
    lines += ["", "## Objects", "", "The objects that requests and responses contain."]
    for name, schema in sorted(components["schemas"].items()):
        lines += ["", *_object(name, schema)]
    return "\n".join(lines) + "\n"


def _operation(name: str, operation: Schema) -> Iterator[str]:
    yield f"## {operation['summary']}"
    yield ""
    yield f"`{name}`, operation `{operation['operationId']}`"
    rows = [
        (code(each["name"]), each["in"], _kind(each["schema"]), each.get("description", ""))
        for each in operation["parameters"]
    ]
    if rows:
        yield ""
        yield from table(("Parameter", "In", "Type", "Meaning"), rows)
    if body := operation.get("requestBody"):
        needed = "required" if body["required"] else "optional"
        yield ""
        yield f"Body ({needed}): {_kind(_content(body))}."
    yield ""
    yield from table(("Status", "Response", "Meaning"), _responses(operation["responses"]))


def _responses(responses: Schema) -> Iterator[tuple[str, str, str]]:
    for status, response in responses.items():
        schema = _content(response)
        shown = _kind(schema) if schema and int(status) < _REFUSAL else ""
        yield code(status), shown, response["description"]


def _content(holder: Schema) -> Schema:
    (content,) = holder.get("content", {"": {"schema": {}}}).values()
    return dict(content["schema"])


def _object(name: str, schema: Schema) -> Iterator[str]:
    yield f"### {name}"
    yield ""
    if text := schema.get("description"):
        yield " ".join(text.split())
        yield ""
    properties = schema.get("properties", {})
    if not properties:
        yield f"{_kind(schema)}."
        return
    required = set(schema.get("required", ()))
    rows = [
        (code(key), _kind(value), "yes" if key in required else "", value.get("description", ""))
        for key, value in properties.items()
    ]
    yield from table(("Field", "Type", "Always", "Meaning"), rows)


def _kind(schema: Schema) -> str:
    if reference := schema.get("$ref"):
        name = str(reference).rpartition("/")[2]
        return f"[{name}](#{name.lower()})"
    if options := schema.get("anyOf"):
        return " or ".join(map(_kind, options))
    if words := schema.get("enum"):
        return ", ".join(code(str(word)) for word in words)
    kind = str(schema.get("type", "any value"))
    if kind == "array":
        kind = f"list of {_kind(schema.get('items', {}))}"
    elif shape := schema.get("format"):
        kind = f"{kind} ({shape})"
    limits = [_limit(schema.get(low), schema.get(high), unit) for low, high, unit in _LIMITS]
    default = schema.get("default")
    named = f"default `{default}`" if default not in ("", [], None) else ""
    return ", ".join(filter(None, [kind, *limits, named]))


def _limit(low: object, high: object, unit: str) -> str:
    if low is None and high is None:
        return ""
    if low is None:
        return f"at most {high}{unit}"
    return f"at least {low}{unit}" if high is None else f"{low} to {high}{unit}"

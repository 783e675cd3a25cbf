"""Converts the tools and results of MCP servers to the gateway's types, within bounds. Pure: the
`mcp` library is not imported."""

import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from msgspec import Struct

from gateway.message import OutboundFile
from gateway.ports import ToolResult, ToolSpec
from gateway.turn.prompt import clip, own_words
from gateway.turn.tool_files import decoded, file_of, name_in
from safety.bounds import OutOfBounds
from safety.injection_detection.detect import neutralise_markers
from safety.sanitize import find_sentinels, sanitize
from safety.unicode import safe_unicode

MAX_TOOL_NAME: Final = 64
MAX_THEIR_NAME: Final = 1_000
MAX_DESCRIPTION: Final = 2_000
MAX_SCHEMA: Final = 20_000
MAX_DEPTH: Final = 12
MAX_VALUES: Final = 2_000
"""Maximum levels of a schema, and values in it."""
MAX_TEXT: Final = 1_000
"""Characters of one description inside a schema."""
MAX_RESULT: Final = 20_000
"""Characters; a turn shortens a result to half of them. The worst text of twice as many takes 60 ms
to clean, which holds the event loop, in any thread."""

_NOT_ALLOWED: Final = re.compile(r"[^a-zA-Z0-9_-]")
_PROPERTY: Final = re.compile(r"[a-zA-Z0-9_.-]{1,64}")
_KEY: Final = re.compile(r"[a-zA-Z0-9_.$/^*+?()\[\]\\|-]{1,200}")
"""Names of properties, keywords, and expressions of `patternProperties`."""
_PLAIN: Final = re.compile(r"[a-zA-Z0-9_.$#/-]{1,200}")
"""Values that are names: of a type, a format, a choice, a reference."""
MAX_TO_CLEAN: Final = 10_000
"""Characters of a text that are read; the rest is cut before."""


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
    """Return the tool as the model sees it; None for a schema that no service accepts, which would
    make every request fail."""
    if not isinstance(tool.name, str) or not 0 < len(tool.name) <= MAX_THEIR_NAME:
        return None
    schema = usable_schema(tool.input_schema)
    if schema is None:
        return None
    annotations = tool.annotations
    reads_only = bool(annotations and annotations.read_only_hint)
    return ToolSpec(
        tool_name(server, tool.name),
        clip(clean_text(tool.description or tool.title or tool.name), MAX_DESCRIPTION),
        schema,
        side_effects=not reads_only,
        open_world=not (annotations and annotations.open_world_hint is False),
    )


def usable_schema(schema: object) -> dict[str, object] | None:
    """Return an object's schema as the services accept it: no alternatives at its top level, plain
    names."""
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
        cleaned = _clean_schema(usable, MAX_DEPTH, [MAX_VALUES])
        size = len(json.dumps(cleaned))
    except (TypeError, ValueError, RecursionError, OutOfBounds):
        return None
    return cleaned if isinstance(cleaned, dict) and size <= MAX_SCHEMA else None


def clean_text(text: str) -> str:
    """Return a server's text without hidden characters, markup, separators of turns, markers of an
    authority and tags of the prompt."""
    return own_words(neutralise_markers(sanitize(safe_unicode(text[:MAX_TO_CLEAN]))))


def _clean_schema(value: object, depth: int, left: list[int]) -> object:
    """Return the value with clean texts; keys stay, because they are the names of properties.
    Raises `OutOfBounds`."""
    left[0] -= 1
    if not depth or left[0] < 0:
        raise OutOfBounds("the schema has too many levels or values")
    if isinstance(value, str):
        return value if _PLAIN.fullmatch(value) else clip(clean_text(value), MAX_TEXT)
    if isinstance(value, Mapping):
        return {_key(key): _clean_schema(each, depth - 1, left) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_clean_schema(each, depth - 1, left) for each in value]
    return value


def _key(key: object) -> str:
    if not isinstance(key, str) or not _KEY.fullmatch(key):
        raise OutOfBounds("a name in the schema cannot be used")
    return key


def result_of(tool: str, content: Iterable[Any]) -> ToolResult:
    """Return the result of a tool: its texts as one, and its pictures and files, which have the
    name of the tool if they have none. `mcp_bounds` leaves no other content."""
    texts: list[str] = []
    files: list[OutboundFile] = []
    for one in content:
        match one.type:
            case "text":
                texts.append(one.text)
            case "resource":
                data = decoded(one.resource.blob)
                name, mime = name_in(str(one.resource.uri)), one.resource.mime_type or ""
            case _:
                data, name, mime = decoded(one.data), "", one.mime_type
        if one.type == "text":
            continue
        if isinstance(data, bytes):
            files.append(file_of(data, mime, name or tool))
        else:
            texts.append(f"({one.type}, {mime}: not shown, {data})")
    text = "\n\n".join(text for text in texts if text)
    return ToolResult(clip(clean_result(text), MAX_RESULT), tuple(files))


def clean_result(text: str) -> str:
    """A tool's result without hidden characters and the markers that separate turns; its markup
    and its lines are its content and stay."""
    plain = own_words(text[: 2 * MAX_RESULT])
    spans = [span for span in find_sentinels(plain) if plain[span[0]] in "<[]"]
    kept, at = [], 0
    for start, end in sorted(spans):
        kept.append(plain[at : max(at, start)])
        at = max(at, end)
    return neutralise_markers("".join((*kept, plain[at:])))


MAX_TOOLS: Final = 256
"""Tools of one server that are read."""
MAX_CHARACTERS: Final = 120_000
"""Names, descriptions and schemas of one server's tools together: about 30,000 tokens."""
MAX_PROBLEMS: Final = 20
MAX_NAME: Final = 80


class KeptTools(Struct, frozen=True):
    """The offered tools, their names at the server by our names, and the omitted or shortened ones:
    (name, reason)."""

    specs: tuple[ToolSpec, ...]
    names: Mapping[str, str]
    problems: tuple[tuple[str, str], ...]


def kept_tools(server: str, tools: Sequence[Any]) -> KeptTools:
    """Return the usable tools of a server, in the server's order."""
    specs: dict[str, ToolSpec] = {}
    names: dict[str, str] = {}
    problems: list[tuple[str, str]] = []
    left = MAX_CHARACTERS
    for tool in tools[:MAX_TOOLS]:
        shown = safe_unicode(str(tool.name)[:MAX_NAME])
        if _size(tool) > left:  # cleaned for nothing otherwise, which takes seconds for many
            problems.append((shown, "left out: the tools of this server are too long together"))
            continue
        spec = tool_spec(server, tool)
        if spec is None:
            problems.append((shown, "left out: its name or schema cannot be used"))
            continue
        left -= len(spec.name) + len(spec.description) + len(json.dumps(spec.schema))
        if len(tool.description or "") > MAX_DESCRIPTION:
            problems.append((shown, f"its description was shortened to {MAX_DESCRIPTION}"))
        specs[spec.name], names[spec.name] = spec, tool.name
    if len(tools) > MAX_TOOLS:
        problems.append(("", f"left out: more than {MAX_TOOLS} tools"))
    return KeptTools(tuple(specs.values()), names, tuple(problems[:MAX_PROBLEMS]))


def _size(tool: Any) -> int:
    """Return the characters of a tool that are read to clean it."""
    try:
        schema = len(json.dumps(tool.input_schema))
    except (TypeError, ValueError, RecursionError):
        schema = 0  # it is left out
    return min(len(tool.description or ""), MAX_DESCRIPTION) + schema

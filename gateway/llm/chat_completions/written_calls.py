"""Reads tool calls that a model wrote into its text, because its server did not recognise them.

Only a call of an offered tool is one: everything else stays what it is.
"""

import ast
import re
from collections.abc import Iterator, Mapping
from json import JSONDecoder
from typing import Any, Final

from msgspec import Struct

from gateway.llm.chat_completions.arguments import arguments_of, as_arguments
from gateway.ports import ToolSpec

MAX_CALLS: Final = 64
MAX_MARKUP: Final = 200_000
"""Characters of the markup of one section; a longer one has no calls."""
MAX_PYTHON: Final = 4_000
NEAR: Final = 200
"""Characters before the arguments in which the name of the tool stands."""
_NAMES: Final = ("name", "tool_name", "tool", "function", "recipient_name", "action")
_ARGUMENTS: Final = ("arguments", "parameters", "args", "input", "action_input", "params")
_OTHERS: Final = frozenset(("id", "type", "index", "call_id", "tool_call_id"))
_WORD: Final = re.compile(r"[A-Za-z0-9_.:-]+")
_FENCE: Final = re.compile(r"```\w{0,10}\n?|```")
_FUNCTION: Final = re.compile(
    r"<function=[\"']?([A-Za-z0-9_.:-]{1,64})[\"']?>"
    r"|<[^<>\s]{0,20}invoke\s{1,4}name=\"([A-Za-z0-9_.:-]{1,64})\"[^<>]{0,80}>"
)
_PARAMETER: Final = re.compile(
    r"<parameter=([^<>\s]{1,64})>|<[^<>\s]{0,20}parameter\s{1,4}name=\"([^\"<>]{1,64})\"[^<>]{0,80}>"
)
_PARAMETER_END: Final = re.compile(r"</[^<>\s]{0,20}parameter>")
_KEY: Final = "<arg_key>"
_ELEMENTS: Final = frozenset(("<tool_call>", "<tool_calls>", "<tool_use>", "<tools>"))
_DESCRIBES: Final = re.compile(r"name|function|tool|param|argument|action", re.IGNORECASE)
_PYTHON: Final = re.compile(r"[\[\s]{0,4}[A-Za-z_][A-Za-z0-9_.-]{0,63}\(")
_decode: Final = JSONDecoder(strict=False).raw_decode


class Written(Struct, frozen=True):
    """A call of an offered tool; `arguments` is the text of a JSON object."""

    name: str
    arguments: str


def offered_name(name: str, tools: Mapping[str, ToolSpec]) -> str:
    """Return the name of the offered tool that a model means; "" if there is none.

    Models add a namespace, a number, or a token of their template:
    `functions.search:0`, `default_api.search`, `search<|channel|>json`.
    """
    name = name.partition("<|")[0].strip().strip("\"'`")
    if name in tools:
        return name
    for part in (name.partition(":")[0], name.rpartition(":")[2]):
        short = part.rpartition(".")[2]
        for each in (part, short):
            if each in tools:
                return each
    return ""


def calls_in(markup: str, tools: Mapping[str, ToolSpec], name: str = "") -> tuple[Written, ...]:
    """Return the calls in the markup of a section; `name` is the tool of one without its own."""
    if len(markup) > MAX_MARKUP or not tools:
        return ()
    found = [*_with_parameters(markup, tools)] or [*_glm(markup, tools)]
    found = found or [*_objects(markup, tools, name)] or [*_python(markup, tools)]
    return tuple(found[:MAX_CALLS])


def only_calls(text: str, tools: Mapping[str, ToolSpec]) -> tuple[Written, ...]:
    """Return the calls of an answer that is nothing but calls in JSON or Python, without marks."""
    bare = _FENCE.sub("", text, 2).strip()
    if len(bare) > MAX_MARKUP:
        return ()
    try:
        value, end = _decode(bare)
    except (ValueError, RecursionError):
        return tuple(_python(bare, tools)) if bare.startswith("[") else ()
    if bare[end:].strip():
        return ()
    if isinstance(value, dict) and isinstance(value.get("tool_calls"), list) and len(value) == 1:
        value = value["tool_calls"]
    each = value if isinstance(value, list) else [value]
    calls = [_called(one, tools, strict=True) for one in each[:MAX_CALLS]]
    return tuple(call for call in calls if call) if all(calls) else ()


def is_data(opening: str, text: str) -> bool:
    """Return True for JSON in an element that is named like a call, but describes none."""
    if opening.lower() not in _ELEMENTS or len(text) > MAX_MARKUP:
        return False
    try:
        _, end = _decode(text.lstrip())
    except (ValueError, RecursionError):
        return False
    return not text.lstrip()[end:].strip() and not _DESCRIBES.search(text)


def _objects(markup: str, tools: Mapping[str, ToolSpec], name: str) -> Iterator[Written]:
    """Yield the calls of each JSON object: it names its tool, or the text before it does."""
    at = 0
    for _ in range(MAX_CALLS):
        start = markup.find("{", at)
        if start < 0:
            break
        try:
            value, end = _decode(markup, start)
        except (ValueError, RecursionError):
            break
        if call := _called(value, tools):
            yield call
        elif tool := _name_before(markup[max(at, start - NEAR) : start], tools, name):
            yield Written(tool, as_arguments(value))
        at = end


def _called(value: Any, tools: Mapping[str, ToolSpec], *, strict: bool = False) -> Written | None:
    """Return the call that an object describes. `strict` asks for arguments and no other keys."""
    if not isinstance(value, dict):
        return None
    if isinstance(inner := value.get("function"), dict) or isinstance(
        inner := value.get("function_call"), dict
    ):
        return _called(inner, tools, strict=strict)
    named = next((key for key in _NAMES if isinstance(value.get(key), str)), "")
    tool = offered_name(value[named], tools) if named else ""
    given = next((key for key in _ARGUMENTS if isinstance(value.get(key), dict | str)), "")
    if not tool or (strict and (not given or value.keys() - _OTHERS - {named, given})):
        return None
    return Written(tool, arguments_of(value[given]) if given else "{}")


def _name_before(text: str, tools: Mapping[str, ToolSpec], otherwise: str) -> str:
    for word in reversed(_WORD.findall(text)[-6:]):
        if tool := offered_name(word, tools):
            return tool
    return offered_name(otherwise, tools) if otherwise else ""


def _with_parameters(markup: str, tools: Mapping[str, ToolSpec]) -> Iterator[Written]:
    """Yield calls with an element for each argument: those of Qwen, MiniMax and DeepSeek."""
    for name, inner in _headed(_FUNCTION, markup):
        tool = offered_name(name, tools)
        arguments = {
            key: _typed(value, key, tools[tool]) for key, value in _parameters(inner) if tool
        }
        if tool and (arguments or "{" not in inner):
            yield Written(tool, as_arguments(arguments))


def _parameters(markup: str) -> Iterator[tuple[str, str]]:
    for name, inner in _headed(_PARAMETER, markup):
        end = _PARAMETER_END.search(inner)
        value = inner[: end.start()] if end else inner.partition("</function")[0]
        yield name, value.removeprefix("\n").removesuffix("\n")


def _headed(head: re.Pattern[str], markup: str) -> Iterator[tuple[str, str]]:
    """Yield the name in each head, and the text up to the next one."""
    found = list(head.finditer(markup))[:MAX_CALLS]
    for number, each in enumerate(found):
        end = found[number + 1].start() if number + 1 < len(found) else len(markup)
        yield each[1] or each[2], markup[each.end() : end]


def _glm(markup: str, tools: Mapping[str, ToolSpec]) -> Iterator[Written]:
    """Yield a call with pairs of keys and values, as GLM writes it."""
    head, *pairs = markup.split(_KEY)
    tool = offered_name(head.strip(), tools)
    if not tool or (not pairs and "{" in markup):
        return
    arguments = {}
    for pair in pairs[:MAX_CALLS]:
        key, _, rest = pair.partition("</arg_key>")
        value = rest.partition("<arg_value>")[2].partition("</arg_value>")[0]
        arguments[key.strip()] = _typed(value, key.strip(), tools[tool])
    yield Written(tool, as_arguments(arguments))


def _typed(text: str, key: str, tool: ToolSpec) -> Any:
    """Return the value of an argument: a text where the schema says so, otherwise JSON."""
    properties = tool.schema.get("properties")
    schema = properties.get(key) if isinstance(properties, Mapping) else None
    if isinstance(schema, Mapping) and schema.get("type") == "string":
        return text
    try:
        value, end = _decode(text.strip())
    except (ValueError, RecursionError):
        return text
    return text if text.strip()[end:].strip() else value


def _python(markup: str, tools: Mapping[str, ToolSpec]) -> Iterator[Written]:
    """Yield calls in Python's syntax: `[search(query="tea")]`, `search.call(query="tea")`."""
    text = markup.strip()
    if len(text) > MAX_PYTHON or not _PYTHON.match(text):
        return
    try:
        parsed = ast.parse(text, mode="eval").body
        calls = parsed.elts if isinstance(parsed, ast.List) else [parsed]
        for call in calls[:MAX_CALLS]:
            if not isinstance(call, ast.Call) or call.args:
                return
            tool = offered_name(ast.unparse(call.func).removesuffix(".call"), tools)
            if tool:
                values = {k.arg: ast.literal_eval(k.value) for k in call.keywords if k.arg}
                yield Written(tool, as_arguments(values))
    except (SyntaxError, ValueError, TypeError, RecursionError, MemoryError):
        return

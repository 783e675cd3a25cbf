"""Finds out which part of a request a server refused: from the field that it names, otherwise from
its words. Only a part that the request has can be the reason."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from msgspec import Struct

from gateway.immutable import replace
from gateway.llm.chat_completions.limits import PLAIN, PLAINEST, Part, ServerLimits
from gateway.llm.evidence import is_of_machines, is_of_written_call, lasts

MAX_WORDS: Final = 4_000
MAX_DEPTH: Final = 6
MAX_VALUES: Final = 200
_PLACES: Final = frozenset(("param", "loc", "field", "path", "pointer", "parameter"))
_STEP: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*|\d{1,6}")
_NUMBER: Final = re.compile(r"(?<![\w.])\d{1,3}(?:,\d{3}){1,3}(?!\w)|(?<![\w.])\d{1,9}(?!\w)")
_NOT_A_PART: Final = frozenset((401, 402, 429, 529))
_UNKNOWN: Final = frozenset((400, 405, 406, 415, 422, 501))
"""Statuses for a request that a server does not take for an unknown reason."""
_OTHER_REASON: Final = re.compile(
    r"api.?key|authenti|authori[sz]|credential|permission|quota|billing|credit|balance|payment"
    r"|policy|safety|moderat|content.?filter|inspection|country|region|overload|capacity|rate.?limit"
    r"|model.{0,80}(?:not found|not exist|unknown|invalid|deprecat)|model_not"
    r"|(?:unknown|invalid|no such).model|not found"
)
_INSTEAD: Final = re.compile(r"use .{0,3}(max_\w{1,30}).{0,3} instead")
_LENGTH: Final = re.compile(
    r"max_(?:completion_|output_|new_)?tokens|maxoutputtokens|completion tokens"
)

_LIKE: Final[tuple[tuple[Part, re.Pattern[str]], ...]] = (
    ("pdf", re.compile(r"\bpdfs?\b|\bfile_data|\bfiles? (?:input|part|content)|documents?\b"
        r"|type.{0,12}['\"`]file['\"`]|['\"`]file['\"`].{0,20}type")),
    ("pictures", re.compile(r"image|picture|vision|multi-?modal|mmproj|media|photo|visual")),
    ("calls_without_reasoning", re.compile(
        r"(?:reasoning_content|thought_?signature|thinking).{0,200}"
        r"(?:passed back|missing|must be (?:prov|incl|pres)|required|lacks?|without)"
        r"|(?:missing|lacks?|requires?|without).{0,80}(?:reasoning_content|thought_?signature)")),
    ("reasoning", re.compile(r"reasoning|thinking|thought|extra_content|provider_specific")),
    ("stream_options", re.compile(r"stream_options|include_usage|stream options")),
    ("call_ids", re.compile(r"call.{0,3}id\b|use\.id\b|\]\.id\b|duplicate")),
    ("schema_keywords", re.compile(
        r"schema|additionalproperties|grammar|\banyof|\boneof|\$ref|function_declarations"
        r"|\bparameters\.properties|keyword|\benum\b|unknown name .{0,40}tools\[")),
    ("repeated_roles", re.compile(
        r"alternat|consecutive|in a row|same role|multi-?turn|adjacent|after role"
        r"|(?:first|last|next|previous) (?:non-system )?(?:message|role|turn)"
        r"|turn comes|must be (?:followed|preceded)|roles? must|start with .{0,12}user")),
    ("system", re.compile(r"system|developer (?:instruction|message|role)")),
    ("tool_choice", re.compile(r"tool_choice|tool choice")),
    ("tools", re.compile(r"tool|function")),
    ("null_content", re.compile(r"null|none|nil\b|undefined|non-?empty|empty|missing|content")),
    ("empty_content", re.compile(r"empty|blank|content|whitespace|length")),
    ("text_parts", re.compile(r"content|string|list|array|sequence|unmarshal|text")),
    ("stream", re.compile(r"stream")),
)  # fmt: skip
"""The words that speak of a part, those of special parts first."""


_IN_A_TOOL: Final = frozenset(("parameters", "input_schema", "properties", "schema", "description"))
_VAGUE: Final[frozenset[Part]] = frozenset(
    ("tools", "system", "stream", "reasoning", "null_content", "empty_content", "text_parts")
)
"""Parts whose words also stand in errors about something else."""
_REFUSES: Final = re.compile(
    r"support|enabled|require|permit|allow|accept|valid|recogni[sz]ed|unknown|unexpected|extra\b"
    r"|incompatib|implement|cannot|can't|can not|must|only|unable|should|expected|missing"
    r"|no endpoint|forbidden|disabled|attribute|cannot read|has no|is not|isn't|without|nonetype"
    r"|concatenate|null"
)
"""Words that say that a part is the reason."""
_OF_AN_ID: Final = re.compile(
    r"length|pattern|must|too long|match|duplicate|unique|a-z|invalid|characters|format"
)
_AT_MOST: Final = re.compile(
    r"most|less|maxim|range|between|exceed|larg|limit|<=|≤|up to|greater|>"
)


class ServerRefusal(Struct, frozen=True):
    """An error of a server: its status, the fields that it names, and its words in lower case."""

    status: int
    places: tuple[str, ...]
    words: str


class Adapted(Struct, frozen=True):
    """Things to leave out of the next request: parts, a field of the body, or tokens of the answer
    above a number. `part` names it. `once`: only for this request, whose content can be the reason.
    `unknown`: the server gave no reason."""

    part: str
    parts: frozenset[Part] = frozenset()
    fields: frozenset[str] = frozenset()
    most_tokens: int = 0
    once: bool = False
    unknown: bool = False

    def joined_to(self, limits: ServerLimits) -> ServerLimits:
        """Return the limits with this one."""
        most = min(limits.most_tokens or self.most_tokens, self.most_tokens) or limits.most_tokens
        return ServerLimits(limits.without | self.parts, limits.fields | self.fields, most)


def refusal_of(status: int, body: object) -> ServerRefusal:
    """Read the body of an error, of any shape."""
    words: list[str] = []
    places: list[str] = []
    left = [MAX_VALUES]
    for name, text in _texts(body, "", MAX_DEPTH, left):
        if name == "type" and text.endswith("error"):
            continue  # `invalid_request_error` says nothing about a part
        (places if name in _PLACES else words).append(text[:MAX_WORDS])
    return ServerRefusal(status, tuple(places), " ".join(words)[:MAX_WORDS].lower())


def _texts(value: object, name: str, depth: int, left: list[int]) -> Iterator[tuple[str, str]]:
    left[0] -= 1
    if not depth or left[0] < 0:
        return
    if isinstance(value, str):
        yield name, value
    elif isinstance(value, Mapping):
        for key, each in value.items():
            yield from _texts(each, str(key), depth - 1, left)
    elif isinstance(value, list):
        if name in _PLACES:
            yield name, ".".join(str(each) for each in value[:20])
            return
        for each in value:
            yield from _texts(each, name, depth - 1, left)


def adapted(
    refusal: ServerRefusal, body: Mapping[str, Any], limits: ServerLimits
) -> Adapted | None:
    """Return what the next request is to leave out; None if there is nothing. `body` is the refused
    one, which was written with `limits`."""
    if refusal.status in _NOT_A_PART:
        return None
    present = parts_of(body) - limits.without
    if is_of_written_call(refusal.words):
        found = _first(limits, present, "tools")
        return replace(found, once=True) if found is not None else None
    found = _named(refusal, body, limits, present)
    if found is None:
        return _unknown(refusal, present)
    certain = lasts(found.part, refusal.status, refusal.words, refusal.places)
    return found if certain else replace(found, once=True)


def _named(
    refusal: ServerRefusal, body: Mapping[str, Any], limits: ServerLimits, present: frozenset[Part]
) -> Adapted | None:
    """Return the part that the server names, by its place or in words."""
    for place in refusal.places:
        if found := _at(place, refusal, body, limits, present):
            return found
    if is_of_machines(refusal.status, refusal.words):
        return None
    return _by_words(refusal, body, limits, present)


def parts_of(body: Mapping[str, Any]) -> frozenset[Part]:
    """Return the parts that a body has."""
    found: set[Part] = set()
    messages = body.get("messages") or ()
    names: tuple[Part, ...] = (
        "tools", "tool_choice", "stream_options", "max_tokens", "max_completion_tokens"
    )  # fmt: skip
    found.update(name for name in names if name in body)
    if body.get("stream", True):
        found.add("stream")
    if "tools" in body:
        found.add("schema_keywords")
    before = ""
    for message in messages:
        found.update(_parts_of_message(message))
        if message["role"] == before or (before, message["role"]) == ("tool", "user"):
            found.add("repeated_roles")
        if not before and message["role"] != "user":
            found.add("repeated_roles")
        before = message["role"] if message["role"] not in ("system", "tool") else before
        before = "tool" if message["role"] == "tool" else before
    return frozenset(found)


def _parts_of_message(message: Mapping[str, Any]) -> Iterator[Part]:
    content = message.get("content")
    if message["role"] in ("system", "developer"):
        yield "system"
    if message["role"] == "tool":
        yield "tools"
    if content is None:
        yield "null_content"
    elif content == "":
        yield "empty_content"
    elif isinstance(content, list):
        yield "text_parts"
        if any(part.get("type") == "image_url" for part in content):
            yield "pictures"
        if any(part.get("type") == "file" for part in content):
            yield "pdf"
        if any(part.get("type") not in ("text", "image_url", "file") for part in content):
            yield "reasoning"
    if calls := message.get("tool_calls"):
        yield from ("call_ids", "tools", "calls_without_reasoning")
        if any(call.keys() - {"id", "type", "function"} for call in calls):
            yield "reasoning"
    if message.keys() - {"role", "content", "tool_calls", "tool_call_id", "name"}:
        yield "reasoning"


# --- by the field that is named -------------------------------------------------------------------


def _at(
    place: str,
    refusal: ServerRefusal,
    body: Mapping[str, Any],
    limits: ServerLimits,
    present: frozenset[Part],
) -> Adapted | None:
    steps = [step for step in _STEP.findall(place[:300]) if step not in ("body", "root")]
    if not steps:
        return None
    head, rest = steps[0], steps[1:]
    if head in ("max_tokens", "max_completion_tokens") and head in body:
        return _length(refusal, body, limits)
    if head in ("tools", "functions"):
        deep = any(step in _IN_A_TOOL for step in rest)
        return _first(limits, present, *(("schema_keywords", "tools") if deep else ("tools",)))
    if head in ("messages", "contents", "input"):
        return _in_message(rest, refusal, body, limits, present)
    if head == "stream":
        return _first(limits, present, "stream")
    if head in ("tool_choice", "stream_options"):
        return _first(limits, present, head)
    if head in body and head not in ("model", "messages"):
        return Adapted(head, fields=frozenset((head,)))
    return None


def _in_message(
    steps: list[str],
    refusal: ServerRefusal,
    body: Mapping[str, Any],
    limits: ServerLimits,
    present: frozenset[Part],
) -> Adapted | None:
    messages = body["messages"]
    number = int(steps[0]) if steps and steps[0].isdigit() else -1
    message = messages[number] if 0 <= number < len(messages) else {"role": ""}
    own = frozenset(_parts_of_message(message)) & present
    if "role" in steps:
        wanted: tuple[Part, ...] = ("system", "repeated_roles", "tools")
        mine = tuple(part for part in wanted if part in own or part == "repeated_roles")
        return _first(limits, present, *mine)
    if any(step in ("reasoning_content", "extra_content") or "reason" in step for step in steps):
        missing = _like("calls_without_reasoning", refusal.words)
        return _first(
            limits, present, *(("calls_without_reasoning",) if missing else ("reasoning",))
        )
    if "id" in steps or "tool_call_id" in steps:
        return _first(limits, present, "call_ids", "tools")
    if "tool_calls" in steps:
        return _first(limits, present, "reasoning", "tools")
    if "content" in steps:
        return _first(
            limits,
            own,
            "null_content",
            "empty_content",
            "pdf",
            "pictures",
            "reasoning",
            "text_parts",
        )
    return None


# --- by words -------------------------------------------------------------------------------------


def _by_words(
    refusal: ServerRefusal, body: Mapping[str, Any], limits: ServerLimits, present: frozenset[Part]
) -> Adapted | None:
    words = refusal.words
    if _LENGTH.search(words) and (found := _length(refusal, body, limits)):
        return found
    if "auto-tool-choice" in words or "jinja" in words:
        return _first(limits, present, "tools")
    for part, pattern in _LIKE:
        if part in present and pattern.search(words):
            if part in _VAGUE and not _REFUSES.search(words):
                continue
            if part == "call_ids" and not _OF_AN_ID.search(words):
                continue
            if part == "tool_choice" and "tools" in words.replace("tool_choice", ""):
                continue
            return _first(limits, present, part)
    named = frozenset(_STEP.findall(words)) if _REFUSES.search(words) else frozenset()
    for name in body:
        if name in named and name not in ("model", "messages", "stream"):
            return Adapted(name, fields=frozenset((name,)))
    return None


def _like(part: Part, words: str) -> bool:
    return any(pattern.search(words) for name, pattern in _LIKE if name == part)


def _first(limits: ServerLimits, present: frozenset[Part], *parts: Part) -> Adapted | None:
    """Return the first of the parts that the request has."""
    for part in parts:
        if part in present and part not in limits.without:
            return Adapted(part, frozenset((part,)))
    return None


def _length(
    refusal: ServerRefusal, body: Mapping[str, Any], limits: ServerLimits
) -> Adapted | None:
    """Handle a refused length: another name of the field, a smaller number, or no field."""
    names: tuple[Part, Part] = ("max_tokens", "max_completion_tokens")
    sent = next((name for name in names if name in body), None)
    if sent is None:
        return None
    instead = _INSTEAD.search(refusal.words)
    numbers = _numbers(refusal.words) if _AT_MOST.search(refusal.words) else []
    smaller = [n for n in numbers if 16 <= n < body[sent] and n != refusal.status]
    if smaller and instead is None:
        most = max(smaller)
        return Adapted(f"more than {most} tokens of an answer", most_tokens=most)
    return Adapted(sent, frozenset((sent,)))


def _numbers(words: str) -> list[int]:
    return [int(number.replace(",", "")) for number in _NUMBER.findall(words)[:20]]


def _unknown(refusal: ServerRefusal, present: frozenset[Part]) -> Adapted | None:
    """Return what to leave out after a refusal without a reason: pictures, then what a plain
    request does not need, then tools."""
    if "pdf" in present and refusal.status in _UNKNOWN and not _OTHER_REASON.search(refusal.words):
        return Adapted("pdf", frozenset(("pdf",)), once=True)
    pictures = "pictures" in present
    takes_no_pictures = pictures and refusal.status == 500
    if not takes_no_pictures and refusal.status not in _UNKNOWN:
        return None
    if _OTHER_REASON.search(refusal.words):
        return None
    if pictures:
        return Adapted("pictures", frozenset(("pictures",)), once=True)
    for step in (PLAIN, PLAINEST):
        if left_out := step & present:
            return Adapted(", ".join(sorted(left_out)), left_out, unknown=True)
    return None

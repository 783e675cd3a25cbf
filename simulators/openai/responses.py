"""OpenAI's Responses API, as far as an assistant needs it.

Names and fields of the events are those of the types of OpenAI's library (`openai.types.responses`,
3.52), with which a test reads them. The checks of a request are those of the library's parameters,
and of "Reasoning" and "Function calling" in the documentation of the service: a call and its output
belong together, and reasoning that came with a call goes back before it.
"""

import itertools
from collections.abc import Iterator, Mapping
from typing import Any, Final

from simulators.anthropic.answers import Answer
from simulators.anthropic.usage import count_tokens

PIECE: Final = 24
_INCOMPLETE: Final = {"max_tokens": "max_output_tokens", "refusal": "content_filter"}
_FIELDS: Final = {
    *("model", "input", "instructions", "tools", "tool_choice"),
    *("max_output_tokens", "store", "stream", "include"),
}


class InvalidRequest(Exception):
    """The request is refused with status 400; `code` and `param` as the service names them."""

    def __init__(self, message: str, param: str, code: str = "invalid_value") -> None:
        super().__init__(message)
        self.param = param
        self.code = code


def check(body: Mapping[str, Any], window: int) -> None:
    """Raises `InvalidRequest`."""
    for name in body.keys() - _FIELDS:
        raise InvalidRequest(f"Unknown parameter: '{name}'.", name, "unknown_parameter")
    items = body.get("input")
    if not isinstance(items, list) or not items:
        raise InvalidRequest("Missing required parameter: 'input'.", "input")
    calls = {item["call_id"] for item in items if item.get("type") == "function_call"}
    outputs = {item["call_id"] for item in items if item.get("type") == "function_call_output"}
    for missing in sorted(calls - outputs):
        raise InvalidRequest(f"No tool output found for function call {missing}.", "input")
    for missing in sorted(outputs - calls):
        raise InvalidRequest(f"No tool call found for function call output {missing}.", "input")
    for index, item in enumerate(items):
        if item.get("type") == "reasoning":
            _check_reasoning(item, items[index + 1 :], f"input[{index}]")
    if count_tokens(items) + count_tokens(body.get("tools") or []) > window:
        raise InvalidRequest(
            "Your input exceeds the context window of this model. Please adjust your input and "
            "try again.",
            "input",
            "context_length_exceeded",
        )


def _check_reasoning(
    item: Mapping[str, Any], following: list[Mapping[str, Any]], where: str
) -> None:
    if not item.get("encrypted_content"):
        raise InvalidRequest(f"Item '{item.get('id')}' not found. Items are not stored.", where)
    if not following or following[0].get("role") == "user":
        raise InvalidRequest(
            f"Item '{item['id']}' of type 'reasoning' was provided without its required following "
            "item.",
            where,
        )


def events(body: Mapping[str, Any], answer: Answer, ids: "itertools.count[int]") -> list[Any]:
    """Return the events of an answer, the last of which completes it."""
    numbers = itertools.count()
    response = {
        "id": f"resp_{next(ids)}",
        "object": "response",
        "created_at": 0,
        "model": body["model"],
        "output": [],
        "parallel_tool_calls": True,
        "tool_choice": body.get("tool_choice", "auto"),
        "tools": body.get("tools") or [],
        "error": None,
        "incomplete_details": None,
        "instructions": body.get("instructions"),
        "metadata": {},
        "temperature": 1.0,
        "top_p": 1.0,
        "status": "in_progress",
    }
    items = list(_items(answer, ids))
    if "reasoning.encrypted_content" not in (body.get("include") or ()):
        items = [{k: v for k, v in item.items() if k != "encrypted_content"} for item in items]
    told = [{"type": "response.created", "response": response}]
    for index, item in enumerate(items):
        told.extend(_item_events(item, index))
    reason = _INCOMPLETE.get(answer.stop_reason)
    ended = {
        **response,
        "output": items,
        "status": "incomplete" if reason else "completed",
        "incomplete_details": {"reason": reason} if reason else None,
        "usage": _usage(body, answer),
    }
    kind = "response.incomplete" if reason else "response.completed"
    told.append({"type": kind, "response": ended})
    return [{**event, "sequence_number": next(numbers)} for event in told]


def _items(answer: Answer, ids: "itertools.count[int]") -> Iterator[dict[str, Any]]:
    if answer.thinking:
        secret = f"encrypted:{answer.thinking}"
        yield {
            "type": "reasoning",
            "id": f"rs_{next(ids)}",
            "summary": [],
            "encrypted_content": secret,
        }
    if answer.text:
        part = {"type": "output_text", "text": answer.text, "annotations": []}
        yield {
            "type": "message",
            "id": f"msg_{next(ids)}",
            "role": "assistant",
            "status": "completed",
            "content": [part],
            "phase": "commentary" if answer.tools else "final_answer",
        }
    for use in answer.tools:
        number = next(ids)
        yield {
            "type": "function_call",
            "id": f"fc_{number}",
            "call_id": f"call_{number}",
            "name": use.name,
            "arguments": use.json,
            "status": "completed",
        }


def _item_events(item: Mapping[str, Any], index: int) -> Iterator[dict[str, Any]]:
    place = {"output_index": index, "item_id": item["id"]}
    opened = {**item, "status": "in_progress"}
    match item["type"]:
        case "message":
            text = item["content"][0]["text"]
            yield _of_item("added", index, {**opened, "content": []})
            for piece in _pieces(text):
                kind = "response.output_text.delta"
                yield {"type": kind, **place, "content_index": 0, "delta": piece, "logprobs": []}
        case "function_call":
            yield _of_item("added", index, {**opened, "arguments": ""})
            for piece in _pieces(item["arguments"]):
                yield {"type": "response.function_call_arguments.delta", **place, "delta": piece}
        case _:
            yield _of_item("added", index, opened)
    yield _of_item("done", index, item)


def _of_item(what: str, index: int, item: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": f"response.output_item.{what}", "output_index": index, "item": item}


def _pieces(text: str) -> Iterator[str]:
    for start in range(0, len(text), PIECE):
        yield text[start : start + PIECE]


def _usage(body: Mapping[str, Any], answer: Answer) -> dict[str, object]:
    read = count_tokens(body["input"])
    reasoned = count_tokens(answer.thinking)
    written = count_tokens(answer.text) + sum(count_tokens(use.json) for use in answer.tools)
    return {
        "input_tokens": read,
        "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
        "output_tokens": reasoned + max(1, written),
        "output_tokens_details": {"reasoning_tokens": reasoned},
        "total_tokens": read + reasoned + max(1, written),
    }

"""The simulator refuses what Anthropic refuses."""

import base64
from typing import Any

import pytest

from simulators.anthropic.checks import Refused, check_request
from tests.support.for_each import for_each

PNG = base64.b64encode(b"\x89PNG\r\n\x1a\n and so on").decode()
TOOL = {"name": "add", "input_schema": {"type": "object"}}
CALL = {"type": "tool_use", "id": "t1", "name": "add", "input": {}}
RESULT = {"type": "tool_result", "tool_use_id": "t1", "content": "3"}


def request(**changes: Any) -> dict[str, Any]:
    body: dict[str, Any] = {
        "model": "claude-sonnet-5-5",
        "max_tokens": 100,
        "messages": [{"role": "user", "content": "Hello"}],
    }
    return {**body, **changes}


def conversation(*content: tuple[str, object]) -> list[dict[str, object]]:
    return [{"role": role, "content": what} for role, what in content]


def picture(data: str = PNG, media_type: str = "image/png") -> list[dict[str, object]]:
    source = {"type": "base64", "media_type": media_type, "data": data}
    return [{"type": "image", "source": source}]


@pytest.mark.parametrize(
    "body",
    [
        request(),
        request(system="Be brief."),
        request(system=[{"type": "text", "text": "Be brief."}]),
        request(messages=conversation(("user", "a"), ("user", "b"))),
        request(messages=conversation(("user", "a"), ("assistant", "b"), ("user", "c"))),
        request(messages=conversation(("user", picture()))),
        request(
            tools=[TOOL],
            messages=conversation(("user", "a"), ("assistant", [CALL]), ("user", [RESULT])),
        ),
        request(tools=[TOOL], tool_choice={"type": "none"}),
    ],
)
def test_valid_requests_are_accepted(body: dict[str, Any]) -> None:
    assert check_request(body) is body


@for_each(
    ("body", "message"),
    [
        ({}, "model: Field required"),
        ([], "must be a JSON object"),
        (request(max_tokens="many"), "max_tokens: Input should be a valid integer"),
        (request(max_tokens=-1), "max_tokens: Input should be greater"),
        (request(temprature=1), "temprature: Extra inputs are not permitted"),
        (request(messages=[]), "at least one message"),
        (
            request(messages=conversation(("assistant", "a"), ("user", "b"))),
            'must use the "user" role',
        ),
        (request(messages=conversation(("user", "a"), ("assistant", "b"))), "prefill"),
        (request(messages=conversation(("system", "a"))), "role: Input should be"),
        (request(messages=conversation(("user", ""))), "non-empty content"),
        (request(messages=conversation(("user", []))), "non-empty content"),
        (
            request(messages=conversation(("user", [{"type": "text", "text": ""}]))),
            "must be non-empty",
        ),
        (request(messages=conversation(("user", " \n"))), "non-whitespace"),
        (request(system=[{"type": "text", "text": ""}]), "system: text content blocks"),
        (
            request(messages=conversation(("user", [CALL]))),
            "does not match any of the expected tags",
        ),
        (
            request(
                tools=[TOOL],
                messages=conversation(("user", "a"), ("assistant", [CALL]), ("user", "b")),
            ),
            "`tool_use` ids were found without `tool_result` blocks immediately after: t1",
        ),
        (
            request(
                tools=[TOOL],
                messages=conversation(
                    ("user", "a"),
                    ("assistant", [CALL]),
                    ("user", [{"type": "text", "text": "first"}, RESULT]),
                ),
            ),
            "without `tool_result` blocks immediately after",
        ),
        (
            request(tools=[TOOL], messages=conversation(("user", [RESULT]))),
            "unexpected `tool_use_id` found in `tool_result` blocks: t1",
        ),
        (
            request(
                messages=conversation(("user", "a"), ("assistant", [CALL]), ("user", [RESULT]))
            ),
            "must define tools",
        ),
        (
            request(
                tools=[TOOL],
                messages=conversation(
                    ("user", "a"), ("assistant", [CALL, CALL]), ("user", [RESULT])
                ),
            ),
            "ids must be unique",
        ),
        (request(tools=[{**TOOL, "name": "a b"}]), "should match pattern"),
        (request(tools=[TOOL, TOOL]), "must be unique"),
        (request(tools=[{"name": "x"}]), "input_schema: Field required"),
        (request(tools=[{"name": "x", "input_schema": {}}]), "type: Field required"),
        (
            request(tools=[{"name": "x", "input_schema": {"type": "object", "anyOf": []}}]),
            "does not support oneOf",
        ),
        (
            request(
                tools=[{"name": "x", "input_schema": {"type": "object", "properties": {"a b": {}}}}]
            ),
            "Property keys",
        ),
        (request(tool_choice={"type": "auto"}), "only be specified while providing tools"),
        (request(tools=[TOOL], tool_choice={"type": "any"}), "not supported by this model"),
        (request(messages=conversation(("user", picture(media_type="image/bmp")))), "media_type"),
        (request(messages=conversation(("user", picture(data="???")))), "Invalid base64"),
        (
            request(messages=conversation(("user", picture(data="aGVsbG8=")))),
            "Could not process image",
        ),
        (
            request(messages=conversation(("user", picture(media_type="image/jpeg")))),
            "appears to be a image/png image",
        ),
        (
            request(messages=conversation(("user", picture(data="A" * (5 * 1024 * 1024 + 4))))),
            "image exceeds 5 MB maximum",
        ),
        (
            request(
                system=[{"type": "text", "text": "a", "cache_control": {"type": "ephemeral"}}] * 5
            ),
            "A maximum of 4 blocks with cache_control",
        ),
        (
            request(
                system=[
                    {"type": "text", "text": each, "cache_control": {"type": "ephemeral", **ttl}}
                    for each, ttl in (("a", {}), ("b", {"ttl": "1h"}))
                ]
            ),
            "a ttl='1h' block must not come after a ttl='5m' block",
        ),
    ],
)
def test_invalid_requests_get_the_errors_of_the_service(body: object, message: str) -> None:
    with pytest.raises(Refused) as caught:
        check_request(body)

    assert caught.value.status == 400
    assert caught.value.kind == "invalid_request_error"
    assert message in caught.value.message

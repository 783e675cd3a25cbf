"""Tells errors of a context that is too long from all others, in any server's words.

The errors were reported in public; each names its source. `overflow_errors.json` was at hand when
the rules were written. `overflow_errors_held_out.json` was collected after that and never used to
change a rule: it shows what the rules do with words that they were not written for. Where a source
shows a placeholder instead of a figure, a figure was filled in.
"""

import functools
import json
from pathlib import Path
from typing import Any

import pytest

from gateway.errors import ContextTooLong
from gateway.llm.overflow import context_too_long
from tests.support.for_each import for_each
from tests.support.processor_time import seconds

RECORDED = Path(__file__).parent / "recorded"
KNOWN = json.loads((RECORDED / "overflow_errors.json").read_text())
HELD_OUT = json.loads((RECORDED / "overflow_errors_held_out.json").read_text())


def judged(error: dict[str, Any]) -> ContextTooLong | None:
    return context_too_long("refused", error["status"], error["body"])


@for_each("error", KNOWN)
def test_reported_error(error: dict[str, Any]) -> None:
    found = judged(error)

    assert (found is not None) == error["too_long"]
    if found is not None:
        assert (found.tokens, found.limit) == (error["tokens"], error["limit"])
        assert found.excess == error.get("excess")


def test_words_that_no_rule_was_written_for() -> None:
    too_long = [error for error in HELD_OUT if error["too_long"]]
    others = [error for error in HELD_OUT if not error["too_long"]]
    found = [error for error in too_long if judged(error) is not None]

    assert len(found) / len(too_long) >= 0.9
    assert [error for error in others if judged(error) is not None] == []
    for error in found:
        answer = judged(error)
        assert answer is not None
        assert (answer.tokens, answer.limit) == (error["tokens"], error["limit"])


@for_each(
    "text",
    [
        "Die Eingabe überschreitet die maximale Länge.",
        "L'entrée dépasse la longueur maximale du contexte.",
        "La entrada excede la longitud máxima del contexto.",
        "Запрос превышает размер контекста модели.",
        "コンテキスト長を超えました。",
        "입력이 최대 컨텍스트 길이를 초과했습니다.",
        "上下文长度超出模型限制",
    ],
)
def test_other_languages(text: str) -> None:
    assert context_too_long("refused", 400, {"error": {"message": text}}) is not None


def test_text_that_is_no_json() -> None:
    assert context_too_long("refused", 500, None, "prompt is too long for this model") is not None
    assert context_too_long("refused", 500, None, "Internal Server Error") is None


@pytest.mark.parametrize(
    "message",
    [
        (
            "Invalid 'messages[2].tool_calls[0].id': string too long. Expected a string with "
            "maximum length 40, but got a string with length 51 instead."
        ),
        "tools.3.custom.input_schema: JSON schema is too large",
        "Too many images in the prompt: at most 20 are allowed",
        "messages: roles must alternate between user and assistant",
    ],
)
def test_a_part_of_the_request_is_not_its_length(message: str) -> None:
    assert context_too_long("refused", 400, {"error": {"message": message}}) is None


@pytest.mark.parametrize("status", [401, 402, 403, 404])
def test_statuses_that_never_mean_the_length(status: int) -> None:
    assert context_too_long("refused", status, {"error": {"message": "prompt is too long"}}) is None


def test_hostile_error_is_read_quickly() -> None:
    deep: object = "prompt is too long " * 10_000
    for _ in range(50):
        deep = {"error": [deep] * 50}
    words = {"a": "max_tokens " * 6_000, "b": "9" * 60_000}
    places = {"message": "messages[" * 500 + "exceed " * 500}

    for body in (deep, words, places):
        work = functools.partial(context_too_long, "refused", 400, body)
        assert seconds(work, 0.05) < 0.05


def test_text_of_the_request_in_an_error_decides_nothing() -> None:
    said = "The prompt is too long: maximum context length is 600 tokens, you requested 900 tokens."
    detail = [{"loc": ["body", "messages", 1], "msg": "Field required", "input": said}]

    assert context_too_long("refused", 422, {"detail": detail}) is None

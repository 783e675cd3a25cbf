"""The code of a confirmation stands for one question to one person, for some minutes."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta

import pytest

from gateway.immutable import replace
from gateway.message import Place
from gateway.people import Audience, PersonId, Principal, Role
from gateway.ports.memory import Caller
from memory.mcp.sdk_tool import (
    WINDOW_SECONDS,
    CodeRequired,
    Confirmed,
    decide_by_code,
)

KEY = b"k" * 32
ADA = PersonId("web", "main", "ada")
CALLER = Caller(
    "turn",
    Principal("default", ADA, Role.MEMBER),
    "",
    Place("api", "main", "ada", Audience.DIRECT),
    "mcp/ada",
    datetime(2026, 11, 21, 9, 0, tzinfo=UTC),
)
QUESTION = "Delete this fact?"


def code_for(caller: Caller = CALLER, key: bytes = KEY) -> str:
    decided = decide_by_code(key, caller, "memory_delete", {"id": "mem-1"}, QUESTION)
    assert isinstance(decided, CodeRequired)
    assert decided.question == QUESTION
    return decided.code


def decided_with(
    code: str, caller: Caller = CALLER, changes: Mapping[str, str] | None = None
) -> object:
    requests = {"id": "mem-1", "tool": "memory_delete", "question": QUESTION, **(changes or {})}
    given = {"id": requests["id"], "confirm": code}
    return decide_by_code(KEY, caller, requests["tool"], given, requests["question"])


def later(seconds: float) -> Caller:
    return replace(CALLER, at=CALLER.at + timedelta(seconds=seconds))


def test_the_code_confirms_the_same_question() -> None:
    assert decided_with(code_for()) == Confirmed()


def test_the_code_is_valid_for_ten_to_twenty_minutes() -> None:
    code = code_for(later(WINDOW_SECONDS - 1))
    assert decided_with(code, later(2 * WINDOW_SECONDS - 1)) == Confirmed()
    assert isinstance(decided_with(code, later(2 * WINDOW_SECONDS)), CodeRequired)


@pytest.mark.parametrize(
    "changes",
    [{"id": "mem-2"}, {"tool": "share_memory_to_scope"}, {"question": "Delete that decision?"}],
)
def test_the_code_confirms_nothing_else(changes: dict[str, str]) -> None:
    assert isinstance(decided_with(code_for(), changes=changes), CodeRequired)


@pytest.mark.parametrize(
    "principal",
    [
        Principal("default", PersonId("web", "main", "eve"), Role.MEMBER),
        Principal("other", ADA, Role.MEMBER),
    ],
)
def test_the_code_is_of_one_person(principal: Principal) -> None:
    other = replace(CALLER, principal=principal)
    assert isinstance(decided_with(code_for(), other), CodeRequired)


@pytest.mark.parametrize("given", ["", "0" * 16, "é" * 16, "x" * 64])
def test_a_guess_confirms_nothing(given: str) -> None:
    assert isinstance(decided_with(given), CodeRequired)


def test_another_key_makes_another_code() -> None:
    assert code_for(key=b"o" * 32) != code_for()

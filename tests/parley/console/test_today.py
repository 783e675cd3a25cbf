"""The figures of the day: every message once, by hour and by how it ended, on both databases."""

from datetime import UTC, datetime, timedelta
from typing import get_args
from zoneinfo import ZoneInfo

import pytest

from gateway.ports.clock import SystemClock
from gateway.ports.traces import FAILED
from gateway.turn.model_turn import Outcome
from parley.console.today import ended, midnight_of
from tests.parley.console.kit import OPERATOR, OTHER, PERSON, Console, Sections
from tests.parley.console.talk import ROOM, Talk, direct

HOW = {
    "answered": "answered",
    "length": "answered",
    "failed": "failed",
    "unavailable": "failed",
    "refused:limits": "too_many",
    "refused:budget": "budget",
    "refused:access": "not_allowed",
    "refused:readable": "refused",
    "collected": "joined",
    "handed_over": "operator",
    "expired": "too_old",
    "dropped": "withdrawn",
    "something new": "other",
}


@pytest.fixture
def sections() -> Sections:
    return {"budgets": {"user_per_day": 1, "workspace_per_month": 2}}


async def test_every_message_is_counted_once_by_how_it_ended(either_console: Console) -> None:
    talk = Talk(either_console.app, SystemClock().now() - timedelta(seconds=30))
    for outcome in HOW:
        await talk(ROOM, PERSON, "x", outcome=outcome)
    await talk(direct(OTHER), OTHER, "x", micros=1_000_000)
    answer = await either_console.program.api_client(OPERATOR)("GET", "/console/overview")
    today = answer.json["today"]
    counted = {one["how"]: one["number"] for one in today["ended"]}
    assert today["messages"] == sum(counted.values()) == len(HOW) + 1
    assert counted == {
        how: list(HOW.values()).count(how) + (how == "answered") for how in HOW.values()
    }
    assert (today["answered"], today["failed"]) == (counted["answered"], counted["failed"])
    for name in ("messages", "answered", "failed"):
        assert sum(one[name] for one in today["hours"]) == today[name]
    assert 0 < today["p50"] <= today["p95"] <= 250
    page = await (await either_console.visitor(OPERATOR)).get("/overview")
    assert "Refused: too many questions in a minute" in page.text
    assert "Deleted before the answer" in page.text


async def test_others_see_the_day_of_their_own_messages_only(either_console: Console) -> None:
    talk = Talk(either_console.app, SystemClock().now() - timedelta(seconds=30))
    await talk(direct(OTHER), OTHER, "x", micros=400_000)
    await talk(ROOM, PERSON, "x", outcome="failed")
    answer = await either_console.program.api_client(OTHER)("GET", "/console/overview")
    today, shown = answer.json["today"], answer.json
    assert (today["messages"], today["failed"], today["micros"]) == (1, 0, 400_000)
    assert (shown["people"], shown["rooms"], shown["platforms"]) == ([], [], [])


async def test_operators_see_who_used_most_and_how_much_of_a_budget(
    either_console: Console,
) -> None:
    talk = Talk(either_console.app, SystemClock().now() - timedelta(seconds=30))
    await talk(direct(OTHER), OTHER, "x", micros=900_000)
    await talk(ROOM, PERSON, "x", micros=30)
    answer = await either_console.program.api_client(OPERATOR)("GET", "/console/overview")
    people = [(one["name"], one["micros"]) for one in answer.json["people"]]
    assert people == [("web:main:eve", 900_000), ("web:main:ada", 30)]
    assert [one["name"] for one in answer.json["rooms"]] == ["", "general"]
    assert {one["limit"] for one in answer.json["budgets"]} <= {500_000, 1_000_000, 2_000_000}
    visitor = await either_console.visitor(OPERATOR)
    page = await visitor.get("/overview")
    for one in (*answer.json["people"], *answer.json["rooms"]):
        assert (await visitor.get(one["path"])).status == 200
        assert f"/console{one['path']}".replace("&", "&amp;") in page.text


def test_the_day_begins_at_the_midnight_of_the_reader() -> None:
    now = datetime(2026, 11, 28, 1, 30, tzinfo=UTC)
    assert midnight_of(now, "") == datetime(2026, 11, 28, tzinfo=UTC)
    assert midnight_of(now, "no such zone") == datetime(2026, 11, 28, tzinfo=UTC)
    kolkata = datetime(2026, 11, 28, tzinfo=ZoneInfo("Asia/Kolkata"))
    assert midnight_of(now, "Asia/Kolkata") == kolkata


def test_every_outcome_of_a_model_is_an_answer_or_an_error() -> None:
    assert {ended(outcome) for outcome in get_args(Outcome)} == {"answered", "failed"}
    assert {ended(outcome) for outcome in FAILED} == {"failed"}
    for outcome, how in HOW.items():
        assert ended(outcome) == how

"""The usage of everybody and of oneself, by each key; its file; budgets in use; on both
databases."""

import csv
import io
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from gateway.message import Place
from gateway.people import Audience
from gateway.policy.budgets import BudgetAccount
from gateway.policy.rate_limits import BucketRule, rules_for
from gateway.ports import Usage
from gateway.ports.clock import SystemClock
from gateway.ports.usage import UsageRow
from parley.console.limits_in_use import EACH, renewals_of
from tests.parley.console.kit import (
    OPERATOR,
    OTHER,
    OWNER,
    PERSON,
    Console,
    Sections,
    console_in,
    console_settings,
    person_named,
)
from tests.parley.console.talk import ROOM, Talk, World, direct

FORMULA = '=HYPERLINK("http://evil.example")'
SCRIPT = "<script>alert(1)</script>"
ADA, EVE = person_named(PERSON), person_named(OTHER)
OFFICE = Place("web", "main", "office", Audience.PRIVATE_ROOM, "hq")
AHEAD = 3_600
"""Seconds by which questions are ahead of the clock, so that no limit becomes free meanwhile."""
KEYS = ("channel", "workspace", "model")


@pytest.fixture
def sections() -> Sections:
    return {"budgets": {"user_per_day": 0.01, "workspace_per_month": 2}}


@pytest.fixture
def console(either_console: Console) -> Console:
    return either_console


async def usage(console: Console, name: str, query: str = "") -> dict[str, Any]:
    answer = await console.program.api_client(name)("GET", f"/console/usage{query}")
    assert answer.status == 200, answer.json
    found: dict[str, Any] = answer.json
    return found


def costs(found: dict[str, Any], key: str) -> dict[str, int]:
    return {one[key]: one["figures"]["micros"] for one in found["rows"]}


async def test_operators_see_the_usage_of_everybody(console: Console, world: World) -> None:
    for name in (OPERATOR, OWNER):
        found = await usage(console, name)
        assert (found["of"], found["by"]) == ("all", "person")
        assert costs(found, "person") == {EVE: 20_005, ADA: 10}
        total = found["total"]
        assert (total["messages"], total["answers"], total["errors"]) == (4, 4, 0)
        assert (total["micros"], total["output_tokens"]) == (20_015, 200)
        assert total["cache_share"] == pytest.approx(30 / 150)
        assert 0 < total["p50"] <= 250
        assert sum(one["figures"]["micros"] for one in found["periods"]) == 20_015
    by = {key: costs(await usage(console, OPERATOR, f"?by={key}"), key) for key in KEYS}
    assert by == {
        "channel": {"general": 20_005, "direct": 10},
        "workspace": {"W1": 20_015},
        "model": {"model-a": 20_015},
    }


async def test_other_people_see_their_own_usage_only(console: Console, world: World) -> None:
    found = await usage(console, PERSON)
    assert (found["of"], found["by"], found["total"]["micros"]) == ("own", "channel", 10)
    assert costs(found, "channel") == {"general": 5, "direct": 5}
    for query in (f"?person={EVE}", f"?person={EVE}&by=person"):
        assert (await usage(console, PERSON, query))["rows"] == []
    assert costs(await usage(console, PERSON, "?by=person"), "person") == {ADA: 10}
    page = await (await console.visitor(PERSON)).get("/usage?by=person")
    assert EVE not in page.text
    file = await (await console.visitor(PERSON)).get("/usage.csv?by=person")
    assert EVE not in file.text
    assert (await console.stranger().get("/usage.csv")).status == 401


async def test_filters_and_the_period_apply_on_the_server(console: Console, world: World) -> None:
    for query, expected in {
        f"?person={ADA}": 10,
        "?channel=general": 20_005,
        "?channel=direct": 10,
        f"?channel=direct&person={EVE}": 5,
        "?workspace=W1": 20_015,
        "?workspace=W2": 0,
        "?model=model-a&days=2": 20_015,
        "?model=model-b": 0,
        "?until=2020-01-31": 0,
        "?days=400": 20_015,
    }.items():
        assert (await usage(console, OPERATOR, query))["total"]["micros"] == expected, query
    client = console.program.api_client(OPERATOR)
    for query, status in {
        "?until=2999-01-01": 422,
        "?until=2026-02-31": 422,
        "?until=yesterday": 400,
        "?days=401": 400,
        "?by=colour": 400,
    }.items():
        assert (await client("GET", f"/console/usage{query}")).status == status, query


async def spent(console: Console, at: datetime, turn: str, person: str = ADA) -> None:
    """Store the cost of one call."""
    row = UsageRow("default", person, "W1", "model-a", Usage(10, 5, 10), 1_000, at)
    await console.app.services.stores.usage.settle(turn, (row,), ())


async def test_figures_begin_with_the_first_day_of_use_and_have_hours_on_that_day(
    console: Console,
) -> None:
    now = SystemClock().now()
    midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
    nothing = await usage(console, OPERATOR)
    assert (nothing["step"], nothing["since"]) == (0, f"{midnight:%Y-%m-%d}")
    assert all(one["figures"]["answers"] == 0 for one in nothing["periods"])
    await spent(console, midnight, "first")
    await spent(console, now, "second")
    days = console.app.storage.usage_days
    for _ in range(2):  # single calls, and then sums of days
        for name, query in ((OPERATOR, ""), (PERSON, ""), (OPERATOR, f"?person={ADA}")):
            found = await usage(console, name, query)
            hours = {one["begin"]: one["figures"]["micros"] for one in found["periods"]}
            assert (found["step"], len(hours)) == (0, now.hour + 1)
            assert list(hours) == sorted(hours)
            assert hours[midnight.isoformat().replace("+00:00", "Z")] >= 1_000
            assert sum(hours.values()) == found["total"]["micros"] == 2_000
        await days.sum_up(now + timedelta(days=1))
    await spent(console, midnight - timedelta(days=3), "earlier")
    found = await usage(console, OPERATOR)
    assert (found["step"], len(found["periods"])) == (1, 4)
    assert found["since"] == f"{midnight - timedelta(days=3):%Y-%m-%d}"
    await spent(console, midnight - timedelta(days=200), "long ago")
    found = await usage(console, OPERATOR, "?days=365")
    assert (found["step"], len(found["periods"]), found["total"]["micros"]) == (7, 29, 4_000)
    assert sum(one["figures"]["micros"] for one in found["periods"]) == 4_000
    assert len((await usage(console, OPERATOR, "?days=1"))["periods"]) == now.hour + 1


async def test_nothing_changes_when_the_days_are_summed(console: Console, world: World) -> None:
    storage = console.app.storage
    before = [await usage(console, name, "?by=channel") for name in (OPERATOR, PERSON)]
    overview = (await console.program.api_client(OPERATOR)("GET", "/console/overview")).json
    days = storage.usage_days
    assert await days.sum_up(SystemClock().now() + timedelta(days=1)) == 8
    assert [await usage(console, name, "?by=channel") for name in (OPERATOR, PERSON)] == before
    after = (await console.program.api_client(OPERATOR)("GET", "/console/overview")).json
    assert after["today"] == overview["today"]


async def test_errors_are_counted_and_commands_belong_to_nobody(console: Console) -> None:
    talk = Talk(console.app)
    await talk(direct(PERSON), PERSON, "x", outcome="failed")
    await talk(ROOM, PERSON, "x")
    found = await usage(console, PERSON)
    assert (found["total"]["messages"], found["total"]["errors"]) == (2, 1)
    page = await (await console.visitor(OPERATOR)).get("/usage")
    assert page.status == 200
    assert 'id="periods"' in page.text


async def test_the_file_has_no_formula_and_the_page_no_markup_of_others(console: Console) -> None:
    at = SystemClock().now()
    for number, model in enumerate((FORMULA, SCRIPT)):
        row = UsageRow("default", ADA, "W1", model, Usage(10, 5, 10), 1_000_001, at)
        await console.app.services.stores.usage.settle(f"t{number}", (row,), ())
    olga = await console.visitor(OPERATOR)
    file = await olga.get("/usage.csv?by=model")
    assert file.headers["Content-Type"] == "text/csv; charset=utf-8"
    assert file.headers["Content-Disposition"].startswith("attachment; filename*=UTF-8''usage-by")
    rows = list(csv.DictReader(io.StringIO(file.text, newline="")))
    assert sorted(row["model"] for row in rows) == [f"'{FORMULA}", SCRIPT]
    assert {(row["cost_dollars"], row["cache_share_percent"]) for row in rows} == {
        ("1.000001", "50.0")
    }
    page = await olga.get("/usage?by=model")
    assert SCRIPT not in page.text
    assert "alert(1)" in page.text


async def test_budgets_show_what_is_spent_and_when_they_begin_again(console: Console) -> None:
    now = SystemClock().now()
    ledger = console.app.services.stores.usage
    day, month = now.strftime("%Y-%m-%d"), now.strftime("%Y-%m")
    accounts = (
        BudgetAccount("user_per_day", f"user:default:{ADA}:{day}", 10_000),
        BudgetAccount("workspace_per_month", f"workspace:default:web:main::{month}", 2_000_000),
        BudgetAccount("workspace_per_month", f"workspace:other:web:main::{month}", 2_000_000),
    )
    for number, account in enumerate(accounts):
        row = UsageRow("default", ADA, "W1", "m", Usage(), 2_500 * (number + 1), now)
        await ledger.settle(f"t{number}", (row,), (account,))
    own = (await usage(console, PERSON))["budgets"]
    assert [(one["whose"], one["spent"], one["limit"], one["period"]) for one in own] == [
        (ADA, 2_500, 10_000, "day"),
        (ADA, 0, 500_000, "month"),
    ]
    renews = datetime.fromisoformat(own[0]["renews"])
    assert renews == renewals_of(now)["day"]
    every = (await usage(console, OPERATOR))["budgets"]
    assert [(one["kind"], one["whose"], one["spent"]) for one in every] == [
        ("person", person_named(OPERATOR), 0),
        ("person", person_named(OPERATOR), 0),
        ("person", ADA, 2_500),
        ("workspace", "web:main:", 5_000),
    ]
    page = await (await console.visitor(PERSON)).get("/usage")
    assert "25 % spent" in page.text


@pytest.mark.parametrize(
    ("now", "day", "month"),
    [
        ("2026-11-30T23:59:59+00:00", "2026-12-01", "2026-12-01"),
        ("2026-12-31T00:00:00+00:00", "2027-01-01", "2027-01-01"),
        ("2028-02-28T12:00:00+00:00", "2028-02-29", "2028-03-01"),
        ("2026-11-30T22:00:00-05:00", "2026-12-02", "2027-01-01"),
    ],
)
def test_budgets_begin_again_with_the_utc_day_and_month(now: str, day: str, month: str) -> None:
    times = renewals_of(datetime.fromisoformat(now))
    expected = [datetime.fromisoformat(one).replace(tzinfo=UTC) for one in (day, month)]
    assert [times["day"], times["month"]] == expected


async def test_rate_limits_show_how_much_is_used_to_those_who_may_see_it(
    console: Console, world: World
) -> None:
    services = console.app.services
    limits, take = services.policies.limits, services.stores.buckets.take
    now = services.clock.now().timestamp() + AHEAD
    asked = ((ADA, direct(PERSON)), (ADA, ROOM), (EVE, ROOM), (EVE, OFFICE))
    for person, place in (*asked, *asked):
        await take(rules_for("default", person, place, limits), now)
    await take(rules_for("other", person_named("mallory"), ROOM, limits), now)

    async def seen(name: str) -> dict[str, tuple[str, int]]:
        found = (await usage(console, name))["rates_in_use"]
        return {one["whose"]: (one["of"], one["used"]) for one in found}

    room, guild = "web:main:general", "web:main:guild"
    of_ada = {ADA: ("person", 4), f"web:main:{PERSON}": ("channel", 2), room: ("channel", 4)}
    assert await seen(PERSON) == {**of_ada, guild: ("workspace", 4)}
    assert await seen(OPERATOR) == {
        **of_ada,
        person_named(OPERATOR): ("person", 0),
        EVE: ("person", 4),
        "web:main:office": ("channel", 2),
        guild: ("workspace", 4),
        "web:main:hq": ("workspace", 2),
    }
    page = await (await console.visitor(PERSON)).get("/usage")
    assert f'aria-label="4 of {limits.user_per_minute} used"' in page.text
    assert (EVE in page.text, "office" in page.text) == (False, False)


async def test_operators_see_the_most_used_rate_limits(console: Console) -> None:
    services = console.app.services
    now = services.clock.now().timestamp() + AHEAD
    for number in range(EACH + 2):
        rule = BucketRule("user", f"user:default:web:main:p{number}", 5)
        for _ in range(1 + (number < EACH)):
            await services.stores.buckets.take((rule,), now)
    found = (await usage(console, OPERATOR))["rates_in_use"]
    assert [one["used"] for one in found] == [0, *[2] * EACH]


async def test_without_usage_and_budgets_the_page_says_so(tmp_path: Path) -> None:
    async with console_in(console_settings(tmp_path)) as console:
        page = await (await console.visitor(PERSON)).get("/usage")
    assert "No usage in this period." in page.text
    assert "No budget limits your cost." in page.text


async def test_yesterday_is_one_step_away(console: Console) -> None:
    now = SystemClock().now()
    midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
    await spent(console, midnight - timedelta(hours=1), "yesterday")
    for name in ("today", "also today"):
        await spent(console, now, name)
    owner = await console.visitor(OWNER)
    page = (await owner.get("/usage")).text
    path = f"days=1&amp;until={midnight - timedelta(days=1):%Y-%m-%d}&amp;"
    assert path in page
    found = await usage(console, OPERATOR, f"?{path.replace('&amp;', '&')}")
    assert (found["total"]["micros"], found["step"]) == (1_000, 0)

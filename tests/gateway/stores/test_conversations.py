"""The activity of the assistant in a project: totals over this project's conversations only."""

from datetime import UTC, datetime, timedelta

import pytest

from gateway.conversation import ConversationKey
from gateway.errors import BadInput
from gateway.ports import ActivityLog, ProjectActivity, Usage
from gateway.ports.traces import Trace as Traced
from gateway.ports.usage import UsageRow
from gateway.stores.conversations import SqlActivity
from gateway.stores.traces import Traces
from gateway.stores.usage import UsageLedger
from tests.support.databases import Engine

AT = datetime(2026, 11, 21, 9, 0, tzinfo=UTC)
WEEK = AT - timedelta(days=7)


@pytest.fixture
def activity(engine: Engine) -> ActivityLog:
    return SqlActivity(engine)


async def answered(
    traces: Traces, usage: UsageLedger, turn: str, key: ConversationKey, at: datetime = AT
) -> None:
    person = f"{key.platform}:{key.account}:{turn[0]}"
    await traces.add(
        Traced(turn, turn, key.platform, key.account, str(key), "message", at, (), "answered", 1)
    )
    row = UsageRow(key.tenant, person, "W", "model", Usage(10, 5, 3, 2), 1_000, at)
    await usage.settle(turn, (row, row), ())


async def test_the_totals_are_of_one_project(
    activity: ActivityLog, traces: Traces, usage: UsageLedger
) -> None:
    inside = ConversationKey("t", "slack", "main", "T1", "C1")
    await answered(traces, usage, "a1", inside)
    await answered(traces, usage, "a2", ConversationKey("t", "slack", "main", "T1", "C2", "x"))
    await answered(traces, usage, "b1", inside)
    for number, other in enumerate(
        (
            ConversationKey("u", "slack", "main", "T1", "C1"),
            ConversationKey("t", "discord", "main", "T1", "C1"),
            ConversationKey("t", "slack", "sales", "T1", "C1"),
            ConversationKey("t", "slack", "main", "T12", "C1"),
            ConversationKey("t", "slack", "main", "T2", "T1"),
        )
    ):
        await answered(traces, usage, f"c{number}", other)
    await answered(traces, usage, "a9", inside, AT - timedelta(days=8))
    refused = Traced("r", "r", "slack", "main", str(inside), "message", AT, (), "refused", 1)
    await traces.add(refused)
    result = await activity.of_project("t", "slack:main:T1", WEEK)
    assert result == ProjectActivity(answered=3, people=2, tokens=3 * 2 * 20, micros=3 * 2 * 1_000)


async def test_a_room_without_a_workspace_is_its_own_project(
    activity: ActivityLog, traces: Traces, usage: UsageLedger
) -> None:
    await answered(traces, usage, "a1", ConversationKey("t", "telegram", "main", "", "-1001"))
    await answered(traces, usage, "a2", ConversationKey("t", "telegram", "main", "", "-10012"))
    result = await activity.of_project("t", "telegram:main:-1001", WEEK)
    assert (result.answered, result.people) == (1, 1)


async def test_without_activity_the_totals_are_zero(activity: ActivityLog) -> None:
    assert await activity.of_project("t", "slack:main:%_\"'", WEEK) == ProjectActivity(0, 0, 0, 0)


@pytest.mark.parametrize("project", ["", "slack", "slack:main", "slack::T1", ":main:T1", "a:b:"])
async def test_an_invalid_project_is_refused(activity: ActivityLog, project: str) -> None:
    with pytest.raises(BadInput, match="platform:account:id"):
        await activity.of_project("t", project, WEEK)

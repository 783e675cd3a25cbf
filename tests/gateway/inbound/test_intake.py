"""Intake of events that arrive at once, are interrupted, or find a full queue."""

import asyncio
from dataclasses import dataclass, field

import pytest

from db.errors import StoreUnavailable
from gateway.inbound.intake import dedupe_key
from gateway.message import InlineQueried, MembershipChanged, MessageAuthor, Place
from gateway.observe.correlation import correlation_id
from gateway.ports import Capabilities
from gateway.ports.memory import NoMemory
from gateway.ports.work_guard import WorkItem
from tests.support.gateway import gateway
from tests.support.messages import direct, place, received
from tests.support.work import deadly

ADA = MessageAuthor("ada", "Ada")


async def test_an_adapter_cancelled_during_storage_leaves_no_event_unanswered() -> None:
    async with gateway(capabilities=Capabilities(max_buttons=10)) as g:
        handing_over = asyncio.create_task(g.intake(received("hello")))
        await asyncio.sleep(0)
        handing_over.cancel()
        await g.rest()
        assert g.texts == ["answer"]


async def test_without_free_space_nothing_is_stored_or_acknowledged(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("gateway.inbound.conversation_queues.MAX_WAITING", 0)
    async with gateway() as g:
        with pytest.raises(StoreUnavailable, match="waiting already"):
            await g.intake(received("one too many"))
        assert await g.rows("inbox") == 0


@dataclass
class Leavers(NoMemory):
    """Notes who left, once it answers."""

    gone: list[tuple[str, str]] = field(default_factory=list)
    away: bool = False

    async def left(self, tenant: str, place: Place, person: str = "") -> None:
        if self.away:
            raise StoreUnavailable("away")
        self.gone.append((place.workspace_id or place.channel_id, person))


def change(
    at: Place, *, joined: bool = False, is_self: bool = False, whole_workspace: bool = False
) -> MembershipChanged:
    return MembershipChanged("x1", at, ADA, joined, is_self, whole_workspace)


@pytest.mark.parametrize(
    ("event", "gone"),
    [
        (change(place(workspace="")), [("C1", "test:main:ada")]),
        (change(place(), whole_workspace=True), [("W1", "test:main:ada")]),
        (change(place()), []),
        (change(place(workspace=""), joined=True), []),
        (change(place(), joined=True, whole_workspace=True), []),
        (change(place(workspace=""), is_self=True), [("C1", "")]),
        (change(place(), is_self=True, whole_workspace=True), [("W1", "")]),
        (change(place(), is_self=True), []),
    ],
)
async def test_the_departure_from_a_project_is_recorded(
    event: MembershipChanged, gone: list[tuple[str, str]]
) -> None:
    memory = Leavers()
    async with gateway(memory=memory) as g:
        await g.intake(event)
        assert memory.gone == gone
        assert g.texts == []


async def test_a_departure_that_cannot_be_stored_is_not_acknowledged() -> None:
    async with gateway(memory=Leavers(away=True)) as g:
        with pytest.raises(StoreUnavailable):
            await g.intake(change(place(workspace="")))


async def test_inline_queries_have_a_separate_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gateway.inbound.dispatcher.MAX_CONTROL_TASKS", 3)
    async with gateway() as g:
        for number in range(5):
            await g.intake(InlineQueried(f"q{number}", direct(), ADA, "why"))
        assert len(g.dispatcher._controls) == 3
        assert g.counts["inline_refused", "test"] == 2


async def test_an_event_after_stop_stays_in_the_inbox() -> None:
    async with gateway() as g:
        await g.dispatcher.stop()
        await g.take(received("late"))
        assert g.texts == []
        assert len(await g.services.stores.inbox.unfinished(10)) == 1
        assert g.dispatcher.idle


async def test_a_quarantined_delivery_is_not_processed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("gateway.inbound.intake.decide_invocation", None)  # would raise
    event, elsewhere = (
        received("hello", at=direct()),
        received("hello", message_id="m9", at=place()),
    )
    turn_ids = [correlation_id(dedupe_key(one)) for one in (event, elsewhere)]
    guard = deadly("message", *turn_ids)
    async with gateway(guard=guard) as g:
        await g.intake(event)
        await g.rest()
        assert await g.rows("inbox") == 1, "its author is told where it is taken up"
        await g.intake(elsewhere)
        assert await g.rows("inbox") == 1
        assert WorkItem("message", turn_ids[1]) in guard.quarantined

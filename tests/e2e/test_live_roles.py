"""An answer that grows while a worker writes it and another process holds the connection."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Final

import pytest

from simulators.base import ApiCall, Fault, PlatformSimulator, Shown, SimRoom
from simulators.telegram import TelegramSimulator
from tests.e2e.conftest import VARIANTS, only
from tests.e2e.harness import FAST, by_bot, running_as_processes
from tests.support.databases import migrated_database
from tests.support.held_model import HeldModel
from tests.support.servers import PostgresServer, RedisServer
from tests.support.waiting import eventually

pytestmark = pytest.mark.xdist_group("databases")
GROWS: Final = only("discord", "slack-socket", "telegram-polling")
BEGUN: Final = "The whale is a mammal and no fish at all, "
MORE: Final = "which is why it has to come up for air, "
END: Final = "and why its tail goes up and down."
EDIT: Final = {
    "discord": "PATCH /channels/{id}/messages/{id}",
    "slack": "chat.update",
    "telegram": "editMessageText",
}


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> HeldModel:
    monkeypatch.setattr("gateway.turn.generate.FIRST_AFTER", 0.02)
    monkeypatch.setattr("gateway.outbound.live.answer.FIRST_AFTER", 0.1)
    held = HeldModel()
    monkeypatch.setattr("parley.wiring.model.build_provider", lambda *_: held)
    return held


@pytest.fixture
async def platform(
    variant: str,
    model: HeldModel,
    tmp_path: Path,
    redis: RedisServer,
    postgres: PostgresServer,
) -> AsyncIterator[PlatformSimulator]:
    """A platform, with an adapter process and two workers behind it."""
    simulator = VARIANTS[variant]()
    stores = {
        "storage": {"url": redis.url},
        "database": {"url": migrated_database(postgres)},
        "delivery": FAST,
    }
    roles: Final = ("adapter", "worker", "worker")
    async with running_as_processes(roles, simulator, tmp_path, stores):
        yield simulator


async def begun(platform: PlatformSimulator, model: HeldModel, room: SimRoom) -> Shown:
    """The message that grows, once its beginning is shown."""
    ada = platform.person("Ada")
    await platform.say(ada, room, "what is a whale?", mention=room.kind != "direct")
    model.write(BEGUN)
    shown = await platform.wait_for(room, lambda seen: len(by_bot(seen)) == 1)
    assert by_bot(shown)[0].text == BEGUN.strip()
    return by_bot(shown)[0]


@GROWS
async def test_one_message_grows_into_the_answer(
    platform: PlatformSimulator, model: HeldModel
) -> None:
    room = platform.room("general")
    shown = await begun(platform, model, room)
    model.write(MORE)
    await platform.wait_for(room, lambda seen: MORE.strip() in by_bot(seen)[0].text)
    model.write(END)
    model.end()
    reply = await platform.wait_for(room, lambda seen: END in by_bot(seen)[0].text)
    assert [(m.id, m.text) for m in by_bot(reply)] == [(shown.id, BEGUN + MORE + END)]


@GROWS
async def test_a_rate_limit_stops_the_live_text_and_not_the_answer(
    platform: PlatformSimulator, model: HeldModel
) -> None:
    room, edit = platform.room("general"), EDIT[platform.platform]
    shown = await begun(platform, model, room)
    platform.faults.add(Fault(edit, "rate_limit", retry_after=2.0))
    model.write(MORE)
    await platform.wait_for(room, lambda _: 429 in [c.status for c in _edits(platform)])
    model.write(END)
    model.end()
    reply = await platform.wait_for(room, lambda seen: END in by_bot(seen)[0].text)
    assert [m.id for m in by_bot(reply)] == [shown.id]
    edits = _edits(platform)
    refused = [call.status for call in edits].index(429)
    wait = edits[refused + 1].at - edits[refused].at
    assert wait >= 2.0, "nothing is asked before the limit is over"


@only("discord", "slack-socket")
async def test_a_turn_is_stopped_in_whichever_worker_it_runs(
    platform: PlatformSimulator, model: HeldModel
) -> None:
    people = [platform.person(name) for name in ("Ada", "Bea", "Cleo", "Dora")]
    for person in people:
        await platform.say(person, platform.direct(person), "what is a whale?")
    await eventually(lambda: len(model.requests) >= len(people))
    for person in people:
        room = platform.direct(person)
        await platform.command(person, room, "stop")
        await platform.wait_for(room, lambda seen: "Stopped." in [m.text for m in by_bot(seen)])


@GROWS
async def test_a_hanging_edit_does_not_overtake_the_answer(
    platform: PlatformSimulator, model: HeldModel
) -> None:
    room = platform.room("general")
    await begun(platform, model, room)
    platform.faults.add(Fault(EDIT[platform.platform], "slow", delay=4.0))
    model.write(MORE)
    await platform.wait_for(room, lambda _: not platform.faults.waiting)
    model.write(END)
    model.end()
    reply = await platform.wait_for(room, lambda seen: END in by_bot(seen)[0].text)
    assert len(by_bot(reply)) == 1


@only("telegram-polling")
async def test_an_answer_in_a_direct_message_is_a_draft_first(
    platform: PlatformSimulator, model: HeldModel
) -> None:
    assert isinstance(platform, TelegramSimulator)
    ada = platform.person("Ada")
    room = platform.direct(ada)
    await platform.say(ada, room, "what is a whale?")
    model.write(BEGUN)
    drafts = platform.sending.drafts
    await platform.wait_until(lambda: BEGUN.strip() in drafts.values())
    model.write(END)
    model.end()
    reply = await platform.wait_for(room, lambda seen: len(by_bot(seen)) == 1)
    assert by_bot(reply)[0].text == BEGUN + END


def _edits(platform: PlatformSimulator) -> list[ApiCall]:
    return [call for call in platform.calls if call.method == EDIT[platform.platform]]

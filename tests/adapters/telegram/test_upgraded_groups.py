"""A group that became a supergroup keeps its first id in Parley; Telegram gets the present one."""

from datetime import timedelta
from typing import Any

import pytest

from adapters.telegram import parse
from adapters.telegram.upgraded_groups import RENUMBERED, MessageLeftBehind, UpgradedGroups
from db.errors import StoreUnavailable
from gateway.errors import Permanent, Transient
from gateway.message import MessageReceived, Outbound, Part
from gateway.people import Audience
from simulators.base import SimFile
from tests.adapters.telegram.harness import MODES, PNG, connected, place_in
from tests.adapters.telegram.updates import ANN, DATE, ME, message, update
from tests.support.adapter_context import MemoryState

GROUP: dict[str, Any] = {"id": -123, "type": "group", "title": "Team"}
SUPER: dict[str, Any] = {"id": -1_001_234, "type": "supergroup", "title": "Team"}
OTHER: dict[str, Any] = {"id": -1_009_999, "type": "supergroup", "title": "Others"}
HELLO = Part("hello", "hello")


def to_super(**more: Any) -> dict[str, Any]:
    return update(chat=GROUP, migrate_to_chat_id=SUPER["id"], **more)


def from_group(**more: Any) -> dict[str, Any]:
    return update(chat=SUPER, migrate_from_chat_id=GROUP["id"], **more)


async def received(groups: UpgradedGroups, raw: dict[str, Any]) -> Any:
    (event,) = parse(await groups.translated(raw), ME)
    assert isinstance(event, MessageReceived)
    return event.message


@pytest.mark.parametrize("notice", [to_super(), from_group()])
async def test_either_notice_of_telegram_joins_both_ids(notice: dict[str, Any]) -> None:
    groups = UpgradedGroups(MemoryState(), "main")
    assert parse(await groups.translated(notice), ME) == []
    found = await received(groups, update(text="hi", chat=SUPER, reply_to_message=message("x")))
    assert found.place.channel_ids == ("-123", str(SUPER["id"]))
    assert found.id == str(7 + RENUMBERED)


async def test_messages_of_the_supergroup_are_not_taken_for_earlier_ones() -> None:
    groups = UpgradedGroups(MemoryState(), "main")
    before = await received(groups, update(text="hi", chat=GROUP))
    await groups.translated(to_super())
    reply = message("earlier", chat=SUPER, message_id=5)
    after = await received(groups, update(text="hi", chat=SUPER, reply_to_message=reply))
    assert before.id != after.id
    assert after.reply_to_id == str(5 + RENUMBERED)
    request = {"chat_id": -123, "reply_parameters": {"message_id": 7}, "text": "a"}
    assert await groups.addressed(request) == ({"chat_id": SUPER["id"], "text": "a"}, SUPER["id"])
    body, _ = await groups.addressed({"chat_id": -123, "message_id": int(after.id)})
    assert body == {"chat_id": SUPER["id"], "message_id": 7}
    with pytest.raises(MessageLeftBehind):
        await groups.addressed({"chat_id": -123, "message_id": int(before.id)})


async def test_an_anonymous_administrator_stays_the_group_itself() -> None:
    groups = UpgradedGroups(MemoryState(), "main")
    await groups.translated(to_super())
    found = await received(groups, update(text="hi", chat=SUPER, sender_chat=SUPER))
    assert (found.author.id, found.author.outside) == ("-123", False)


@pytest.mark.parametrize(
    "raw",
    [
        to_super(forward_origin={"type": "user", "sender_user": ANN, "date": DATE}),
        from_group(forward_date=DATE),
        update(text="x", chat=SUPER, reply_to_message=to_super()["message"]),
        update("edited_message", message(chat=GROUP, migrate_to_chat_id=SUPER["id"])),
        update("channel_post", message(chat=GROUP, migrate_to_chat_id=SUPER["id"])),
        update(chat={"id": 11, "type": "private"}, migrate_from_chat_id=-123),
        update(chat=SUPER, migrate_from_chat_id="-123"),
        update(chat=SUPER, migrate_from_chat_id=SUPER["id"]),
        update(chat=SUPER, migrate_from_chat_id=77),
    ],
)
async def test_nothing_that_a_person_sends_is_a_notice(raw: dict[str, Any]) -> None:
    state = MemoryState()
    await UpgradedGroups(state, "main").translated(raw)
    assert state.values == {}


async def test_a_group_is_upgraded_once() -> None:
    groups = UpgradedGroups(MemoryState(), "main")
    assert await groups.learn(-123, SUPER["id"])
    assert await groups.learn(-123, SUPER["id"])
    assert not await groups.learn(-123, OTHER["id"])
    assert not await groups.learn(-456, SUPER["id"])
    assert not await groups.learn(SUPER["id"], OTHER["id"])
    assert not await groups.learn(OTHER["id"], -123)
    assert (await groups.addressed({"chat_id": -123}))[1] == SUPER["id"]


class Failing(MemoryState):
    """Fails at a number of writes."""

    def __init__(self, at: int) -> None:
        super().__init__()
        self.at = at

    async def put(self, key: str, value: str, ttl: timedelta) -> None:
        self.at -= 1
        if self.at == 0:
            raise StoreUnavailable("the disk is full")
        await super().put(key, value, ttl)


@pytest.mark.parametrize("write", [1, 2])
async def test_a_crash_between_two_writes_is_repaired_by_the_repeated_notice(write: int) -> None:
    state = Failing(write)
    with pytest.raises(StoreUnavailable):
        await UpgradedGroups(state, "main").translated(to_super())
    after_restart = UpgradedGroups(state, "main")
    await after_restart.translated(to_super())
    assert (await after_restart.addressed({"chat_id": -123}))[1] == SUPER["id"]
    found = await received(after_restart, update(text="hi", chat=SUPER))
    assert found.place.channel_id == "-123"


@MODES
async def test_a_conversation_continues_in_the_supergroup(mode: str) -> None:
    async with connected(mode, privacy=False) as bench:
        sim, ada = bench.sim, bench.sim.person("Ada")
        room = sim.room("Team", "private")
        await sim.say(ada, room, "before")
        before = await bench.sink.message("before")
        supergroup = sim.upgrade(ada, room)
        await sim.say(ada, supergroup, "after")
        after = await bench.sink.message("after")
        assert after.place == before.place
        place = place_in(room, Audience.PRIVATE_ROOM)
        receipt = await bench.adapter.send(Outbound("t:0", place, HELLO, reply_to_id=after.id))
        (shown,) = [one for one in sim.shown(supergroup) if one.by_bot]
        assert shown.text == "hello"
        assert shown.reply_to_id == str(int(after.id) - RENUMBERED)
        assert receipt.message_id == str(int(shown.id) + RENUMBERED)
        await bench.adapter.delete(place, receipt.message_id)
        assert [one.deleted for one in sim.shown(supergroup) if one.by_bot] == [True]


async def test_a_send_learns_the_new_id_from_telegrams_refusal() -> None:
    async with connected("polling") as bench:
        sim, ada = bench.sim, bench.sim.person("Ada")
        room = sim.room("Team", "private")
        supergroup = sim.upgrade(ada, room, notify=False)
        place = place_in(room, Audience.PRIVATE_ROOM)
        outbound = Outbound("t:0", place, HELLO, reply_to_id="101")
        with pytest.raises(Transient) as refused:
            await bench.adapter.send(outbound)
        assert refused.value.retry_after == 0
        await bench.adapter.send(outbound)
        file = SimFile("a.png", "image/png", PNG)
        await bench.adapter.typing(place, "")
        await sim.say(ada, supergroup, "after", files=(file,))
        assert [one.text for one in sim.shown(supergroup) if one.by_bot] == ["hello"]
        with pytest.raises(Permanent):
            await bench.adapter.react(place, "101", "👍")


async def test_an_id_that_changes_again_and_again_ends_the_send() -> None:
    async with connected("polling") as bench:
        sim, ada = bench.sim, bench.sim.person("Ada")
        room = sim.room("Team", "private")
        second = sim.upgrade(ada, room, notify=False)
        sim.upgrade(ada, second, notify=False)
        outbound = Outbound("t:0", place_in(room, Audience.PRIVATE_ROOM), HELLO)
        with pytest.raises(Transient):
            await bench.adapter.send(outbound)
        with pytest.raises(Permanent):
            await bench.adapter.send(outbound)

"""Live updates: who may follow what, and when the stream ends."""

import asyncio

import pytest

from db.errors import StoreUnavailable
from gateway.stores.conversation_views import ConversationViews
from parley.console import events
from tests.parley.console.kit import (
    OPERATOR,
    OTHER,
    OWNER,
    PERSON,
    Console,
    followed,
    topic,
)
from tests.parley.console.talk import ROOM, World, direct
from tests.support.patience import PATIENCE


class Looks:
    """The looks at followed conversations."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.values: list[object] = []
        self._news = asyncio.Event()
        self._look = events.state_of
        monkeypatch.setattr(events, "state_of", self._counted)

    async def _counted(self, *given: object) -> object:
        value = await self._look(*given)  # type: ignore[arg-type]  # passed on as it is
        self.values.append(value)
        self._news.set()
        return value

    async def more(self) -> object:
        """Wait for two more looks, of which the second began later; return its value."""
        wanted = len(self.values) + 2
        async with asyncio.timeout(PATIENCE):
            while len(self.values) < wanted:
                self._news.clear()
                await self._news.wait()
        return self.values[-1]


@pytest.fixture(autouse=True)
def looks(monkeypatch: pytest.MonkeyPatch) -> Looks:
    monkeypatch.setattr(events, "EVERY", 0.01)
    monkeypatch.setattr(events, "CHECKED_EVERY", 3)
    return Looks(monkeypatch)


async def test_a_new_message_of_the_conversation_is_announced(
    console: Console, world: World, looks: Looks
) -> None:
    async with followed(await console.visitor(PERSON), world.adas) as response:
        assert response.status == 200
        await looks.more()
        await world.talk(direct(PERSON), PERSON, "again")
        assert await topic(response) == "conversation"


async def test_an_edit_and_a_deletion_are_announced_to_those_who_read_the_text(
    console: Console, world: World, looks: Looks
) -> None:
    stored, ada = console.app.storage.stores.conversations, direct(PERSON)
    async with followed(await console.visitor(PERSON), world.adas) as response:
        await looks.more()
        assert await stored.edit("default", ada, "m1", "my secret meadow")
        assert await topic(response) == "conversation"
        await looks.more()
        assert await stored.delete("default", ada, ["m1"])
        assert await topic(response) == "conversation"


async def test_edits_of_hidden_texts_change_nothing_for_others(
    console: Console, world: World, looks: Looks
) -> None:
    stored = console.app.storage.stores.conversations
    for name, turn, place, message in (
        (OPERATOR, world.adas, direct(PERSON), "m1"),
        (PERSON, world.room_ada, ROOM, "m4"),
    ):
        async with followed(await console.visitor(name), turn):
            before = await looks.more()
            assert await stored.edit("default", place, message, "something else")
            assert await looks.more() == before


@pytest.mark.parametrize(
    ("name", "own"), [(PERSON, "adas"), (OPERATOR, "adas"), (OWNER, "eves"), (PERSON, "room_ada")]
)
async def test_people_follow_what_they_may_see(
    console: Console, world: World, name: str, own: str
) -> None:
    async with followed(await console.visitor(name), getattr(world, own)) as response:
        assert response.status == 200


async def test_nobody_follows_the_conversation_of_somebody_else(
    console: Console, world: World
) -> None:
    hidden = await world.talk(direct(PERSON), PERSON, "x", tenant="other")
    for name, turn in (
        (OTHER, world.adas),
        (PERSON, world.room_eve),
        (OPERATOR, hidden),
        (PERSON, hidden),
        (OPERATOR, "%00"),
        (OPERATOR, "x" * 500),
    ):
        async with followed(await console.visitor(name), turn) as response:
            assert response.status == 404
    async with followed(console.stranger(), world.adas) as response:
        assert response.status == 401


async def test_a_person_is_not_told_of_messages_of_others_in_the_room(
    console: Console, world: World, looks: Looks
) -> None:
    async with followed(await console.visitor(PERSON), world.room_ada):
        before = await looks.more()
        await world.talk(ROOM, OTHER, "of eve")
        assert await looks.more() == before
        await world.talk(ROOM, PERSON, "of ada")
        assert await looks.more() != before


async def test_the_stream_ends_with_the_session(console: Console, world: World) -> None:
    ada = await console.visitor(PERSON)
    async with followed(ada, world.adas) as response:
        await ada.post("/sign-out")
        assert await topic(response) == ""


async def test_the_stream_ends_when_the_store_does_not_answer(
    console: Console, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def unavailable(*_: object) -> None:
        raise StoreUnavailable("gone")

    async with followed(await console.visitor(PERSON), world.adas) as response:
        monkeypatch.setattr(ConversationViews, "latest", unavailable)
        assert await topic(response) == ""


async def test_a_person_has_a_bounded_number_of_streams(console: Console, world: World) -> None:
    ada = await console.visitor(PERSON)
    opened = [followed(ada, world.adas) for _ in range(events.MOST_EACH)]
    for one in opened:
        await one.__aenter__()
    async with followed(ada, world.adas) as response:
        assert response.status == 429
    for one in opened:
        await one.__aexit__(None, None, None)

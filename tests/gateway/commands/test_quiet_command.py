"""`/quiet`: the hours of a person and of a place, who may choose them, and unreadable ones."""

import pytest

from gateway.commands import quiet_command
from gateway.immutable import replace
from gateway.message import CommandInvoked, MessageAuthor, Place
from gateway.people import Audience
from gateway.policy.access import RolePolicy
from gateway.policy.proactive import ProactivePolicy
from gateway.turn.services import Policies
from gateway.zones import TimePolicy
from tests.support.gateway import Gateway, gateway
from tests.support.messages import direct

ROOM = Place("test", "main", "C1", Audience.PUBLIC_ROOM, "W1")
ADA, OLGA = MessageAuthor("ada", "Ada", zone="Asia/Tokyo"), MessageAuthor("olga", "Olga")
POLICIES = Policies(
    times=TimePolicy(zone="Europe/Zurich"), roles=RolePolicy(operators=frozenset({"olga"}))
)
BY_DEFAULT = replace(POLICIES, proactive=ProactivePolicy(quiet_hours="23:00-06:00"))


async def say(
    g: Gateway, arguments: str = "", author: MessageAuthor = ADA, place: Place | None = None
) -> str:
    number = len(g.traces)
    where = place or direct(author.id)
    await g.take(CommandInvoked(f"c{number}", where, author, "quiet", arguments))
    return g.texts[-1]


async def chosen(g: Gateway, person: str = "test:main:ada") -> str:
    return (await g.services.readers.known("default", person)).quiet


async def test_a_person_chooses_sees_and_ends_their_hours() -> None:
    async with gateway(policies=POLICIES) as g:
        assert "You have no quiet hours." in await say(g)
        assert "22:00-07:00 (Asia/Tokyo)" in await say(g, "22-7")
        assert await chosen(g) == "22:00-07:00"
        assert "22:00-07:00 (Asia/Tokyo)" in await say(g)
        assert await say(g, "off") == "You have no quiet hours."
        assert await chosen(g) == "off"
        assert await chosen(g, "test:main:olga") == ""


async def test_the_hours_of_the_installation_hold_until_a_choice() -> None:
    async with gateway(policies=BY_DEFAULT) as g:
        assert "23:00-06:00" in await say(g)
        assert "You have no quiet hours." in await say(g, "off")
        assert "23:00-06:00" in await say(g, "AUTO")
        assert await chosen(g) == ""


@pytest.mark.parametrize("typed", ["at night", "25-7", "22:00", "here", "22-22"])
async def test_what_is_not_understood_changes_nothing(typed: str) -> None:
    async with gateway(policies=POLICIES) as g:
        await say(g, "22-7")
        answer = await say(g, typed)
        expected = quiet_command.ONLY_ROOMS if typed == "here" else quiet_command.UNKNOWN
        assert answer == expected.english.replace("`", "")
        assert await chosen(g) == "22:00-07:00"


async def test_operators_choose_the_hours_of_a_place_and_others_see_them() -> None:
    async with gateway(policies=POLICIES) as g:
        store = g.services.stores.proactive
        assert store is not None
        refused = await say(g, "here 20:00-08:00", place=ROOM)
        assert refused == quiet_command.NOT_ALLOWED.english
        assert await store.quiet_hours_of("default", "test:main:C1") == ""
        said = await say(g, "here 20:00-08:00", OLGA, ROOM)
        assert "20:00-08:00 (Europe/Zurich)" in said
        assert await store.quiet_hours_of("default", "test:main:C1") == "20:00-08:00"
        in_thread = replace(ROOM, thread_id="T1")
        assert "The quiet hours here are 20:00-08:00" in await say(g, "", ADA, in_thread)
        assert "20:00-08:00" not in await say(g, "here", ADA, replace(ROOM, channel_id="C2"))
        assert await say(g, "here off", OLGA, ROOM) == "There are no quiet hours here."
        assert await chosen(g, "test:main:olga") == "", "they are not those of the operator"

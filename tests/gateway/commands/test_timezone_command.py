"""`/timezone`: the zone and why it is the one, a choice, suggestions, the end of a choice, and
the zone of a place."""

from gateway.commands.timezone_command import HERE_ALONE, HERE_DENIED, UNKNOWN
from gateway.immutable import replace
from gateway.message import ButtonPressed, CommandInvoked, MessageAuthor, MessageReceived
from gateway.policy.access import RolePolicy
from gateway.ports import Capabilities
from gateway.turn.services import Policies
from gateway.zones import TimePolicy
from tests.support.gateway import Gateway, gateway
from tests.support.messages import direct, place, received

ADA = MessageAuthor("ada", "Ada")
IN_TOKYO = MessageAuthor("ada", "Ada", zone="Asia/Tokyo")


async def say(g: Gateway, arguments: str = "", author: MessageAuthor = ADA) -> str:
    number = len(g.traces)
    await g.take(CommandInvoked(f"c{number}", direct(), author, "timezone", arguments))
    return g.texts[-1]


def asked(content: str, author: MessageAuthor, message_id: str = "m1") -> MessageReceived:
    event = received(content, message_id=message_id)
    return replace(event, message=replace(event.message, author=author, place=direct()))


async def zone_of(g: Gateway) -> str:
    return (await g.services.readers.known("default", "test:main:ada")).zone


async def test_it_shows_the_zone_and_the_reason() -> None:
    async with gateway() as g:
        assert "Asia/Tokyo, as your app tells me" in await say(g, author=IN_TOKYO)
        assert "2026-11-21 18:00 JST" in g.texts[-1]
        await say(g, "Zürich")
        assert "Europe/Zurich, because you chose it" in await say(g, author=IN_TOKYO)
        assert "2026-11-21 10:00 CET" in g.texts[-1]


async def test_a_choice_by_city_or_name_is_stored_and_taken_back() -> None:
    async with gateway() as g:
        assert "Europe/Zurich" in await say(g, "Zürich")
        assert await zone_of(g) == "Europe/Zurich"
        assert "10:00 CET" in g.texts[-1]
        await say(g, "America/New_York")
        assert await zone_of(g) == "America/New_York"
        await say(g, "auto", IN_TOKYO)
        assert await zone_of(g) == ""
        assert "Asia/Tokyo" in g.texts[-1]


async def test_an_unknown_zone_changes_nothing_and_a_similar_one_is_offered() -> None:
    async with gateway(capabilities=Capabilities(max_buttons=5)) as g:
        assert await say(g, "xqzzy") == UNKNOWN.english.replace("`", "")
        assert "Europe/Zurich" in await say(g, "Europe/Zurch")
        assert await zone_of(g) == ""
        (button, *_) = g.adapter.sent[-1].buttons
        await g.take(ButtonPressed("p1", direct(), ADA, button.value, button.label))
        assert await zone_of(g) == "Europe/Zurich"


async def test_the_model_reads_the_time_of_the_person() -> None:
    async with gateway() as g:
        await g.take(asked("hello", IN_TOKYO))
        request = g.model.requests[-1]
        said = "Today is Saturday, 21 November 2026, 18:00 (Asia/Tokyo)."
        assert said in str(request.messages[-1])
        assert "2026" not in request.whole_system
        await say(g, "Honolulu")
        await g.take(asked("and now?", ADA, "m2"))
        assert "Friday, 20 November 2026, 23:00 (Pacific/Honolulu)" in str(g.model.requests[-1])


async def test_what_the_platform_tells_is_known_when_it_tells_nothing() -> None:
    async with gateway() as g:
        await g.take(asked("hello", IN_TOKYO))
        assert "Asia/Tokyo, as your app tells me" in await say(g)


POLICIES = Policies(roles=RolePolicy(operators=frozenset({"olga"})))
OLGA = MessageAuthor("olga", "Olga")


async def here(g: Gateway, arguments: str, author: MessageAuthor = OLGA, room: str = "C1") -> str:
    number = len(g.traces)
    where = place(room)
    await g.take(CommandInvoked(f"h{number}", where, author, "timezone", arguments))
    return g.texts[-1]


async def test_an_operator_sets_the_zone_of_a_room_for_people_whose_own_one_is_unknown() -> None:
    async with gateway(policies=POLICIES) as g:
        assert "The time zone here is Asia/Tokyo now" in await here(g, "here Tokyo")
        assert "The time zone here is Asia/Tokyo" in await here(g, "here", ADA)
        assert "Asia/Tokyo, which is set for this place" in await here(g, "", ADA)
        assert "Asia/Tokyo" not in await here(g, "", ADA, room="C2")
        assert "Asia/Tokyo" not in await say(g)
        await here(g, "Rome", ADA)
        assert "Europe/Rome, because you chose it" in await here(g, "", ADA)
        assert "The time zone here is UTC now" in await here(g, "HERE auto")
        assert "Asia/Tokyo" not in await here(g, "", OLGA)


async def test_a_zone_that_was_set_with_the_command_comes_before_the_configuration() -> None:
    times = TimePolicy(zone="Asia/Seoul", places={"C1": "Europe/Rome"})
    async with gateway(policies=replace(POLICIES, times=times)) as g:
        assert "Europe/Rome" in await here(g, "here")
        await here(g, "here Zürich")
        assert "Europe/Zurich, which is set for this place" in await here(g, "", ADA)
        await here(g, "here auto")
        assert "Europe/Rome, which is set for this place" in await here(g, "", ADA)
        assert "The time zone here is Asia/Seoul" in await here(g, "here", room="C2")


async def test_others_may_not_set_the_zone_of_a_room_neither_with_a_button() -> None:
    async with gateway(policies=POLICIES, capabilities=Capabilities(max_buttons=5)) as g:
        assert await here(g, "here Tokyo", ADA) == HERE_DENIED.english
        assert "Europe/Zurich" in await here(g, "here Europe/Zurch")
        (button, *_) = g.adapter.sent[-1].buttons
        await g.take(ButtonPressed("p1", place("C1"), ADA, button.value, button.label))
        assert g.texts[-1] == HERE_DENIED.english
        assert "UTC" in await here(g, "here")
        await g.take(ButtonPressed("p2", place("C1"), OLGA, button.value, button.label))
        assert "The time zone here is Europe/Zurich now" in g.texts[-1]
        assert await here(g, "here xqzzy") == UNKNOWN.english.replace("`", "")


async def test_a_direct_conversation_has_no_zone_of_its_own() -> None:
    async with gateway(policies=POLICIES) as g:
        assert await say(g, "here Tokyo", OLGA) == HERE_ALONE.english.replace("`", "")
        assert "Asia/Tokyo" not in await say(g, "", OLGA)


async def test_what_everybody_reads_in_a_room_has_the_times_of_the_room() -> None:
    async with gateway(policies=POLICIES) as g:
        await here(g, "here Tokyo")
        assert str((await g.services.language_at(place("C1"))).zone) == "Asia/Tokyo"
        assert str((await g.services.language_at(place("C2"))).zone) != "Asia/Tokyo"

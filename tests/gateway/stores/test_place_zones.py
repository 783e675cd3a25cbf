"""The time zones of channels and groups, in both databases."""

from gateway.immutable import replace
from gateway.stores.place_zones import PlaceZones
from tests.support.databases import Engine
from tests.support.messages import AT, place

ROOM = place("C1")


async def test_the_latest_zone_of_a_channel_counts_for_it_and_its_threads(engine: Engine) -> None:
    zones = PlaceZones(engine)
    assert await zones.of("t", ROOM) == ""
    await zones.put("t", ROOM, "Europe/Zurich", AT)
    await zones.put("t", ROOM, "Asia/Tokyo", AT)
    assert await zones.of("t", ROOM) == "Asia/Tokyo"
    assert await zones.of("t", replace(ROOM, thread_id="42")) == "Asia/Tokyo"
    for other in (place("C2"), replace(ROOM, account="second"), replace(ROOM, platform="slack")):
        assert await zones.of("t", other) == ""
    assert await zones.of("u", ROOM) == ""


async def test_a_zone_that_is_taken_back_is_deleted(engine: Engine) -> None:
    zones = PlaceZones(engine)
    await zones.put("t", ROOM, "Europe/Zurich", AT)
    await zones.put("u", ROOM, "Europe/Rome", AT)
    await zones.put("t", ROOM, "", AT)
    assert await zones.of("t", ROOM) == ""
    assert await zones.of("u", ROOM) == "Europe/Rome"

"""The direct conversation of a person is noted where they write, and nowhere else."""

from gateway.immutable import replace
from gateway.people import Audience
from tests.memory.rig import DIRECT, ROOM, Rig

ADA = "telegram:main:ada"


async def place(rig: Rig) -> str:
    """The channel in which Ada can be written to; empty for none."""
    result = (await rig.stores.direct_places.contact("default", ADA)).place
    return "" if result is None else result.channel_id


async def test_a_direct_message_is_noted_and_a_room_is_not(rig: Rig) -> None:
    await rig.memory.for_principal(rig.caller("ada", at=ROOM))
    assert await place(rig) == ""
    await rig.memory.for_principal(rig.caller("ada"))
    assert await place(rig) == "ada-dm"


async def test_the_interface_of_programs_is_no_place_to_write_to(rig: Rig) -> None:
    caller = rig.caller("ada")
    over_http = replace(caller.place, platform="api", channel_id=ADA)
    await rig.memory.for_principal(replace(caller, place=over_http))
    assert await place(rig) == ""


async def test_nothing_is_noted_while_memory_is_off(rig: Rig) -> None:
    await rig.people.turn_memory(rig.caller("ada").principal, on=False)
    await rig.memory.for_principal(rig.caller("ada"))
    assert await place(rig) == ""


async def test_another_conversation_replaces_the_place(rig: Rig) -> None:
    await rig.memory.for_principal(rig.caller("ada"))
    caller = rig.caller("ada")
    newer = replace(caller.place, channel_id="newer")
    assert newer.audience is Audience.DIRECT
    await rig.memory.for_principal(replace(caller, place=newer))
    assert await place(rig) == "newer"


async def test_an_erased_person_can_be_written_to_once_they_write_again(rig: Rig) -> None:
    handle = await rig.handle("ada", at=DIRECT)
    await handle.erasure.erase_all()
    assert await place(rig) == ""
    await rig.memory.for_principal(rig.caller("ada"))
    assert await place(rig) == "ada-dm"

"""The choices about memory, and where it is used, in the running console."""

from gateway.immutable import replace
from memory.model.record import Draft, Kind
from tests.parley.console.kit import Console
from tests.parley.console.views.memory.kit import remember
from tests.parley.http.api.kit import ROOM


async def test_choices_are_switched_and_hold_in_chats(either_console: Console) -> None:
    ada = await either_console.visitor("ada")
    assert "Turn memory off" in (await ada.get("/memory/visibility")).text
    off = await ada.post("/memory/visibility/choose", {"memory": "off", "rooms": "on"})
    assert "Turn memory on" in off.text
    assert "Do not use them in rooms" in off.text
    handle = await either_console.program.api_client("ada").in_room()
    assert handle.choices.memory_off
    assert handle.request.shows_private
    assert "Memory is off for you" in (await ada.get("/memory/entries")).text
    on = await ada.post("/memory/visibility/choose", {"memory": "on"})
    assert "Turn memory off" in on.text
    assert "Do not use them in rooms" in on.text


async def test_places_are_counted_and_memory_is_turned_on_again_in_one(
    either_console: Console,
) -> None:
    client = either_console.program.api_client("ada")
    await remember(either_console, "ada", "I drink tea.")
    room = await client.in_room()
    assert (await room.write.remember(Draft("I sell tea.", Kind.FACT))).memory_id
    people = room.privacy.dependencies.people
    caller = client.caller(replace(ROOM, thread_id="7"))
    await people.turn_memory_here(caller, False)
    answer = await client("GET", "/console/memory/visibility")
    assert answer.json["direct"]["learned"] == 1
    (place,) = answer.json["places"]
    assert (place["place"]["channel"], place["learned"], place["said"]) == ("general", 1, 0)
    (off,) = answer.json["off_in"]
    assert (off["place"]["channel"], off["place"]["thread"]) == ("general", "7")
    ada, eve = await either_console.visitor("ada"), await either_console.visitor("eve")
    assert (await eve.post("/memory/visibility/turn-on", {"name": off["name"]})).status == 404
    page = await ada.post("/memory/visibility/turn-on", {"name": off["name"]})
    assert "Memory is on again" in page.text
    assert "None. To turn memory off in one conversation" in page.text
    again = await client("GET", "/console/memory/visibility")
    assert again.json["off_in"] == []

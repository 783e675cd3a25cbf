"""The facts about a group, from which its first description is made."""

from gateway.ports import SpaceDescription
from tests.adapters.telegram.harness import connected


async def test_a_group_tells_its_title_description_and_administrators() -> None:
    async with connected("polling") as bench:
        room, ada = bench.sim.room("Tea"), bench.sim.person("Ada")
        bench.sim.person("Bob")
        about = await bench.adapter.describe_space(room.id)
        assert about == SpaceDescription("Tea", "", ())
        chat = bench.sim.world.chats[int(room.id)]
        chat.description, chat.administrators = "About tea.", {int(ada.id)}
        about = await bench.adapter.describe_space(room.id)
        assert about == SpaceDescription("Tea", "About tea.", ("Ada",))

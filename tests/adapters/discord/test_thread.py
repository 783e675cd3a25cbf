"""The earlier messages of a Discord thread, as far as the person who asks may read them."""

from gateway.errors import Permanent
from gateway.message import Place
from gateway.people import Audience
from gateway.ports import ThreadMessages
from simulators.base import SimPerson, SimRoom
from simulators.discord import DiscordSimulator
from simulators.discord.world import Message
from tests.adapters.discord.rig import Rig
from tests.support.waiting import eventually


async def read(
    rig: Rig, at: SimRoom, person: SimPerson, before: str = "", most: int = 50
) -> ThreadMessages:
    guild = rig.sim.world.guild_id
    place = Place("discord", "main", at.id, Audience.PUBLIC_ROOM, guild, at.thread_id)
    return await rig.adapter.read_thread(place, person.id, before, most)


def texts(found: ThreadMessages) -> list[str]:
    first = [found.first] if found.first else []
    return [one.message.content for one in (*first, *found.latest)]


async def test_the_message_of_the_channel_that_began_a_thread_comes_first(
    rig: Rig, sim: DiscordSimulator
) -> None:
    ada, bob, room = sim.person("Ada"), sim.person("Bob"), sim.room("ops")
    begins = await sim.say(ada, room, "it failed")
    thread = await sim.thread_from(bob, room, begins, "Deploy")
    for number in range(3):
        await sim.say(bob, thread, f"reply {number}")
    found = await read(rig, thread, ada)
    assert found.title == "Deploy"
    assert texts(found) == ["it failed", "reply 0", "reply 1", "reply 2"]
    for number in range(3, 150):
        sim.world.add_message(
            Message(sim.world.next_id(), thread.thread_id, bob.id, f"reply {number}")
        )
    found = await read(rig, thread, ada, most=5)
    assert texts(found) == ["it failed", *(f"reply {n}" for n in range(145, 150))]
    assert (found.between, found.or_more) == (95, True)


async def test_a_post_of_a_forum_begins_with_its_own_first_message(
    rig: Rig, sim: DiscordSimulator
) -> None:
    ada, forum = sim.person("Ada"), sim.forum("help")
    post = await sim.open_thread(ada, forum, "How do I deploy?")
    world, id_ = sim.world, post.thread_id
    world.add_message(Message(id_, id_, ada.id, "I tried make deploy"))
    for number in range(120):
        world.add_message(Message(world.next_id(), id_, ada.id, f"reply {number}"))
    found = await read(rig, post, ada, most=2)
    assert found.title == "How do I deploy?"
    assert texts(found) == ["I tried make deploy", "reply 118", "reply 119"]


async def test_only_messages_before_the_question_are_read(rig: Rig, sim: DiscordSimulator) -> None:
    ada, room = sim.person("Ada"), sim.room("ops")
    thread = await sim.open_thread(ada, room, "Deploy")
    await sim.say(ada, thread, "before")
    question = await sim.say(ada, thread, "what?", mention=True)
    await sim.say(ada, thread, "after")
    assert texts(await read(rig, thread, ada, question)) == ["before"]


async def test_a_private_thread_is_read_for_its_members_only(
    rig: Rig, sim: DiscordSimulator
) -> None:
    ada, bob, eve, room = *map(sim.person, ("Ada", "Bob", "Eve")), sim.room("ops")
    thread = await sim.open_private_thread(ada, room, "Salaries", bob)
    await sim.say(ada, thread, "Bob gets more")
    assert texts(await read(rig, thread, bob)) == ["Bob gets more"]
    found = await read(rig, thread, eve)
    assert found.hidden
    assert (texts(found), found.title) == ([], "")


async def test_a_person_without_read_message_history_reads_nothing(
    rig: Rig, sim: DiscordSimulator
) -> None:
    ada, gone, room = sim.person("Ada"), sim.person("Gone"), sim.room("ops")
    thread = await sim.open_thread(ada, room, "Deploy")
    await sim.say(ada, thread, "it failed")
    assert texts(await read(rig, thread, ada)) == ["it failed"]
    sim.deny_history(room, ada)

    async def is_hidden() -> bool:
        return (await read(rig, thread, ada)).hidden

    await eventually(is_hidden)
    sim.leave(gone, notify=False)
    assert (await read(rig, thread, gone)).hidden


async def test_a_bot_without_read_message_history_names_the_step(
    rig: Rig, sim: DiscordSimulator
) -> None:
    ada, room = sim.person("Ada"), sim.room("ops")
    thread = await sim.open_thread(ada, room, "Deploy")
    await sim.say(ada, thread, "it failed")
    assert texts(await read(rig, thread, ada)) == ["it failed"]
    sim.deny_history(room)

    async def is_refused() -> bool:
        try:
            await read(rig, thread, ada)
        except Permanent as error:
            return "Give the bot View Channel and Read Message History" in str(error)
        return False

    await eventually(is_refused)


async def test_an_unknown_thread_is_hidden(rig: Rig, sim: DiscordSimulator) -> None:
    room = sim.room("ops")
    assert (await read(rig, SimRoom(room.id, "public", "x", "123"), sim.person("Ada"))).hidden

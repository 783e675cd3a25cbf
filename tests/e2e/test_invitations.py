"""The messages that the assistant answers, and those that it does not."""

from pathlib import Path
from typing import Final

from simulators.base import PlatformSimulator, SimPerson
from simulators.discord import DiscordSimulator
from simulators.telegram import TelegramSimulator
from tests.e2e.conftest import ROOMS, only, open_lab
from tests.e2e.harness import Lab, by_bot
from tests.support.waiting import eventually

ALL_ROOMS: Final = ("discord", "slack-socket", "telegram-polling")


def mention_of(platform: PlatformSimulator, person: SimPerson) -> str:
    """The form in which people mention somebody there."""
    if platform.platform == "telegram":
        return f"@{person.name.lower()}"
    return f"<@{person.id}>"


@ROOMS
async def test_a_mention_of_another_person_is_not_answered(lab: Lab) -> None:
    ada, ben, room = *map(lab.platform.person, ("Ada", "Ben")), lab.platform.room("general")
    mention = mention_of(lab.platform, ben)
    ignored = await lab.platform.say(ada, room, f"{mention} can you look at this?")
    message_id = await lab.platform.say(ada, room, "and you?", mention=True)
    await lab.reasons(message_id)
    assert len(await lab.quiet(room)) == 1
    assert await lab.stored() == ["and you?"]
    assert await lab.app.services.stores.traces.find(ignored) == []


@ROOMS
async def test_a_mention_of_everybody_is_not_answered(lab: Lab) -> None:
    ada, room = lab.platform.person("Ada"), lab.platform.room("general")
    everybody = {"discord": "@everyone", "slack": "<!channel>", "telegram": "@all"}
    await lab.platform.say(ada, room, f"{everybody[lab.platform.platform]} lunch is ready")
    message_id = await lab.platform.say(ada, room, "what is for lunch?", mention=True)
    await lab.reasons(message_id)
    assert len(await lab.quiet(room)) == 1


@only("discord", "telegram-polling")
async def test_a_reply_to_the_assistant_needs_no_mention(lab: Lab) -> None:
    ada, room = lab.platform.person("Ada"), lab.platform.room("general")
    await lab.platform.say(ada, room, "tell me about whales", mention=True)
    answer = await lab.answer(room)
    message_id = await lab.platform.say(ada, room, "and dolphins?", reply_to=answer.id)
    assert (await lab.reasons(message_id))[0] == "reply_to_bot"
    await lab.answer(room, after=1)


@only("discord", "slack-socket")
async def test_in_its_own_thread_the_assistant_answers_without_a_mention_if_configured(
    variant: str, tmp_path: Path
) -> None:
    triggers = {"invocation": {"triggers": ["mention", "direct_message", "thread"]}}
    async with open_lab(variant, tmp_path, triggers) as lab:
        ada, room = lab.platform.person("Ada"), lab.platform.room("general")
        thread = await lab.platform.open_thread(ada, room, "the plan")
        await lab.platform.say(ada, thread, "not for you yet")
        await lab.platform.say(ada, thread, "join us", mention=True)
        await lab.answer(thread)
        await lab.idle()
        other = await lab.platform.open_thread(ada, room, "somebody else's")
        await lab.platform.say(ada, other, "nothing for you here")
        message_id = await lab.platform.say(ada, thread, "now without a mention")
        assert (await lab.reasons(message_id))[0] == "thread"
        assert len(await lab.quiet(thread)) == 2
        assert await lab.stored() == ["join us", "now without a mention"]


@ROOMS
async def test_a_prefix_is_enough_and_is_removed_from_the_text_for_the_model(
    variant: str, tmp_path: Path
) -> None:
    async with open_lab(variant, tmp_path, {"invocation": {"prefix": "!ask"}}) as lab:
        if isinstance(lab.platform, TelegramSimulator):
            lab.platform.api.privacy = False  # otherwise Telegram keeps it from the bot
        ada, room = lab.platform.person("Ada"), lab.platform.room("general")
        message_id = await lab.platform.say(ada, room, "!ask what is the time?")
        assert (await lab.reasons(message_id))[0] == "prefix"
        await lab.answer(room)
        assert await lab.stored() == ["what is the time?"]


@ROOMS
async def test_a_native_command_works_in_a_room(lab: Lab) -> None:
    ada, room = lab.platform.person("Ada"), lab.platform.room("general")
    await lab.platform.command(ada, room, "ask", "what is the weather?")
    answer = await lab.answer(room)
    assert "what is the weather?" in answer.text
    await lab.idle()
    assert len(by_bot(lab.platform.shown(room))) == 1
    assert await lab.stored() == ["what is the weather?"]


async def test_a_reaction_is_received_and_not_answered(lab: Lab) -> None:
    ada = lab.platform.person("Ada")
    room = lab.platform.direct(ada)
    await lab.platform.say(ada, room, "hello")
    answer = await lab.answer(room)
    await lab.platform.react(ada, room, answer.id, "👍")
    await eventually(lambda: lab.app.activity.counts["noted", "reaction"])
    assert len(await lab.quiet(room)) == 1


@only("discord")
async def test_another_bot_is_not_answered(variant: str, tmp_path: Path) -> None:
    async with open_lab(variant, tmp_path) as lab:
        assert isinstance(lab.platform, DiscordSimulator)
        room = lab.platform.room("general")
        await lab.platform.say(lab.platform.other_bot("Robo"), room, "hello bot", mention=True)
        message_id = await lab.platform.say(lab.platform.person("Ada"), room, "hi", mention=True)
        await lab.reasons(message_id)
        assert len(await lab.quiet(room)) == 1


@only("discord")
async def test_two_bots_do_not_answer_each_other_repeatedly(variant: str, tmp_path: Path) -> None:
    """Even if bots are answered, the limit for bot loops ends it."""
    async with open_lab(variant, tmp_path, {"invocation": {"ignore_bots": False}}) as lab:
        assert isinstance(lab.platform, DiscordSimulator)
        robo, room = lab.platform.other_bot("Robo"), lab.platform.room("general")
        reasons: list[str] = []
        for number in range(40):
            message_id = await lab.platform.say(robo, room, f"you said {number}", mention=True)
            reasons += await lab.reasons(message_id)
            if "bot_loop" in reasons:
                break
        assert "bot_loop" in reasons
        answered = len(await lab.quiet(room))
        message_id = await lab.platform.say(robo, room, "still there?", mention=True)
        assert "bot_loop_paused" in await lab.reasons(message_id)
        assert len(await lab.quiet(room)) == answered < 40
        message_id = await lab.platform.say(
            lab.platform.person("Ada"), room, "and me?", mention=True
        )
        await lab.reasons(message_id)
        assert len(await lab.quiet(room)) == answered + 1, "people are not held up"


@only("telegram-polling")
async def test_an_inline_query_offers_possible_questions(lab: Lab) -> None:
    assert isinstance(lab.platform, TelegramSimulator)
    ada, room = lab.platform.person("Ada"), lab.platform.room("general")
    query = lab.platform.inline(ada, "what is a whale?")
    offered = await lab.platform.wait_inline(query)
    assert any("what is a whale?" in text for _, text in offered)
    assert await lab.stored() == [], "nothing is stored while somebody types"
    await lab.platform.choose_inline(ada, room, query)
    await lab.answer(room)
    assert len(await lab.quiet(room)) == 1


@only("telegram-polling")
async def test_an_inline_query_is_completed_from_the_persons_memories(lab: Lab) -> None:
    sim = lab.platform
    assert isinstance(sim, TelegramSimulator)
    ada, bob = sim.person("Ada"), sim.person("Bob")
    await sim.say(ada, sim.direct(ada), "/remember ERR-42 is the pier that broke")
    await lab.answer(sim.direct(ada))

    async def offered(query: str) -> list[str]:
        return [text for _, text in await sim.wait_inline(query)]

    sentence = "ERR-42 is the pier that broke"
    assert await offered(sim.inline(ada, "ERR-4")) == ["ERR-4", sentence]
    assert await offered(sim.inline(ada, "pier ERR-42")) == ["pier ERR-42", sentence]
    assert await offered(sim.inline(ada, "ERR-4", "group")) == ["ERR-4"], "others would read it"
    assert await offered(sim.inline(bob, "ERR-4")) == ["ERR-4"]


# --- who may ask, and use what ------------------------------------------------------------------


async def test_an_allow_list_refuses_everybody_else(variant: str, tmp_path: Path) -> None:
    def only_ada(platform: PlatformSimulator) -> dict[str, object]:
        return {"access": {"allowed_users": [platform.person("Ada").id]}}

    async with open_lab(variant, tmp_path, only_ada) as lab:
        ada, ben = lab.platform.person("Ada"), lab.platform.person("Ben")
        refused = await lab.platform.say(ben, lab.platform.direct(ben), "hello")
        assert "user_not_allowed" in await lab.reasons(refused)
        await lab.platform.say(ada, lab.platform.direct(ada), "hello")
        await lab.answer(lab.platform.direct(ada))
        assert await lab.quiet(lab.platform.direct(ben)) == []
        assert await lab.stored() == ["hello"]


@only("discord")
async def test_a_command_of_a_person_without_access_is_not_answered(
    variant: str, tmp_path: Path
) -> None:
    async with open_lab(variant, tmp_path, {"access": {"allowed_users": ["1"]}}) as lab:
        discord = lab.platform
        assert isinstance(discord, DiscordSimulator)
        room = discord.room("general")
        await discord.command(discord.person("Mallory"), room, "ask", "who am I?")
        await discord.wait_for(room, lambda _: discord.waiting_commands(room) == 1)
        await discord.wait_for(room, lambda _: discord.waiting_commands(room) == 0)
        assert by_bot(await lab.quiet(room)) == []
        assert lab.app.services.deliverer.idle

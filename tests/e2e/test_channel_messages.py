"""The direct messages of a Telegram channel: each person's topic is a conversation of its own."""

from collections.abc import Mapping
from importlib import import_module
from pathlib import Path

import pytest

from simulators.base import PlatformSimulator
from simulators.telegram import TelegramSimulator
from tests.e2e.conftest import only, open_lab_with_model
from tests.e2e.harness import Lab
from tests.e2e.test_memory import Talk

CHANNELS = only("telegram-polling")
WORD = "HALIBUT"


@pytest.fixture(autouse=True)
def _loaded() -> None:
    import_module("anthropic")  # seconds on a busy machine, which are no part of any answer


def operated(platform: PlatformSimulator) -> Mapping[str, object]:
    return {"access": {"operators": [platform.person("Olga").id]}}


def topics_of_two(lab: Lab) -> tuple[Talk, Talk]:
    """Two people who write direct messages to one channel, each in a topic of their own."""
    platform = lab.platform
    assert isinstance(platform, TelegramSimulator)
    ada, ben = platform.person("Ada"), platform.person("Ben")
    hers = Talk(lab, ada, platform.direct_messages("News", ada))
    return hers, Talk(lab, ben, platform.direct_messages("News", ben))


@CHANNELS
async def test_messages_of_one_person_are_not_visible_in_the_topic_of_another(
    variant: str, tmp_path: Path
) -> None:
    async with open_lab_with_model(variant, tmp_path) as (lab, model):
        platform, (hers, his) = lab.platform, topics_of_two(lab)
        assert hers.room.id == his.room.id

        await hers.say(f"my order is {WORD}")
        await his.say("what did I order?")
        assert WORD not in str(model.bodies[-1])
        assert [message.text for message in platform.shown(his.room) if WORD in message.text] == []
        await hers.say("what did I order?")
        assert WORD in str(model.bodies[-1])

        sent = [call for call in platform.calls if call.method == "sendMessage"]
        topics = [str(call.body.get("direct_messages_topic_id")) for call in sent]
        assert topics == [hers.person.id, his.person.id, hers.person.id]
        assert all(call.status == 200 for call in platform.calls), "Telegram refused something"


@CHANNELS
async def test_memories_of_one_topic_are_not_recalled_in_another(
    variant: str, tmp_path: Path
) -> None:
    async with open_lab_with_model(variant, tmp_path) as (lab, model):
        hers, his = topics_of_two(lab)
        await hers.say(f"my order is {WORD}")
        assert lab.app.memory.consolidation is not None
        await lab.app.memory.consolidation.everything()
        await his.say(f"what do you know about {WORD.lower()}s and orders?")
        assert f"my order is {WORD}" not in str(model.bodies[-1])
        assert WORD not in (await his.command("memories", "order")).text


@CHANNELS
async def test_the_direct_messages_of_a_channel_belong_to_no_project(
    variant: str, tmp_path: Path
) -> None:
    async with open_lab_with_model(variant, tmp_path, operated) as (lab, model):
        platform = lab.platform
        assert isinstance(platform, TelegramSimulator)
        olga, ben = platform.person("Olga"), platform.person("Ben")
        ours = Talk(lab, olga, platform.direct_messages("News", olga))
        assert "version 1" not in (await ours.command("bible", f"The word is {WORD}.")).text
        his = Talk(lab, ben, platform.direct_messages("News", ben))
        await his.say("what is the word?")
        assert WORD not in str(model.bodies[-1])
        alone = Talk(lab, ben, platform.direct(ben))
        assert (
            "do not know of any project that you belong to" in (await alone.command("project")).text
        )

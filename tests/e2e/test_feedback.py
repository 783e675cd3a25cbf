"""Reactions, through the real client libraries: thumbs under answers, and a sign of work."""

from pathlib import Path
from typing import Final

from gateway.stores.feedback import Thumbs
from simulators.anthropic.answers import Answer
from simulators.base import Fault
from tests.e2e.conftest import only, open_lab_with_model
from tests.e2e.harness import Lab
from tests.support.patience import PATIENCE
from tests.support.waiting import eventually

SIGNS: Final = {
    "discord": ("PUT /channels/{id}/messages/{id}/reactions/{emoji}/@me", "DELETE"),
    "slack": ("reactions.add", "reactions.remove"),
    "telegram": ("setMessageReaction", "setMessageReaction"),
    "whatsapp": ("messages", "messages"),
}


async def thumbs(lab: Lab) -> Thumbs:
    """All that is kept."""
    ids = [trace.id for trace in await lab.app.decisions(500)]
    kept = await lab.app.services.stores.feedback.of(ids)
    assert len(kept) <= 1
    return next(iter(kept.values()), Thumbs())


async def becomes(lab: Lab, expected: Thumbs) -> None:
    async def as_expected() -> bool:
        return await thumbs(lab) == expected

    await eventually(as_expected)


async def test_a_rating_is_stored_with_the_answer_and_removed_with_its_reaction(lab: Lab) -> None:
    ada = lab.platform.person("Ada")
    room = lab.platform.direct(ada)
    await lab.platform.say(ada, room, "hello")
    answer = await lab.answer(room)
    await lab.idle()
    await lab.platform.react(ada, room, answer.id, "👎")
    await becomes(lab, Thumbs(0, 1))
    assert len(await lab.quiet(room)) == 1


@only("discord", "slack-socket", "telegram-polling")
async def test_people_in_a_room_have_one_rating_each(variant: str, tmp_path: Path) -> None:
    async with open_lab_with_model(variant, tmp_path) as (lab, _):
        ada, bob = lab.platform.person("Ada"), lab.platform.person("Bob")
        room = lab.platform.room("general")
        await lab.platform.say(ada, room, "hello", mention=True)
        answer = await lab.answer(room)
        await lab.idle()
        await lab.platform.react(ada, room, answer.id, "👍")
        await lab.platform.react(bob, room, answer.id, "👎")
        await becomes(lab, Thumbs(1, 1))


@only("discord", "slack-socket", "telegram-polling", "whatsapp")
async def test_a_reaction_is_shown_while_the_answer_is_written(
    variant: str, tmp_path: Path
) -> None:
    expected = {"delivery": {"acknowledge": "👀", "live": False}}
    async with open_lab_with_model(variant, tmp_path, expected) as (lab, model):
        model.reply = lambda _: Answer("It is a whale.")
        model.faults.add(Fault("*", "slow", delay=2.5))
        ada = lab.platform.person("Ada")
        room = lab.platform.direct(ada)
        await lab.platform.say(ada, room, "what is it?")
        await lab.answer(room)
        await lab.idle()
        assert await lab.app.services.indicators.drain(PATIENCE)
        begins, ends = SIGNS[lab.platform.platform]
        questions = [call for call in lab.platform.calls if call.method != "getUpdates"]
        calls = [call for call in questions if "eaction" in f"{call.method}{call.body}"]
        assert [call.status < 300 for call in calls] == [True, True], calls
        assert calls[0].method.startswith(begins)
        assert calls[1].method.startswith(ends)

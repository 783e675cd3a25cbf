"""The lists of memories and the review, through the real client libraries, button by button."""

from pathlib import Path

from gateway.immutable import replace
from simulators.base import Shown
from tests.e2e.conftest import ROOMS, only, open_lab
from tests.e2e.harness import Lab, by_bot
from tests.e2e.test_memory import Talk, direct, kept

EVERYWHERE = only("discord", "slack-socket", "telegram-polling", "whatsapp")
FACTS = [f"Boat {number} is blue" for number in range(12)]
HEDGED = ("the server may time out", "the pump might leak", "the fence could fall")


async def learn(talk: Talk, *facts: str) -> None:
    for fact in facts:
        assert (await talk.command("remember", fact)).text == "I will remember that."


def listed(shown: Shown) -> list[str]:
    """The facts of a page in its order."""
    at = {fact: shown.text.find(f"{fact} ") for fact in FACTS}
    return sorted((fact for fact in FACTS if at[fact] >= 0), key=lambda fact: at[fact])


def labels(shown: Shown) -> list[str]:
    return [button.label for button in shown.buttons]


@EVERYWHERE
async def test_the_pages_of_memories_are_turned_by_buttons(lab: Lab) -> None:
    ada = direct(lab)
    await learn(ada, *FACTS)
    await ada.say("what do you know about boats?")
    first = await ada.command("memories")
    assert "1–10 of 12" in first.text
    assert "what do you know" not in first.text
    second = await ada.press(first, "Next page")
    assert [*listed(first), *listed(second)] == FACTS[::-1]
    assert labels(second) == ["Previous page", "Chat messages"]
    reply = await ada.press(second, "Chat messages")
    assert "what do you know about boats?" in reply.text
    assert listed(await ada.press(reply, "What I learned")) == listed(first)
    assert "I found nothing about that" in (await ada.command("memories", "giraffe")).text


@EVERYWHERE
async def test_after_a_decision_the_next_one_follows(lab: Lab) -> None:
    ada = direct(lab)
    for guess in HEDGED:
        reply = await ada.say(f"remember that {guess}")
        assert f"Keep this? “{guess}”" in reply.text
    first = await ada.command("memories", "review")
    assert HEDGED[0] in first.text
    second = await ada.press(first, "Later")
    assert HEDGED[1] in second.text
    third = await ada.press(second, "Keep")
    assert third.text.startswith("I will remember that.")
    assert HEDGED[2] in third.text
    last = await ada.press(third, "Forget it")
    assert HEDGED[0] in last.text
    assert labels(last) == ["Keep", "Forget it"]
    assert (await ada.press(last, "Keep")).text == "I will remember that."
    assert await kept(lab) == [HEDGED[1], HEDGED[0]]


@ROOMS
async def test_in_a_room_a_list_is_private_or_contains_memories_of_the_room_only(
    variant: str, tmp_path: Path
) -> None:
    async with open_lab(variant, tmp_path) as lab:
        ada = direct(lab)
        await learn(ada, FACTS[0])
        await ada.command("privacy", "rooms on")
        here = Talk(lab, ada.person, lab.platform.room("general"))
        shown = await here.command("memories")
        alone = shown.only_for == ada.person.id
        assert alone is (lab.platform.platform != "telegram")
        assert (FACTS[0] in shown.text) is alone
        others = [one for one in by_bot(lab.platform.shown(here.room)) if not one.only_for]
        assert all(FACTS[0] not in replace(one, html="").text for one in others)

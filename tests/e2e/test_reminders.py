"""Reminders through the real client libraries: repeated, undone, sent, and listed."""

from collections.abc import Callable
from importlib import import_module
from pathlib import Path

import pytest

from simulators.anthropic.answers import Answer, Body, UseTool
from simulators.base import ApiCall, Shown
from tests.e2e.conftest import ROOMS, open_lab_with_model
from tests.e2e.harness import Lab
from tests.e2e.test_memory import Talk, direct
from tests.support.patience import PATIENCE

ON = {"appointments": {"enabled": True}}
SOON = {"text": "drink *water* @everyone", "in_minutes": 0.05}
LATER = {"text": "call the printer", "in_minutes": 600}


@pytest.fixture(autouse=True)
def _loaded() -> None:
    import_module("anthropic")  # seconds on a busy machine, which are no part of any answer


def setting(arguments: dict[str, object]) -> Callable[[Body], Answer | str]:
    """A model that calls the tool, and then answers."""

    def reply(body: Body) -> Answer | str:
        last = body["messages"][-1]["content"]  # type: ignore[index]  # as the API has it
        if any(block.get("type") == "tool_result" for block in last):
            return "Noted."
        return Answer(tools=(UseTool("remind", arguments),))

    return reply


async def reminded(lab: Lab, talk: Talk) -> Shown:
    """The reminder, once it is there."""
    shown = await lab.platform.wait_for(
        talk.room, lambda all_: any("⏰" in one.text for one in all_), PATIENCE
    )
    return next(one for one in shown if "⏰" in one.text)


async def test_a_reminder_is_undone_or_comes_once(variant: str, tmp_path: Path) -> None:
    async with open_lab_with_model(variant, tmp_path, ON) as (lab, model):
        ada = direct(lab)
        model.reply = setting(LATER)
        answer = await ada.say("remind me in ten hours to call the printer")
        assert "Reminder 1: “call the printer”" in answer.text
        assert "“call the printer” is removed" not in (await ada.command("reminders")).text
        gone = await ada.press(answer, "Undo")
        assert "Reminder 1 is removed: “call the printer”" in gone.text
        model.reply = setting(SOON)
        await ada.say("remind me in three seconds to drink water")
        sent = await reminded(lab, ada)
        assert "drink *water* @everyone" in sent.text
        assert [button.label for button in sent.buttons] == ["In 1 hour"]
        assert sum("⏰" in one.text for one in await ada.shown()) == 1


@ROOMS
async def test_in_a_room_it_names_its_person_and_notifies_nobody(
    variant: str, tmp_path: Path
) -> None:
    async with open_lab_with_model(variant, tmp_path, ON) as (lab, model):
        person, room = lab.platform.person("Ada"), lab.platform.room("team")
        model.reply = setting(SOON)
        await lab.platform.say(person, room, "remind us", mention=True)
        sent = await reminded(lab, Talk(lab, person, room))
        assert "Ada" in sent.text
        assert "@everyone" in sent.text
        call = next(call for call in reversed(lab.platform.calls) if "⏰" in str(call.body))
        assert _notifies_nobody(variant, call)


def _notifies_nobody(variant: str, call: ApiCall) -> bool:
    if variant == "discord":
        allowed = call.body["allowed_mentions"]
        assert isinstance(allowed, dict)
        return allowed["parse"] == [] and not allowed.get("users") and not allowed.get("roles")
    return "<!everyone>" not in str(call.body)

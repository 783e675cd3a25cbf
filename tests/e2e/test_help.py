"""Help everywhere, and a task that is shown and ended everywhere."""

from pathlib import Path

from simulators.telegram import TelegramSimulator
from simulators.telegram.entities import with_found
from tests.e2e.conftest import only, open_lab
from tests.e2e.harness import Lab
from tests.e2e.test_memory import Talk, direct

NATIVE = only("discord", "telegram-polling", "whatsapp")
SAYS = "Your memory and your privacy"
MORE = "Show current conversation context"


async def test_help_as_a_message_works_on_every_platform(lab: Lab) -> None:
    assert SAYS in (await direct(lab).say("help")).text
    assert MORE in (await direct(lab).say("help more")).text


@only("discord", "slack-socket", "telegram-polling", "whatsapp")
async def test_the_further_commands_are_a_press_away(variant: str, tmp_path: Path) -> None:
    async with open_lab(variant, tmp_path) as lab:
        ada = direct(lab)
        shown = await ada.say("help")
        assert MORE in (await ada.press(shown, "More commands")).text


@only("telegram-polling")
async def test_commands_of_the_help_can_be_tapped_on_telegram(variant: str, tmp_path: Path) -> None:
    async with open_lab(variant, tmp_path) as lab:
        shown = await direct(lab).say("help")
        assert isinstance(lab.platform, TelegramSimulator)
        message = lab.platform.world.messages[int(shown.id)]
        found = with_found(message.text, message.entities)
        taps = [one for one in found if one.kind == "bot_command"]
        assert len(taps) >= len(("ask", "clear", "language", "stop", "memories", "privacy"))


@NATIVE
async def test_help_is_a_command(variant: str, tmp_path: Path) -> None:
    async with open_lab(variant, tmp_path) as lab:
        assert SAYS in (await direct(lab).command("help")).text


@only("slack-socket", "slack-http")
async def test_slack_reserves_its_help_command_and_a_mention_works(
    variant: str, tmp_path: Path
) -> None:
    async with open_lab(variant, tmp_path) as lab:
        ada = Talk(lab, lab.platform.person("Ada"), lab.platform.room("general"))
        assert SAYS in (await ada.say("/help")).text
        assert SAYS in (await ada.say("help")).text


async def test_a_task_is_set_shown_without_an_argument_and_ended(lab: Lab) -> None:
    ada = direct(lab)
    assert "No task" in (await ada.command("task")).text
    await ada.command("task", "plan the trip")
    assert "plan the trip" in (await ada.command("task")).text
    assert "this conversation has no task" in (await ada.command("task", "end")).text
    assert "No task" in (await ada.command("task")).text

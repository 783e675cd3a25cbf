"""Help everywhere, and a task that is shown and ended everywhere."""

from pathlib import Path

from tests.e2e.conftest import only, open_lab
from tests.e2e.harness import Lab
from tests.e2e.test_memory import Talk, direct

NATIVE = only("discord", "telegram-polling", "whatsapp")
SAYS = "Show what you can do"


async def test_help_as_a_message_works_on_every_platform(lab: Lab) -> None:
    assert SAYS in (await direct(lab).say("help")).text


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

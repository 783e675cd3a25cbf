"""The buttons of `/help` and `/language`, which everybody in a group may press, through the real
client libraries: by other people, twice, late, and after their message was deleted."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from simulators.base import PlatformSimulator, Shown
from tests.e2e.conftest import only, open_lab
from tests.e2e.harness import Lab
from tests.e2e.test_memory import Talk, direct

EVERYBODY_SEES = only("telegram-polling", "slack-socket")
"""Telegram shows the answer to everybody. Slack shows it to its reader only, and a forged press of
somebody else reaches the program all the same."""
COMMANDS = [("help", "More commands", "More commands"), ("language", "Deutsch", "Deutsch")]
each = pytest.mark.parametrize(("name", "label", "expected"), COMMANDS)


def people(platform: PlatformSimulator) -> Mapping[str, object]:
    """Olga is owner, Eve is blocked."""
    olga, eve = (f"{platform.platform}:{platform.person(one).id}" for one in ("Olga", "Eve"))
    return {"access": {"owners": [olga], "blocked_users": [eve]}}


def approving(platform: PlatformSimulator) -> Mapping[str, object]:
    """Olga is owner, Ada is allowed by name; everybody else needs an approval."""
    olga, ada = (f"{platform.platform}:{platform.person(one).id}" for one in ("Olga", "Ada"))
    return {"access": {"admission": "approved", "owners": [olga], "allowed_users": [ada]}}


def talk(lab: Lab, name: str) -> Talk:
    return Talk(lab, lab.platform.person(name), lab.platform.room("general"))


async def asked(lab: Lab, name: str, command: str) -> Shown:
    """A command in the group; its answer. Slack reserves /help."""
    one = talk(lab, name)
    if lab.platform.platform == "slack":
        return await one.say(f"/{command}")
    return await one.command(command)


@each
@EVERYBODY_SEES
async def test_in_a_group_each_press_is_answered_and_a_blocked_one_is_not(
    variant: str, name: str, label: str, expected: str, tmp_path: Path
) -> None:
    async with open_lab(variant, tmp_path, people) as lab:
        shown = await asked(lab, "Olga", name)
        for presser in ("Olga", "Ada", "Olga"):
            assert expected in (await talk(lab, presser).press(shown, label)).text
        eve = talk(lab, "Eve")
        before = await eve.shown()
        await lab.platform.press(eve.person, eve.room, shown.id, label)
        assert [one.id for one in await eve.shown()] == [one.id for one in before]


@EVERYBODY_SEES
async def test_a_member_who_presses_under_the_help_of_an_owner_sees_their_own(
    variant: str, tmp_path: Path
) -> None:
    async with open_lab(variant, tmp_path, approving) as lab:
        shown = await asked(lab, "Olga", "help")
        assert "/approve" in shown.text
        assert "/approve" in (await talk(lab, "Olga").press(shown, "More commands")).text
        assert "/approve" not in (await talk(lab, "Ada").press(shown, "More commands")).text


@each
@only("telegram-polling")
async def test_a_press_under_a_message_that_is_deleted_meanwhile_is_answered(
    variant: str, name: str, label: str, expected: str, tmp_path: Path
) -> None:
    async with open_lab(variant, tmp_path) as lab:
        ada = direct(lab)
        shown = await ada.command(name)
        before = len(await ada.shown())
        await lab.platform.press(ada.person, ada.room, shown.id, label)
        await lab.platform.delete(ada.person, ada.room, shown.id)
        assert expected in (await lab.answer(ada.room, after=before - 1)).text


@each
@only("discord", "slack-socket", "telegram-polling")
async def test_a_press_after_everything_else_has_ended_is_answered(
    variant: str, name: str, label: str, expected: str, tmp_path: Path
) -> None:
    async with open_lab(variant, tmp_path) as lab:
        ada = direct(lab)
        shown = await (ada.say(f"/{name}") if variant == "slack-socket" else ada.command(name))
        await lab.app.storage.long_lived.run_job(
            lambda db: db.execute("UPDATE adapter_state SET expires_at = 0")
        )
        await lab.app.jobs.button_expiry.round()
        assert expected in (await ada.press(shown, label)).text

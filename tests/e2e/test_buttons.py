"""Pressed and expired buttons are removed if the platform allows it; otherwise a late press is
answered."""

from collections.abc import Callable
from datetime import timedelta

import pytest

from memory.commands import forget, texts
from simulators.base import Shown
from tests.e2e.conftest import ROOMS, only
from tests.e2e.harness import Lab, by_bot
from tests.e2e.test_memory import HEDGED, Talk, direct

EDITABLE = only("discord", "slack-socket", "telegram-polling")
"""A bot of WhatsApp can change no message."""


async def now(talk: Talk, message: Shown, found: Callable[[Shown], bool]) -> None:
    """Return once what stands there is as expected."""
    await talk.lab.platform.wait_for(
        talk.room,
        lambda shown: all(found(one) for one in by_bot(shown) if one.id == message.id),
    )


@EDITABLE
async def test_pressed_buttons_are_removed_and_the_question_stays(lab: Lab) -> None:
    ada = direct(lab)
    await ada.command("remember", "I prefer tabs")
    reply = await ada.command("forget", "tabs")
    await ada.press(reply, "Cancel")
    await now(ada, reply, lambda one: not one.buttons and one.text == reply.text)
    cleared = await ada.command("clear")
    await ada.press(cleared, "Keep")
    await now(ada, cleared, lambda one: not one.buttons)
    kept = await ada.say(HEDGED)
    await ada.press(kept, "Forget it")
    await now(ada, kept, lambda one: not one.buttons)


@EDITABLE
async def test_expired_buttons_are_removed(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(forget, "VALID_FOR", timedelta())
    ada = direct(lab)
    await ada.command("remember", "I prefer tabs")
    reply = await ada.command("forget", "tabs")
    assert reply.buttons
    await lab.app.jobs.button_expiry.round()
    await now(ada, reply, lambda one: not one.buttons and one.text == reply.text)


@ROOMS
async def test_in_a_channel_pressed_buttons_are_removed_for_everybody(lab: Lab) -> None:
    room = lab.platform.room("general")
    ada = Talk(lab, lab.platform.person("Ada"), room)
    if lab.platform.platform == "slack":
        ada = Talk(lab, ada.person, await lab.platform.open_thread(ada.person, room, "editors"))
        reply = await ada.say("/clear")
    else:
        reply = await ada.command("clear")
    await ada.press(reply, "Keep")
    await now(ada, reply, lambda one: not one.buttons)


async def test_a_late_press_is_answered(lab: Lab) -> None:
    ada = direct(lab)
    await ada.command("remember", "I prefer tabs")
    reply = await ada.command("forget", "tabs")
    yes = reply.buttons[0].label
    if lab.platform.platform == "whatsapp":
        await ada.press(reply, yes)
        assert (await ada.press(reply, yes)).text == texts.CLOSED.english.replace("`", "")
        return
    await lab.app.storage.long_lived.run_job(
        lambda db: db.execute("UPDATE adapter_state SET expires_at = 0")
    )
    assert "no longer open" in (await ada.press(reply, yes)).text
    await now(ada, reply, lambda one: not one.buttons)

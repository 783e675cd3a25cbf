"""`parley init` as a person at a terminal sees it: from the first question to the first hello."""

import asyncio
import os
import signal
from pathlib import Path

import pytest

from parley.config import load
from simulators.discord import DiscordSimulator
from simulators.slack import SlackSimulator
from simulators.telegram import TelegramSimulator
from tests.parley.cli.init.kit import Typing, at_terminal, pointed_at
from tests.support.patience import PATIENCE

PORTS = ("--set", "server.port=0", "--set", "webhooks.port=0")
CTRL_C = b"\x03"


def answers(person: Typing, token: str) -> None:
    """Everything up to the start, with Enter wherever there is a default."""
    person.enter("Platforms [1]: ", "telegram")
    person.enter("Bot token (not shown): ", token)
    person.enter("Model [1]: ", "no model")
    person.enter("Who [2]: ")
    person.enter("Memory [Y/n]: ")
    person.enter("Name [Parley]: ", "Ada")


async def test_from_nothing_to_the_first_hello_to_the_owner(tmp_path: Path) -> None:
    telegram = TelegramSimulator()
    await telegram.start()
    token = str(telegram.settings()["bot_token"])
    _, assign = pointed_at(telegram)
    owner, stranger = telegram.person("Olga"), telegram.person("Mallory")
    try:
        with at_terminal("init", *assign, *PORTS, cwd=tmp_path) as person:
            await asyncio.to_thread(answers, person, token)
            shown = await asyncio.to_thread(person.until, "15 minutes.")
            code = next(word for word in shown.split() if word.startswith("OWNER-"))
            room = telegram.direct(stranger)
            await telegram.say(stranger, room, "hello?")
            seen = await telegram.wait_for(room, lambda all_: any(m.by_bot for m in all_), PATIENCE)
            assert "I have no owner yet" in seen[-1].text
            assert "the code that the program shows" in seen[-1].text
            room = telegram.direct(owner)
            await telegram.say(owner, room, code)
            seen = await telegram.wait_for(room, lambda all_: any(m.by_bot for m in all_), PATIENCE)
            assert "You are now the owner of Ada." in seen[-1].text
            claimed = await asyncio.to_thread(person.until, "is the owner.")
            assert f"Olga (telegram:main:{owner.id})" in " ".join(claimed.split())
            assert "no_owner" not in person.said  # the code is shown instead of a warning
            await telegram.say(owner, room, "and now?")
            await telegram.wait_for(room, lambda all_: sum(m.by_bot for m in all_) > 1, PATIENCE)
            person.press(CTRL_C)
            assert await asyncio.to_thread(person.end) == 0
            assert token not in person.said
            assert "Traceback" not in person.said
    finally:
        await telegram.stop()


def test_ctrl_c_keeps_the_answers_and_the_next_run_offers_them(tmp_path: Path) -> None:
    with at_terminal("init", "--no-start", cwd=tmp_path) as person:
        person.enter("Platforms [1]: ")
        person.enter("Model [1]: ", "no model")
        person.until("Who [2]: ")
        person.press(CTRL_C)
        assert person.end() == 130
        assert "Kept in config/parley.yaml: Web page, model." in person.said
        assert "Not asked yet: who may write" in person.said
        assert "Traceback" not in person.said
    settings = load(tmp_path / "config" / "parley.yaml", {})
    assert settings.access.admission == "approved"
    with at_terminal("init", "--no-start", cwd=tmp_path) as person:
        person.until("Its values are the answers in brackets")
        person.enter("Platforms [1]: ")
        person.enter("Model [7]: ")
        person.enter("Who [2]: ", "everybody")
        person.enter("Memory [Y/n]: ", "n")
        person.enter("Name [Parley]: ")
        assert person.end() == 0
    settings = load(tmp_path / "config" / "parley.yaml", {})
    assert (settings.access.admission, settings.memory.enabled) == ("everybody", False)


def test_ctrl_c_at_the_first_question_writes_nothing(tmp_path: Path) -> None:
    with at_terminal("init", cwd=tmp_path) as person:
        person.until("Platforms [1]: ")
        person.press(CTRL_C)
        assert person.end() == 130
        assert "Nothing was written." in person.said
    assert list(tmp_path.iterdir()) == []


def test_ctrl_c_at_a_hidden_question_leaves_the_terminal_readable(tmp_path: Path) -> None:
    with at_terminal("init", cwd=tmp_path) as person:
        person.enter("Platforms [1]: ", "2")
        person.until("Bot token (not shown): ")
        person.press(CTRL_C)
        assert person.end() == 130
        assert "Stopped." in person.said


def test_every_line_fits_a_narrow_terminal(tmp_path: Path) -> None:
    with at_terminal("init", "--no-start", cwd=tmp_path, columns=40) as person:
        person.enter("Platforms [1]: ", "nonsense")
        person.enter("Platforms [1]: ", "discord")
        person.enter("Bot token (not shown): ", "xoxb-1234567890")
        person.enter("Bot token (not shown): ", "skip")
        person.enter("Model [1]: ", "no model")
        person.enter("Who [2]: ")
        person.enter("Memory [Y/n]: ")
        person.enter("Name [Parley]: ")
        assert person.end() == 1  # Discord is not set up
    long = [line for line in person.said.split("\n") if len(line) > 40 and "https://" not in line]
    assert long == []


@pytest.mark.parametrize("change", ["intent", "scope"])
async def test_a_permission_is_granted_and_checked_again(tmp_path: Path, change: str) -> None:
    discord, slack = DiscordSimulator(), SlackSimulator()
    simulator = discord if change == "intent" else slack
    discord.message_content = False
    slack.scopes.discard("chat:write")
    await simulator.start()
    env, assign = pointed_at(simulator)
    arguments = ("init", *assign, "--platform", simulator.platform, "--no-start")
    try:
        with at_terminal(*arguments, cwd=tmp_path, env=env) as person:
            await asyncio.to_thread(person.enter, "Use the existing credentials? [Y/n]: ")
            broken = await asyncio.to_thread(person.until, "check again")
            assert "What to do: " in broken
            discord.message_content = True
            slack.scopes.add("chat:write")
            await asyncio.to_thread(
                person.enter, f"or skip for no {simulator.platform.capitalize()}: "
            )
            granted = "the bot may read messages" if change == "intent" else "all 15 granted"
            await asyncio.to_thread(person.until, granted)
            await asyncio.to_thread(person.until, "Model [1]: ")
            person.press(CTRL_C)
            await asyncio.to_thread(person.end)
    finally:
        await simulator.stop()
    (account,) = load(tmp_path / "config" / "parley.yaml", {}).accounts()
    assert account.platform == simulator.platform


def test_a_signal_while_it_runs_ends_it_cleanly(tmp_path: Path) -> None:
    arguments = ("init", "--yes", "--start", "--platform", "web", *PORTS)
    with at_terminal(*arguments, cwd=tmp_path) as person:
        shown = person.until("15 minutes.")
        assert "open http://127.0.0.1:" in shown
        assert "- the web page: http://127.0.0.1:" in shown
        os.kill(person.pid, signal.SIGTERM)
        assert person.end() == 0

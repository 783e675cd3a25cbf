"""The tutorials are followed as they stand, against simulated platforms: what a page shows of the
terminal is printed, and what it says the assistant answers is answered."""

import asyncio
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from simulators.anthropic import AnthropicSimulator
from simulators.base import PlatformSimulator, SimPerson, SimRoom
from simulators.discord import DiscordSimulator
from simulators.slack import SlackSimulator
from simulators.telegram import TelegramSimulator
from simulators.whatsapp import WhatsAppSimulator
from tests.docs.blocks import ROOT, blocks_of
from tests.e2e.harness import simulated
from tests.parley.cli.init.kit import Typing, at_terminal, pointed_at
from tests.support.patience import PATIENCE

SECRETS = {
    "telegram": ("bot_token",),
    "discord": ("token",),
    "slack": ("bot_token", "app_token"),
    "whatsapp": ("access_token", "app_secret"),
}
"""The credentials in the order in which they are asked for."""
SIMULATORS = {
    "telegram": TelegramSimulator,
    "discord": DiscordSimulator,
    "slack": SlackSimulator,
    "whatsapp": WhatsAppSimulator,
}
COMMANDS = {"discord", "slack"}
"""Platforms with slash commands of their own."""
ROW = re.compile(r"^\| `([^`]+)` \| ([^|]+?) \|$", re.MULTILINE)
QUESTION = re.compile(r"(\[[^\]]*\]|\(not shown\)):")
"""The end of a question."""


def shown_lines(page: Path) -> list[str]:
    """The lines of the terminal that a page shows."""
    blocks = [block for block in blocks_of(page) if block.language == "console"]
    assert len(blocks) == 3
    return [" ".join(line.split()) for block in blocks for line in block.code.splitlines()]


def answers(page: Path, secrets: list[str]) -> Iterator[tuple[str, str]]:
    """The input of a reader of the page: the end of each question, and the answer."""
    left = list(secrets)
    for line in shown_lines(page):
        question = QUESTION.search(line)
        if question is None:
            continue
        typed = line[question.end() :].strip()
        if "API key" in line:
            typed = "the key"
        elif "(not" in question[0]:
            typed = left.pop(0)
        yield line[: question.end()], typed
    assert left == []


def missing(page: Path, printed: str) -> list[str]:
    """The lines of the page that the terminal did not print in this order; `…` is any text, and
    "Your Name" the name of the person who wrote."""
    rest = " ".join(printed.split())
    absent = []
    for line in shown_lines(page):
        pattern = ".*?".join(map(re.escape, line.replace("Your Name", "Ada").split("…")))
        match = re.search(pattern, rest)
        if match is None:
            absent.append(line)
        else:
            rest = rest[match.end() :]
    return absent


async def say(simulator: PlatformSimulator, person: SimPerson, room: SimRoom, text: str) -> str:
    """Write to the assistant, as a command where the platform has them; return its answer."""

    def replies() -> list[str]:
        return [shown.text for shown in simulator.shown(room) if shown.by_bot]

    before = len(replies())
    if text.startswith("/") and simulator.platform in COMMANDS:
        name, _, rest = text[1:].partition(" ")
        await simulator.command(person, room, name, rest)
    else:
        await simulator.say(person, room, text)
    await simulator.wait_for(room, lambda _: len(replies()) > before, PATIENCE)
    return replies()[-1]


def follow(terminal: Typing, page: Path, secrets: list[str]) -> str:
    """Answer the questions as the page does; return the code of the owner."""
    for question, typed in answers(page, secrets):
        terminal.enter(question.split("…")[-1].lstrip(), typed)
    shown = terminal.until("15 minutes.")
    return next(word for word in shown.split() if word.startswith("OWNER-"))


@pytest.mark.parametrize("platform", list(SIMULATORS))
async def test_the_tutorial_leads_to_an_answer_and_a_memory(platform: str, tmp_path: Path) -> None:
    page = ROOT / "docs" / "tutorials" / f"{platform}.md"
    simulator: PlatformSimulator = SIMULATORS[platform]()
    model = AnthropicSimulator(api_key="the key")
    await model.start()
    async with simulated({platform: simulator}) as port:
        secrets = [str(simulator.settings()[key]) for key in SECRETS[platform]]
        _, assign = pointed_at(simulator)
        ports = ("--set", "server.port=0", "--set", f"webhooks.port={port}")
        options = ("init", *assign, *ports, "--base-url", model.base_url)
        with at_terminal(*options, cwd=tmp_path) as terminal:
            code = await asyncio.to_thread(follow, terminal, page, secrets)
            ada = simulator.person("Ada")
            room = simulator.direct(ada)
            assert "You are now the owner of Ada" in await say(simulator, ada, room, code)
            await asyncio.to_thread(terminal.until, "starts it again.")
            for written, answer in ROW.findall(page.read_text("utf-8")):
                answered = await say(simulator, ada, room, written)
                assert answer in {"…", answered}, written
            terminal.press(b"\x03")
            assert await asyncio.to_thread(terminal.end) == 0
            assert missing(page, terminal.said) == []
    await model.stop()

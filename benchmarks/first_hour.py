"""Goes a new user's first hour with Telegram, prints every sentence on the way, and counts.

    python -m benchmarks.first_hour                  every situation
    python -m benchmarks.first_hour wrong_model      only this one

A person at a terminal answers `parley init`, writes to the bot on a simulated Telegram and asks the
first question. The situations: everything works; somebody writes before there is an owner; the name
of the model is wrong; nothing can be reached; the model fails after the setup. The last line of
each is JSON: questions, seconds from the first question to the end, and what was reached.
`make newcomer` measures what comes before: the installation.
"""

import argparse
import asyncio
import json
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Final

from simulators.anthropic import AnthropicSimulator
from simulators.base import Fault, SimPerson
from simulators.telegram import TelegramSimulator
from tests.e2e.harness import simulated
from tests.parley.cli.init.kit import Typing, at_terminal, pointed_at
from tests.support.patience import LAUNCH

KEY: Final = "sk-ant-api03-0123456789abcdef"
NOWHERE: Final = "http://127.0.0.1:9"
CTRL_C: Final = b"\x03"


class FirstHour:
    """A person with a terminal, a bot on Telegram and a key of a model."""

    def __init__(self, telegram: TelegramSimulator, model: AnthropicSimulator) -> None:
        self.telegram = telegram
        self.model = model
        self.terminal: Typing
        self.questions = 0

    async def answer(self, question: str, typed: str = "") -> None:
        """Answer a question of the terminal; an empty answer is the Enter key."""
        await asyncio.to_thread(self.terminal.enter, question, typed)
        self.questions += 1

    async def sees(self, text: str) -> str:
        """Wait for a text on the terminal."""
        return await asyncio.to_thread(self.terminal.until, text)

    async def begins(self) -> None:
        """Answer everything up to the name of the model's service."""
        await self.answer("Platforms [1]: ", "telegram")
        await self.answer("Bot token (not shown): ", str(self.telegram.settings()["bot_token"]))

    async def ends(self) -> str:
        """Answer the rest; return the code of the owner."""
        for question in ("Who [2]: ", "Dollars a month [10]: ", "Memory [Y/n]: "):
            await self.answer(question)
        await self.answer("Name [Parley]: ", "Ada")
        shown = await self.sees("15 minutes.")
        return next(word for word in shown.split() if word.startswith("OWNER-"))

    async def says(self, person: SimPerson, text: str, answers: int = 1) -> str:
        """Write to the bot; return its newest answer when `answers` more have come."""
        room = self.telegram.direct(person)
        shown = [message for message in self.telegram.shown(room) if message.by_bot]
        await self.telegram.say(person, room, text)
        seen = await self.telegram.wait_for(
            room, lambda all_: sum(m.by_bot for m in all_) >= len(shown) + answers, LAUNCH
        )
        print(f"  {person.name} > {text}")
        for message in [one for one in seen if one.by_bot][len(shown) :]:
            print("  bot > " + message.text.replace("\n", "\n        "))
        return seen[-1].text


async def everything_works(hour: FirstHour) -> bool:
    await hour.begins()
    await hour.answer("Model [1]: ")
    await hour.answer("(not shown): ", KEY)
    olga = hour.telegram.person("Olga")
    await hour.says(olga, await hour.ends())
    return bool(await hour.says(olga, "What can you do?"))


async def no_owner(hour: FirstHour) -> bool:
    await hour.begins()
    await hour.answer("Model [1]: ")
    await hour.answer("(not shown): ", KEY)
    code = await hour.ends()
    mallory, olga = hour.telegram.person("Mallory"), hour.telegram.person("Olga")
    await hour.says(mallory, "/start")
    await hour.says(mallory, "hello?")
    await hour.says(olga, "/start")
    await hour.says(olga, f"my code is {code}.")
    return bool(await hour.says(olga, "What can you do?"))


async def wrong_model(hour: FirstHour) -> bool:
    await hour.begins()
    await hour.answer("(not shown): ", KEY)
    await hour.answer("  Model: ", "sonnet")
    olga = hour.telegram.person("Olga")
    await hour.says(olga, await hour.ends())
    return bool(await hour.says(olga, "What can you do?"))


async def no_network(hour: FirstHour) -> bool:
    await hour.begins()
    await hour.answer("or skip for no Telegram: ", "keep")
    await hour.answer("Model [1]: ")
    await hour.answer("(not shown): ", KEY)
    await hour.answer("or skip for another model: ", "keep")
    for question in ("Who [2]: ", "Dollars a month [10]: ", "Memory [Y/n]: "):
        await hour.answer(question)
    await hour.answer("Name [Parley]: ", "Ada")
    return "Still to do" in await hour.sees("Still to do")


async def dead_model(hour: FirstHour) -> bool:
    await hour.begins()
    await hour.answer("Model [1]: ")
    await hour.answer("(not shown): ", KEY)
    olga = hour.telegram.person("Olga")
    await hour.says(olga, await hour.ends())
    hour.model.faults.add(Fault("messages", "server_error", times=1_000))
    return bool(await hour.says(olga, "What can you do?"))


Situation = Callable[[FirstHour], Awaitable[bool]]
SITUATIONS: Final[Mapping[str, tuple[Situation, tuple[str, ...]]]] = {
    "everything_works": (everything_works, ()),
    "no_owner": (no_owner, ()),
    "wrong_model": (wrong_model, ("--provider", "anthropic", "--model", "claude-typo")),
    "no_network": (no_network, ()),
    "dead_model": (dead_model, ()),
}
"""What happens, and further options of `parley init`."""


async def went(name: str, folder: Path) -> bool:
    """Go through one situation, and print it."""
    situation, options = SITUATIONS[name]
    telegram, model = TelegramSimulator(), AnthropicSimulator(api_key=KEY)
    await model.start()
    async with simulated({"telegram": telegram}) as port:
        _, assign = pointed_at(telegram)
        ports = ("--set", "server.port=0", "--set", f"webhooks.port={port}")
        address = model.base_url
        if name == "no_network":
            address = NOWHERE
            assign = ["--set", f"platforms.telegram.base_url={NOWHERE}"]
        command = ("init", *assign, *ports, "--base-url", address, *options)
        print(f"\n## {name}\n$ parley init {' '.join(options)}".rstrip())
        with at_terminal(*command, cwd=folder, columns=120) as terminal:
            hour, began = FirstHour(telegram, model), time.monotonic()
            hour.terminal = terminal
            reached = False
            try:
                reached = await situation(hour)
                seconds = round(time.monotonic() - began, 1)
                terminal.press(CTRL_C)
                await asyncio.to_thread(terminal.end)
            finally:
                print(terminal.said)
    await model.stop()
    counted = {"questions": hour.questions, "seconds": seconds, "reached": reached}
    print(json.dumps({"situation": name, **counted}), flush=True)
    return reached


def main() -> int:
    """Go through the chosen situations; 1 when one of them does not reach its end."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.first_hour")
    # Python 3.11 checks a default list as a whole against the choices.
    parser.add_argument("situations", nargs="*", choices=[[], *SITUATIONS])
    chosen: list[str] = parser.parse_args().situations or list(SITUATIONS)
    reached = []
    for name in chosen:
        with tempfile.TemporaryDirectory() as folder:
            reached.append(asyncio.run(went(name, Path(folder))))
    return 0 if all(reached) else 1


if __name__ == "__main__":
    sys.exit(main())

"""Measures a burst whose sends are refused, fail, or get half an answer.

    python -m benchmarks.refusals                          every platform, 200 messages each
    python -m benchmarks.refusals --platform slack --messages 1000

A real `parley run` answers 200 chats with a model that takes 50 ms. Of the requests that send a
text, one in ten (by chance, with a fixed seed) is refused with 429 in the platform's own way of
saying when to try again, one in ten with 500, of one in ten the answer is cut in the middle of its
body, and of one in ten the line is cut before the platform has read it. In the end every message
has to be answered, formatted and in order; a line names the answers that still wait, and those that
were given up after six unknown results in a row. Where the platform recognises a repetition
(Discord) it stands there once; elsewhere twice at most where nobody could know, and then below a
note that says so.
"""

import argparse
import asyncio
import json
import logging
import sqlite3
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import AsyncExitStack, closing
from pathlib import Path
from typing import Any, Final

from benchmarks.burst import MARK, Burst, is_note, marks, parley_run, write_configuration
from simulators.anthropic import AnthropicSimulator
from simulators.anthropic.answers import last_user_text
from simulators.base import Fault, FaultKind, PlatformSimulator
from simulators.discord import DiscordSimulator
from simulators.slack import SlackSimulator
from simulators.telegram import TelegramSimulator
from simulators.whatsapp import WhatsAppSimulator
from tests.support.ports import free_port

PLATFORMS: Final[Mapping[str, Callable[[], PlatformSimulator]]] = {
    "telegram": TelegramSimulator,
    "slack": SlackSimulator,
    "whatsapp": WhatsAppSimulator,
    "discord": DiscordSimulator,
}
SEND: Final = {
    "discord": "POST /channels/{id}/messages",
    "slack": "chat.postMessage",
    "telegram": "sendMessage",
    "whatsapp": "messages",
}
"""The name of each platform for the request that sends a text."""
RECOGNISES: Final = frozenset({"discord"})
"""Platforms that show a repeated send once."""
TROUBLES: Final[tuple[FaultKind, ...]] = (
    "rate_limit",
    "server_error",
    "drop_within",
    "drop_before",
)
CHANCE: Final = 0.1
"""Of each trouble, at random: in a fixed rhythm, the troubles would meet a chat that waits alone
either always or never."""
CHATS: Final = 200
MODEL_SECONDS: Final = 0.05
RETRY_AFTER: Final = 1.0
PATIENCE_SECONDS: Final = 300.0


def formatted_answer(body: Mapping[str, Any]) -> str:
    """Return the model's answer: the number of the message, with some markup."""
    numbers = MARK.findall(last_user_text(body))
    return f"**Noted**: `this` was n{numbers[-1]}" if numbers else "I saw no number."


async def measure(name: str, messages: int) -> dict[str, object]:
    """One platform through its burst."""
    async with AsyncExitStack() as stack:
        platform = PLATFORMS[name]()
        model = AnthropicSimulator(reply=formatted_answer)
        model.faults.add(Fault("messages", "slow", times=10**9, delay=MODEL_SECONDS))
        for started in (platform, model):
            await started.start()
            stack.push_async_callback(started.stop)
        port = free_port()
        platform.attach(f"http://127.0.0.1:{port}")
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        choice = {"provider": "anthropic", "api_key": model.api_key, "base_url": model.base_url}
        troubles = [Fault(SEND[name], kind, 10**9, RETRY_AFTER, chance=CHANCE) for kind in TROUBLES]
        burst = Burst(platform, CHATS)
        async with parley_run(write_configuration(folder, platform, choice, port)):
            await platform.wait_connected()
            for trouble in troubles:
                platform.faults.add(trouble)
            began = time.perf_counter()
            await burst.write(messages)
            await burst.answered(PATIENCE_SECONDS)
            seconds = time.perf_counter() - began
            unsent = await asyncio.to_thread(_unsent, folder)
        row: dict[str, object] = {"platform": name, **burst.figures(), **_looks(burst)}
        row |= {str(trouble.kind): 10**9 - trouble.times for trouble in troubles}
        return {**row, **unsent, "seconds": round(seconds, 1)}


def _unsent(folder: Path) -> dict[str, object]:
    """The answers that wait, and the reasons of those that were given up, from the outbox."""
    rows = f"file:{folder}/parley.db?mode=ro"
    with closing(sqlite3.connect(rows, uri=True)) as outbox:
        waiting = outbox.execute("SELECT count(*) FROM outbox WHERE state = 'waiting'").fetchone()
        dead = outbox.execute("SELECT reason FROM outbox WHERE state = 'dead'").fetchall()
    return {"waiting": waiting[0], "dead": dict(Counter(reason for (reason,) in dead))}


def _looks(burst: Burst) -> dict[str, int]:
    """The numbers of answers that lost their format, of repeated answers without a note, and of
    notes."""
    plain = silent = notes = 0
    for messages in burst.messages():
        seen: set[int] = set()
        noted = False
        for message in messages:
            if is_note(message):
                noted, notes = True, notes + 1
                continue
            numbers = set(marks([message]))
            plain += bool(numbers) and "<code>" not in message.html
            silent += bool(numbers & seen) and not noted
            seen |= numbers
            noted = False
    return {"plain": plain, "doubled_without_note": silent, "notes": notes}


def broken(row: Mapping[str, Any]) -> bool:
    """True if a guarantee was broken."""
    unsure = 0 if row["platform"] in RECOGNISES else row["drop_within"] + row["drop_before"]
    never = ("lost", "out_of_order", "plain", "doubled_without_note")
    return any(row[figure] for figure in never) or row["answered_twice"] > unsure


def main() -> int:
    """Run the command line; return 1 if a guarantee was broken."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.refusals")
    parser.add_argument("--platform", choices=PLATFORMS, action="append")
    parser.add_argument("--messages", type=int, default=200)
    arguments = parser.parse_args()
    logging.getLogger("aiohttp.server").setLevel(logging.CRITICAL)  # cut lines are the point
    bad = False
    for name in arguments.platform or PLATFORMS:
        row = asyncio.run(measure(name, arguments.messages))
        bad |= broken(row)
        print(json.dumps({"benchmark": "refusals", "ok": not broken(row), **row}), flush=True)
    return int(bad)


if __name__ == "__main__":
    sys.exit(main())

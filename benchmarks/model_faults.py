"""Measures the answers when the language model fails: an answer or one sentence, never both.

    python -m benchmarks.model_faults                        every fault, 30 chats each
    python -m benchmarks.model_faults --service openai --fault broken_stream

The model's service, Anthropic's or an OpenAI-compatible one, fails in one way for every request:
overloaded (529, or 503), 500, no answer in time, a stream that breaks off or says an error in the
middle, all at once or while the answer grows before people's eyes.
Once with another model to go on with, and once without. Every chat has to hold exactly one message:
the answer, or the sentence that says that there is none, or the beginning that was shown already
with the sentence that says that it was interrupted.
"""

import argparse
import asyncio
import itertools
import json
import logging
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from benchmarks.burst import LOOK_SECONDS, MARK, SETTLED_SECONDS, Burst
from gateway.turn.model_turn import BROKEN, UNAVAILABLE
from simulators.anthropic import AnthropicSimulator
from simulators.anthropic.answers import last_user_text
from simulators.base import Fault, FaultKind, Shown
from simulators.discord import DiscordSimulator
from simulators.openai import OpenAISimulator
from tests.e2e.harness import app_on, simulated

CHATS: Final = 30
PATIENCE_SECONDS: Final = 30.0
TIMEOUT_SECONDS: Final = 1.0
RETRY_SECONDS: Final = {True: 25.0, False: 5.0}
"""The time for which a turn calls failing models again, with another model and without."""
FOREVER: Final = 10**9
END: Final = "That is all."
BROKEN_TEXT: Final = BROKEN.english.strip("_")

Service = AnthropicSimulator | OpenAISimulator
SERVICES: Final[Mapping[str, Callable[[], Service]]] = {
    "anthropic": AnthropicSimulator,
    "openai": OpenAISimulator,
}


@dataclass(frozen=True, slots=True)
class Trouble:
    """One way to fail. `delay`: seconds before the answer, or before each piece of it."""

    kind: FaultKind
    delay: float = 0.0

    def allowed(self, failover: bool) -> frozenset[str]:
        """The permitted outcomes of a chat. A visible part of an answer is never written again,
        even if another model could answer. While no part is visible, the models are called again:
        another one gives the whole answer, and without one a sentence ends the turn."""
        if self.kind in ("broken_stream", "stream_error"):
            return frozenset({"broken_off", "answered" if failover else "sentence"})
        return frozenset({"answered" if failover else "sentence"})


TROUBLES: Final[Mapping[str, Trouble]] = {
    "overloaded": Trouble("overloaded"),
    "server_error": Trouble("server_error"),
    "time_out": Trouble("slow", 4 * TIMEOUT_SECONDS),
    "broken_stream": Trouble("broken_stream"),
    "stream_error": Trouble("stream_error"),
    "broken_while_growing": Trouble("broken_stream", 0.2),
    "error_while_growing": Trouble("stream_error", 0.2),
}


def long_answer(body: Mapping[str, Any]) -> str:
    """Return the answer of both models: long enough to grow for some seconds."""
    numbers = MARK.findall(last_user_text(body))
    number = f"n{numbers[-1]}" if numbers else "no number"
    return f"This answers {number}. " + "A whale is a mammal and breathes air. " * 15 + END


async def measure(service: str, fault: str, failover: bool) -> dict[str, object]:
    """All chats ask once while the model fails."""
    trouble = TROUBLES[fault]
    async with AsyncExitStack() as stack:
        discord = DiscordSimulator()
        first, second = SERVICES[service](), AnthropicSimulator(reply=long_answer)
        first.reply = long_answer
        first.faults.add(Fault("*", trouble.kind, FOREVER, delay=trouble.delay))
        for model in (first, second):
            await model.start()
            stack.push_async_callback(model.stop)
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        choice = {**_choice(service, first), "timeout": TIMEOUT_SECONDS}
        fallbacks = [_choice("anthropic", second)] if failover else []
        model_settings = {
            **choice,
            "retry_seconds": RETRY_SECONDS[failover],
            "fallbacks": fallbacks,
        }
        overrides = {"model": model_settings, "workers": {"concurrency": CHATS}}
        platforms = {"discord": discord}
        port = await stack.enter_async_context(simulated(platforms))
        app = await stack.enter_async_context(app_on(platforms, folder, port, overrides))
        burst, began = Burst(discord, CHATS), time.perf_counter()
        await burst.write(CHATS)
        async with asyncio.timeout(PATIENCE_SECONDS):
            while not (all(burst.messages()) and app.settled()):  # noqa: ASYNC110 - no event
                await asyncio.sleep(LOOK_SECONDS)
        seconds = time.perf_counter() - began
        await asyncio.sleep(SETTLED_SECONDS)
        kinds = Counter(_kind(messages) for messages in burst.messages())
        edits = sum(call.method.startswith("PATCH /channels") for call in discord.calls)
    allowed = trouble.allowed(failover)
    return {
        "service": service,
        "fault": fault,
        "failover": failover,
        "chats": CHATS,
        **{kind: kinds[kind] for kind in ("answered", "broken_off", "sentence", "wrong")},
        "edits": edits,
        "allowed": sorted(allowed),
        "ok": sum(kinds[kind] for kind in allowed) == CHATS,
        "seconds": round(seconds, 1),
    }


def _choice(service: str, model: Service) -> dict[str, object]:
    name = {"name": "gpt-test"} if service == "openai" else {}
    return {"provider": service, "api_key": model.api_key, "base_url": model.base_url, **name}


def _kind(messages: list[Shown]) -> str:
    """Return the kind of a chat's outcome: exactly one message of one of three kinds, or an
    error."""
    if len(messages) != 1:
        return "wrong"
    (text,) = [message.text for message in messages]
    if text.startswith(UNAVAILABLE.english):
        return "sentence"
    if not text.startswith("This answers n"):
        return "wrong"
    if text.endswith(END):
        return "answered"
    return "broken_off" if text.endswith(BROKEN_TEXT) else "wrong"


def main() -> int:
    """Run the command line; return 1 if a guarantee was broken."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.model_faults")
    parser.add_argument("--service", choices=SERVICES, action="append")
    parser.add_argument("--fault", choices=TROUBLES, action="append")
    arguments = parser.parse_args()
    logging.getLogger("aiohttp.server").setLevel(logging.CRITICAL)  # cut lines are the point
    services, faults = arguments.service or SERVICES, arguments.fault or TROUBLES
    bad = False
    for service, fault, failover in itertools.product(services, faults, (True, False)):
        row = asyncio.run(measure(service, fault, failover))
        bad |= not row["ok"]
        print(json.dumps({"benchmark": "model_faults", **row}), flush=True)
    return int(bad)


if __name__ == "__main__":
    sys.exit(main())

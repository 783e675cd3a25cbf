"""Start, memory, and the first request: all four platforms and the Anthropic provider.

    python -m benchmarks.startup                 three starts of `parley run`

The program is started as a person starts it, against simulated platforms in this process. Seconds
are from the start of the process to its line `ready gateway`; memory is the resident set, idle and
after the first answer. The bytes of the first request are those of its body on the wire. Held to
`PROMISED` in the median.
"""

import argparse
import asyncio
import json
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Final

import psutil
import yaml

from simulators.anthropic import AnthropicSimulator
from simulators.base import PlatformSimulator
from simulators.discord import DiscordSimulator
from simulators.slack import SlackSimulator
from simulators.telegram import TelegramSimulator
from simulators.whatsapp import WhatsAppSimulator

IDLE_SECONDS: Final = 8.0
STEADY: Final = 5
"""Equal samples, a second apart, from which on a program is idle: what it loads late is loaded."""
MOST_SAMPLES: Final = 60
READY_SECONDS: Final = 30.0
MEGABYTE: Final = 1024 * 1024
PROMISED: Final = {
    "seconds_to_ready": 2.0,
    "megabytes_idle": 150.0,
    "bytes_of_first_request": 2_700.0,
}
"""The most of each."""


@asynccontextmanager
async def _world() -> AsyncIterator[tuple[list[PlatformSimulator], AnthropicSimulator]]:
    platforms: list[PlatformSimulator] = [
        DiscordSimulator(),
        SlackSimulator(),
        TelegramSimulator(),
        WhatsAppSimulator(),
    ]
    model = AnthropicSimulator()
    async with AsyncExitStack() as stack:
        for platform in platforms:
            await platform.start()
            stack.push_async_callback(platform.stop)
        await model.start()
        stack.push_async_callback(model.stop)
        yield platforms, model


async def measure() -> dict[str, float]:
    """One start: seconds to ready, megabytes idle and after an answer, bytes of the request."""
    async with _world() as (platforms, model):
        with tempfile.TemporaryDirectory() as folder:
            config = Path(folder) / "parley.yaml"
            config.write_text(
                yaml.safe_dump(
                    {
                        "model": {
                            "provider": "anthropic",
                            "api_key": model.api_key,
                            "base_url": model.base_url,
                        },
                        "platforms": {p.platform: p.settings() for p in platforms},
                        "database": {"url": f"sqlite:///{folder}/parley.db"},
                        "server": {"port": 0},
                        "webhooks": {"port": 0},
                    }
                )
            )
            return await _start(config, platforms[2], model)


async def _start(
    config: Path, telegram: PlatformSimulator, model: AnthropicSimulator
) -> dict[str, float]:
    began = time.perf_counter()
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        *("-m", "parley", "run", "--config", str(config)),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    assert process.stdout is not None
    try:
        lines: list[str] = []
        async with asyncio.timeout(READY_SECONDS):
            while not lines or lines[-1] != "ready gateway":
                line = await process.stdout.readline()
                if not line:
                    raise RuntimeError("parley ended before it was ready")
                lines.append(line.decode().strip())
        ready = time.perf_counter() - began
        memory = psutil.Process(process.pid)
        idle = await _idle(memory)
        person = telegram.person("Ada")
        room = telegram.direct(person)
        await telegram.say(person, room, "hello")
        await telegram.wait_for(room, lambda shown: any(m.by_bot for m in shown), 30)
        answered = memory.memory_info().rss / MEGABYTE
        request = model.requests[0].size
    finally:
        process.terminate()
        await process.communicate()
    return {
        "seconds_to_ready": round(ready, 2),
        "platforms_ready": len(lines) - 1,
        "megabytes_idle": round(idle, 1),
        "megabytes_after_first_answer": round(answered, 1),
        "bytes_of_first_request": request,
    }


async def _idle(process: psutil.Process) -> float:
    """Return the resident megabytes once they do not change any more."""
    await asyncio.sleep(IDLE_SECONDS)
    samples: list[float] = []
    while len(samples) < MOST_SAMPLES:
        samples.append(process.memory_info().rss / MEGABYTE)
        latest = samples[-STEADY:]
        if len(latest) == STEADY and max(latest) - min(latest) < 0.5:
            break
        await asyncio.sleep(1)
    return samples[-1]


def main() -> int:
    """Run the command line; return 1 if a guarantee is broken."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.startup")
    parser.add_argument("--rounds", type=int, default=3)
    rows = [asyncio.run(measure()) for _ in range(parser.parse_args().rounds)]
    for row in rows:
        print(json.dumps(row), flush=True)
    middle = {name: statistics.median(row[name] for row in rows) for name in rows[0]}
    held = all(middle[name] <= most for name, most in PROMISED.items())
    print(json.dumps({"median": middle, "promised": PROMISED, "held": held}), flush=True)
    return 0 if held else 1


if __name__ == "__main__":
    sys.exit(main())

"""Measures losses, duplicates and wrong order when the program is killed repeatedly.

    python -m benchmarks.faults                        every platform, 5 kills in 250 messages
    python -m benchmarks.faults --full                 every platform, 20 kills in 1,000 messages
    python -m benchmarks.faults --full --platform telegram
    python -m benchmarks.faults --full --platform telegram --victim worker

A real `parley run` answers a simulated platform with a model that takes 50 ms. People write
continuously; the program is killed with SIGKILL and restarted. In the end every message must be
answered once, in the order in which the platform delivered the messages of a chat. With `--victim`
the state is in Redis and PostgreSQL, and one of two workers, or the adapter, is killed.

Sends in flight at a kill may be repeated, except on Discord, which recognises a repeated send. The
last line of each run is JSON. If a requirement was violated, the exit status is 1 and the program's
log is kept.
"""

import argparse
import asyncio
import json
import logging
import sys
import tempfile
import time
from pathlib import Path
from typing import Final, get_args

from benchmarks.faults.burst import Plan, prepared
from benchmarks.faults.verdict import row
from benchmarks.faults.world import PLATFORMS
from parley.runtime import Role

SMALL: Final = (5, 250)
FULL: Final = (20, 1000)


async def measure(plan: Plan, log: Path) -> dict[str, object]:
    """One platform through all its kills."""
    began = time.perf_counter()
    async with prepared(plan, log) as burst:
        verdict, kills = await burst.run()
    seconds = round(time.perf_counter() - began, 1)
    return {
        "benchmark": "faults",
        "platform": plan.platform,
        "killed": plan.victim,
        "live": plan.live,
        "seed": plan.seed,
        **row(verdict, kills),
        "seconds": seconds,
    }


def main() -> int:
    """Run the command line; return 1 if a guarantee was broken."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.faults")
    parser.add_argument("--platform", choices=PLATFORMS, action="append")
    parser.add_argument("--full", action="store_true", help="20 kills in 1,000 messages")
    parser.add_argument("--kills", type=int)
    parser.add_argument("--messages", type=int)
    parser.add_argument("--victim", choices=get_args(Role), action="append")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--live", action="store_true", help="answers grow while they are written")
    arguments = parser.parse_args()
    logging.getLogger("aiohttp.server").setLevel(logging.CRITICAL)  # killed clients are the point
    kills, messages = FULL if arguments.full else SMALL
    plans = [
        Plan(
            platform,
            arguments.kills or kills,
            arguments.messages or messages,
            victim,
            arguments.seed,
            arguments.live,
        )
        for platform in arguments.platform or PLATFORMS
        for victim in arguments.victim or _victims(platform, everything=arguments.full)
    ]
    return max(_run(plan) for plan in plans)


def _victims(platform: str, *, everything: bool) -> tuple[Role, ...]:
    """In the small form, several processes are tried on one platform only."""
    return ("all", "worker") if everything or platform == "telegram" else ("all",)


def _run(plan: Plan) -> int:
    with tempfile.NamedTemporaryFile(
        prefix=f"parley-faults-{plan.platform}-", suffix=".log", delete=False
    ) as file:
        log = Path(file.name)
    result = asyncio.run(measure(plan, log))
    if result["kept"]:
        log.unlink()
    else:
        print(f"# a guarantee was broken; the program's log is {log}", flush=True)
    print(json.dumps(result), flush=True)
    return 0 if result["kept"] else 1


if __name__ == "__main__":
    sys.exit(main())

"""Measures the cost of a temporary outage of Redis, PostgreSQL or the disk.

    python -m benchmarks.outages                          every outage, 30 s each
    python -m benchmarks.outages --outage redis-held --seconds 10 --platform telegram

People write on four platforms at once, continuously. A real `parley run` (an adapter and a worker
where Redis and PostgreSQL are the stores, one process on SQLite) answers them with a model that
takes 50 ms. After five seconds the store is unavailable: a server is stopped (SIGSTOP) or killed
(SIGKILL) and restarted with its data; the disk is filled to the last byte.

Requirements: every message is answered, once and in order; `/readyz` of every process names the
store, and no other, from some seconds after the beginning; all is ready again, without a restart of
Parley, some seconds after the end. Each line is JSON; the exit status is 1 if a requirement was
violated.
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

from benchmarks.faults.world import PLATFORMS
from benchmarks.outages.run import Plan, Seen, prepared
from benchmarks.outages.stores import Outage

NOTICED_SECONDS: Final = 12.0
"""Until an outage is reported: a round of the store watch, and what a store may take to answer."""
DISK_SECONDS: Final = 25.0
"""The same for a disk: what the database has left of its own files is filled first."""
RECOVERED_SECONDS: Final = 15.0
"""Until all is ready again, and until the first answer after the outage."""


async def measure(plan: Plan, log: Path) -> dict[str, object]:
    """One outage."""
    began = time.perf_counter()
    async with prepared(plan, log) as scene:
        seen = await scene.run()
        alive = all(program.alive for program in scene.programs)
    broken = problems(plan, seen)
    if not alive:
        broken.append("a process ended")
    verdicts = seen.verdicts.values()
    return {
        "benchmark": "outages",
        "outage": plan.outage,
        "by": seen.how,
        "seconds_away": plan.seconds,
        "messages": sum(v.messages for v in verdicts),
        "lost": sum(v.lost for v in verdicts),
        "answered_twice": sum(v.answered_twice for v in verdicts),
        "out_of_order": sum(v.out_of_order for v in verdicts),
        "told_after": {role: _rounded(t.noticed) for role, t in seen.readiness.items()},
        "ready_after": {role: _rounded(t.recovered) for role, t in seen.readiness.items()},
        "first_answer_after": _rounded(seen.answered_again),
        "last_answer_after": _rounded(seen.all_answered),
        "seconds": round(time.perf_counter() - began, 1),
        "broken": broken,
    }


def problems(plan: Plan, seen: Seen) -> list[str]:
    """The broken guarantees."""
    violations = [
        f"{name}: {verdict}" for name, verdict in seen.verdicts.items() if not verdict.kept
    ]
    soon = DISK_SECONDS if plan.outage == "disk-full" else NOTICED_SECONDS
    for role, readiness in seen.readiness.items():
        if readiness.noticed is None or readiness.noticed > soon:
            violations.append(f"{role}: told after {readiness.noticed} s")
        if readiness.recovered is None or readiness.recovered > RECOVERED_SECONDS:
            violations.append(f"{role}: ready after {readiness.recovered} s")
        violations += [f"{role}: {wrong}" for wrong in readiness.wrongly]
    if seen.answered_again is None or seen.answered_again > RECOVERED_SECONDS:
        violations.append(f"first answer after {seen.answered_again} s")
    return violations


def _rounded(seconds: float | None) -> float | None:
    return None if seconds is None else round(seconds, 1)


def main() -> int:
    """Run the command line; return 1 if a guarantee was broken."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.outages")
    parser.add_argument("--outage", choices=get_args(Outage), action="append")
    parser.add_argument("--platform", choices=PLATFORMS, action="append")
    parser.add_argument("--seconds", type=float, default=30.0)
    parser.add_argument("--per-second", type=float, default=5.0, help="on each platform")
    arguments = parser.parse_args()
    logging.getLogger("aiohttp.server").setLevel(logging.CRITICAL)
    platforms = tuple(arguments.platform or PLATFORMS)
    return max(
        _run(Plan(outage, arguments.seconds, arguments.per_second, platforms))
        for outage in arguments.outage or get_args(Outage)
    )


def _run(plan: Plan) -> int:
    with tempfile.NamedTemporaryFile(
        prefix=f"parley-{plan.outage}-", suffix=".log", delete=False
    ) as file:
        log = Path(file.name)
    result = asyncio.run(measure(plan, log))
    print(json.dumps(result), flush=True)
    if result["broken"]:
        print(f"# the program's log is {log}", flush=True)
        return 1
    log.unlink()
    return 0


if __name__ == "__main__":
    sys.exit(main())

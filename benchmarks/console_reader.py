"""An operator who reads the console of a running program, in a process of its own.

    python -m benchmarks.console_reader --place FILE

FILE is JSON with the `url` of the program and a login `link`. The operator follows the events, as a
page in a browser does, opens each page once, and then a page every second. On SIGTERM this prints
one line of JSON: the pages opened, their median and 95th percentile, and the longest time of each
page, in milliseconds.
"""

import argparse
import asyncio
import json
import signal
import statistics
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import aiohttp

from parley.console.sessions import PREFIX
from tests.parley.console.kit import Visitor

EVERY_SECONDS: Final = 1.0
PATIENCE_SECONDS: Final = 30.0
PAGES: Final = (
    *("/overview", "/conversations", "/conversations?q=message", "/outbox", "/usage", "/audit"),
    *("/memory/entries", "/access", "/configuration", "/health"),
)


async def read(where: Mapping[str, str]) -> dict[str, object]:
    """Read until SIGTERM."""
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    took: list[float] = []
    longest: dict[str, float] = dict.fromkeys(PAGES, 0.0)
    timeout = aiohttp.ClientTimeout(total=None, sock_connect=PATIENCE_SECONDS)
    async with aiohttp.ClientSession(timeout=timeout) as http:
        visitor = Visitor(where["url"], http)
        await visitor.use(where["link"])
        following = asyncio.create_task(_follow(visitor))
        while not stop.is_set():
            path = PAGES[len(took) % len(PAGES)]
            began = time.perf_counter()
            page = await visitor.get(path)
            if page.status != 200:
                raise RuntimeError(f"{path}: status {page.status}")
            took.append((time.perf_counter() - began) * 1000)
            longest[path] = max(longest[path], round(took[-1], 1))
            if len(took) >= len(PAGES):  # the first views, which compile templates, come at once
                await asyncio.wait([asyncio.create_task(stop.wait())], timeout=EVERY_SECONDS)
        following.cancel()
        await asyncio.gather(following, return_exceptions=True)
    ordered = sorted(took) or [0.0]
    return {
        "pages": len(took),
        "page_ms": round(statistics.median(ordered), 1),
        "page_p95_ms": round(ordered[int(0.95 * (len(ordered) - 1))], 1),
        "page_longest_ms": longest,
    }


def wait_for(place: Path) -> dict[str, str]:
    """Return the content of the file once it is there. Raises `TimeoutError`."""
    until = time.monotonic() + PATIENCE_SECONDS
    while not place.exists():
        if time.monotonic() > until:
            raise TimeoutError(f"{place} did not appear")
        time.sleep(0.05)
    where: dict[str, str] = json.loads(place.read_text("utf-8"))
    return where


async def _follow(visitor: Visitor) -> None:
    cookie = "; ".join(f"{name}={value}" for name, value in visitor.cookies.items())
    async with visitor.http.get(
        f"{visitor.base}{PREFIX}/events", headers={"Cookie": cookie}
    ) as events:
        async for _ in events.content:
            pass


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.console_reader")
    parser.add_argument("--place", type=Path, required=True)
    arguments = parser.parse_args()
    print(json.dumps(asyncio.run(read(wait_for(arguments.place)))), flush=True)


if __name__ == "__main__":
    main()

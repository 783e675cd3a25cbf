"""The whole gateway on a simulated Telegram, in a process of its own, with its time measured.

    python -m benchmarks.served --url URL --token T --folder F [--fsync full] [--times FILE]
        [--without-memory] [--model URL] [--place FILE]

Offline model, or a simulated Anthropic at URL. Limits lifted, overlap `queue`; inbox,
conversations, traces and outbox in SQLite as always. On SIGTERM it prints one line of JSON:
processor seconds since it was ready, transactions, and the time of each stage. `--times FILE`
keeps, per answer, five doubles on the clock that the processes of a machine share: the id of the
message, when it was received, when the answer's send was begun, when the platform had confirmed it,
and the seconds spent waiting for the model. `--place FILE` gets JSON with the `url` of the console
and a login `link` of the local operator.
"""

import argparse
import asyncio
import json
import signal
import time
from array import array
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from gateway.ports.observer import FinishedTurn, SendAttempt
from parley.app import App
from parley.config import Settings, from_mapping
from parley.console.viewer import LOCAL_OPERATOR
from parley.runtime.gc_and_heap import collect_rarely, freeze_startup_objects, return_large_blocks

FAST: Final = 1000.0
SHARES: Final = {"p50": 0.50, "p95": 0.95, "p99": 0.99}
UNLIMITED: Final = {"user_per_minute": 0, "channel_per_minute": 0, "workspace_per_minute": 0}


class Stopwatch:
    """Implements `gateway.ports.observer.Observer`: keeps every figure, not only its bucket."""

    def __init__(self) -> None:
        self.times: array[float] = array("d")
        self.stages: dict[str, array[float]] = defaultdict(lambda: array("d"))
        self._unsent: dict[str, tuple[float, float]] = {}

    def arrived(self, platform: str, kind: str) -> None:
        """Do nothing: there is no measurement."""

    def stored(self, seconds: float) -> None:
        """The inbox took an event."""
        self.stages["inbox"].append(seconds)

    def answered(self, answered: FinishedTurn) -> None:
        """A turn ended; its answer is on its way."""
        model = 0.0
        self.stages["queue"].append(answered.began - answered.stored)
        for timing in answered.timings:
            self.stages[timing.name].append(timing.seconds)
            model += timing.seconds if timing.kind == "model" else 0.0
        self._unsent[answered.last_key] = (answered.stored, model)

    def attempted(self, attempt: SendAttempt) -> None:
        """A send was tried."""
        entry = self._unsent.pop(attempt.outbound.key, None)
        if entry is not None and not attempt.failed:
            stored, model = entry
            message, ended = float(attempt.outbound.reply_to_id), attempt.began + attempt.seconds
            self.times.extend((message, stored, attempt.began, ended, model))


def settings_for(
    url: str,
    token: str,
    folder: str,
    fsync: str = "normal",
    *,
    memory: bool = True,
    model: str = "",
) -> Settings:
    """Limits lifted, everything in one SQLite file in `folder`; `model` is the address of a
    simulated Anthropic."""
    sections = mapping_for(url, token, folder, fsync) | {"memory": {"enabled": memory}}
    if model:
        sections["model"] = {"provider": "anthropic", "api_key": "test-key", "base_url": model}
    return from_mapping(sections)


def mapping_for(url: str, token: str, folder: str, fsync: str = "normal") -> dict[str, object]:
    """The same as it stands in a configuration file."""
    return {
        "model": {"provider": "offline"},
        "limits": dict(UNLIMITED),
        "delivery": {"chat_per_second": FAST, "platform_per_second": FAST},
        "conversation": {"overlap": "queue"},
        "database": {"url": f"sqlite:///{folder}/parley.db?synchronous={fsync}"},
        "server": {"port": 0},
        "platforms": {"telegram": {"bot_token": token, "base_url": url}},
    }


def shares(seconds: Sequence[float]) -> dict[str, float]:
    """p50, p95, p99 and the longest, in milliseconds."""
    ordered = sorted(seconds)
    if not ordered:
        return {}
    at = {name: ordered[int(share * (len(ordered) - 1))] for name, share in SHARES.items()}
    return {name: round(value * 1000, 2) for name, value in (at | {"max": ordered[-1]}).items()}


def number(row: Mapping[str, object], name: str) -> float:
    """A figure of a printed line."""
    value = row[name]
    if not isinstance(value, int | float):
        raise TypeError(f"{name} is {value!r}, not a number")
    return value


async def serve(
    settings: Settings, watch: Stopwatch | None, place: Path | None = None
) -> dict[str, object]:
    """Run the gateway until SIGTERM; what it used since it was ready."""
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    app = App(settings, observers=() if watch is None else (watch,))
    await app.load_libraries()  # a program does so once it is ready
    began = time.process_time()
    await app.start()
    freeze_startup_objects()
    if place is not None:
        link = await app.console_sessions.link("default", str(LOCAL_OPERATOR))
        written = place.with_suffix(".part")
        written.write_text(json.dumps({"url": app.local.base_url, "link": link}), "utf-8")
        written.rename(place)
    await stop.wait()
    used = time.process_time() - began
    transactions = app.storage.long_lived.transactions
    await app.stop()
    return {"cpu_seconds": used, "transactions": transactions}


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.served")
    parser.add_argument("--url", required=True)
    parser.add_argument("--token", required=True)
    parser.add_argument("--folder", required=True)
    parser.add_argument("--fsync", choices=("normal", "full"), default="normal")
    parser.add_argument("--times", type=Path)
    parser.add_argument("--without-memory", action="store_true")
    parser.add_argument("--model", metavar="URL", default="")
    parser.add_argument("--place", type=Path)
    arguments = parser.parse_args()
    settings = settings_for(
        arguments.url,
        arguments.token,
        arguments.folder,
        arguments.fsync,
        memory=not arguments.without_memory,
        model=arguments.model,
    )
    watch = Stopwatch() if arguments.times else None
    collect_rarely()
    return_large_blocks()
    used = asyncio.run(serve(settings, watch, arguments.place))
    if watch is not None:
        arguments.times.write_bytes(watch.times.tobytes())
        used["stages"] = {name: shares(seconds) for name, seconds in watch.stages.items()}
    print(json.dumps(used), flush=True)


if __name__ == "__main__":
    main()

"""Ten minutes at 100 messages a second over 5,000 chats: does the memory stay, does anything go?

    python -m benchmarks.soak                          ten minutes; not part of `make bench`
    python -m benchmarks.soak --minutes 2              a short form
    python -m benchmarks.soak --minutes 60 --rate 50 --model-seconds 1

The program is `parley run` as a person starts it, with the offline model, or a simulated Anthropic
that streams an answer in `--model-seconds`, limits lifted, and inbox, conversations, traces and
outbox in one SQLite file. People, gateway and this observer are processes
of their own. A line each half minute: resident memory, database file and its log, answers that took
less than 20 ms from stored to sent without the model (as the program's own /metrics tell it).

Held to: nothing lost, doubled or out of order; from the second minute on (in the short form from
the first, when every chat was seen) memory within `FLAT_SHARE` and growing by less than
`FLAT_PER_MINUTE`; the log bounded. The file grows by what is kept of each message for its day; that
this has an end is measured by `benchmarks.growth`.
"""

import argparse
import json
import signal
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

import psutil
import yaml

from benchmarks import echo_bot
from benchmarks.machine import Machine
from benchmarks.served import mapping_for, number
from db.sqlite import MAX_FILE
from tests.support.ports import free_port

MEGABYTE: Final = 1024 * 1024
EVERY: Final = 30.0
"""Seconds between two looks."""
WARM_SECONDS: Final = 120.0
SHORT_WARM_SECONDS: Final = 60.0
SHORT: Final = 5.0
"""Minutes below which it is the short form."""
FLAT_PER_MINUTE: Final = 0.5
"""Megabytes a minute: the slope of a line through all looks after the warm-up."""
FLAT_SHARE: Final = 0.03
"""The growth that is allowed from the first one after the warm-up."""
STOP_SECONDS: Final = 60
CONCURRENCY: Final = 256
"""Turns at once beside a model that takes some time."""
OWN: Final = "parley_answer_without_model_seconds"


@dataclass(frozen=True, slots=True)
class Look:
    """The state at one moment. Sizes in megabytes; `own_below_20_ms` is a share of all answers so
    far."""

    seconds: float
    rss: float
    database: float
    log: float
    answered: int
    own_below_20_ms: float
    loop_lag_ms: float


def looks(gateway: int, port: int, database: Path, until: float) -> Iterator[Look]:
    """Look every half minute until then."""
    began, process = time.monotonic(), psutil.Process(gateway)
    due = began
    while (due := due + EVERY) <= began + until + 1.0:
        time.sleep(max(0.0, due - time.monotonic()))
        page = figures(port)
        answered = page.get(f'{OWN}_count{{platform="telegram"}}', 0.0)
        quick = page.get(f'{OWN}_bucket{{le="0.02",platform="telegram"}}', 0.0)
        yield Look(
            seconds=round(time.monotonic() - began, 1),
            rss=round(process.memory_info().rss / MEGABYTE, 2),
            database=round(size_of(database), 2),
            log=round(size_of(Path(f"{database}-wal")), 2),
            answered=int(answered),
            own_below_20_ms=round(quick / answered, 5) if answered else 0.0,
            loop_lag_ms=round(page.get("parley_event_loop_lag_seconds", 0.0) * 1000, 1),
        )


def figures(port: int) -> dict[str, float]:
    """The page of figures, name and labels to value."""
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=10) as answer:
        lines = answer.read().decode().splitlines()
    pairs = (line.rpartition(" ") for line in lines if not line.startswith("#"))
    return {name: float(value) for name, _, value in pairs}


def size_of(file: Path) -> float:
    """Megabytes, 0 for a file that is not there."""
    return file.stat().st_size / MEGABYTE if file.exists() else 0.0


def run(minutes: float, rate: float, chats: int, model_seconds: float) -> dict[str, object]:
    """The whole soak; prints every look, returns the verdict. The model is simulated if it takes
    more than no time."""
    if not model_seconds:
        return _run(minutes, rate, chats, {})
    model = echo_bot.start("benchmarks.model_server", "--seconds", str(model_seconds))
    assert model.stdout is not None
    try:
        url = json.loads(model.stdout.readline())["url"]
        provider = {"provider": "anthropic", "api_key": "test-key", "base_url": url}
        return _run(
            minutes, rate, chats, {"model": provider, "workers": {"concurrency": CONCURRENCY}}
        )
    finally:
        model.terminate()
        model.wait(STOP_SECONDS)


def _run(
    minutes: float, rate: float, chats: int, sections: Mapping[str, object]
) -> dict[str, object]:
    seconds, machine = minutes * 60, Machine()
    simulator = echo_bot.start(
        "benchmarks.steady",
        *("--rate", str(rate), "--seconds", str(seconds), "--chats", str(chats)),
        *("--linger", str(STOP_SECONDS)),
    )
    assert simulator.stdout is not None
    with tempfile.TemporaryDirectory() as folder:
        try:
            where = json.loads(simulator.stdout.readline())
            port, config = free_port(), Path(folder) / "parley.yaml"
            settings = mapping_for(where["url"], where["token"], folder)
            config.write_text(yaml.safe_dump({**settings, "server": {"port": port}, **sections}))
            gateway = start(config)
            try:
                seen = []
                for look in looks(gateway.pid, port, Path(folder) / "parley.db", seconds):
                    seen.append(look)
                    print(json.dumps(asdict(look)), flush=True)
                outcome: dict[str, object] = json.loads(simulator.stdout.readline())
            finally:
                gateway.send_signal(signal.SIGTERM)
                gateway.wait(STOP_SECONDS)
        finally:
            simulator.terminate()
            simulator.wait(STOP_SECONDS)
    return {
        **outcome,
        "others_cpu": machine.others(),
        **judged(seen, SHORT_WARM_SECONDS if minutes < SHORT else WARM_SECONDS),
    }


def start(config: Path) -> "subprocess.Popen[str]":
    """`parley run`, once it is ready; its log goes to a file beside the configuration."""
    with config.with_suffix(".log").open("w") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "parley", "run", "--config", str(config)],
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
        )
    assert process.stdout is not None
    for line in process.stdout:
        if line.strip() == "ready gateway":
            return process
    raise RuntimeError("parley ended before it was ready")


def judged(seen: Sequence[Look], warm: float) -> dict[str, object]:
    """Return the figures of the samples, and the verdict about them."""
    after = [look for look in seen if look.seconds >= warm - 1.0]
    minutes = [look.seconds / 60 for look in after]
    slope = statistics.linear_regression(minutes, [look.rss for look in after]).slope
    written = statistics.linear_regression(
        [float(look.answered) for look in after], [look.database * MEGABYTE for look in after]
    ).slope
    first, last, log = after[0].rss, after[-1].rss, max(look.log for look in seen)
    flat = slope <= FLAT_PER_MINUTE and last <= first * (1 + FLAT_SHARE)
    return {
        "rss_after_warm_up": first,
        "rss_at_the_end": last,
        "rss_megabytes_per_minute": round(slope, 3),
        "bytes_kept_per_message": round(written),
        "largest_log": log,
        "own_below_20_ms": after[-1].own_below_20_ms,
        "flat": flat,
        "log_bounded": log <= MAX_FILE / MEGABYTE,
    }


def main() -> int:
    """Run the command line; return 1 if a guarantee is broken."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.soak")
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--rate", type=float, default=100.0)
    parser.add_argument("--chats", type=int, default=5000)
    parser.add_argument("--model-seconds", type=float, default=0.0)
    arguments = parser.parse_args()
    if arguments.minutes < 2:
        parser.error("a soak takes two minutes at least")
    verdict = run(arguments.minutes, arguments.rate, arguments.chats, arguments.model_seconds)
    print(json.dumps(verdict), flush=True)
    gone = sum(number(verdict, name) for name in ("lost", "doubled", "out_of_order"))
    return 0 if not gone and verdict["flat"] and verdict["log_bounded"] else 1


if __name__ == "__main__":
    sys.exit(main())

"""The gateway's own time from stored to sent at 100 messages a second, without the model.

    python -m benchmarks.latency                       5 rounds of 20 seconds each
    python -m benchmarks.latency --fsync full          waiting for the disk at every commit
    python -m benchmarks.latency --reader              beside an operator who reads the console
    python -m benchmarks.latency --echo --rate 50      in turn with a bare python-telegram-bot echo

Messages are written at random moments, 100 a second on average, in 500 chats; simulator and
gateway are processes of their own, and all moments are on the clock that both share.

own                from the moment an event was received, before it is stored, to the moment the
                   platform's confirmation of the (last) send was read; less the model
until_send         the part of it before the send was begun: inbox, queue, every stage, saving
send               the rest: building the request, HTTP both ways, the platform's own work
send_there         of that, until the platform had it and had its answer ready
send_back          of that, from there until the gateway had read the answer
for_people         from written to answered as the simulator saw it: also polling, and the model

`own` is held to 20 ms in the median of the rounds' p99, although the simulator's share is in it.
With `--reader`, rounds with and without a reader alternate, and the median p99 with one is held to
`BESIDE` times the other. With `--echo`, rounds of the gateway and of the echo alternate; their
`for_people` are held to `AGAINST_ECHO`.

A round in which others used the machine (`others_cpu`) is shown and made again, as many times at
most, unless this runs with real-time priority (`comes_first`).
"""

import argparse
import json
import signal
import statistics
import subprocess
import sys
import tempfile
from array import array
from collections.abc import Sequence
from pathlib import Path
from typing import Final, cast

from benchmarks import echo_bot
from benchmarks.machine import QUIET, Machine, comes_first
from benchmarks.served import number, shares

PROMISE: Final = 20.0
"""Milliseconds."""
BESIDE: Final = 1.2
"""The p99 beside a reader of the console, in that without one."""
LEAVE_OUT: Final = 2.0
"""Seconds at the beginning that do not count: connections are opened, code is read."""
STOP_SECONDS: Final = 40
PARTS: Final = ("own", "until_send", "send", "send_there", "send_back", "for_people")


AGAINST_ECHO: Final = {"p50": 1.5, "p99": 2.0}
"""From written to answered, in that of a bare echo."""


def measure_echo(rate: float, seconds: float, chats: int) -> dict[str, object]:
    """One round of a bare echo."""
    machine = Machine()
    with tempfile.TemporaryDirectory() as folder:
        theirs = Path(folder) / "theirs"
        simulator = echo_bot.start(
            "benchmarks.steady",
            *("--rate", str(rate), "--seconds", str(seconds), "--chats", str(chats)),
            *("--times", str(theirs)),
        )
        assert simulator.stdout is not None
        where = json.loads(simulator.stdout.readline())
        echo = echo_bot.start(
            "benchmarks.echo_bot", "--serve", where["url"], "--token", where["token"]
        )
        try:
            outcome: dict[str, object] = json.loads(simulator.stdout.readline())
        finally:
            echo.send_signal(signal.SIGTERM)
            echo.communicate(timeout=STOP_SECONDS)
            simulator.wait(STOP_SECONDS)
        times = doubles(theirs)
    first = min(times[1::3], default=0.0) + LEAVE_OUT
    took = [
        answered - written
        for _, written, answered in zip(times[::3], times[1::3], times[2::3], strict=True)
        if written >= first
    ]
    others = machine.others()
    return {"bot": "echo", "others_cpu": others, **outcome, "for_people_ms": shares(took)}


def measure(
    rate: float, seconds: float, chats: int, fsync: str, *, reader: bool = False
) -> dict[str, object]:
    """One round."""
    machine = Machine()
    with tempfile.TemporaryDirectory() as folder:
        ours, theirs = Path(folder) / "ours", Path(folder) / "theirs"
        place = Path(folder) / "place"
        simulator = echo_bot.start(
            "benchmarks.steady",
            *("--rate", str(rate), "--seconds", str(seconds), "--chats", str(chats)),
            *("--times", str(theirs), "--linger", str(STOP_SECONDS)),
        )
        assert simulator.stdout is not None
        try:
            where = json.loads(simulator.stdout.readline())
            gateway = echo_bot.start(
                "benchmarks.served",
                *("--url", where["url"], "--token", where["token"], "--folder", folder),
                *("--fsync", fsync, "--times", str(ours), "--place", str(place)),
            )
            beside = (
                echo_bot.start("benchmarks.console_reader", "--place", str(place))
                if reader
                else None
            )
            outcome: dict[str, object] = json.loads(simulator.stdout.readline())
            read = _stop(beside) if beside is not None else {}
            gateway.send_signal(signal.SIGTERM)
            output, _ = gateway.communicate(timeout=STOP_SECONDS)
        finally:
            simulator.terminate()
            simulator.wait(STOP_SECONDS)
        used = json.loads(output.splitlines()[-1])
        messages = number(outcome, "messages")
        return {
            "fsync": fsync,
            "others_cpu": machine.others(),
            "comes_first": comes_first(),
            **outcome,
            **read,
            "cpu_seconds_per_1000": round(used["cpu_seconds"] / messages * 1000, 3),
            "transactions_per_message": round(used["transactions"] / messages, 2),
            **spans(doubles(ours), doubles(theirs)),
            "stages": used["stages"],
        }


def _stop(reader: "subprocess.Popen[str]") -> dict[str, object]:
    """Stop a reader of the console, and return its figures."""
    reader.send_signal(signal.SIGTERM)
    output, _ = reader.communicate(timeout=STOP_SECONDS)
    read: dict[str, object] = json.loads(output.splitlines()[-1])
    return read


def spans(ours: "array[float]", theirs: "array[float]") -> dict[str, dict[str, float]]:
    """Each part in milliseconds, from the moments that both sides kept."""
    of_people = {
        int(theirs[at]): (theirs[at + 1], theirs[at + 2]) for at in range(0, len(theirs), 3)
    }
    first = min(ours[1::5], default=0.0) + LEAVE_OUT
    durations: dict[str, list[float]] = {name: [] for name in PARTS}
    for at in range(0, len(ours), 5):
        message, stored, began, ended, model = ours[at : at + 5]
        if stored < first:
            continue
        written, there = of_people[int(message)]
        parts = (
            ended - stored - model,
            began - stored - model,
            ended - began,
            there - began,
            ended - there,
            there - written,
        )
        for name, seconds in zip(PARTS, parts, strict=True):
            durations[name].append(seconds)
    return {f"{name}_ms": shares(seconds) for name, seconds in durations.items()}


def doubles(file: Path) -> "array[float]":
    """Return the numbers that a process wrote."""
    numbers: array[float] = array("d")
    numbers.frombytes(file.read_bytes())
    return numbers


def verdict(rows: Sequence[dict[str, object]], disturbed: int) -> dict[str, object]:
    """Return the median round, and True if it is within the guarantee."""
    middle = {
        name: {
            share: round(statistics.median(_shares(row, name)[share] for row in rows), 2)
            for share in _shares(rows[0], name)
        }
        for name in (f"{part}_ms" for part in PARTS)
    }
    wrong = sum(number(row, name) for row in rows for name in ("lost", "doubled", "out_of_order"))
    return {
        "median": middle,
        "disturbed_rounds": disturbed,
        "own_p99_each_round": [_shares(row, "own_ms")["p99"] for row in rows],
        "promised_ms": PROMISE,
        "wrong": wrong,
        "held": not wrong and middle["own_ms"]["p99"] < PROMISE,
    }


def _beside_reader(arguments: argparse.Namespace) -> int:
    """Measure rounds with and without a reader in turn; return 1 if the bound is exceeded."""
    took: dict[bool, list[float]] = {False: [], True: []}
    for _ in range(arguments.rounds):
        for reader in (False, True):
            row = measure(
                *(arguments.rate, arguments.seconds, arguments.chats, arguments.fsync),
                reader=reader,
            )
            took[reader].append(_shares(row, "own_ms")["p99"])
            print(json.dumps(row), flush=True)
    without, beside = (statistics.median(took[reader]) for reader in (False, True))
    ratio = round(beside / without, 2)
    result = {"p99_ms": without, "p99_beside_ms": beside, "ratio": ratio, "bound": BESIDE}
    print(json.dumps({**result, "held": ratio <= BESIDE}), flush=True)
    return 0 if ratio <= BESIDE else 1


def _against_echo(arguments: argparse.Namespace) -> int:
    """Measure the gateway and a bare echo in turn; return 1 if a bound is exceeded."""
    rows: dict[str, list[dict[str, float]]] = {"parley": [], "echo": []}
    for _ in range(arguments.rounds):
        load = (arguments.rate, arguments.seconds, arguments.chats)
        for name, row in (
            ("echo", measure_echo(*load)),
            ("parley", measure(*load, arguments.fsync)),
        ):
            rows[name].append(_shares(row, "for_people_ms"))
            print(json.dumps(row), flush=True)
    middle = {
        name: {share: statistics.median(one[share] for one in of) for share in AGAINST_ECHO}
        for name, of in rows.items()
    }
    ratios = {
        share: round(middle["parley"][share] / middle["echo"][share], 2) for share in AGAINST_ECHO
    }
    held = all(ratios[share] <= bound for share, bound in AGAINST_ECHO.items())
    print(
        json.dumps({**middle, "ratios": ratios, "bounds": AGAINST_ECHO, "held": held}), flush=True
    )
    return 0 if held else 1


def _shares(row: dict[str, object], name: str) -> dict[str, float]:
    return cast("dict[str, float]", row[name])


def main() -> int:
    """Run the command line; return 1 if the guarantee is broken."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.latency")
    parser.add_argument("--rate", type=float, default=100.0)
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--chats", type=int, default=500)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--fsync", choices=("normal", "full"), default="normal")
    parser.add_argument("--reader", action="store_true", help="an operator reads the console")
    parser.add_argument("--echo", action="store_true", help="in turn with a bare echo")
    arguments = parser.parse_args()
    if arguments.reader:
        return _beside_reader(arguments)
    if arguments.echo:
        return _against_echo(arguments)
    quiet: list[dict[str, object]] = []
    disturbed: list[dict[str, object]] = []
    while len(quiet) < arguments.rounds and len(disturbed) < arguments.rounds:
        row = measure(arguments.rate, arguments.seconds, arguments.chats, arguments.fsync)
        alone = comes_first() or number(row, "others_cpu") <= QUIET
        (quiet if alone else disturbed).append(row)
        print(json.dumps(row), flush=True)
    result = verdict(quiet or disturbed, len(disturbed))
    print(json.dumps(result), flush=True)
    return 0 if result["held"] else 1


if __name__ == "__main__":
    sys.exit(main())

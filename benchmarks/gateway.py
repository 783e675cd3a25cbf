"""The whole gateway beside a bare python-telegram-bot echo bot, on the same simulated Telegram.

    python -m benchmarks.gateway                 both, alternating, and the ratio of their rates
    python -m benchmarks.gateway --messages 1000 --rounds 1 --fsync full
    python -m benchmarks.gateway --without-memory   what of it is memory, for comparison
    python -m benchmarks.gateway --model            a simulated Anthropic that answers in 20 ms

A burst of messages, as fast as they can be answered. Offline model, limits lifted, overlap `queue`;
inbox, conversations, traces and outbox durable in SQLite as always: `normal` commits to the log
without waiting for the disk (a killed process loses nothing), `full` waits at every commit (nor
does a machine without power). Who comes first changes from round to round. Simulator and bot are
processes of their own; processor time is the bot's alone.

Held to `PROMISED` in the median of the rounds' ratios at each level, and to nothing lost, doubled
or out of order in a chat. With `--model`, the processor time is compared instead: at most
`PROCESSOR` times the echo's.
"""

import argparse
import json
import signal
import statistics
import sys
import tempfile
from typing import Final

from benchmarks import echo_bot
from benchmarks.machine import Machine
from benchmarks.served import number

STOP_SECONDS: Final = 20
PROMISED: Final = {"normal": 0.8, "full": 0.7}
"""Of the bare echo's rate, by what a commit waits for."""
PROCESSOR: Final = 3.0
"""Processor time of a message with a model, in those of the bare echo."""


def measure(
    messages: int, chats: int, fsync: str, *, memory: bool = True, model: str = ""
) -> dict[str, object]:
    """Run simulator and gateway; rate, losses, transactions and processor time of the gateway."""
    simulator = echo_bot.start(
        "simulators.telegram",
        *("--messages", str(messages), "--chats", str(chats), "--linger", str(STOP_SECONDS)),
    )
    assert simulator.stdout is not None
    try:
        where = json.loads(simulator.stdout.readline())
        with tempfile.TemporaryDirectory() as folder:
            bot = echo_bot.start(
                "benchmarks.served",
                *("--url", where["url"], "--token", where["token"], "--folder", folder),
                *("--fsync", fsync, *(() if memory else ("--without-memory",))),
                *("--model", model),
            )
            result: dict[str, object] = json.loads(simulator.stdout.readline())
            bot.send_signal(signal.SIGTERM)
            output, _ = bot.communicate(timeout=STOP_SECONDS)
        used = json.loads(output.splitlines()[-1])
    finally:
        simulator.terminate()
        simulator.wait(STOP_SECONDS)
    return {
        "bot": "parley",
        "fsync": fsync,
        "memory": memory,
        **result,
        "cpu_seconds": round(used["cpu_seconds"], 3),
        "cpu_seconds_per_1000": round(used["cpu_seconds"] / messages * 1000, 3),
        "transactions_per_message": round(used["transactions"] / messages, 3),
    }


def compare(
    messages: int,
    chats: int,
    rounds: int,
    fsync: str,
    *,
    memory: bool = True,
    model: str = "",
) -> dict[str, object]:
    """Alternate both bots, so that the machine's moods hit them alike; print every run."""
    ours: list[dict[str, object]] = []
    bare: list[dict[str, object]] = []
    for turn in range(rounds):
        for is_ours in (False, True) if turn % 2 == 0 else (True, False):
            machine = Machine()
            row = (
                measure(messages, chats, fsync, memory=memory, model=model)
                if is_ours
                else echo_bot.measure("httpx", messages, chats)
            )
            row["others_cpu"] = machine.others()
            (ours if is_ours else bare).append(row)
            print(json.dumps(row), flush=True)
    ratios = [
        number(a, "per_second") / number(b, "per_second") for a, b in zip(ours, bare, strict=True)
    ]
    spent = [
        number(a, "cpu_seconds") / number(b, "cpu_seconds") for a, b in zip(ours, bare, strict=True)
    ]
    return {
        "fsync": fsync,
        "memory": memory,
        "model": bool(model),
        "processor_time_against_bare_echo": round(statistics.median(spent), 3),
        "processor_time_each_round": [round(ratio, 3) for ratio in spent],
        "rate_against_bare_echo": round(statistics.median(ratios), 3),
        "promised": PROMISED[fsync],
        "each_round": [round(ratio, 3) for ratio in ratios],
        "lost": sum(number(row, "lost") for row in ours),
        "doubled": sum(number(row, "doubled") for row in ours),
        "out_of_order": sum(number(row, "out_of_order") for row in ours),
    }


def held(summary: dict[str, object]) -> bool:
    """True if it is within the stated limit."""
    wrong = sum(number(summary, name) for name in ("lost", "doubled", "out_of_order"))
    if summary["model"]:
        return not wrong and number(summary, "processor_time_against_bare_echo") <= PROCESSOR
    return not wrong and number(summary, "rate_against_bare_echo") >= number(summary, "promised")


def main() -> int:
    """Run the command line; return 1 if a guarantee is broken."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.gateway")
    parser.add_argument("--messages", type=int, default=5000)
    parser.add_argument("--chats", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--fsync", choices=tuple(PROMISED), help="one of them; both otherwise")
    parser.add_argument("--without-memory", action="store_true", help="memory.enabled: false")
    parser.add_argument("--model", action="store_true", help="a model that answers in 20 ms")
    arguments = parser.parse_args()
    kept = True
    model = echo_bot.start("benchmarks.model_server") if arguments.model else None
    url = json.loads(model.stdout.readline())["url"] if model and model.stdout else ""
    for fsync in (arguments.fsync,) if arguments.fsync else tuple(PROMISED):
        summary = compare(
            arguments.messages,
            arguments.chats,
            arguments.rounds,
            fsync,
            memory=not arguments.without_memory,
            model=url,
        )
        print(json.dumps(summary), flush=True)
        kept = kept and held(summary)
    if model is not None:
        model.terminate()
        model.wait(STOP_SECONDS)
    return 0 if kept else 1


if __name__ == "__main__":
    sys.exit(main())

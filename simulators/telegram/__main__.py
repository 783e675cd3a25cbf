"""`python -m simulators.telegram`: a Telegram in a process of its own.

Prints one line of JSON with `url` and `token`. With `--messages`, that many messages wait for the
bot; when all are answered, a second line says how it went (see `load.LoadResult`), and the
program ends with status 0 if nothing was lost, doubled or out of order.
"""

import argparse
import asyncio
import json
import sys

from simulators.telegram.load import Load
from simulators.telegram.simulator import TelegramSimulator


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m simulators.telegram", description=__doc__)
    parser.add_argument("--port", type=int, default=0, help="0 takes a free port")
    parser.add_argument("--messages", type=int, default=0, help="how many wait for the bot")
    parser.add_argument("--chats", type=int, default=200, help="from how many people")
    parser.add_argument("--timeout", type=float, default=300.0, help="seconds at most")
    parser.add_argument("--linger", type=float, default=0.0, help="seconds to serve on at the end")
    return parser.parse_args()


def _say(line: dict[str, object]) -> None:
    sys.stdout.write(json.dumps(line) + "\n")
    sys.stdout.flush()


async def _main(arguments: argparse.Namespace) -> int:
    simulator = TelegramSimulator()
    await simulator.start(arguments.port)
    try:
        if not arguments.messages:
            _say({"url": simulator.url, "token": simulator.token})
            await asyncio.Event().wait()
        load = Load(simulator, arguments.messages, min(arguments.chats, arguments.messages))
        await load.preload()
        _say({"url": simulator.url, "token": simulator.token})
        result = await load.run(arguments.timeout)
        _say(result.as_json())
        await asyncio.sleep(arguments.linger)
        return 1 if result.lost or result.doubled or result.out_of_order else 0
    finally:
        await simulator.stop()


if __name__ == "__main__":
    try:
        sys.exit(asyncio.run(_main(_arguments())))
    except KeyboardInterrupt:
        sys.exit(130)

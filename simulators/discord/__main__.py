"""`python -m simulators.discord`: a Discord in a process of its own.

Prints one line of JSON: the settings that point a bot here, as `platforms.discord` takes them.
"""

import asyncio
import json
import sys

from simulators.discord.simulator import DiscordSimulator


async def _main() -> None:
    simulator = DiscordSimulator()
    await simulator.start()
    try:
        sys.stdout.write(json.dumps(simulator.settings()) + "\n")
        sys.stdout.flush()
        await asyncio.Event().wait()
    finally:
        await simulator.stop()


if __name__ == "__main__":
    try:
        asyncio.run(_main())
    except KeyboardInterrupt:
        sys.exit(130)

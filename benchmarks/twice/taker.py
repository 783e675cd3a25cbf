"""One of several processes that ask for tokens: python -m benchmarks.twice.taker URL LEVEL COUNT

Every process asks for the same people at the same frozen moment, so that nothing is regained: what
is let through by all of them together is the capacity, neither one more nor one less. Prints how
many it got, once it has read a line that says to begin.
"""

import asyncio
import sys
from typing import Final

from gateway.policy.rate_limits import BucketRule, Level
from gateway.ports.clock import SystemClock
from gateway.stores.redis.hot_state import RedisHotState

NOW: Final = 1_795_000_000.0
LEVELS: Final[tuple[Level, ...]] = ("user", "channel", "workspace")
AT_ONCE: Final = 50
WIDE: Final = 1_000_000


def capacity(count: int) -> int:
    """Return the capacity of the limiting level, for `count` requests of each process; a multiple
    of 40. The other two levels have more than enough."""
    return count // 2


def rules_of(level: Level, number: int, count: int) -> tuple[BucketRule, ...]:
    """The buckets of the message of this number where `level` is the one that binds: a tenth as
    many people as messages with 5 tokens each, a fortieth as many channels with 20 each."""
    narrow = {"user": 5, "channel": 20, "workspace": capacity(count)}
    limits = {each: narrow[each] if each == level else WIDE for each in LEVELS}
    who, where = number % (count // 10), number % (count // 40)
    return (
        BucketRule("user", f"{level}:user:{who}", limits["user"]),
        BucketRule("channel", f"{level}:channel:{where}", limits["channel"]),
        BucketRule("workspace", f"{level}:workspace", limits["workspace"]),
    )


async def take(url: str, level: Level, count: int) -> int:
    """Ask so often, many at once; how often the answer was yes."""
    state = RedisHotState(url, SystemClock())
    await state.client.start()
    slots = asyncio.Semaphore(AT_ONCE)

    async def ask(number: int) -> bool:
        async with slots:
            return (await state.buckets.take(rules_of(level, number, count), NOW)).allowed

    try:
        await asyncio.to_thread(sys.stdin.readline)
        return sum(await asyncio.gather(*(ask(number) for number in range(count))))
    finally:
        await state.client.stop()


async def passed_in_all(url: str, level: Level, processes: int, count: int) -> list[int]:
    """The number of tokens that each of several processes gets when all ask at once."""
    arguments = ("-m", "benchmarks.twice.taker", url, level, str(count))
    started = [
        await asyncio.create_subprocess_exec(
            *(sys.executable, *arguments),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
        )
        for _ in range(processes)
    ]
    ended = await asyncio.gather(*(process.communicate(b"go\n") for process in started))
    return [int(out) for out, _ in ended]


async def left(url: str, level: Level, count: int) -> tuple[int, ...]:
    """The number of missing tokens, in all, on the three levels; each yes took one from each."""
    state = RedisHotState(url, SystemClock())
    await state.client.start()
    missing: dict[Level, int] = dict.fromkeys(LEVELS, 0)
    try:
        for rule in {rule for number in range(count) for rule in rules_of(level, number, count)}:
            key = state.client.key("bucket", rule.key)
            tokens = await state.client.command("HGET", key, "tokens")
            missing[rule.level] += rule.per_minute - round(float(tokens))
    finally:
        await state.client.stop()
    return tuple(missing.values())


if __name__ == "__main__":
    chosen = next(level for level in LEVELS if level == sys.argv[2])
    print(asyncio.run(take(sys.argv[1], chosen, int(sys.argv[3]))))

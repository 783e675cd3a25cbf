"""`python -m benchmarks.week`: see `benchmarks/week/__init__.py`."""

import argparse
import asyncio
import sys
import tempfile
from pathlib import Path

from benchmarks.week.checks import problems
from benchmarks.week.player import Player
from benchmarks.week.report import day_lines, figures
from benchmarks.week.story import WEEK
from benchmarks.week.world import opened


async def played(folder: Path) -> Player:
    """Play the week in a folder."""
    async with opened(folder) as world:
        player = Player(world)
        await player.play(WEEK)
    return player


def main() -> int:
    """Print the week; 1 if a rule of it is broken."""
    parser = argparse.ArgumentParser(description="Plays a week of two people, and prints it.")
    parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        player = asyncio.run(played(Path(folder)))
    found = problems(player)
    for day in range(len(WEEK)):
        print("\n".join(day_lines(day, [one for one in player.outcomes if one.day == day])))
    for problem in found:
        print(f"PROBLEM: {problem}")
    print(figures(player.outcomes, found))
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())

"""`parley run`."""

import sys
from collections.abc import Mapping
from pathlib import Path

from parley import garbage
from parley.platforms import discover
from parley.roles import Role
from parley.settings import load


def start(
    config: Path | None, env: Mapping[str, str], role: Role = "all", platform: str = ""
) -> int:
    """Load the configuration and run until told to stop; returns the exit status."""
    garbage.collect_rarely()
    platforms = discover()
    for problem in platforms.problems:
        sys.stderr.write(f"{problem}\n")
    settings = load(config, env, platforms)
    if not settings.accounts():
        sys.stderr.write("No platform has its credentials yet; `parley init` sets one up.\n")
    from parley import serving  # noqa: PLC0415 -- loads the whole program

    return serving.run(settings, role, platform)

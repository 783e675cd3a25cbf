"""`parley run`."""

import os
import sys
from typing import Annotated

import typer

from gateway.platforms import discover
from parley.cli.options import Config, config_path
from parley.config import load
from parley.installation import warn_of_conflicts
from parley.runtime import Role
from parley.runtime.gc_and_heap import collect_rarely


def run(
    config: Config = None,
    role: Annotated[
        Role, typer.Option(help="The role of this process, if several share a storage.url.")
    ] = "all",
    platform: Annotated[
        str, typer.Option(help="With --role adapter: connect to this platform only.")
    ] = "",
) -> int:
    """Load the configuration and run until a signal ends it; returns the exit status."""
    if platform and role != "adapter":
        raise typer.BadParameter("belongs to --role adapter", param_hint="--platform")
    collect_rarely()
    warn_of_conflicts()
    platforms = discover()
    for problem in platforms.problems:
        sys.stderr.write(f"{problem}\n")
    settings = load(config_path(config), os.environ, platforms)
    if not settings.accounts():
        sys.stderr.write("No platform has its credentials yet; `parley init` sets one up.\n")
    from parley.cli import serve  # noqa: PLC0415 - loads the whole program

    return serve.run(settings, role, platform)

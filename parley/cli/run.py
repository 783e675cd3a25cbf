"""`parley run`, and `parley demo`."""

import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from gateway.platforms import discover
from parley.cli.chosen_configuration import DEFAULT_CONFIG, base_folder, own_configuration
from parley.cli.options import Config
from parley.cli.stores import in_folder
from parley.config import Problem, SettingsError
from parley.config.load import load_with_origins
from parley.python_environment import warn_of_conflicts
from parley.runtime import Role
from parley.runtime.restart import Restart


def run(
    config: Config = None,
    role: Annotated[
        Role, typer.Option(help="The role of this process, if several share a storage.url.")
    ] = "all",
    platform: Annotated[
        str, typer.Option(help="With --role adapter: connect to this platform only.")
    ] = "",
) -> int:
    """Load the configuration and run until a signal ends it; returns the exit status. Raises
    `SettingsError` where no platform is set up."""
    if platform and role != "adapter":
        raise typer.BadParameter("belongs to --role adapter", param_hint="--platform")
    warn_of_conflicts()
    platforms = discover()
    for problem in platforms.problems:
        sys.stderr.write(f"{problem}\n")
    path = own_configuration(config)
    loaded = load_with_origins(path, os.environ, platforms)
    settings = in_folder(loaded.settings, base_folder(path))
    if not settings.accounts():
        raise SettingsError([_no_platform(path)])
    from parley.cli import serve  # noqa: PLC0415 - loads the whole program

    restart = Restart(lambda: load_with_origins(path, os.environ, platforms).settings)
    return serve.run(settings, role, platform, origins=loaded.origins, restart=restart)


def _no_platform(path: Path | None) -> Problem:
    file = str(path) if path is not None else f"there is no {DEFAULT_CONFIG} here"
    text = "no platform is set up, so nobody could write to the assistant."
    advice = (
        "Run `parley init`. Without an account anywhere, `parley init --platform web --yes` sets up"
        " the page on this machine."
    )
    return Problem("platforms", text, advice, file)


def demo(
    once: Annotated[
        bool, typer.Option("--once", help="End after the scripted conversation.")
    ] = False,
    port: Annotated[
        int | None,
        typer.Option(
            min=0, max=65_535, help="Port of the page, 0 for any. Default: 8080, or the next."
        ),
    ] = None,
) -> int:
    """Run the demo; returns the exit status."""
    from parley.demo.run import play  # noqa: PLC0415 - loads the program and the simulators

    return play(once=once, port=port)

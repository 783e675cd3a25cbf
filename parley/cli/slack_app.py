"""`parley manifest slack`."""

import sys
from typing import Annotated

import typer

from adapters.slack.app_manifest import app_manifest
from gateway.errors import UsageError
from parley.wiring.accounts import every_command


def manifest(
    platform: Annotated[str, typer.Argument(help="`slack`, the only platform with a manifest.")],
    name: Annotated[str, typer.Option(help="The app's name.")] = "Parley",
    url: Annotated[
        str, typer.Option(help="HTTP mode: the public https address of /webhook/slack.")
    ] = "",
) -> int:
    """Print the manifest; for HTTP mode when a public address is given."""
    if platform != "slack":
        raise typer.BadParameter("only slack has an app manifest", param_hint="PLATFORM")
    sys.stdout.write(manifest_text(name, url))
    return 0


def manifest_text(name: str, url: str = "") -> str:
    """The manifest of an app with this name; for HTTP mode with the public address `url`. Raises
    `BadInput` for an unusable address."""
    try:
        commands = every_command()
        return app_manifest(name, "http" if url else "socket", url, commands)
    except ValueError as error:
        raise UsageError(f"--url: {error}.") from error

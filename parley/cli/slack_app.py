"""`parley manifest slack`."""

import sys

from adapters.slack.app_manifest import app_manifest
from gateway.errors import BadInput
from parley.wiring.commands import offered_commands


def run(name: str, url: str) -> int:
    """Print the manifest; for HTTP mode when a public address is given."""
    try:
        commands = offered_commands(with_memory=True)
        text = app_manifest(name, "http" if url else "socket", url, commands)
    except ValueError as error:
        raise BadInput(f"--url: {error}.") from error
    sys.stdout.write(text)
    return 0

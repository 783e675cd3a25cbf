"""`parley manifest slack`."""

import sys

from adapters.slack.app_manifest import app_manifest
from gateway.errors import BadInput


def run(name: str, url: str) -> int:
    """Print the manifest; for HTTP mode when a public address is given."""
    try:
        text = app_manifest(name, "http", url) if url else app_manifest(name)
    except ValueError as error:
        raise BadInput(f"--url: {error}.") from error
    sys.stdout.write(text)
    return 0

"""`parley example-config`."""

import sys

from parley.config.example import example_text


def example_config() -> int:
    """Print the example; returns the exit status."""
    sys.stdout.write(example_text())
    return 0

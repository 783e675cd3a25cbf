"""The entry point of the program. A command that is asked for often is answered without the command
line's own library where that is possible; every other one goes to `parley.cli.main`."""

import sys
from typing import Final

QUICK: Final = ["knowledge", "status"]


def main() -> None:
    """Run the command line."""
    if sys.argv[1:3] == QUICK:
        from parley.cli.knowledge.quick_status import (  # noqa: PLC0415 - for this command only
            quick_status,
        )

        if quick_status(sys.argv[3:]):
            return
    from parley.cli.main import main as whole  # noqa: PLC0415 - slow

    whole()

"""The entry point of the program. A command that is asked for often is answered without the command
line's own library where that is possible; every other one goes to `parley.cli.main`."""

import sys
from typing import Final

from gateway.optional_imports import unavailable

QUICK: Final = ["knowledge", "status"]


def main() -> None:
    """Run the command line."""
    if sys.argv[1:3] == QUICK:
        from parley.cli.knowledge.quick_status import (  # noqa: PLC0415 - for this command only
            quick_status,
        )

        if quick_status(sys.argv[3:]):
            return
    from parley.runtime.gc_and_heap import collect_rarely  # noqa: PLC0415 - not for a quick answer

    collect_rarely()
    # 45 ms and 5 MB, for a style of tracebacks and a kind of threads that are not used
    with unavailable("rich", "greenlet"):
        import structlog  # noqa: F401, PLC0415 - this import comes before all others of it
    from parley.cli.main import main as whole  # noqa: PLC0415 - slow

    whole()

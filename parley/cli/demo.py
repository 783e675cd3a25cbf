"""`parley demo`."""

from typing import Annotated

import typer


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

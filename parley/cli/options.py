"""Options that several commands have."""

from pathlib import Path
from typing import Annotated, Final

import typer

DEFAULT_CONFIG: Final = Path("config/parley.yaml")

Config = Annotated[
    Path | None,
    typer.Option(
        "--config",
        "-c",
        envvar="PARLEY_CONFIG",
        help=f"The configuration. Default: {DEFAULT_CONFIG}, if it exists.",
    ),
]
AsJson = Annotated[
    bool, typer.Option("--json", help="Print one JSON object per line, for scripts.")
]
Person = Annotated[
    str,
    typer.Option(
        "--person",
        metavar="PLATFORM:ACCOUNT:ID",
        help="A person as `parley memory people` shows them.",
    ),
]
SearchLimit = Annotated[int, typer.Option("--limit", min=1, max=100, help="Maximum of results.")]
QueryText = Annotated[str, typer.Argument(metavar="QUERY", help="A question or words.")]


def config_path(config: Path | None) -> Path | None:
    """The configuration to read: the given one, the default one if it exists, or none at all."""
    if config is not None:
        return config
    return DEFAULT_CONFIG if DEFAULT_CONFIG.exists() else None

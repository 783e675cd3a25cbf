"""The example configuration: every key with its default."""

from importlib.resources import files
from pathlib import Path
from typing import Final

from gateway.errors import ConfigurationError

NAME: Final = "parley.example.yaml"


def example_text() -> str:
    """Return the example, from the installed package or, in a checkout, from `config/`.

    Raises `ConfigurationError` when the installation lacks it.
    """
    checkout = Path(__file__).resolve().parents[2] / "config" / NAME
    for file in (files(__package__) / NAME, checkout):
        if file.is_file():
            return file.read_text(encoding="utf-8")
    raise ConfigurationError(f"This installation has no {NAME}. Install Parley again.")

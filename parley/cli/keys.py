"""`parley keys`: creates the keys of a deployment before its first start."""

import sys
from typing import Annotated

import typer

from gateway.errors import ConfigurationError
from parley.cli.options import Config
from parley.cli.stores import command_settings
from parley.security.keys import create_keys, create_password_files, key_folder

NO_FOLDER = "There is no server.key_folder: set it to a folder that every process can read."


def keys(
    config: Config = None,
    postgres: Annotated[
        bool,
        typer.Option("--postgres", help="Also create a password for PostgreSQL, in two files."),
    ] = False,
) -> int:
    """Create the missing keys and print their folder. Existing ones do not change."""
    settings = command_settings(config)
    folder = key_folder(settings)
    if settings.server.key_folder is None or folder is None:
        raise ConfigurationError(NO_FOLDER)
    create_keys(settings)
    if postgres:
        create_password_files(folder)
    sys.stdout.write(f"The keys are in {folder}.\n")
    return 0

"""The settings of a command, with the choice of its configuration
(`parley.cli.chosen_configuration`)."""

import os
from pathlib import Path
from typing import Final

from gateway.errors import ConfigurationError
from parley.cli.chosen_configuration import chosen
from parley.config import Settings, load
from parley.config.sections import sqlite_file

RELATIVE: Final = (
    "{key} names {file}, which begins at the current folder, and that is in the git repository "
    "{tree}. Run the command in the folder of Parley and name the repository, or make the path "
    "absolute."
)


def command_settings(config: Path | None) -> Settings:
    """Return the settings of `chosen`. Raises `ConfigurationError`, also where a database would be
    in somebody's repository."""
    choice = chosen(config)
    settings = load(choice.file, os.environ)
    if choice.tree is not None:
        _refuse_relative(settings, choice.tree)
    return settings if choice.folder == Path.cwd() else _beginning_at(settings, choice.folder)


def _refuse_relative(settings: Settings, tree: Path) -> None:
    places = {
        "database.url": sqlite_file(settings.database.url),
        "storage.url": sqlite_file(settings.storage_url),
        "knowledge.file": settings.knowledge.file,
        "server.key_folder": settings.server.key_folder or "",
    }
    for key, file in places.items():
        if file and not os.path.isabs(file):
            raise ConfigurationError(RELATIVE.format(key=key, file=file, tree=tree))


def _beginning_at(settings: Settings, folder: Path) -> Settings:
    """Return the settings with the files and folders of stores beginning at a folder."""

    def absolute(path: str) -> str:
        return str(folder / Path(path).expanduser()) if path else path

    def address(url: str) -> str:
        file = sqlite_file(url)
        return url.replace(file, absolute(file), 1) if file else url

    sections = {
        "database": {"url": address(settings.database.url)},
        "storage": {"url": address(settings.storage_url)},
        "knowledge": {"file": absolute(settings.knowledge.file)},
        "memory": {"models_folder": absolute(settings.memory.models_folder)},
        "server": {"key_folder": absolute(settings.server.key_folder or "") or None},
    }
    changed = {
        name: getattr(settings, name).model_copy(update=values) for name, values in sections.items()
    }
    return settings.model_copy(update=changed)

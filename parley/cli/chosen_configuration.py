"""The choice of the configuration of a command: the named file, that of the current folder, or a
recorded one.

A repository may come from anybody. So nothing in a git repository chooses the configuration: a file
there is read if it is named, if `parley init` wrote it (it records each one in the home folder of
the user), or if the repository is the checkout of the program that runs.

A command that is to start at once imports this module: it imports no library.
"""

import json
import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from msgspec import Struct

from gateway.errors import ConfigurationError
from parley.cli.file_writing import write_beside

DEFAULT_CONFIG: Final = Path("config/parley.yaml")
PROGRAM: Final = Path(__file__).resolve().parents[2]
"""The folder that holds the package of the program."""
RECORD: Final = "parley/configurations.json"
DATA: Final = "data"
"""The folder of the databases, as the defaults name it."""
MAX_RECORDED: Final = 20
MAX_BYTES: Final = 256 * 1024
MAX_PATH: Final = 4_096
NOT_READ: Final = (
    "{file} is not read: it is in the git repository {tree}, whose authors may have written it. If "
    "it is yours, name it with --config or PARLEY_CONFIG. If not, name the configuration of your "
    "Parley."
)
FOLDER_GONE: Final = "The current folder does not exist any more: change to another one."
OF_ANOTHER: Final = (
    "{file} is not read: it belongs to another user of this machine. Name a configuration with "
    "--config or PARLEY_CONFIG."
)


class Chosen(Struct, frozen=True):
    """A configuration, None for the environment alone. Relative paths in it begin at `folder`;
    `tree` is the repository of somebody else that holds this folder, if there is one."""

    file: Path | None
    folder: Path
    tree: Path | None = None


def chosen(config: Path | None) -> Chosen:
    """Return the configuration of a command that works on repositories or stores, and say it where
    nobody named it. Raises `ConfigurationError`."""
    choice, is_recorded = choice_of(config)
    if is_recorded:
        say_recorded(choice)
    return choice


def current_folder() -> Path:
    """Return the current folder. Raises `ConfigurationError` if it was deleted."""
    try:
        return Path.cwd()
    except FileNotFoundError:
        raise ConfigurationError(FOLDER_GONE) from None


def say_recorded(choice: Chosen) -> None:
    """Say which recorded configuration a command uses."""
    sys.stderr.write(f"Configuration: {choice.file}\n")


def choice_of(config: Path | None) -> tuple[Chosen, bool]:
    """Return the configuration of a command that works on repositories or stores. Inside somebody's
    repository this is the recorded one, if there is exactly one: then the second value is True.
    Raises `ConfigurationError`."""
    here = current_folder()
    tree = foreign_tree(here, os.environ)
    if tree is None:
        path = own_configuration(config)
        return Chosen(path, base_folder(path)), False
    known = recorded(os.environ)
    if config is None and len(known) == 1:
        return known[0], True
    return _named(config, known, here, tree), False


def _named(config: Path | None, known: Sequence[Chosen], here: Path, tree: Path) -> Chosen:
    """Return the named configuration, for a command inside the repository `tree`."""
    path = own_configuration(config)
    if path is not None:
        named = _absolute(path)
        for one in known:
            if one.file == named:
                return one
        # Who names a file of a repository trusts its folders.
        return Chosen(path, base_folder(path))
    return Chosen(path, here, tree)


def base_folder(config: Path | None) -> Path:
    """Return the folder at which the relative paths of a configuration begin: that of the file, or
    the one above it if it is called `config`; of a recorded file the folder in which `parley init`
    wrote it. The current folder, without a file, and where an earlier version left the data."""
    here = current_folder()
    if config is None:
        return here
    file = _absolute(config)
    parent = file.parent
    derived = parent.parent if parent.name == DEFAULT_CONFIG.parent.name else parent
    base = next((one.folder for one in recorded(os.environ) if one.file == file), derived)
    has_data = (here / DATA).is_dir() and not (base / DATA).exists()
    return here if has_data and foreign_tree(here, os.environ) is None else base


def own_configuration(config: Path | None) -> Path | None:
    """Return the named configuration, or else that of the current folder, if there is one. Raises
    `ConfigurationError` where somebody else may have written it."""
    if config is not None:
        return config
    files = [file for file in (DEFAULT_CONFIG, DEFAULT_CONFIG.parent / ".env") if file.exists()]
    for file in files:
        if tree := foreign_tree(Path.cwd(), os.environ):
            raise ConfigurationError(NOT_READ.format(file=file, tree=tree))
        if file.stat().st_uid not in _trusted_users():
            raise ConfigurationError(OF_ANOTHER.format(file=file))
    return DEFAULT_CONFIG if DEFAULT_CONFIG in files else None


def foreign_tree(folder: Path, env: Mapping[str, str]) -> Path | None:
    """Return the git repository around a folder; None without one, in the checkout of the program,
    and where `parley init` wrote the configuration of the folder."""
    for one in (folder, *folder.parents):
        if os.path.lexists(one / ".git") or _is_bare(one):
            own = folder / DEFAULT_CONFIG
            is_own = one == PROGRAM or any(known.file == own for known in recorded(env))
            return None if is_own else one
    return None


def record(config: Path, env: Mapping[str, str]) -> None:
    """Record a configuration that `parley init` wrote. Without a home folder nothing happens."""
    file, folder, path = _absolute(config), Path.cwd(), state_file(env, RECORD)
    if path is None or (file != folder / DEFAULT_CONFIG and foreign_tree(folder, env)):
        return
    new = Chosen(file, folder)
    known = recorded(env)
    if new in known:
        return
    kept = [new, *(one for one in known if one.file != file)][:MAX_RECORDED]
    values = [{"config": str(one.file), "folder": str(one.folder)} for one in kept]
    with suppress(ConfigurationError):  # the configuration itself is written
        write_beside(path, json.dumps(values, indent=1) + "\n")


def recorded(env: Mapping[str, str]) -> list[Chosen]:
    """Return the recorded configurations that still exist, the newest first."""
    path = state_file(env, RECORD)
    try:
        with open(path or os.devnull, "rb") as file:
            values = json.loads(file.read(MAX_BYTES))
    except (OSError, ValueError, RecursionError):
        return []
    entries = [one for one in values if isinstance(one, dict)] if isinstance(values, list) else []
    pairs = [(str(one.get("config", "")), str(one.get("folder", ""))) for one in entries]
    return [
        Chosen(Path(file), Path(folder))
        for file, folder in pairs[:MAX_RECORDED]
        if _is_absolute(file) and _is_absolute(folder) and Path(file).is_file()
    ]


def _absolute(path: Path) -> Path:
    """Without "..", and with links: what a link of a repository points to is not that file."""
    return Path(os.path.abspath(path))


def _is_absolute(path: str) -> bool:
    return len(path) <= MAX_PATH and path.isprintable() and os.path.isabs(path)


def state_file(env: Mapping[str, str], name: str) -> Path | None:
    """Return the path of a file in the user's folder of states; None without a home folder."""
    state = env.get("XDG_STATE_HOME", "")
    if os.path.isabs(state):
        return Path(state) / name
    home = env.get("HOME", "")
    return Path(home) / ".local" / "state" / name if os.path.isabs(home) else None


def _is_bare(folder: Path) -> bool:
    return all((folder / name).exists() for name in ("HEAD", "objects", "refs"))


def _trusted_users() -> set[int]:
    """This user, root, and the one who called sudo."""
    caller = os.environ.get("SUDO_UID", "") if os.geteuid() == 0 else ""
    return {os.geteuid(), 0, *([int(caller)] if caller.isdecimal() else ())}

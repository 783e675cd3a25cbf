"""`parley knowledge status` without reading the configuration.

The status itself takes some milliseconds, and reading the configuration twenty times as long,
because of the libraries that check it. So the command notes where its configuration leads, with
the files and the environment that this depends on. As long as these are the same, the next command
uses the note and imports no library. In doubt there is no note, and the configuration is read.
"""

import json
import os
import sys
import sysconfig
from collections.abc import Mapping, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Final, TypeAlias, cast

from msgspec import Struct
from msgspec.structs import asdict

from db import Database, StoreUnavailable
from db.plain_reader import plain_reader, result_of
from gateway.errors import ParleyError
from memory.embeddings.catalogue import EMBEDDING
from memory.git.errors import GitError
from memory.knowledge.ports import NoWords
from memory.knowledge.stores.files import SqlFiles
from memory.knowledge.stores.repositories import SqlRepositories
from memory.knowledge.stores.vectors import SqlChunkVectors
from parley.cli.chosen_configuration import Chosen, choice_of, say_recorded, state_file
from parley.cli.file_writing import make_folder, replace_file
from parley.cli.knowledge.index_status import IndexStores, VectorModel, status_text
from parley.cli.terminal import print_text

NOTES: Final = "parley/knowledge-status.json"
MAX_NOTES: Final = 20
MAX_BYTES: Final = 256 * 1024
MAX_CONFIGURATION: Final = 1024 * 1024
FROM_FILES: Final = b"${file:"
"""In a configuration that depends on further files; there is no note of such a one."""
CHANGING: Final = frozenset({"_", "COLUMNS", "LINES", "OLDPWD", "PWD", "SHLVL"})
"""Environment variables that change between two commands of one shell."""
Signature: TypeAlias = list[int]


class Note(Struct, frozen=True):
    """Where a configuration leads: the file of the index and the model of vectors. `key` names the
    configuration, folder and environment; `files` are what it depends on, each with its
    signature."""

    key: str
    index: str
    model: str
    problem: str
    files: Mapping[str, Signature]


class _Arguments(Struct, frozen=True):
    repo: str | None = None
    tenant: str | None = None
    config: Path | None = None
    as_json: bool = False


def quick_status(arguments: Sequence[str]) -> bool:
    """Print the status; return False, with nothing printed, if the configuration has to be read,
    or if something is wrong."""
    asked = _parsed(arguments)
    if asked is None:
        return False
    try:
        choice, recorded = choice_of(asked.config)
        note = _valid_note(choice)
        if note is None:
            return False
        with plain_reader(Path(note.index)) as reader:
            index = _indexed(cast("Database", reader))
            model = VectorModel(note.model, note.problem)
            work = status_text(index, model, asked.repo, asked.tenant, as_json=asked.as_json)
            text = result_of(work)
    except (ParleyError, StoreUnavailable, GitError, OSError):  # the whole command explains it
        return False
    if recorded:
        say_recorded(choice)
    print_text(text)
    return True


def note_configuration(
    config: Path | None,
    index: Path,
    model: VectorModel,
    models: Path,
) -> None:
    """Note where a configuration leads. Without a home folder nothing happens."""
    path, (choice, _) = state_file(os.environ, NOTES), choice_of(config)
    configuration = _configuration(choice)
    if path is None or _has_references(configuration):
        return
    key = _key(choice)
    files = (*configuration, *_libraries(), *_files_of_model(models))
    signatures = {str(file): _signature(file) for file in files}
    note = Note(key, str(index.absolute()), model.name, model.problem, signatures)
    others = [one for one in _notes() if one.key != key]
    try:
        make_folder(path.parent)
        text = json.dumps([asdict(one) for one in (note, *others[: MAX_NOTES - 1])])
        replace_file(path, f"{text}\n", 0o600)
    except OSError:  # the next command reads the configuration again
        return


def _parsed(arguments: Sequence[str]) -> _Arguments | None:
    """The arguments of the command; None for any that the whole command has to explain."""
    values: dict[str, str] = {}
    names = {"--config": "config", "-c": "config", "--tenant": "tenant"}
    left = list(arguments)
    while left:
        one = left.pop(0)
        if one in names and left:
            name, value = names[one], left.pop(0)
        elif one == "--json":
            name, value = "json", "yes"
        else:
            name, value = "repo", one
        if name in values or not value or value.startswith("-"):
            return None
        values[name] = value
    config = values.get("config") or os.environ.get("PARLEY_CONFIG")
    return _Arguments(
        values.get("repo"),
        values.get("tenant"),
        Path(config) if config else None,
        "json" in values,
    )


def _indexed(database: Database) -> IndexStores:
    words = NoWords()
    return IndexStores(
        SqlRepositories(database, words), SqlFiles(database, words), SqlChunkVectors(database)
    )


def _valid_note(choice: Chosen) -> Note | None:
    key = _key(choice)
    for note in _notes():
        if note.key == key:
            same = all(_signature(Path(file)) == was for file, was in note.files.items())
            return note if same else None
    return None


def _notes() -> list[Note]:
    path = state_file(os.environ, NOTES)
    try:
        with open(path or os.devnull, "rb") as file:
            values = json.loads(file.read(MAX_BYTES))
        return [Note(**value) for value in values]
    except (OSError, ValueError, TypeError, RecursionError):
        return []


def _key(choice: Chosen) -> str:
    """The name of a configuration with the folder, the environment and the program that read it."""
    parts = [str(choice.file and choice.file.absolute()), str(choice.folder), str(choice.tree)]
    parts += [os.getcwd(), __file__, sys.executable]
    parts += sorted(f"{name}={value}" for name, value in os.environ.items() if name not in CHANGING)
    return blake2b("\0".join(parts).encode("utf-8", "surrogateescape"), digest_size=32).hexdigest()


def _configuration(choice: Chosen) -> list[Path]:
    """The file of a configuration, and the `.env` beside it."""
    if choice.file is None:
        return [Path("config/.env").absolute()]
    return [choice.file.absolute(), choice.file.absolute().parent / ".env"]


def _has_references(files: Sequence[Path]) -> bool:
    for path in files:
        if path.is_file():
            with path.open("rb") as file:
                content = file.read(MAX_CONFIGURATION + 1)
            if FROM_FILES in content or len(content) > MAX_CONFIGURATION:
                return True
    return False


def _libraries() -> list[Path]:
    """The folders that change when libraries are installed."""
    return [Path(sysconfig.get_path(name)) for name in ("purelib", "platlib")]


def _files_of_model(models: Path) -> list[Path]:
    folder = EMBEDDING.folder(models.absolute())
    return [folder / name for name in EMBEDDING.files]


def _signature(path: Path) -> Signature:
    """The values that change with a replaced or written file; empty for a missing one."""
    try:
        status = path.stat()
    except (OSError, ValueError):
        return []
    return [status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns]

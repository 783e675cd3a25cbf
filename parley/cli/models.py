"""`parley models list | pull`: the models of recall on this machine."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated

import typer

from db.errors import StoreUnavailable
from gateway.errors import ParleyError
from memory.embeddings.catalogue import EMBEDDING, MODELS, RERANKING, LocalModel
from memory.embeddings.local import installed
from memory.embeddings.openai import DEFAULT_MODEL
from parley.cli.memory_table import print_json
from parley.cli.model_download import PUBLISHED, DownloadFailed, Progress, pull
from parley.cli.options import AsJson, Config, config_path
from parley.cli.stores import require_database, with_storage
from parley.config import Settings, SettingsError, load
from parley.installation import install_command
from parley.wiring.recall import models_folder

Folder = Annotated[
    Path | None, typer.Option("--folder", help="A folder to use instead of the configured one.")
]


@dataclass(frozen=True, slots=True)
class _Vectors:
    """How many of how many memories have a vector of the configured model; `problem` says why that
    cannot be counted."""

    model: str = ""
    made: int = 0
    of: int = 0
    problem: str = ""


def show(folder: Folder = None, config: Config = None, as_json: AsJson = False) -> int:
    """Print every model, and how many memories have vectors."""
    settings = load(config_path(config), os.environ)
    models = folder or models_folder(settings)
    vectors = _vectors(settings)
    if as_json:
        print_json([{"model": model.name, "missing": model.missing(models)} for model in MODELS])
        print_json([{"libraries": installed(), **asdict(vectors)}])
        return 0
    for model in MODELS:
        sys.stdout.write(f"{model.name:<24}  {_state(model, models):<24}  for {model.purpose}\n")
    if not installed():
        sys.stdout.write(
            f"The libraries that run them are not installed: {install_command('models')}\n"
        )
    sys.stdout.write(_progress_line(vectors))
    return 0


def pull_models(
    name: Annotated[
        list[str] | None, typer.Argument(metavar="[NAME]...", help="Default: the configured ones.")
    ] = None,
    folder: Folder = None,
    published: Annotated[
        str, typer.Option("--from", envvar="HF_ENDPOINT", help="A mirror of huggingface.co.")
    ] = "",
    config: Config = None,
) -> int:
    """Download models, with a progress bar; 1 when one failed, 2 for an unknown name."""
    known = {model.name: model for model in MODELS}
    if unknown := set(name or ()) - set(known):
        sys.stderr.write(f"There is no model {min(unknown)}. There are: {', '.join(known)}.\n")
        return 2
    try:
        settings = load(config_path(config), os.environ)
    except SettingsError:
        if folder is None:
            raise
        settings = None
    rerank = settings is not None and settings.memory.rerank
    chosen = [known[each] for each in name or ()] or [EMBEDDING, *([RERANKING] if rerank else [])]
    models = folder or (models_folder(settings) if settings else Path("models"))
    for model in chosen:
        try:
            with _bar() as progress:
                files = pull(model, models, progress, published or PUBLISHED)
        except DownloadFailed as error:
            sys.stderr.write(f"{model.name}: {error}\n")
            return 1
        result = f"downloaded, {len(files)} files" if files else "is here already"
        sys.stdout.write(f"{model.name}: {result}, in {model.folder(models)}\n")
    if not installed():
        sys.stdout.write(
            f"To use it, install the libraries that run it: {install_command('models')}\n"
        )
    return 0


def vector_model(settings: Settings) -> str:
    """The name of the model that makes vectors; empty without one."""
    match settings.memory.embedding_provider:
        case "local":
            return EMBEDDING.name
        case "openai":
            return f"openai/{settings.memory.embedding.name or DEFAULT_MODEL}"
        case _:
            return ""


def _state(model: LocalModel, models: Path) -> str:
    missing = model.missing(models)
    if not missing:
        return "here"
    return f"missing, {model.megabytes} MB" if len(missing) == len(model.files) else "incomplete"


def _progress_line(vectors: _Vectors) -> str:
    if vectors.problem:
        return f"Vectors: {vectors.problem}\n"
    if not vectors.model:
        return "Vectors: none; memories are found by their words.\n"
    share = 100 * vectors.made // max(vectors.of, 1)
    return f"Vectors of {vectors.model}: {vectors.made:,} of {vectors.of:,} memories ({share} %).\n"


def _vectors(settings: Settings) -> _Vectors:
    model = vector_model(settings)
    if not model:
        return _Vectors()
    try:
        require_database(settings)
        made, of = with_storage(settings, lambda storage: storage.memory.memories.embedded(model))
    except (ParleyError, StoreUnavailable) as error:
        return _Vectors(problem=str(error))
    return _Vectors(model, made, of)


@contextmanager
def _bar() -> Iterator[Progress]:
    """A progress bar for every file, on a terminal only."""
    if not sys.stderr.isatty():
        yield lambda _name, _received, _size: None
        return
    from rich import progress  # noqa: PLC0415 - 0.1 s, and for a terminal only
    from rich.console import Console  # noqa: PLC0415 - loaded only where it is needed

    columns = (
        progress.TextColumn("{task.description}"),
        progress.BarColumn(),
        progress.DownloadColumn(),
        progress.TransferSpeedColumn(),
    )
    with progress.Progress(*columns, console=Console(stderr=True)) as bars:
        tasks: dict[str, progress.TaskID] = {}

        def show_progress(name: str, received: int, size: int) -> None:
            if name not in tasks:
                tasks[name] = bars.add_task(name, total=size or None)
            bars.update(tasks[name], completed=received)

        yield show_progress

"""What `parley models` does, and the doctor's line about it."""

import asyncio
import json
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from db.errors import StoreUnavailable
from gateway.errors import ParleyError
from gateway.ports.clock import SystemClock
from memory.embeddings.catalogue import EMBEDDING, MODELS, RERANKING, LocalModel
from memory.embeddings.openai import DEFAULT_MODEL
from memory.embeddings.runtime import INSTALL, installed
from parley.cli.checks import Finding
from parley.cli.model_download import PUBLISHED, DownloadFailed, Progress, pull
from parley.config import Settings, SettingsError, load
from parley.config.sections import MEMORY, sqlite_file
from parley.wiring.recall_models import advice_for, models_folder, problem_of
from parley.wiring.storage import Storage

BY_WORDS: Final = "memories are found by their words"


@dataclass(frozen=True, slots=True)
class _Vectors:
    """How many of how many memories have one of the model that is in use; the problem where it
    cannot be found out."""

    model: str = ""
    made: int = 0
    of: int = 0
    problem: str = ""


def show(folder: Path | None, config: Path | None, env: Mapping[str, str], *, as_json: bool) -> int:
    """Print every model, and how far the vectors are."""
    try:
        settings = load(config, env)
    except SettingsError as error:
        sys.stderr.write(f"{error}\n")
        return 3
    models = folder or models_folder(settings)
    vectors = _vectors(settings)
    if as_json:
        for model in MODELS:
            _line({"model": model.name, "missing": model.missing(models)})
        _line({"libraries": installed(), **asdict(vectors)})
        return 0
    for model in MODELS:
        sys.stdout.write(f"{model.name:<24}  {_state(model, models):<24}  for {model.purpose}\n")
    if not installed():
        sys.stdout.write(f"The libraries that run them are not installed: {INSTALL}\n")
    sys.stdout.write(_told(vectors))
    return 0


def download_all(
    names: tuple[str, ...],
    folder: Path | None,
    published: str,
    config: Path | None,
    env: Mapping[str, str],
) -> int:
    """Fetch models; 1 when one could not be fetched, 2 for a name that nobody knows."""
    known = {model.name: model for model in MODELS}
    if unknown := set(names) - set(known):
        sys.stderr.write(f"There is no model {min(unknown)}. There are: {', '.join(known)}.\n")
        return 2
    try:
        settings = load(config, env)
    except SettingsError as error:
        if folder is None:
            sys.stderr.write(f"{error}\n")
            return 3
        settings = None
    chosen = [known[name] for name in names] or _usual(settings)
    models = folder or (models_folder(settings) if settings else Path("models"))
    for model in chosen:
        try:
            with _bar() as progress:
                fetched = pull(model, models, progress, published or PUBLISHED)
        except DownloadFailed as error:
            sys.stderr.write(f"{model.name}: {error}\n")
            return 1
        what = f"fetched, {len(fetched)} files" if fetched else "is here already"
        sys.stdout.write(f"{model.name}: {what}, in {model.folder(models)}\n")
    if not installed():
        sys.stdout.write(f"To use it, install the libraries that run it: {INSTALL}\n")
    return 0


def models_of_recall(settings: Settings) -> list[Finding]:
    """For `parley doctor`: whether recall has what is configured."""
    wanted = settings.memory
    if not wanted.enabled:
        return []
    name = "recall"
    if wanted.embedding_provider == "none":
        return [Finding("ok", name, f"{BY_WORDS} (memory.embedding_provider: none)")]
    if wanted.embedding_provider == "openai":
        return [Finding("ok", name, f"by words, and by {_name(settings)}")]
    findings = []
    for model in (EMBEDDING, RERANKING) if wanted.rerank else (EMBEDDING,):
        problem = problem_of(settings, model)
        if problem:
            advice = f"{advice_for(settings)}, or set memory.embedding_provider to none."
            findings.append(Finding("note", name, f"{BY_WORDS} only; {problem}", advice))
        else:
            findings.append(Finding("ok", name, f"{model.name} is here"))
    return findings


def _usual(settings: Settings | None) -> list[LocalModel]:
    return [EMBEDDING, RERANKING] if settings and settings.memory.rerank else [EMBEDDING]


def _state(model: LocalModel, models: Path) -> str:
    missing = model.missing(models)
    if not missing:
        return "here"
    return f"missing, {model.megabytes} MB" if len(missing) == len(model.files) else "incomplete"


def _line(values: Mapping[str, object]) -> None:
    sys.stdout.write(json.dumps(values) + "\n")


def _told(vectors: _Vectors) -> str:
    if vectors.problem:
        return f"Vectors: {vectors.problem}\n"
    if not vectors.model:
        return f"Vectors: none are made; {BY_WORDS}.\n"
    share = 100 * vectors.made // max(vectors.of, 1)
    return f"Vectors of {vectors.model}: {vectors.made:,} of {vectors.of:,} memories ({share} %).\n"


def _vectors(settings: Settings) -> _Vectors:
    model, file = _name(settings), sqlite_file(settings.database.url)
    if not model:
        return _Vectors()
    if settings.database.url == MEMORY or (file and not Path(file).exists()):
        return _Vectors(problem="there is no database yet that could be read")
    return asyncio.run(_counted(settings, model))


async def _counted(settings: Settings, model: str) -> _Vectors:
    storage = Storage(settings, SystemClock())
    try:
        await storage.start(exclusive=False)
        made, of = await storage.memory.memories.embedded(model)
    except (ParleyError, StoreUnavailable) as error:
        return _Vectors(problem=str(error))
    finally:
        await storage.stop()
    return _Vectors(model, made, of)


def _name(settings: Settings) -> str:
    match settings.memory.embedding_provider:
        case "local":
            return EMBEDDING.name
        case "openai":
            return f"openai/{settings.memory.embedding.name or DEFAULT_MODEL}"
        case _:
            return ""


@contextmanager
def _bar() -> Iterator[Progress]:
    """A bar for every file, on a terminal; nothing elsewhere."""
    if not sys.stderr.isatty():
        yield lambda _name, _came, _size: None
        return
    from rich import progress  # noqa: PLC0415 - 0.1 s, and for a terminal only
    from rich.console import Console  # noqa: PLC0415

    columns = (
        progress.TextColumn("{task.description}"),
        progress.BarColumn(),
        progress.DownloadColumn(),
        progress.TransferSpeedColumn(),
    )
    with progress.Progress(*columns, console=Console(stderr=True)) as bars:
        tasks: dict[str, progress.TaskID] = {}

        def told(name: str, came: int, size: int) -> None:
            if name not in tasks:
                tasks[name] = bars.add_task(name, total=size or None)
            bars.update(tasks[name], completed=came)

        yield told

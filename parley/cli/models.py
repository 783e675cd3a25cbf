"""`parley models list | pull`: the models of recall on this machine, and the download of their
files. A file has its name only once it is complete and checked."""

import hashlib
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import httpx2
import typer
from msgspec import Struct
from msgspec.structs import asdict

from db.errors import StoreUnavailable
from gateway.errors import ParleyError
from memory.embeddings.catalogue import EMBEDDING, HEARING, MODELS, RERANKING, LocalModel
from memory.embeddings.local import installed
from parley.cli.knowledge.index_status import VectorModel, VectorProgress, progress_of
from parley.cli.knowledge.repositories import with_index
from parley.cli.options import AsJson, Config
from parley.cli.stores import command_settings, require_database, with_storage
from parley.cli.terminal import show
from parley.config import Settings, SettingsError
from parley.python_environment import install_command
from parley.wiring.knowledge import knowledge_file
from parley.wiring.recall import embedding_problem, models_folder, vector_model

if TYPE_CHECKING:
    from parley.wiring.storage import Storage

Folder = Annotated[
    Path | None, typer.Option("--folder", help="A folder to use instead of the configured one.")
]

PUBLISHED: Final = "https://huggingface.co"
CONNECT_SECONDS: Final = 10.0
SILENCE_SECONDS: Final = 30.0
MAX_BYTES: Final = 1024**3
"""Of one file; the largest has 91 MB."""
MAX_REDIRECTS: Final = 5
CHUNK: Final = 256 * 1024
MAX_PARTS: Final = 100

INTERRUPTED: Final = (httpx2.ReadError, httpx2.ReadTimeout, httpx2.RemoteProtocolError)

Progress = Callable[[str, int, int], None]
"""Called with the file, the bytes received, and the size (0 where it is unknown)."""


def show_models(folder: Folder = None, config: Config = None, as_json: AsJson = False) -> int:
    """Print every model, and how many memories have vectors."""
    settings = command_settings(config)
    models = folder or models_folder(settings)
    vectors, chunks = _vectors(settings), _chunks(settings)
    state: dict[str, object] = {"libraries": installed(), **asdict(vectors)}
    if chunks is not None:
        state["chunks"] = asdict(chunks)
    values = [{"model": model.name, "missing": model.missing(models)} for model in MODELS]
    show([*values, state], _as_lines(models, vectors, chunks), as_json=as_json)
    return 0


def _as_lines(
    models: Path, vectors: VectorProgress, chunks: VectorProgress | None
) -> Iterator[str]:
    for model in MODELS:
        yield f"{model.name:<24}  {_state(model, models):<24}  for {model.purpose}"
    if not installed():
        yield f"The libraries that run them are not installed: {install_command('models')}"
    yield _progress_line(vectors)
    if chunks is not None:
        yield f"Repositories: {chunks.text}"


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
        settings = command_settings(config)
    except SettingsError:
        if folder is None:
            raise
        settings = None
    rerank = settings is not None and settings.memory.rerank
    hears = settings is not None and settings.voice.recogniser == "local"
    used = [EMBEDDING, *([RERANKING] if rerank else []), *([HEARING] if hears else [])]
    chosen = [known[each] for each in name or ()] or used
    models = folder or (models_folder(settings) if settings else Path("models"))
    for model in chosen:
        try:
            with _bar() as progress:
                files = pull(model, models, progress, published or PUBLISHED)
        except DownloadFailed as error:
            sys.stderr.write(f"{model.name}: {error}\n")
            return 1
        result = f"downloaded, {len(files)} files" if files else "is installed already"
        sys.stdout.write(f"{model.name}: {result}, in {model.folder(models)}\n")
    if not installed():
        sys.stdout.write(
            f"To use it, install the libraries that run it: {install_command('models')}\n"
        )
    return 0


def _state(model: LocalModel, models: Path) -> str:
    missing = model.missing(models)
    if not missing:
        return "here"
    return f"missing, {model.megabytes} MB" if len(missing) == len(model.files) else "incomplete"


def _progress_line(vectors: VectorProgress) -> str:
    if vectors.problem:
        return f"Vectors: {vectors.problem}"
    if not vectors.model:
        return "Vectors: none; memories are found by their words."
    share = 100 * vectors.made // max(vectors.of, 1)
    told = f"Vectors of {vectors.model}: {vectors.made:,} of {vectors.of:,} memories ({share} %)."
    return f"{told} {vectors.made_anew}".rstrip()


def _vectors(settings: Settings) -> VectorProgress:
    model = vector_model(settings)
    if not model:
        return VectorProgress()
    try:
        require_database(settings)
        return with_storage(settings, lambda storage: _counted(storage, model))
    except (ParleyError, StoreUnavailable) as error:
        return VectorProgress(problem=str(error))


async def _counted(storage: "Storage", model: str) -> VectorProgress:
    memories = storage.memory.memories
    made, of = await memories.embedded(model)
    return VectorProgress(model, made, of, dimensions=await memories.dimensions(model))


def _chunks(settings: Settings) -> VectorProgress | None:
    """The vectors of repositories; None where there is no index."""
    file = knowledge_file(settings)
    server = settings.database.url.startswith("postgresql://")
    if not settings.knowledge.enabled or not (server or (file and file.exists())):
        return None
    try:
        model = VectorModel(vector_model(settings), embedding_problem(settings))
        return with_index(settings, lambda index: progress_of(model, index.vectors))
    except (ParleyError, StoreUnavailable) as error:
        return VectorProgress(problem=str(error))


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


class DownloadFailed(Exception):
    """A file could not be downloaded; the text says why and what to do."""


class _Stated(Struct, frozen=True):
    """The size and the checksum that the publisher states. A SHA-256 has 64 digits; 40 are the
    SHA-1 of a git blob."""

    size: int
    checksum: str


def pull(
    model: LocalModel, models: Path, progress: Progress, published: str = PUBLISHED
) -> list[str]:
    """Download the missing files of a model; returns their names. Raises `DownloadFailed`."""
    downloaded = []
    timeout = httpx2.Timeout(SILENCE_SECONDS, connect=CONNECT_SECONDS)
    with httpx2.Client(
        follow_redirects=True, max_redirects=MAX_REDIRECTS, timeout=timeout
    ) as client:
        for name in model.missing(models):
            url = f"{published.rstrip('/')}/{model.repository}/resolve/main/{name}"
            try:
                _fetch(client, url, model.folder(models) / name, name, progress)
            except (httpx2.HTTPError, httpx2.InvalidURL, OSError) as error:
                raise DownloadFailed(_explained(error, url, model.folder(models))) from error
            downloaded.append(name)
    return downloaded


def _fetch(client: httpx2.Client, url: str, target: Path, name: str, progress: Progress) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    _remove_old_parts(target)
    part = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        with client.stream("GET", url, headers={"Accept-Encoding": "identity"}) as answer:
            answer.raise_for_status()
            _keep(answer, part, name, progress)
        part.replace(target)
    finally:
        with suppress(OSError):
            part.unlink(missing_ok=True)


def _remove_old_parts(target: Path) -> None:
    """Remove the parts of killed downloads. A running download writes more often than this."""
    for part in islice(target.parent.glob(f".{target.name}.*.part"), MAX_PARTS):
        with suppress(OSError):
            if time.time() - part.stat().st_mtime > 2 * SILENCE_SECONDS:
                part.unlink()


def _keep(answer: httpx2.Response, part: Path, name: str, progress: Progress) -> None:
    stated, received = _stated(answer), 0
    if len(stated.checksum) == 40:
        digest = hashlib.sha1(b"blob %d\0" % stated.size, usedforsecurity=False)
    else:
        digest = hashlib.sha256()
    with part.open("wb") as file:
        for data in answer.iter_bytes(CHUNK):
            received += len(data)
            if received > MAX_BYTES:
                raise DownloadFailed(
                    f"{name} is larger than {MAX_BYTES:,} bytes; nothing was kept."
                )
            digest.update(data)
            file.write(data)
            progress(name, received, stated.size)
        file.flush()
        os.fsync(file.fileno())
    if stated.size and received != stated.size:
        raise DownloadFailed(
            f"{name} has {received:,} bytes instead of {stated.size:,}. Try again."
        )
    if stated.checksum and digest.hexdigest() != stated.checksum:
        raise DownloadFailed(f"{name} differs from what was published (checksum). Try again.")
    if not received:
        raise DownloadFailed(f"{name} is empty. Try again.")


def _stated(answer: httpx2.Response) -> _Stated:
    """From the publisher's own response, not from that of the host to which it redirects."""
    first = answer.history[0] if answer.history else answer
    size = first.headers.get("x-linked-size") or answer.headers.get("content-length") or "0"
    tag = first.headers.get("x-linked-etag") or first.headers.get("etag") or ""
    checksum = tag.removeprefix("W/").strip('"').lower()
    known = len(checksum) in (40, 64) and all(c in "0123456789abcdef" for c in checksum)
    return _Stated(int(size) if size.isdecimal() else 0, checksum if known else "")


def _explained(error: Exception, url: str, folder: Path) -> str:
    host = httpx2.URL(url).host
    if isinstance(error, httpx2.HTTPStatusError):
        return f"{host} answers {error.response.status_code} for {url}."
    if isinstance(error, OSError):
        return f"{folder} cannot be written: {error.strerror or error}."
    if isinstance(error, INTERRUPTED):
        return f"The download of {url} was interrupted ({type(error).__name__}). Try again."
    return (
        f"{host} cannot be reached ({type(error).__name__}). On a machine with a network, run"
        f" `parley models pull --folder models`, and copy the result to {folder.parent}."
    )

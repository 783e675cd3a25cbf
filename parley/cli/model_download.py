"""Downloads the files of a model. A file has its name only once it is complete and checked."""

import hashlib
import os
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Final, Protocol

import httpx2

from memory.embeddings.catalogue import LocalModel

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


class DownloadFailed(Exception):
    """A file could not be downloaded; the text says why and what to do."""


class _Digest(Protocol):
    def update(self, data: bytes, /) -> None: ...
    def hexdigest(self) -> str: ...


@dataclass(frozen=True, slots=True)
class _Stated:
    """The size and the checksum that the publisher states. A SHA-256 has 64 digits; 40 are the
    SHA-1 of a git blob."""

    size: int
    checksum: str

    def digest(self) -> _Digest:
        if len(self.checksum) == 40:
            digest = hashlib.sha1(usedforsecurity=False)  # the id of a git blob
            digest.update(b"blob %d\0" % self.size)
            return digest
        return hashlib.sha256()


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
    stated = _stated(answer)
    digest, received = stated.digest(), 0
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

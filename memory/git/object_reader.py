"""Reads objects through one long-running `git cat-file`."""

import asyncio
import hashlib
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack
from types import TracebackType
from typing import Final, Literal, Self

from msgspec import Struct

from memory.git.errors import GitFailed
from memory.git.process import SECONDS, Git

AT_ONCE: Final = 200
"""Requests that are sent before their answers are read: less than a pipe holds."""
MAX_CONTENT: Final = 16 * 1024 * 1024
"""Bytes of a content that is read, more than the largest file that is indexed. A pack can tell
another size when its object is read than before."""
MAX_STARTS: Final = 50
"""Starts of git; an object that ends it, such as a bomb, is passed over."""


class ObjectInfo(Struct, frozen=True):
    """The type ("blob", "tree", "commit", "tag") and the size in bytes of an object."""

    type: str
    size: int


class ObjectReader:
    """Answers for objects by their ids, one caller at a time. Use it as an async context."""

    def __init__(self, git: Git, mode: Literal["--batch", "--batch-check"]) -> None:
        self._git = git
        self._mode = mode
        self._stack = AsyncExitStack()
        self._process: asyncio.subprocess.Process | None = None
        self._starts = 0

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._end()

    async def infos(self, ids: Sequence[str]) -> dict[str, ObjectInfo]:
        """Return the type and size of those objects that are there."""
        return {id_: info async for id_, info, _ in self._answers(ids) if info is not None}

    async def blobs(self, ids: Sequence[str]) -> AsyncIterator[tuple[str, bytes | None]]:
        """Yield the contents of blobs in order; None for one that is missing, damaged, or ends git.

        The caller knows their sizes from `infos`: everything is read that git gives.
        """
        async for id_, info, content in self._answers(ids):
            good = info is not None and info.type == "blob" and content is not None
            yield (
                id_,
                content if good and content is not None and _hashes_to(id_, content) else None,
            )

    async def _answers(
        self, ids: Sequence[str]
    ) -> AsyncIterator[tuple[str, ObjectInfo | None, bytes | None]]:
        waiting = list(ids)
        while waiting:
            some, waiting = waiting[:AT_ONCE], waiting[AT_ONCE:]
            try:
                process = await self._running()
                await self._send(process, some)
                while some:
                    answer = await self._answer(process, some[0])
                    yield answer
                    some.pop(0)
            except (EOFError, ConnectionError, TimeoutError):
                # Git ended, or is stuck, at the first object without an answer.
                await self._end()
                yield some.pop(0), None, None
                waiting = [*some, *waiting]

    async def _running(self) -> asyncio.subprocess.Process:
        if self._process is None:
            self._starts += 1
            if self._starts > MAX_STARTS:
                raise GitFailed(f"git ended {MAX_STARTS} times: the repository is damaged")
            self._process = await self._stack.enter_async_context(
                self._git.started("cat-file", self._mode)
            )
        return self._process

    async def _send(self, process: asyncio.subprocess.Process, ids: Sequence[str]) -> None:
        assert process.stdin is not None  # noqa: S101 - it is a pipe
        process.stdin.write("".join(f"{id_}\n" for id_ in ids).encode())
        async with asyncio.timeout(SECONDS):
            await process.stdin.drain()

    async def _answer(
        self, process: asyncio.subprocess.Process, id_: str
    ) -> tuple[str, ObjectInfo | None, bytes | None]:
        assert process.stdout is not None  # noqa: S101 - it is a pipe
        async with asyncio.timeout(SECONDS):
            line = await process.stdout.readline()
            parts = line.split()
            if len(parts) != 3 or not line.endswith(b"\n"):
                if not line.endswith(b"\n"):
                    raise EOFError
                return id_, None, None
            info = ObjectInfo(parts[1].decode(), int(parts[2]))
            if self._mode == "--batch-check":
                return id_, info, None
            if info.size > MAX_CONTENT:
                raise EOFError
            content = await process.stdout.readexactly(info.size + 1)
        return id_, info, content[:-1]

    async def _end(self) -> None:
        self._process = None
        await self._stack.aclose()
        self._stack = AsyncExitStack()


def _hashes_to(id_: str, content: bytes) -> bool:
    """True if the content has the id under which it is stored."""
    algorithm = hashlib.sha1 if len(id_) == 40 else hashlib.sha256
    return algorithm(b"blob %d\0" % len(content) + content).hexdigest() == id_

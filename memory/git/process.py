"""Runs git so that a repository can neither configure nor execute anything.

`GIT_DIR` is a temporary folder of Parley's own, so the configuration, hooks, attributes, filters,
remotes, grafts and replaced objects of the repository do not exist for git. Only its objects are
visible, through `GIT_OBJECT_DIRECTORY`, without the index of several packs, which could name packs
elsewhere. A missing object is therefore never fetched: git knows of
no remote, and every protocol is refused besides.
"""

import asyncio
import contextlib
import os
import resource
import shutil
import sys
import tempfile
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Final

from memory.git.errors import GitFailed, GitMissing, LimitExceeded
from safety.process_group import end_group, started_in_group

SECONDS: Final = 10.0
"""The time limit of one request to git."""
MAX_MEMORY: Final = 3 * 1024**3
"""Bytes of address space of one process, so that an object that unpacks to gigabytes ends git and
nothing else. Git keeps pack files in at most `packedGitLimit` of it."""
CHUNK: Final = 256 * 1024
"""Bytes that are read from git at once."""
MAX_LISTING: Final = 512 * 1024 * 1024
"""Bytes of a list of paths."""
IN_MEMORY: Final = 16 * 1024 * 1024
"""Bytes of a list of paths that are kept in memory; a longer one is a file until it is read."""
FAILED: Final = (
    "git {command} failed: the repository is damaged, shallow, or its folders are nested too deeply"
)
CONFIGURATION: Final = """\
[core]
	repositoryFormatVersion = {version}
	bare = true
	commitGraph = false
	multiPackIndex = false
	fsmonitor = false
	untrackedCache = false
	hooksPath = /dev/null
	packedGitLimit = 512m
	packedGitWindowSize = 32m
[protocol]
	allow = never
[gc]
	auto = 0
[maintenance]
	auto = false
"""
SHA256: Final = """\
[extensions]
	objectFormat = sha256
"""


@contextmanager
def own_git_dir(sha256: bool) -> Iterator[Path]:
    """Make the folder that git takes for the repository, and delete it at the end."""
    with tempfile.TemporaryDirectory(prefix="parley-git-") as name:
        folder = Path(name)
        for inner in ("refs", "objects"):
            (folder / inner).mkdir()
        (folder / "HEAD").write_text("ref: refs/heads/none\n")
        configuration = CONFIGURATION.format(version=int(sha256)) + (SHA256 if sha256 else "")
        (folder / "config").write_text(configuration)
        yield folder


def require_git() -> str:
    """Return the path of the program git. Raises `GitMissing`."""
    program = shutil.which("git")
    if program is None:
        raise GitMissing("git is not installed; install it to read repositories")
    return program


class Git:
    """Runs commands on the objects of one repository.

    `shallow` is the repository's list of commits whose parents are not there, if it has one.
    """

    def __init__(self, own_dir: Path, objects: Path, shallow: Path | None) -> None:
        self._program = require_git()
        self._folder = own_dir
        self._environment = {
            "PATH": os.environ.get("PATH", os.defpath),
            "HOME": str(own_dir),
            "XDG_CONFIG_HOME": str(own_dir),
            "LC_ALL": "C",
            "GIT_DIR": str(own_dir),
            "GIT_OBJECT_DIRECTORY": str(objects),
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_SYSTEM": os.devnull,
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_ATTR_NOSYSTEM": "1",
            "GIT_ALLOW_PROTOCOL": "none",
            "GIT_NO_LAZY_FETCH": "1",
            "GIT_NO_REPLACE_OBJECTS": "1",
            "GIT_OPTIONAL_LOCKS": "0",
            "GIT_TERMINAL_PROMPT": "0",
            "GIT_LITERAL_PATHSPECS": "1",
            "GIT_PAGER": "cat",
        }
        if shallow is not None:
            self._environment["GIT_SHALLOW_FILE"] = str(shallow)

    @asynccontextmanager
    async def started(self, *arguments: str) -> AsyncIterator[asyncio.subprocess.Process]:
        """Start a command with pipes; it is ended at the latest when the block ends, with every
        process that it started."""
        process = await started_in_group(
            (self._program, *arguments), self._environment, self._folder, CHUNK
        )
        try:
            _limit_memory(process.pid)
            yield process
        finally:
            await end_group(process)

    async def output(self, *arguments: str, most: int) -> tuple[int, bytes]:
        """Return the exit status and the output of a command, of at most `most` bytes. Raises
        `GitFailed` if it takes too long or writes more."""
        output = bytearray()

        def take(chunk: bytes) -> None:
            output.extend(chunk)
            if len(output) > most:
                raise GitFailed(f"git {arguments[0]} wrote more than {most:,} bytes")

        status = await self._run(arguments, take)
        return status, bytes(output)

    async def records(
        self, *arguments: str, longest: int, most: int
    ) -> AsyncGenerator[bytes, None]:
        """Yield the parts of the output that end with NUL, when the command has ended.

        Raises `GitFailed` if the command fails or takes too long, or a part is longer than
        `longest` bytes; `LimitExceeded` for more than `most` parts or `MAX_LISTING` bytes.
        """
        count = 0
        with tempfile.SpooledTemporaryFile(IN_MEMORY, dir=str(self._folder)) as output:

            def take(chunk: bytes) -> None:
                nonlocal count
                count += chunk.count(b"\0")
                if count > most or output.tell() + len(chunk) > MAX_LISTING:
                    raise LimitExceeded(f"git {arguments[0]} lists too many paths")
                output.write(chunk)

            if await self._run(arguments, take):
                raise GitFailed(FAILED.format(command=arguments[0]))
            output.seek(0)
            rest = b""
            while chunk := output.read(CHUNK):
                *parts, rest = (rest + chunk).split(b"\0")
                for part in parts:
                    yield part
                if len(rest) > longest:
                    raise GitFailed(
                        f"git {arguments[0]} gave a path of more than {longest:,} bytes"
                    )
        if rest:
            raise GitFailed(FAILED.format(command=arguments[0]))

    async def _run(self, arguments: Sequence[str], take: Callable[[bytes], None]) -> int:
        """Give the output of a command to a function; return the exit status. Raises `GitFailed`
        if the command does not end within `SECONDS`."""
        try:
            async with self.started(*arguments) as process, asyncio.timeout(SECONDS):
                assert process.stdin is not None  # noqa: S101 - both are pipes
                assert process.stdout is not None  # noqa: S101 - both are pipes
                process.stdin.close()
                while chunk := await process.stdout.read(CHUNK):
                    take(chunk)
                return await process.wait()
        except TimeoutError:
            raise GitFailed(f"git {arguments[0]} did not end within {SECONDS:g} seconds") from None


def _limit_memory(process_id: int) -> None:
    """Bound the address space of a process, where the system can do so from outside (Linux)."""
    if sys.platform == "linux":
        with contextlib.suppress(OSError, ValueError):
            resource.prlimit(process_id, resource.RLIMIT_AS, (MAX_MEMORY, MAX_MEMORY))
            resource.prlimit(process_id, resource.RLIMIT_CORE, (0, 0))

"""Opens the index for a command; arguments and options that name repositories."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Annotated, TypeVar

import typer

from gateway.errors import UsageError
from memory.git.errors import GitError
from parley.config import Settings
from parley.wiring.knowledge import KnowledgeIndex, open_knowledge

T = TypeVar("T")
OneRepository = Annotated[
    str, typer.Argument(metavar="REPO", help="A folder with a git repository, or its name.")
]
SomeRepository = Annotated[
    str | None,
    typer.Argument(
        metavar="[REPO]",
        help="A folder with a git repository, or its name. Default: the repository of the current "
        "folder, or else all.",
    ),
]
Tenant = Annotated[
    str | None, typer.Option("--tenant", help="The tenant, where several have this repository.")
]


def with_index(settings: Settings, job: Callable[[KnowledgeIndex], Awaitable[T]]) -> T:
    """The result of `job` with the opened index. Raises `BadInput` for what git refuses."""
    if not settings.knowledge.enabled:
        raise UsageError("knowledge.enabled is off in the configuration.")
    index = open_knowledge(settings)

    async def run() -> T:
        try:
            await index.start()
            return await job(index)
        finally:
            await index.stop()

    try:
        return asyncio.run(run())
    except GitError as error:
        raise UsageError(str(error)) from error

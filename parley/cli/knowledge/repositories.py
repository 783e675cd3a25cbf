"""Opens the index for a command, and finds the repository that its argument means."""

import asyncio
import shlex
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Annotated, Final, TypeVar

import typer

from gateway.errors import BadInput
from memory.git.errors import GitError, NotARepository
from memory.git.location import Location, locate
from memory.knowledge.hooks.install import lost_hooks
from memory.knowledge.model import Repository
from memory.knowledge.ports.stores import RepositoryStore
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
UNKNOWN: Final = "{name} is not registered; run `parley knowledge init {name}`."
HOOKS_LOST: Final = (
    "  hooks that do not run any more: {hooks}; run `parley knowledge hooks install {folder}`\n"
)
NONE: Final = "No repository is registered yet; run `parley knowledge init REPO`."


def with_index(settings: Settings, job: Callable[[KnowledgeIndex], Awaitable[T]]) -> T:
    """The result of `job` with the opened index. Raises `BadInput` for what git refuses."""
    if not settings.knowledge.enabled:
        raise BadInput("knowledge.enabled is off in the configuration.")
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
        raise BadInput(str(error)) from error


async def find_one(store: RepositoryStore, name: str, tenant: str | None) -> Repository:
    """The registered repository of a folder or a name. Raises `BadInput`."""
    found = await _matching(store, name, tenant)
    if not found:
        raise BadInput(UNKNOWN.format(name=name))
    if len(found) > 1:
        tenants = ", ".join(one.tenant for one in found)
        raise BadInput(f"Several tenants have {name}: add --tenant with one of {tenants}.")
    return found[0]


async def find_some(
    store: RepositoryStore, name: str | None, tenant: str | None
) -> Sequence[Repository]:
    """The registered repositories that an optional argument means. Raises `BadInput`."""
    if name is not None:
        return [await find_one(store, name, tenant)]
    here = _location(Path.cwd())
    found = await store.in_folder(str(here.common_dir)) if here else []
    found = found or await store.all()
    chosen = [one for one in found if tenant in {None, one.tenant}]
    if not chosen:
        raise BadInput(NONE)
    return chosen


async def _matching(store: RepositoryStore, name: str, tenant: str | None) -> list[Repository]:
    folder, git_dir = _places(name)
    found = await store.in_folder(git_dir) if git_dir else []
    # The folder may be gone, or be no repository any more.
    found = found or [one for one in await store.all() if {name, folder} & {one.name, one.folder}]
    return [one for one in found if tenant in {None, one.tenant}]


def _places(name: str) -> tuple[str, str]:
    """The folder that an argument may name, and the folder of its objects, "" without one."""
    folder = Path(name).expanduser().absolute()
    try:
        return str(folder), str(locate(folder).common_dir)
    except NotARepository:
        return str(folder), ""


def lost_hooks_of(repository: Repository) -> list[str]:
    """The git hooks that were installed in a repository and are gone."""
    return lost_hooks(Path(repository.folder), Path(repository.git_dir))


def lost_hooks_line(repository: Repository, lost: Sequence[str]) -> str:
    """The line that says how to get them back; empty if none are gone."""
    if not lost:
        return ""
    return HOOKS_LOST.format(hooks=", ".join(lost), folder=shlex.quote(repository.folder))


def _location(folder: Path) -> Location | None:
    """The repository that a folder is in."""
    for one in (folder, *folder.parents):
        if (one / ".git").exists():
            try:
                return locate(one)
            except NotARepository:
                return None
    return None

"""The registered repository that an argument means, and what is said about it.

Imports no library, for `parley.cli.knowledge.quick_status`.
"""

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from gateway.errors import UsageError
from memory.git.errors import NotARepository
from memory.git.location import RepositoryLocation, locate
from memory.knowledge.hooks.install import lost_hooks
from memory.knowledge.model import Repository
from memory.knowledge.stores.repositories import SqlRepositories

UNKNOWN: Final = "{name} is not registered; run `parley knowledge init {name}`."
HOOKS_LOST: Final = (
    "  hooks that do not run any more: {hooks}; run `parley knowledge hooks install {folder}`\n"
)
NONE: Final = "No repository is registered yet; run `parley knowledge init REPO`."


async def find_one(store: SqlRepositories, name: str, tenant: str | None) -> Repository:
    """The registered repository of a folder or a name. Raises `BadInput`."""
    found = await _matching(store, name, tenant)
    if not found:
        raise UsageError(UNKNOWN.format(name=name))
    if len(found) > 1:
        tenants = ", ".join(one.tenant for one in found)
        raise UsageError(f"Several tenants have {name}: add --tenant with one of {tenants}.")
    return found[0]


async def find_some(
    store: SqlRepositories, name: str | None, tenant: str | None
) -> Sequence[Repository]:
    """The registered repositories that an optional argument means. Raises `BadInput`."""
    if name is not None:
        return [await find_one(store, name, tenant)]
    here = _location(Path.cwd())
    found = await store.in_folder(str(here.common_dir)) if here else []
    found = found or await store.all()
    chosen = [one for one in found if tenant in {None, one.tenant}]
    if not chosen:
        raise UsageError(NONE)
    return chosen


async def _matching(store: SqlRepositories, name: str, tenant: str | None) -> list[Repository]:
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


def _location(folder: Path) -> RepositoryLocation | None:
    """The repository that a folder is in."""
    for one in (folder, *folder.parents):
        if (one / ".git").exists():
            try:
                return locate(one)
            except NotARepository:
                return None
    return None


def described(repository: Repository) -> str:
    """One line about who may read a repository."""
    readers = f"project {repository.project}" if repository.project else "the whole tenant"
    rooms = f", allowed in {', '.join(repository.rooms)}" if repository.rooms else ""
    kind = f"private{rooms}" if repository.private else "public"
    branches = ", ".join(repository.branches) or "the branch that is checked out"
    return f"{repository.name}: read by {readers}, {kind}; {branches} of {repository.folder}"

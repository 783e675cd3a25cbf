"""`parley knowledge init REPO` and `parley knowledge forget REPO`."""

import asyncio
import uuid
from pathlib import Path
from typing import Annotated

import typer

from gateway.errors import UsageError
from gateway.immutable import replace
from gateway.people import DEFAULT_TENANT
from gateway.ports.clock import SystemClock
from memory.git.location import locate
from memory.git.refs import is_branch
from memory.git.repository import GitRepository, opened_repository
from memory.knowledge.bindings import check_channel, check_project
from memory.knowledge.ingest.work_tree import clear_state
from memory.knowledge.model import MAX_BRANCHES, MAX_NAME, Repository
from parley.cli.knowledge.ingest import ingest_all
from parley.cli.knowledge.registered import described, find_one
from parley.cli.knowledge.repositories import OneRepository, Tenant, with_index
from parley.cli.options import Config, Yes, confirmed
from parley.cli.stores import read_settings
from parley.cli.terminal import print_text
from parley.wiring.knowledge import KnowledgeIndex

OfProject = Annotated[
    str | None,
    typer.Option(
        "--project",
        help="The project whose conversations may read it, such as slack:main:T0123. Default: "
        'the whole tenant, also with "".',
    ),
]
Name = Annotated[
    str | None, typer.Option("--name", help="Its name. Default: the name of the folder.")
]
Private = Annotated[
    bool | None,
    typer.Option(
        "--private/--public",
        help="A private repository is never read in public rooms. Default: private.",
    ),
]
Rooms = Annotated[
    list[str] | None,
    typer.Option(
        "--room",
        help="A public room in which a private repository may be read, such as "
        'slack:main:T0123:C0456. Repeatable; "" stands for none.',
    ),
]
Branches = Annotated[
    list[str] | None,
    typer.Option(
        "--branch", help="A branch to read. Repeatable. Default: the one that is checked out."
    ),
]
OfTenant = Annotated[str, typer.Option("--tenant", help="The tenant of the repository.")]
Later = Annotated[bool, typer.Option("--later", help="Register it without reading it now.")]


def init(
    repo: Annotated[str, typer.Argument(metavar="REPO", help="A folder with a git repository.")],
    project: OfProject = None,
    name: Name = None,
    private: Private = None,
    room: Rooms = None,
    branch: Branches = None,
    tenant: OfTenant = DEFAULT_TENANT,
    later: Later = False,
    config: Config = None,
) -> int:
    """Register a repository, or change the given settings of a registered one, and read it."""
    settings = read_settings(config)
    changes = _changes(project, name, private, room, branch)
    folder = Path(repo).expanduser()

    async def job(index: KnowledgeIndex) -> int:
        location = await asyncio.to_thread(locate, folder)
        main = location.main_folder
        if main != location.folder:
            print_text(f"{location.folder} is a linked work tree; its repository is {main}.\n")
        async with opened_repository(main) as git:
            repository = await _registered(index, git, tenant, changes)
        print_text(f"{described(repository)}\n")
        return 0 if later else await ingest_all(settings, index, [repository])

    return with_index(settings, job)


def _changes(
    project: str | None,
    name: str | None,
    private: bool | None,
    room: list[str] | None,
    branch: list[str] | None,
) -> dict[str, object]:
    """The given settings, by the name of the field. Raises `BadInput` for a wrong branch."""
    given: dict[str, object] = {
        "project": project,
        "name": name,
        "private": private,
        "rooms": None if room is None else tuple(filter(None, room)),
        "branches": None if branch is None else _branches(branch),
    }
    return {key: value for key, value in given.items() if value is not None}


async def _registered(
    index: KnowledgeIndex, git: GitRepository, tenant: str, changes: dict[str, object]
) -> Repository:
    """Register or change a repository. Raises `BadInput` if its name is taken."""
    location, remote = git.location, await git.remote()
    store = index.stores.repositories
    known = [one for one in await store.in_folder(str(location.common_dir)) if one.tenant == tenant]
    if known:
        changes = {"remote": remote, "folder": str(location.folder), **changes}
        repository = replace(known[0], **changes)  # type: ignore[arg-type]  # fields by their names
        done = await store.change(_checked(repository))
    else:
        new = _new(git, tenant, remote)
        repository = replace(new, **changes)  # type: ignore[arg-type]  # fields by their names
        done = await store.add(_checked(repository))
    if not done:
        raise UsageError(
            f"Another repository is called {repository.name}; give this one a --name of its own."
        )
    return repository


def _new(git: GitRepository, tenant: str, remote: str) -> Repository:
    location = git.location
    return Repository(
        id=uuid.uuid4().hex,
        tenant=tenant,
        project="",
        name=location.folder.name.removesuffix(".git")[:MAX_NAME] or "repository",
        folder=str(location.folder),
        git_dir=str(location.common_dir),
        remote=remote,
        private=True,
        rooms=(),
        branches=(),
        created_at=SystemClock().now(),
    )


def _checked(repository: Repository) -> Repository:
    """Raises `BadInput` for values that cannot be stored or shown, or that no project or room has:
    nobody could read the repository."""
    if len(repository.name) > MAX_NAME or not repository.name.isprintable():
        raise UsageError("--name is too long or has control characters.")
    if repository.project:
        check_project(repository.project)
    for room in repository.rooms:
        check_channel(room)
    if not repository.name.strip():
        raise UsageError("--name is empty.")
    return repository


def _branches(given: list[str]) -> tuple[str, ...]:
    wrong = [one for one in given if not is_branch(one)]
    if wrong:
        raise UsageError(f"--branch {wrong[0]!r} is no name of a branch.")
    if len(given) > MAX_BRANCHES:
        raise UsageError(f"At most {MAX_BRANCHES} branches of a repository are read.")
    return tuple(dict.fromkeys(given))


def forget(
    repo: OneRepository,
    yes: Yes = 0,
    tenant: Tenant = None,
    config: Config = None,
) -> int:
    """Delete a repository from the index, with everything that was read from it. The repository
    itself stays."""
    settings = read_settings(config)

    async def job(index: KnowledgeIndex) -> int:
        store = index.stores.repositories
        repository = await find_one(store, repo, tenant)
        question = f"Delete {repository.name} ({repository.folder}) from the index?"
        if not confirmed([question], yes):
            return 1
        await store.forget(repository.id)
        clear_state(Path(repository.folder))
        print_text(f"{repository.name} is forgotten.\n")
        return 0

    return with_index(settings, job)

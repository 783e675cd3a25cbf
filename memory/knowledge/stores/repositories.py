"""The table of repositories."""

from typing import Final

from msgspec import Struct

from db import Database, Row, Statement, Work, change, fetch_first, lock
from db.database import delete_some, deleting_some
from db.values import json_list, micros, storable, texts_of, time_of
from memory.knowledge.access import READS, RESTRICTED, KnowledgeAccess
from memory.knowledge.model import Repository
from memory.knowledge.ports import IngestLock, WordIndex
from memory.knowledge.stores.contents import ALL_CONTENTS, sweep_some, writing
from memory.knowledge.stores.files import SqlFiles

COLUMNS: Final = (
    "id, tenant, project, name, folder, git_dir, remote, private, rooms, branches, created_at"
)
LISTED: Final = f"SELECT {COLUMNS} FROM knowledge_repositories WHERE NOT forgotten"
TAKEN: Final = Statement("""
    SELECT id FROM knowledge_repositories
    WHERE tenant = :tenant AND (name = :name OR git_dir = :git_dir) AND id <> :own
        AND NOT forgotten
""")
ADD: Final = Statement(f"""
    INSERT INTO knowledge_repositories ({COLUMNS})
    VALUES (:id, :tenant, :project, :name, :folder, :git_dir, :remote, :private, :rooms, :branches,
        :created_at)
""")
CHANGE: Final = Statement("""
    UPDATE knowledge_repositories SET project = :project, name = :name, folder = :folder,
        remote = :remote, private = :private, rooms = :rooms, branches = :branches
    WHERE id = :id AND tenant = :tenant AND git_dir = :git_dir AND NOT forgotten
""")
GET: Final = Statement(f"{LISTED} AND id = :id")
IN_FOLDER: Final = Statement(f"{LISTED} AND git_dir = :git_dir ORDER BY tenant")
ALL: Final = Statement(f"{LISTED} ORDER BY tenant, name")
HIDE: Final = Statement("UPDATE knowledge_repositories SET forgotten = true WHERE id = :id")
FILES: Final = deleting_some("knowledge_files", "number", "repository = :id", "number")
SKIPPED: Final = deleting_some(
    "knowledge_skipped",
    "branch, path",
    "branch IN (SELECT b.number FROM knowledge_branches b WHERE b.repository = :id)",
    "branch, path",
)
BRANCHES: Final = Statement("DELETE FROM knowledge_branches WHERE repository = :id")
DELETE: Final = Statement("DELETE FROM knowledge_repositories WHERE id = :id")
READABLE: Final = Statement(f"""
    SELECT {COLUMNS} FROM knowledge_repositories r WHERE {READS} ORDER BY r.name, r.id LIMIT :limit
""")
ANY_RESTRICTED: Final = Statement(
    f"SELECT 1 FROM knowledge_repositories r WHERE r.tenant = :tenant AND {RESTRICTED} LIMIT 1"
)
"""A forgotten repository counts until it is deleted."""


class SqlRepositories:
    """The registered repositories."""

    def __init__(self, database: Database, words: WordIndex) -> None:
        self._database = database
        self._words = words

    async def add(self, repository: Repository) -> bool:
        """Store a repository; False if the tenant has one of this name or with this `git_dir`."""
        params = _params(repository)

        def work() -> Work[bool]:
            yield from lock("knowledge repositories")
            if (yield from fetch_first(TAKEN, {**params, "own": ""})) is not None:
                return False
            yield from change(ADD, params)
            return True

        return await self._database.run(work)

    async def change(self, repository: Repository) -> bool:
        """Replace the settings of a repository: project, name, privacy, rooms, branches; False if
        the name is taken or there is no such repository."""
        params = _params(repository)

        def work() -> Work[bool]:
            yield from lock("knowledge repositories")
            if (yield from fetch_first(TAKEN, {**params, "own": params["id"]})) is not None:
                return False
            return (yield from change(CHANGE, params)) == 1

        return await self._database.run(work)

    async def get(self, repository_id: str) -> Repository | None:
        """Return a repository."""
        rows = await self._database.fetch(GET, {"id": storable(repository_id)})
        return repository_of(rows[0]) if rows else None

    async def in_folder(self, git_dir: str) -> list[Repository]:
        """Return the repositories with this `git_dir`, at most one per tenant."""
        rows = await self._database.fetch(IN_FOLDER, {"git_dir": storable(git_dir)})
        return [repository_of(row) for row in rows]

    async def all(self) -> list[Repository]:
        """Return all repositories, by tenant and name."""
        return [repository_of(row) for row in await self._database.fetch(ALL)]

    async def forget(self, repository_id: str) -> bool:
        """Delete a repository with everything that was read from it, in bounded transactions;
        False if there is none. An interrupted deletion hides the repository at once, and is
        finished by the next call."""
        params = {"id": storable(repository_id)}

        def hide() -> Work[int]:
            yield from lock(writing(repository_id))
            return (yield from change(HIDE, params))

        if not await self._database.run(hide):
            return False
        for statement in (FILES, SKIPPED):
            while await delete_some(self._database, statement, params):
                pass
        while await sweep_some(self._database, self._words, repository_id, ALL_CONTENTS):
            pass
        await self._database.run(self._words.purge)
        await self._database.change(BRANCHES, params)
        return await self._database.change(DELETE, params) == 1

    async def readable(self, access: KnowledgeAccess, limit: int) -> list[Repository]:
        """Return repositories by name."""
        params = access.parameters() | {"limit": limit}
        return [repository_of(row) for row in await self._database.fetch(READABLE, params)]

    async def any_restricted(self, tenant: str) -> bool:
        """True if a repository of the tenant may not be read by everybody."""
        return bool(await self._database.fetch(ANY_RESTRICTED, {"tenant": storable(tenant)}))


class KnowledgeStores(Struct, frozen=True):
    """The stores on one database."""

    repositories: SqlRepositories
    files: SqlFiles
    lock: IngestLock


def repository_of(row: Row) -> Repository:
    """Return the repository of a row with `COLUMNS`."""
    id_, tenant, project, name, folder, git_dir, remote, private, rooms, branches, at = row
    return Repository(
        id_,
        tenant,
        project,
        name,
        folder,
        git_dir,
        remote,
        bool(private),
        texts_of(rooms),
        texts_of(branches),
        time_of(at),
    )


def _params(repository: Repository) -> dict[str, object]:
    return {
        "id": storable(repository.id),
        "tenant": storable(repository.tenant),
        "project": storable(repository.project),
        "name": storable(repository.name),
        "folder": storable(repository.folder),
        "git_dir": storable(repository.git_dir),
        "remote": storable(repository.remote),
        "private": repository.private,
        "rooms": json_list(repository.rooms),
        "branches": json_list(repository.branches),
        "created_at": micros(repository.created_at),
    }

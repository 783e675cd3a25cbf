"""The tables of branches and their files."""

from collections.abc import Collection
from datetime import datetime
from functools import partial
from typing import Any, Final

from db import Database, Statement, Work, among, change, execute, fetch_first, lock
from db.database import delete_some, deleting_some
from db.errors import StoreUnavailable
from db.statements import in_byte_order
from db.values import json_list, micros, storable, time_or_none
from memory.knowledge.model import BranchState, SkipReason, Totals
from memory.knowledge.ports import Batch, NewFile, WordIndex
from memory.knowledge.stores.contents import (
    MAX_STEP,
    UNUSED,
    add_chunks,
    completed,
    content_number,
    found_content,
    steps_of,
    sweep_some,
    unfinished_content,
    weight_of,
    writing,
)

STATES: Final = Statement("""
    SELECT name, followed, at_commit, target, rules, ingested_at FROM knowledge_branches
    WHERE repository = :repository ORDER BY name
""")
RENEW: Final = Statement("""
    UPDATE knowledge_repositories SET edition = edition + 1, version = :version
    WHERE id = :repository AND (:always OR version <> :version)
""")
FROM_THE_START: Final = Statement(
    "UPDATE knowledge_branches SET at_commit = '' WHERE repository = :repository"
)
PLACE: Final = Statement("""
    SELECT b.number, r.edition, b.target FROM knowledge_branches b
    JOIN knowledge_repositories r ON r.id = b.repository
    WHERE b.repository = :repository AND b.name = :branch AND NOT r.forgotten
""")
RENAME: Final = Statement("""
    UPDATE knowledge_branches SET name = :branch
    WHERE repository = :repository AND followed AND name <> :branch AND NOT EXISTS (
        SELECT 1 FROM knowledge_branches WHERE repository = :repository AND name = :branch
    )
""")
BEGIN: Final = Statement("""
    INSERT INTO knowledge_branches (repository, name, followed, at_commit, target, rules)
    VALUES (:repository, :branch, :followed, '', :target, :rules)
    ON CONFLICT (repository, name) DO UPDATE
        SET followed = excluded.followed, target = excluded.target, rules = excluded.rules,
            at_commit = CASE WHEN :whole THEN '' ELSE knowledge_branches.at_commit END
""")
FINISH: Final = Statement("""
    UPDATE knowledge_branches SET at_commit = :commit, target = '', ingested_at = :at
    WHERE repository = :repository AND name = :branch AND target = :commit
""")
KNOWN: Final = Statement(f"""
    SELECT f.path, f.blob, max(CASE WHEN b.name = :branch THEN 1 ELSE 0 END)
    FROM knowledge_files f
    JOIN knowledge_branches b ON b.number = f.branch
    JOIN knowledge_contents c ON c.number = f.content
    JOIN knowledge_repositories r ON r.id = f.repository AND r.edition = c.edition
    WHERE f.repository = :repository AND {among("f.blob", "blobs")}
    GROUP BY f.path, f.blob
""")
PATHS: Final = Statement(f"""
    SELECT path FROM (
        SELECT path FROM knowledge_files WHERE branch = :number
        UNION SELECT path FROM knowledge_skipped WHERE branch = :number
    ) known
    WHERE {in_byte_order("path")} > :after ORDER BY {in_byte_order("path")} LIMIT :limit
""")
COLUMNS: Final = """repository, branch, path, blob, content, at_commit, kind, title, status, date,
    supersedes, superseded_by, services, topics, ingested_at"""
PUT: Final = Statement(f"""
    INSERT INTO knowledge_files ({COLUMNS})
    VALUES (:repository, :number, :path, :blob, :content, :commit, :kind, :title, :status, :date,
        :supersedes, :superseded_by, :services, :topics, :at)
""")
COPY: Final = Statement(f"""
    INSERT INTO knowledge_files ({COLUMNS})
    SELECT f.repository, :number, f.path, f.blob, f.content, :commit, f.kind, f.title, f.status,
        f.date, f.supersedes, f.superseded_by, f.services, f.topics, :at
    FROM knowledge_files f JOIN knowledge_contents c ON c.number = f.content
    WHERE f.repository = :repository AND f.blob = :blob AND f.path = :path
        AND f.branch <> :number AND c.edition = :edition
    ORDER BY f.number LIMIT 1
""")
KEEP: Final = Statement(f"""
    UPDATE knowledge_files SET at_commit = :commit
    WHERE branch = :number AND {among("path", "paths")}
""")
REMOVE: Final = Statement(
    f"DELETE FROM knowledge_files WHERE branch = :number AND {among('path', 'paths')}"
)
UNSKIP: Final = Statement(
    f"DELETE FROM knowledge_skipped WHERE branch = :number AND {among('path', 'paths')}"
)
SKIP: Final = Statement(
    "INSERT INTO knowledge_skipped (branch, path, reason) VALUES (:number, :path, :reason)"
)
OF_BRANCH: Final = deleting_some("knowledge_files", "number", "branch = :number", "number")
SKIPPED_OF_BRANCH: Final = deleting_some(
    "knowledge_skipped", "branch, path", "branch = :number", "path"
)
DROP: Final = Statement("DELETE FROM knowledge_branches WHERE number = :number")
TOTALS: Final = Statement("""
    SELECT (SELECT count(*) FROM knowledge_files WHERE repository = :repository),
        (SELECT count(*) FROM knowledge_contents WHERE repository = :repository),
        (SELECT count(*) FROM knowledge_chunks WHERE repository = :repository)
""")
REASONS: Final = Statement("""
    SELECT s.reason, count(*) FROM knowledge_skipped s
    JOIN knowledge_branches b ON b.number = s.branch
    WHERE b.repository = :repository GROUP BY s.reason ORDER BY count(*) DESC, s.reason
""")
TAKEN_OVER: Final = "another process began to ingest this branch, so this one stops"


class SqlFiles:
    """The files and chunks of branches."""

    def __init__(self, database: Database, words: WordIndex) -> None:
        self._database = database
        self._words = words

    async def branches(self, repository_id: str) -> list[BranchState]:
        """Return the branches that were ingested, or are being ingested, by name."""
        rows = await self._database.fetch(STATES, {"repository": storable(repository_id)})
        return [
            BranchState(name, bool(followed), commit, target, rules, time_or_none(at))
            for name, followed, commit, target, rules, at in rows
        ]

    async def renew(self, repository_id: str, version: int, *, always: bool = False) -> bool:
        """Let the next ingest split and index every file again if another version of splitting
        made the index, or always; return True if it will."""
        params = {"repository": storable(repository_id), "version": version, "always": always}

        def work() -> Work[bool]:
            if not (yield from change(RENEW, params)):
                return False
            yield from change(FROM_THE_START, params)
            return True

        return await self._database.run(work)

    async def begin(
        self,
        repository_id: str,
        branch: str,
        *,
        followed: bool,
        target: str,
        rules: str,
        whole: bool = False,
    ) -> None:
        """Note that a branch is being brought to a commit. The followed branch of a repository
        keeps its files when another one is checked out. `whole`: until the end the branch is at no
        commit, so that the next process compares every file if this one does not end."""
        params = {
            **_of(repository_id, branch),
            "followed": followed,
            "target": target,
            "rules": rules,
            "whole": whole,
        }

        def work() -> Work[None]:
            if followed:
                yield from change(RENAME, params)
            yield from change(BEGIN, params)

        await self._database.run(work)

    async def known(
        self, repository_id: str, branch: str, files: Collection[tuple[str, str]]
    ) -> dict[tuple[str, str], bool]:
        """Return those pairs of path and blob that some branch of the repository has: True for
        this branch."""
        params = _of(repository_id, branch) | {"blobs": sorted({blob for _, blob in files})}
        rows = await self._database.fetch(KNOWN, params)
        wanted = {(storable(path), blob): path for path, blob in files}
        return {
            (wanted[path, blob], blob): bool(here)
            for path, blob, here in rows
            if (path, blob) in wanted
        }

    async def paths(self, repository_id: str, branch: str, after: str, limit: int) -> list[str]:
        """Return paths of the branch, stored or skipped, that sort after one by their bytes."""
        number = await self._number(repository_id, branch)
        if number is None:
            return []
        params = {"number": number, "after": storable(after), "limit": limit}
        return [row[0] for row in await self._database.fetch(PATHS, params)]

    async def write(
        self, repository_id: str, branch: str, commit: str, batch: Batch, at: datetime
    ) -> None:
        """Apply a batch in one transaction. The chunks of large files are stored before, in
        transactions of a bounded size, and no search finds them until then. Raises
        `StoreUnavailable` if another process began to bring the branch to another commit."""
        stored: dict[int, int] = {}
        """The numbers of contents whose chunks are stored already, by the place of their file."""
        for place, file in enumerate(batch.files):
            if weight_of(file) > MAX_STEP:
                number = await self._stored(repository_id, branch, commit, file)
                if number is None:
                    return
                stored[place] = number

        def work() -> Work[None]:
            row = yield from _place(repository_id, branch, commit)
            if row is None:
                return
            edition = int(row["edition"])
            yield from _vacate(row, batch)
            stamp = {**row, "commit": commit, "at": micros(at)}
            for place, file in enumerate(batch.files):
                content = yield from (
                    completed(repository_id, edition, file, stored[place])
                    if place in stored
                    else content_number(repository_id, edition, file, self._words)
                )
                yield from execute(PUT, _row(file, content, stamp))
            for path, blob in batch.copied:
                yield from change(COPY, {**stamp, "path": storable(path), "blob": blob})
            if batch.kept:
                yield from change(KEEP, {**stamp, "paths": [storable(one) for one in batch.kept]})

        await self._database.run(work)

    async def _stored(
        self, repository_id: str, branch: str, commit: str, file: NewFile
    ) -> int | None:
        """Store the chunks of a large file in several transactions; return the number of their
        content, None if the repository was forgotten meanwhile."""
        content: int | None = None
        for places in steps_of(file):
            step = partial(self._step, repository_id, branch, commit, file, places, content)
            content, complete = await self._database.run(step)
            if complete or content is None:
                break
        return content

    def _step(
        self,
        repository_id: str,
        branch: str,
        commit: str,
        file: NewFile,
        places: range,
        content: int | None,
    ) -> Work[tuple[int | None, bool]]:
        """Store some chunks; return the number of the content, and True if it was there before."""
        row = yield from _place(repository_id, branch, commit)
        if row is None:
            return None, False
        edition = int(row["edition"])
        if content is None:
            content = yield from found_content(repository_id, edition, file)
            if content is not None:
                return content, True
            content = yield from unfinished_content(repository_id, edition, file)
        yield from add_chunks(repository_id, content, file, places, self._words)
        return content, False

    async def finish(self, repository_id: str, branch: str, commit: str, at: datetime) -> None:
        """Note that the branch is at a commit completely, unless another process began to bring it
        to another one."""
        params = _of(repository_id, branch) | {"commit": commit, "at": micros(at)}
        await self._database.change(FINISH, params)

    async def drop(self, repository_id: str, branch: str) -> None:
        """Delete a branch with its files, in bounded transactions."""
        number = await self._number(repository_id, branch)
        if number is not None:
            for statement in (OF_BRANCH, SKIPPED_OF_BRANCH):
                while await delete_some(self._database, statement, {"number": number}):
                    pass
            await self._database.change(DROP, {"number": number})

    async def sweep(self, repository_id: str) -> int:
        """Delete some chunks of contents that no file has any more, and the contents without
        chunks; return the number of contents that were looked at, 0 at the end."""
        return await sweep_some(self._database, self._words, repository_id, UNUSED)

    async def totals(self, repository_id: str) -> Totals:
        """Count what is stored."""
        params = {"repository": storable(repository_id)}
        (counts,) = await self._database.fetch(TOTALS, params)
        reasons = await self._database.fetch(REASONS, params)
        skipped = {SkipReason(reason): int(number) for reason, number in reasons}
        return Totals(int(counts[0]), int(counts[1]), int(counts[2]), skipped)

    async def _number(self, repository_id: str, branch: str) -> int | None:
        rows = await self._database.fetch(PLACE, _of(repository_id, branch))
        return int(rows[0][0]) if rows else None


def _place(repository_id: str, branch: str, commit: str) -> Work[dict[str, Any] | None]:
    """Return the keys of a branch that is brought to a commit; None if the repository was forgotten
    meanwhile. Raises `StoreUnavailable` if another process brings it to another one."""
    params = _of(repository_id, branch)
    yield from lock(writing(repository_id))
    row = yield from fetch_first(PLACE, params)
    if row is None:
        return None
    if row[2] != commit:
        raise StoreUnavailable(TAKEN_OVER)
    return {"repository": params["repository"], "number": row[0], "edition": row[1]}


def _vacate(place: dict[str, object], batch: Batch) -> Work[None]:
    """Remove what is stored under the paths of a batch, except for the kept ones, and note the
    skipped ones."""
    gone = [
        *(file.path for file in batch.files),
        *(path for path, _ in batch.copied),
        *(one.path for one in batch.skipped),
        *batch.removed,
    ]
    paths = [storable(path) for path in gone]
    if paths:
        yield from change(REMOVE, {**place, "paths": paths})
    if paths or batch.kept:
        yield from change(UNSKIP, {**place, "paths": paths + [storable(p) for p in batch.kept]})
    skipped = {storable(one.path): one.reason.value for one in batch.skipped}
    if skipped:
        rows = ({**place, "path": path, "reason": reason} for path, reason in skipped.items())
        yield from execute(SKIP, *rows)


def _row(file: NewFile, content: int, stamp: dict[str, object]) -> dict[str, object]:
    split = file.split
    return {
        **stamp,
        "path": storable(file.path),
        "blob": file.blob,
        "content": content,
        "kind": split.kind.value,
        "title": storable(split.title),
        "status": storable(split.status),
        "date": split.date.isoformat() if split.date else "",
        "supersedes": json_list(split.supersedes),
        "superseded_by": storable(split.superseded_by),
        "services": json_list(split.services),
        "topics": json_list(split.topics),
    }


def _of(repository_id: str, branch: str) -> dict[str, object]:
    return {"repository": storable(repository_id), "branch": storable(branch)}

"""Brings the index of a repository to the commits of its branches, one process at a time.

The commit of a branch is written last, so an interrupted ingest continues with the next one. A
process that finds another one at work leaves: the other one looks again at the branches after it
has released the lock, so that no commit is missed.
"""

import asyncio
import posixpath
from collections.abc import Callable, Iterator
from contextlib import aclosing, contextmanager
from datetime import datetime
from pathlib import Path
from typing import Final, TypeAlias

import structlog
from msgspec import Struct

from gateway.errors import ConfigurationError
from memory.git.errors import LimitExceeded
from memory.git.object_reader import ObjectReader
from memory.git.repository import SYMLINK, GitRepository, is_file, opened_repository
from memory.knowledge.ingest.branch import BranchPlace, BranchWriter, Counts, IngestPlan, plan_of
from memory.knowledge.ingest.prepare import FileWorkers, Split
from memory.knowledge.model import (
    MAX_BRANCHES,
    MAX_PATH,
    BranchOutcome,
    BranchState,
    IngestOutcome,
    Mode,
    Report,
    Repository,
)
from memory.knowledge.reading.rules import MAX_FILES, MAX_MB, MAX_MINUTES, MAX_PATHS, Rules
from memory.knowledge.stores.repositories import KnowledgeStores

AT_ONCE: Final = 5_000
"""Files whose sizes are asked for together."""
MB: Final = 1024 * 1024


class IngestLimits(Struct, frozen=True):
    """The limits of one ingest: `files` of a branch that are indexed, `paths` of one commit that
    are looked at, `megabytes` of the files of one commit, and `minutes` of the whole ingest."""

    files: int = MAX_FILES
    paths: int = MAX_PATHS
    megabytes: int = MAX_MB
    minutes: float = MAX_MINUTES

    async def require_size(self, sizes: ObjectReader, plan: IngestPlan, rules: Rules) -> None:
        """Raise `LimitExceeded` if the files of a plan that are not too large have more bytes
        together; files with the same content count once."""
        most = self.megabytes * MB
        if len(plan.files) * rules.max_file_bytes <= most:
            return
        blobs = list(dict.fromkeys(plan.files.values()))
        total = 0
        for start in range(0, len(blobs), AT_ONCE):
            infos = await sizes.infos(blobs[start : start + AT_ONCE])
            total += sum(one.size for one in infos.values() if one.size <= rules.max_file_bytes)
            if total > most:
                raise LimitExceeded(
                    f"its files have more than {self.megabytes:,} MB together"
                    " (knowledge.max_total_mb), so nothing of this commit was read, and the index"
                    " stays as it was. Exclude folders in .agent/config.yaml, or raise the setting"
                )

    def too_many_paths(self, commit: str) -> LimitExceeded:
        """Return the error for a commit with more paths."""
        return LimitExceeded(
            f"the commit {commit[:12]} lists more than {self.paths:,} paths"
            " (knowledge.max_paths), so nothing of it was read, and the index stays as it was."
            " A few folders that contain each other can list any number of paths: look at"
            " `git ls-tree -r`, and raise the setting only if these are real files"
        )

    def too_long(self, name: str) -> LimitExceeded:
        """Return the error for an ingest of the repository `name` that is not done in time."""
        return LimitExceeded(
            f"the ingest took longer than {self.minutes:g} minutes (knowledge.max_minutes), and"
            " was stopped. What was read is kept, and the earlier content of all other files;"
            f" `parley knowledge ingest {name}` continues. If it does not come to an end, raise"
            " the setting, or exclude folders in .agent/config.yaml"
        )


CONFIGURATION: Final = ".agent/config.yaml"
"""The file of a repository's own rules."""
MAX_CONFIGURATION: Final = 64 * 1024
"""Bytes of that file."""
MAX_ROUNDS: Final = 5
"""Passes over the branches while commits keep coming."""
DETACHED: Final = "HEAD"
"""The name of the branch in the index when a commit and no branch is checked out."""

ReadRules: TypeAlias = Callable[[bytes | None], Rules]
"""Returns the rules of a repository from the content of `CONFIGURATION`, None without that file.
Raises `ConfigurationError`, which names file, line and key."""

log = structlog.get_logger(__name__)


class Splitter(Struct, frozen=True):
    """The function that splits files, and its version: another one splits everything again."""

    split: Split
    version: int


class _Wanted(Struct, frozen=True):
    """A branch to ingest, and its commit in git."""

    name: str
    followed: bool
    commit: str


class Ingester(Struct, frozen=True):
    """Ingests repositories."""

    stores: KnowledgeStores
    read_rules: ReadRules
    splitter: Splitter
    now: Callable[[], datetime]
    limits: IngestLimits = IngestLimits()

    async def ingest(
        self, repository: Repository, report: Report, *, force: bool = False
    ) -> IngestOutcome:
        """Ingest the branches of a repository; `force` reads and splits every file again.

        Raises `GitError`, `ConfigurationError` and `StoreUnavailable`; what was done until then is
        kept. A commit that has more than the limits leaves the index as it is.
        """
        try:
            async with asyncio.timeout(self.limits.minutes * 60) as time:
                return await self._ingest(repository, report, force=force)
        except TimeoutError:
            if not time.expired():
                raise
            raise self.limits.too_long(repository.name) from None

    async def _ingest(
        self, repository: Repository, report: Report, *, force: bool
    ) -> IngestOutcome:
        done: dict[str, BranchOutcome] = {}
        missing: tuple[str, ...] = ()
        async with opened_repository(Path(repository.folder)) as git:
            for round_ in range(MAX_ROUNDS):
                async with self.stores.lock.hold(repository.id) as held:
                    if not held:
                        break
                    again = force and round_ == 0
                    wanted, missing = await _wanted(git, repository)
                    if again:  # before the index is marked to be made again
                        await self._require_readable(git, wanted)
                    await self.stores.files.renew(
                        repository.id, self.splitter.version, always=again
                    )
                    await self._drop_others(repository, wanted)
                    for one in wanted:
                        outcome = await self._branch(git, repository, one, report)
                        if one.name not in done or outcome.mode is not Mode.UNCHANGED:
                            done[one.name] = outcome
                    while await self.stores.files.sweep(repository.id):
                        pass
                if (await _wanted(git, repository))[0] == wanted:
                    break
        totals = await self.stores.files.totals(repository.id)
        return IngestOutcome(tuple(done.values()), totals, not done and not held, missing)

    async def _drop_others(self, repository: Repository, wanted: list[_Wanted]) -> None:
        """Delete branches that are not ingested any more. The followed one is renamed instead when
        another one is checked out."""
        if not wanted:  # before the first commit of an orphan branch
            return
        names = {one.name for one in wanted}
        follows = any(one.followed for one in wanted)
        for state in await self.stores.files.branches(repository.id):
            if state.name not in names and not (follows and state.followed):
                await self.stores.files.drop(repository.id, state.name)

    async def _branch(
        self, git: GitRepository, repository: Repository, wanted: _Wanted, report: Report
    ) -> BranchOutcome:
        configuration = await _configuration(git, wanted.commit)
        rules, digest = await asyncio.to_thread(self._rules, configuration)
        state = await self._state(repository, wanted)
        complete = state.rules == digest and state.target in {"", wanted.commit}
        if complete and state == _at(state, wanted):
            return BranchOutcome(wanted.name, wanted.commit, wanted.commit, Mode.UNCHANGED)
        by_changes = complete and await _builds_on(git, state.commit, wanted.commit)
        plan = await self._plan(git, repository, wanted, state if by_changes else None, rules)
        await self.stores.files.begin(
            repository.id,
            wanted.name,
            followed=wanted.followed,
            target=wanted.commit,
            rules=digest,
            whole=not by_changes,
        )
        with FileWorkers(
            self.splitter.split, rules.skip_binary, always=bool(state.target)
        ) as workers:
            counts = await self._write(git, repository, wanted, plan, workers, rules, report)
        await self.stores.files.finish(repository.id, wanted.name, wanted.commit, self.now())
        mode = Mode.WHOLE if plan.whole else Mode.CHANGES
        return counts.outcome(wanted.name, wanted.commit, state.commit, mode)

    def _rules(self, configuration: bytes | None) -> tuple[Rules, str]:
        """Return the rules and their digest. Run in a thread: a file that was made to take long
        does not hold the event loop."""
        rules = self.read_rules(configuration)
        return rules, rules.digest()

    async def _state(self, repository: Repository, wanted: _Wanted) -> BranchState:
        """The branch as it is in the index; the followed one may have another name there."""
        states = await self.stores.files.branches(repository.id)
        named = (one for one in states if one.name == wanted.name)
        followed = (one for one in states if one.followed and wanted.followed)
        return next(named, next(followed, NEW))

    async def _plan(
        self,
        git: GitRepository,
        repository: Repository,
        wanted: _Wanted,
        since: BranchState | None,
        rules: Rules,
    ) -> IngestPlan:
        """The plan of the changes since a state, or of the whole commit without one, and if there
        are too many changes. Raises `LimitExceeded`."""
        limits = self.limits
        plan: IngestPlan | None = None
        if since is not None:
            stored = (await self.stores.files.totals(repository.id)).files
            room = max(0, limits.files * max(1, len(repository.branches)) - stored)
            changes = git.changes(since.commit, wanted.commit, limits.paths)
            with self._explained(wanted):
                plan = await plan_of(changes, rules, room)
        if plan is None or not plan.complete:
            files = git.files(wanted.commit, limits.paths)
            with self._explained(wanted):
                plan = await plan_of(files, rules, limits.files, whole=True)
        async with git.sizes() as sizes:
            await limits.require_size(sizes, plan, rules)
        return plan

    async def _require_readable(self, git: GitRepository, wanted: list[_Wanted]) -> None:
        """Raise `LimitExceeded` for a commit with too many paths."""
        for one in wanted:
            async with aclosing(git.files(one.commit, self.limits.paths)) as files:
                with self._explained(one):
                    await anext(files, None)

    @contextmanager
    def _explained(self, wanted: _Wanted) -> Iterator[None]:
        """Raise `LimitExceeded` of git with the setting and the next step."""
        try:
            yield
        except LimitExceeded as error:
            raise self.limits.too_many_paths(wanted.commit) from error

    async def _write(
        self,
        git: GitRepository,
        repository: Repository,
        wanted: _Wanted,
        plan: IngestPlan,
        workers: FileWorkers,
        rules: Rules,
        report: Report,
    ) -> Counts:
        place = BranchPlace(repository.id, wanted.name, wanted.commit)
        async with git.sizes() as sizes, git.contents() as contents:
            readers = (sizes, contents)
            writer = BranchWriter(self.stores.files, place, rules, readers, workers, self.now)
            await writer.write(plan, report)
            if plan.whole:
                await writer.remove_others(plan)
        return writer.counts


NEW: Final = BranchState("", followed=False, commit="", target="", rules="", ingested_at=None)
"""A branch that was never ingested."""


def _at(state: BranchState, wanted: _Wanted) -> BranchState:
    """The state of a branch that is complete at the wanted commit."""
    return BranchState(
        wanted.name, wanted.followed, wanted.commit, "", state.rules, state.ingested_at
    )


async def _configuration(git: GitRepository, commit: str) -> bytes | None:
    """Return the repository's own configuration. Raises `ConfigurationError` if it is there and
    cannot be read: what it excludes would be read."""
    entry = await git.entry(commit, CONFIGURATION)
    if entry is None:
        await _require_no_link(git, commit)
        return None
    content = await git.small_blob(entry.id, MAX_CONFIGURATION) if is_file(entry) else None
    if content is None:
        raise ConfigurationError(
            f"{CONFIGURATION} in the commit {commit[:12]} is no regular file of at most"
            f" {MAX_CONFIGURATION // 1024} KiB."
        )
    return content


async def _require_no_link(git: GitRepository, commit: str) -> None:
    """Raise `ConfigurationError` if the folder of the configuration is a link to one that has it:
    nothing is read through links."""
    folder, _, name = CONFIGURATION.partition("/")
    entry = await git.entry(commit, folder)
    if entry is None or entry.mode != SYMLINK:
        return
    target = await git.small_blob(entry.id, MAX_PATH) or b""
    place = posixpath.normpath(target.decode("utf-8", "replace"))
    if "\0" not in place and await git.entry(commit, f"{place}/{name}") is not None:
        raise ConfigurationError(
            f"{folder} in the commit {commit[:12]} is a link, so {CONFIGURATION} is not read."
            f" Commit {folder} as a folder."
        )


async def _builds_on(git: GitRepository, older: str, newer: str) -> bool:
    """True if the newer commit was made after the older one, without a rebase between."""
    return bool(older) and await git.has_commit(older) and await git.is_ancestor(older, newer)


async def _wanted(
    git: GitRepository, repository: Repository
) -> tuple[list[_Wanted], tuple[str, ...]]:
    """Return the branches to ingest, and the configured ones that do not exist."""
    if not repository.branches:
        head = await git.head()
        found = [_Wanted(head.branch or DETACHED, True, head.commit)] if head.commit else []
        return found, ()
    tips = await git.tips(repository.branches[:MAX_BRANCHES])
    wanted = [_Wanted(name, False, commit) for name, commit in tips.items() if commit]
    return wanted, tuple(name for name, commit in tips.items() if not commit)

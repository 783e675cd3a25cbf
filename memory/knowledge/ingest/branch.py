"""Ingests one branch: what is known by its hash is kept, the rest is read and split."""

import asyncio
import time
from collections import Counter
from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final, TypeVar

from msgspec import Struct

from memory.git.object_reader import ObjectReader
from memory.git.repository import TreeEntry
from memory.knowledge.ingest.prepare import FileWorkers, PreparedFile, RawFile
from memory.knowledge.model import (
    BranchOutcome,
    IngestProgress,
    Mode,
    Report,
    SkippedFile,
    SkipReason,
)
from memory.knowledge.ports import Batch, NewFile
from memory.knowledge.reading.rules import (
    NamedBy,
    Rules,
    checked_mode,
    checked_path,
    path_without_secrets,
    shown_path,
)
from memory.knowledge.stores.files import SqlFiles

SORTED_AT_ONCE: Final = 500
"""Paths that are sorted together, in a thread: patterns and paths that were made to take long do
not hold the event loop."""
SLICE_SECONDS: Final = 0.5
"""Seconds after which the thread returns, so that a cancelled ingest ends."""
MAX_REMOVED: Final = 50_000
"""Paths that a plan of changes removes. With more of them the whole commit is compared."""
MAX_SKIPPED: Final = 20_000
"""Skipped files of one branch that are noted by their path."""


@dataclass(slots=True)
class IngestPlan:
    """The files to look at, each path with the id of its blob; and those that need no reading.
    `whole`: they are all files of a commit. Not `complete`: there are more changes than these."""

    whole: bool
    files: dict[str, str] = field(default_factory=dict)
    removed: list[str] = field(default_factory=list)
    skipped: dict[str, SkipReason] = field(default_factory=dict)
    complete: bool = True

    @property
    def skipped_files(self) -> list[SkippedFile]:
        """The skipped files as values."""
        return [SkippedFile(path, reason) for path, reason in self.skipped.items()]


async def plan_of(
    entries: AsyncGenerator[TreeEntry, None], rules: Rules, most: int, *, whole: bool = False
) -> IngestPlan:
    """Sort entries by what has to be done with them; at most `most` files are indexed."""
    plan = IngestPlan(whole)
    waiting: list[TreeEntry] = []
    async with aclosing(entries):
        async for entry in entries:
            waiting.append(entry)
            if len(waiting) >= SORTED_AT_ONCE:
                await _sort_all(plan, waiting, rules, most)
                waiting = []
                if not plan.complete:
                    return plan
    await _sort_all(plan, waiting, rules, most)
    return plan


async def _sort_all(plan: IngestPlan, entries: list[TreeEntry], rules: Rules, most: int) -> None:
    begin = 0
    while begin < len(entries):
        begin = await asyncio.to_thread(_sort_some, plan, entries, begin, rules, most)
    plan.complete = len(plan.removed) <= MAX_REMOVED


def _sort_some(
    plan: IngestPlan, entries: list[TreeEntry], begin: int, rules: Rules, most: int
) -> int:
    """Sort entries from a place on for a bounded time; return the place of the next one."""
    until = time.monotonic() + SLICE_SECONDS
    for place in range(begin, len(entries)):
        _sort(plan, entries[place], rules, most)
        if time.monotonic() > until:
            return place + 1
    return len(entries)


def _sort(plan: IngestPlan, entry: TreeEntry, rules: Rules, most: int) -> None:
    path = checked_path(entry.path)
    if isinstance(path, SkipReason):
        shown = shown_path(entry.path)
        if entry.id:
            _skip(plan, shown, path)
        else:
            plan.removed.append(shown)
        return
    candidate = rules.candidate(path)
    if candidate is NamedBy.NEITHER:
        return
    shown = path_without_secrets(path)
    if not entry.id:
        plan.removed += dict.fromkeys((path, shown))
        return
    if shown != path:
        _skip(plan, shown, SkipReason.SECRET_IN_PATH)
        if not plan.whole:  # an index that was made when the secret was not recognised
            plan.removed.append(path)
        return
    reason = checked_mode(entry)
    if reason is None and candidate is NamedBy.SECRET_NAME:
        reason = SkipReason.SECRET_NAME
    if reason is None and len(plan.files) >= most:
        reason = SkipReason.TOO_MANY
    if reason is None:
        plan.files[path] = entry.id
    else:
        _skip(plan, path, reason)


def _skip(plan: IngestPlan, path: str, reason: SkipReason) -> None:
    if len(plan.skipped) < MAX_SKIPPED:
        plan.skipped[path] = reason


T = TypeVar("T")
AT_ONCE: Final = 100
"""Files that are looked at together and written in one transaction."""
MAX_BYTES: Final = 4 * 1024 * 1024
"""Bytes of files that are read before they are written; one larger file goes alone."""
PAGE: Final = 1_000
"""Stored paths that are read or removed at once."""
MAX_WEIGHT: Final = 64 * 1024
"""Characters of the words of files that are written in one transaction; the store divides the
chunks of one larger file."""


@dataclass(slots=True)
class Counts:
    """The result of an ingest of the files of a branch."""

    read: int = 0
    kept: int = 0
    removed: int = 0
    redacted: int = 0
    guessed: int = 0
    skipped: Counter[SkipReason] = field(default_factory=Counter)

    def outcome(self, name: str, commit: str, previous: str, mode: Mode) -> BranchOutcome:
        """Return the counts as a result."""
        return BranchOutcome(
            name,
            commit,
            previous,
            mode,
            self.read,
            self.kept,
            self.removed,
            self.redacted,
            self.guessed,
            self.skipped,
        )


class BranchPlace(Struct, frozen=True):
    """A branch in the index, and the commit to which it is brought."""

    repository: str
    branch: str
    commit: str


class BranchWriter:
    """Writes the files of a plan, in transactions of a bounded size."""

    def __init__(
        self,
        store: SqlFiles,
        place: BranchPlace,
        rules: Rules,
        readers: tuple[ObjectReader, ObjectReader],
        workers: FileWorkers,
        now: Callable[[], datetime],
    ) -> None:
        """`readers` are those of sizes and of contents."""
        self._store = store
        self._place = place
        self._rules = rules
        self._sizes, self._contents = readers
        self._workers = workers
        self._now = now
        self.counts = Counts()

    async def write(self, plan: IngestPlan, report: Report) -> None:
        """Bring the files of the plan into the index."""
        for removed in _parts(plan.removed, PAGE):
            await self._write(Batch(removed=removed))
            self.counts.removed += len(removed)
        for skipped in _parts(plan.skipped_files, PAGE):
            await self._skip(skipped)
        done = 0
        for some in _parts(list(plan.files.items()), AT_ONCE):
            await self._look_at(some)
            done += len(some)
            report(IngestProgress(self._place.branch, done, len(plan.files)))

    async def remove_others(self, plan: IngestPlan) -> None:
        """Remove the stored paths that are not in a plan of the whole commit."""
        after = ""
        while True:
            page = await self._store.paths(self._place.repository, self._place.branch, after, PAGE)
            if not page:
                return
            gone = [path for path in page if path not in plan.files and path not in plan.skipped]
            if gone:
                await self._write(Batch(removed=gone))
                self.counts.removed += len(gone)
            after = page[-1]

    async def _look_at(self, files: Sequence[tuple[str, str]]) -> None:
        """Check sizes and types, keep what is known, and read the others."""
        infos = await self._sizes.infos([blob for _, blob in files])
        skipped: list[SkippedFile] = []
        good: list[tuple[str, str]] = []
        for path, blob in files:
            info = infos.get(blob)
            if info is None:
                skipped.append(SkippedFile(path, SkipReason.MISSING))
            elif info.size > self._rules.max_file_bytes:
                skipped.append(SkippedFile(path, SkipReason.TOO_LARGE))
            elif info.type != "blob":
                skipped.append(SkippedFile(path, SkipReason.NOT_A_FILE))
            else:
                good.append((path, blob))
        known = await self._store.known(self._place.repository, self._place.branch, good)
        kept = [path for path, blob in good if known.get((path, blob)) is True]
        copied = [pair for pair in good if known.get(pair) is False]
        self.counts.kept += len(kept) + len(copied)
        if kept or copied:
            await self._write(Batch(kept=kept, copied=copied))
        new = [pair for pair in good if pair not in known]
        sizes = {blob: info.size for blob, info in infos.items()}
        for some in _by_bytes(new, sizes):
            skipped += await self._read(some)
        await self._skip(skipped)

    async def _read(self, files: Sequence[tuple[str, str]]) -> list[SkippedFile]:
        """Read, split and store files; return those that are skipped."""
        skipped: list[SkippedFile] = []
        raw: list[RawFile] = []
        paths = iter(files)
        async for blob, content in self._contents.blobs([blob for _, blob in files]):
            path, _ = next(paths)
            if content is None:
                skipped.append(SkippedFile(path, SkipReason.DAMAGED))
            else:
                raw.append(RawFile(path, blob, content))
        new: list[NewFile] = []
        for one, prepared in zip(raw, await self._workers.prepare(raw), strict=True):
            if isinstance(prepared, PreparedFile):
                new.append(prepared.file)
                self.counts.redacted += prepared.redacted
                self.counts.guessed += prepared.guessed
            else:
                skipped.append(SkippedFile(one.path, prepared))
        for some in _by_weight(new):
            await self._write(Batch(files=some))
            self.counts.read += len(some)
        return skipped

    async def _skip(self, skipped: Sequence[SkippedFile]) -> None:
        if skipped:
            await self._write(Batch(skipped=skipped))
            self.counts.skipped.update(one.reason for one in skipped)

    async def _write(self, batch: Batch) -> None:
        place = self._place
        await self._store.write(place.repository, place.branch, place.commit, batch, self._now())


def _parts(items: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    for start in range(0, len(items), size):
        yield items[start : start + size]


def _by_weight(files: Sequence[NewFile]) -> Iterator[Sequence[NewFile]]:
    """Yield runs of files whose words have at most `MAX_WEIGHT` characters together."""
    run: list[NewFile] = []
    left = MAX_WEIGHT
    for file in files:
        weight = sum(len(one.text) for one in file.words)
        if run and weight > left:
            yield run
            run, left = [], MAX_WEIGHT
        run.append(file)
        left -= weight
    if run:
        yield run


def _by_bytes(
    files: Sequence[tuple[str, str]], sizes: dict[str, int]
) -> Iterator[Sequence[tuple[str, str]]]:
    """Yield runs of files of at most `MAX_BYTES` together."""
    run: list[tuple[str, str]] = []
    left = MAX_BYTES
    for pair in files:
        size = sizes[pair[1]]
        if run and size > left:
            yield run
            run, left = [], MAX_BYTES
        run.append(pair)
        left -= size
    if run:
        yield run

"""Finds the files of a commit that have to be looked at, before anything is read."""

import asyncio
import time
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Final

from memory.git.repository import TreeEntry
from memory.knowledge.model import SkippedFile, SkipReason
from memory.knowledge.reading.paths import (
    checked_mode,
    checked_path,
    path_without_secrets,
    shown_path,
)
from memory.knowledge.reading.rules import Candidate, Rules

AT_ONCE: Final = 500
"""Paths that are sorted together, in a thread: patterns and paths that were made to take long do
not hold the event loop."""
SLICE_SECONDS: Final = 0.5
"""Seconds after which the thread returns, so that a cancelled ingest ends."""
MAX_REMOVED: Final = 50_000
"""Paths that a plan of changes removes. With more of them the whole commit is compared."""
MAX_SKIPPED: Final = 20_000
"""Skipped files of one branch that are noted by their path."""


@dataclass(slots=True)
class Plan:
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
) -> Plan:
    """Sort entries by what has to be done with them; at most `most` files are indexed."""
    plan = Plan(whole)
    waiting: list[TreeEntry] = []
    async with aclosing(entries):
        async for entry in entries:
            waiting.append(entry)
            if len(waiting) >= AT_ONCE:
                await _sort_all(plan, waiting, rules, most)
                waiting = []
                if not plan.complete:
                    return plan
    await _sort_all(plan, waiting, rules, most)
    return plan


async def _sort_all(plan: Plan, entries: list[TreeEntry], rules: Rules, most: int) -> None:
    begin = 0
    while begin < len(entries):
        begin = await asyncio.to_thread(_sort_some, plan, entries, begin, rules, most)
    plan.complete = len(plan.removed) <= MAX_REMOVED


def _sort_some(plan: Plan, entries: list[TreeEntry], begin: int, rules: Rules, most: int) -> int:
    """Sort entries from a place on for a bounded time; return the place of the next one."""
    until = time.monotonic() + SLICE_SECONDS
    for place in range(begin, len(entries)):
        _sort(plan, entries[place], rules, most)
        if time.monotonic() > until:
            return place + 1
    return len(entries)


def _sort(plan: Plan, entry: TreeEntry, rules: Rules, most: int) -> None:
    path = checked_path(entry.path)
    if isinstance(path, SkipReason):
        shown = shown_path(entry.path)
        if entry.id:
            _skip(plan, shown, path)
        else:
            plan.removed.append(shown)
        return
    candidate = rules.candidate(path)
    if candidate is Candidate.NEITHER:
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
    if reason is None and candidate is Candidate.SECRET_NAME:
        reason = SkipReason.SECRET_NAME
    if reason is None and len(plan.files) >= most:
        reason = SkipReason.TOO_MANY
    if reason is None:
        plan.files[path] = entry.id
    else:
        _skip(plan, path, reason)


def _skip(plan: Plan, path: str, reason: SkipReason) -> None:
    if len(plan.skipped) < MAX_SKIPPED:
        plan.skipped[path] = reason

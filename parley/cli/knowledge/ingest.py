"""`parley knowledge ingest [REPO]`."""

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Final

import typer

from db.errors import StoreUnavailable
from gateway.errors import ConfigurationError
from gateway.ports.clock import SystemClock
from memory.git.errors import GitError
from memory.git.repository import opened_repository
from memory.knowledge.ingest.work_tree import note_ingest
from memory.knowledge.model import (
    BranchOutcome,
    IngestOutcome,
    IngestProgress,
    Mode,
    Report,
    Repository,
)
from parley.cli.knowledge.registered import find_some, lost_hooks_line, lost_hooks_of
from parley.cli.knowledge.repositories import SomeRepository, Tenant, with_index
from parley.cli.options import AsJson, Config
from parley.cli.stores import read_settings
from parley.cli.terminal import escaped, print_text, show
from parley.config import Settings
from parley.wiring.ingest import ingester_of
from parley.wiring.knowledge import KnowledgeIndex

INTERRUPTED: Final = (
    "{name} was not read to the end: {error}. What was read is kept; when the database can be"
    " written again, `parley knowledge ingest {name}` continues."
)

FORGOTTEN: Final = "{name} was forgotten meanwhile, so nothing of it is kept.\n"


def ingest(
    repo: SomeRepository = None,
    force: Annotated[
        bool, typer.Option("--force", help="Read and split every file again.")
    ] = False,
    tenant: Tenant = None,
    as_json: AsJson = False,
    config: Config = None,
) -> int:
    """Bring the index to the latest commits, also while Parley runs. Safe to interrupt."""
    settings = read_settings(config)

    async def job(index: KnowledgeIndex) -> int:
        repositories = await find_some(index.stores.repositories, repo, tenant)
        return await ingest_all(settings, index, repositories, force=force, as_json=as_json)

    return with_index(settings, job)


async def ingest_all(
    settings: Settings,
    index: KnowledgeIndex,
    repositories: Sequence[Repository],
    *,
    force: bool = False,
    as_json: bool = False,
) -> int:
    """Ingest repositories one after another, and print the result of each; 1 if one was not
    ingested. The problem of the only one is raised: `GitError` or `ConfigurationError`."""
    failed = 0
    for repository in repositories:
        try:
            outcome = await _ingest_one(settings, index, repository, force=force)
        except (GitError, ConfigurationError) as error:
            if len(repositories) == 1:
                raise
            failed = 1
            print_text(f"{repository.name}: {error}\n", sys.stderr)
            continue
        if outcome is None:
            failed = 1
            print_text(FORGOTTEN.format(name=repository.name), sys.stderr)
            continue
        lost = lost_hooks_of(repository)
        text = f"{_as_text(repository, outcome)}{lost_hooks_line(repository, lost)}"
        show([_as_json(repository, outcome, lost)], [text.rstrip("\n")], as_json=as_json)
    return failed


async def _ingest_one(
    settings: Settings, index: KnowledgeIndex, repository: Repository, *, force: bool
) -> IngestOutcome | None:
    """The result of an ingest; None for a repository that was forgotten meanwhile, of which nothing
    was stored."""
    clock = SystemClock()
    ingester = ingester_of(settings, index, clock)
    with _progress(repository.name) as report, _explained(repository):
        outcome = await ingester.ingest(repository, report, force=force)
        if await index.stores.repositories.get(repository.id) is None:
            return None
    await _note(repository, outcome, clock)
    return outcome


@contextmanager
def _explained(repository: Repository) -> Iterator[None]:
    """Raise `StoreUnavailable` with what an interrupted ingest means, and the next step."""
    try:
        yield
    except StoreUnavailable as error:
        raise StoreUnavailable(INTERRUPTED.format(name=repository.name, error=error)) from error


async def _note(repository: Repository, outcome: IngestOutcome, clock: SystemClock) -> None:
    """Note the checked out branch in the work tree."""
    async with opened_repository(Path(repository.folder)) as git:
        head = await git.head()
        for branch in outcome.branches:
            if branch.commit == head.commit and branch.mode is not Mode.UNCHANGED:
                await note_ingest(git, branch, clock.now())


def _as_text(repository: Repository, outcome: IngestOutcome) -> str:
    if outcome.busy:
        return (
            f"{repository.name}: another process ingests it, and takes what was committed"
            " meanwhile along.\n"
        )
    lines = [_branch_line(repository.name, branch) for branch in outcome.branches]
    lines += [f"{repository.name}: there is no branch {name}." for name in outcome.missing]
    if not lines:
        lines = [f"{repository.name}: there is no commit yet."]
    totals = outcome.totals
    lines.append(f"  in the index: {totals.files:,} files, {totals.chunks:,} chunks")
    lines += [f"  skipped, {reason.value}: {count:,}" for reason, count in totals.skipped.items()]
    return "".join(f"{line}\n" for line in lines)


def _branch_line(name: str, branch: BranchOutcome) -> str:
    place = f"{name}: {branch.name} at {branch.commit[:12]}"
    if branch.mode is Mode.UNCHANGED:
        return f"{place}, nothing changed"
    parts = [f"{branch.read:,} files read", f"{branch.kept:,} known", f"{branch.removed:,} removed"]
    if branch.redacted:
        parts.append(f"{branch.redacted:,} secrets replaced")
    if branch.guessed:
        parts.append(f"{branch.guessed:,} in an unknown encoding")
    return f"{place}, {', '.join(parts)}"


def _as_json(
    repository: Repository, outcome: IngestOutcome, lost: Sequence[str]
) -> dict[str, object]:
    branches = [
        {
            "branch": one.name,
            "commit": one.commit,
            "previous": one.previous,
            "mode": one.mode.name.lower(),
            "read": one.read,
            "kept": one.kept,
            "removed": one.removed,
            "redacted": one.redacted,
            "skipped": {reason.value: count for reason, count in one.skipped.items()},
        }
        for one in outcome.branches
    ]
    return {
        "repository": repository.name,
        "busy": outcome.busy,
        "branches": branches,
        "missing": list(outcome.missing),
        "files": outcome.totals.files,
        "chunks": outcome.totals.chunks,
        "skipped": {reason.value: count for reason, count in outcome.totals.skipped.items()},
        "lost_hooks": lost,
    }


@contextmanager
def _progress(name: str) -> Iterator[Report]:
    """A progress bar, on a terminal only."""
    if not sys.stderr.isatty():
        yield _nothing
        return
    from rich import console, progress  # noqa: PLC0415 - 0.1 s, and for a terminal only

    columns = (
        progress.TextColumn("{task.description}", markup=False),
        progress.BarColumn(),
        progress.MofNCompleteColumn(),
        progress.TimeRemainingColumn(),
    )
    with progress.Progress(*columns, console=console.Console(stderr=True), transient=True) as bar:
        task = bar.add_task(escaped(name), total=None)

        def report(at: IngestProgress) -> None:
            bar.update(
                task, description=escaped(f"{name} {at.branch}"), completed=at.done, total=at.total
            )

        yield report


def _nothing(at: IngestProgress) -> None:
    """Show nothing."""

"""Values that an ingest reports."""

from collections import Counter
from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import TypeAlias

from msgspec import Struct, field

from memory.knowledge.model import SkipReason, Totals


class Mode(StrEnum):
    """The way in which the files to read were found."""

    UNCHANGED = "unchanged"
    """The branch is at the same commit, with the same rules."""
    CHANGES = "changes"
    """The changes since the commit of the last ingest."""
    WHOLE = "whole commit"
    """All files of the commit are compared with what is stored: the first ingest, after a rebase or
    an interruption, with other rules, or when everything is read again."""


class BranchOutcome(Struct, frozen=True):
    """The result for one branch. `name` is "" for a detached HEAD, `previous` "" at first.

    `read` files were read and split, `kept` ones had a stored content, `removed` ones are gone.
    `redacted` secrets were replaced in files that were read; `guessed` files have no known
    encoding.
    """

    name: str
    commit: str
    previous: str
    mode: Mode
    read: int = 0
    kept: int = 0
    removed: int = 0
    redacted: int = 0
    guessed: int = 0
    skipped: Mapping[SkipReason, int] = field(default_factory=Counter)


class IngestOutcome(Struct, frozen=True):
    """The result for a repository. `busy`: another process ingests it, and nothing was done here.

    `missing` are configured branches that do not exist.
    """

    branches: tuple[BranchOutcome, ...] = ()
    totals: Totals = field(default_factory=Totals)
    busy: bool = False
    missing: tuple[str, ...] = ()


class IngestProgress(Struct, frozen=True):
    """Files of a branch that are done, of all that have to be looked at."""

    branch: str
    done: int
    total: int


Report: TypeAlias = Callable[[IngestProgress], None]

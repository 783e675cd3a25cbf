"""Values of repositories as knowledge, and what an ingest of them reports.

A `Repository` has branches; a branch has files; a file has a content, which is split into chunks.
Files with the same content share its chunks, over paths, branches and commits of one repository.
"""

from collections import Counter
from collections.abc import Callable, Mapping
from datetime import date, datetime
from enum import StrEnum
from typing import Final, TypeAlias

from msgspec import Struct, field

Day: TypeAlias = date
"""A date, for classes with a field of that name."""
MAX_NAME: Final = 80
"""Characters of a repository's name."""
MAX_PATH: Final = 1_024
"""Bytes of a file's path."""
MAX_BRANCHES: Final = 20
"""Branches of one repository that are ingested."""


class FileKind(StrEnum):
    """The purpose of a file."""

    CODE = "code"
    DOCUMENT = "document"
    DECISION = "decision"
    """A decision record (ADR)."""
    INCIDENT = "incident"
    """The report of an incident, a postmortem."""
    INSTRUCTIONS = "instructions"
    """Instructions of a project to its assistants, such as AGENTS.md; never those of a person."""


class Repository(Struct, frozen=True):
    """A git repository that the operator registered.

    `project` is the project whose conversations may read it, "" for the whole tenant. A `private`
    repository is never read in a public room, unless `rooms` names that room. `remote` is the
    address of its origin without credentials, "" without one.
    """

    id: str
    """The id of the repository in the index."""
    tenant: str
    project: str
    name: str
    """The name that the operator gave it."""
    folder: str
    """The absolute path of the work tree, or of the bare repository."""
    git_dir: str
    """The absolute path of the folder with the objects, which all work trees share."""
    remote: str
    private: bool
    rooms: tuple[str, ...]
    """Public rooms in which a private repository may be read, as `memory.model.scope.room_of`."""
    branches: tuple[str, ...]
    """The branches to ingest; empty for the one that is checked out in `folder`."""
    created_at: datetime
    """The time of its registration."""


class Chunk(Struct, frozen=True):
    """A part of a file that is found and shown as one. Lines begin with 1, both ends included.

    `symbol` is the qualified name of the function or class in code; `heading` the headings above
    the text in a document, joined by " > ". Both are "" where there is none.
    """

    first_line: int
    last_line: int
    symbol: str
    heading: str
    text: str


class SplitFile(Struct, frozen=True):
    """A file as `memory.knowledge.splitting` understands it.

    The chunks depend on the text, `kind` and `language` alone, so that files with the same three
    share them. The other fields may depend on the path as well.
    """

    kind: FileKind
    language: str
    """The name of the programming or markup language in small letters, "" for plain text."""
    title: str = ""
    """The first heading or the title of the front matter; empty for none."""
    status: str = ""
    """The status of a decision record or an incident in small letters, such as "accepted"."""
    date: Day | None = None
    """The day of a decision or an incident; None if none is given."""
    supersedes: tuple[str, ...] = ()
    """Ids or file names of decision records that this one replaces, as the file gives them."""
    superseded_by: str = ""
    """The id or file name of the decision record that replaces it."""
    services: tuple[str, ...] = ()
    """The services that the file is about."""
    topics: tuple[str, ...] = ()
    """The topics that the file is about."""
    chunks: tuple[Chunk, ...] = ()


class SkipReason(StrEnum):
    """The reason for which a file is not in the index."""

    SUSPICIOUS_PATH = "suspicious path"
    """`..`, a control character, an invalid encoding, or a path that is too long."""
    LEAVES_REPOSITORY = "path leaves the repository"
    HYPHEN = "path begins with a hyphen"
    CASE_COLLISION = "same path in other letter case"
    SYMLINK = "symbolic link"
    SUBMODULE = "submodule"
    NO_SIZE = "size unknown"
    TOO_LARGE = "too large"
    NOT_A_FILE = "not a file"
    MISSING = "object not on this machine"
    """A partial clone, or a damaged repository. Nothing is fetched."""
    DAMAGED = "content does not match its hash"
    LFS_POINTER = "Git LFS pointer"
    BINARY = "binary"
    EMPTY = "empty"
    MINIFIED = "minified or generated"
    SECRET_IN_PATH = "path contains a secret"  # noqa: S105 - a reason, not a secret
    SECRET_NAME = "name of a secret file"  # noqa: S105 - a reason, not a secret
    SECRET = "contains a secret"  # noqa: S105 - a reason, not a secret
    UNREADABLE = "could not be split"
    TOO_MANY = "too many files"


class SkippedFile(Struct, frozen=True):
    """A file that the include lists name and that is not in the index."""

    path: str
    """The path in the repository."""
    reason: SkipReason
    """The reason."""


class BranchState(Struct, frozen=True):
    """A branch in the index.

    `commit` is the commit to which the index was brought completely, "" before the first ingest
    ended; `target` the one that an unfinished ingest works towards, "" if there is none.
    `followed`: the branch is the one that is checked out, whichever that is. `rules` is a digest of
    the configuration of the ingest.
    """

    name: str
    """The name of the branch; empty for a detached HEAD."""
    followed: bool
    commit: str
    target: str
    rules: str
    ingested_at: datetime | None
    """The end of the last complete ingest; None before the first."""


class Totals(Struct, frozen=True):
    """The number of files, contents and chunks of a repository, and of skipped files by reason."""

    files: int = 0
    contents: int = 0
    chunks: int = 0
    skipped: Mapping[SkipReason, int] = field(default_factory=Counter)


class KnowledgeQuery(Struct, frozen=True):
    """A search. Empty `kinds`, `services` and `topics` do not filter."""

    text: str
    """The question."""
    kinds: frozenset[FileKind] = frozenset()
    services: tuple[str, ...] = ()
    topics: tuple[str, ...] = ()
    limit: int = 10
    """The largest number of results."""


class ChunkHit(Struct, frozen=True):
    """A chunk that a search found. It is the text of a repository, never of a person."""

    repository: Repository
    path: str
    """The path of the file in the repository."""
    branch: str
    """The branch on which it was found."""
    commit: str
    """A commit in which the file has this content."""
    first_line: int
    """The first line of the chunk, from 1."""
    last_line: int
    """The last line of the chunk."""
    symbol: str
    """As `Chunk.symbol`."""
    heading: str
    """As `Chunk.heading`."""
    kind: FileKind
    """The kind of the file."""
    title: str
    """The title of the file; empty for none."""
    status: str
    """The status of a decision record or an incident; empty for none."""
    superseded_by: str
    """The path or id of the decision record that replaces it; empty for none."""
    text: str
    score: float
    """The score of the match; a higher one is better."""
    ingested_at: datetime
    """The time at which the branch was read."""


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
    """The commit that was read."""
    previous: str
    mode: Mode
    """The way in which the files were found."""
    read: int = 0
    kept: int = 0
    removed: int = 0
    redacted: int = 0
    guessed: int = 0
    skipped: Mapping[SkipReason, int] = field(default_factory=Counter)
    """The number of files that are not in the index, by reason."""


class IngestOutcome(Struct, frozen=True):
    """The result for a repository. `busy`: another process ingests it, and nothing was done here.

    `missing` are configured branches that do not exist.
    """

    branches: tuple[BranchOutcome, ...] = ()
    totals: Totals = field(default_factory=Totals)
    """The numbers of the whole repository afterwards."""
    busy: bool = False
    missing: tuple[str, ...] = ()


class IngestProgress(Struct, frozen=True):
    """Files of a branch that are done, of all that have to be looked at."""

    branch: str
    done: int
    total: int
    """All files that have to be looked at."""


Report: TypeAlias = Callable[[IngestProgress], None]

"""The section `knowledge` of the configuration."""

from typing import Literal

from pydantic import Field

from gateway.settings import Section
from memory.knowledge.reading.rules import HARD_FILE_KB, MAX_FILES, MAX_MB, MAX_MINUTES, MAX_PATHS


class KnowledgeSection(Section):
    """Repositories as knowledge: code, documents, decision records and incident reports. `parley
    knowledge init` registers a repository."""

    enabled: bool = True
    """Search registered repositories."""
    file: str = Field(default="", max_length=1_000)
    """File of the index where `database.url` is SQLite. Default: `knowledge.db` beside the
    database. With PostgreSQL the index is in the database. The index can be built again at any
    time, so backups do not hold it."""
    max_files: int = Field(default=MAX_FILES, ge=1, le=1_000_000)
    """Files of one branch that are indexed."""
    max_paths: int = Field(default=MAX_PATHS, ge=1, le=10_000_000)
    """Paths of one commit that are looked at. A commit with more is refused, and the index stays as
    it is: a few folders that contain each other can list any number of paths."""
    max_total_mb: int = Field(default=MAX_MB, ge=1, le=1_000_000)
    """Megabytes of the files of one commit together that are read. A commit with more is refused,
    and the index stays as it is."""
    max_minutes: int = Field(default=MAX_MINUTES, ge=1, le=10_080)
    """Minutes after which an ingest is stopped; the next one continues it."""
    max_file_size_kb: int = Field(default=HARD_FILE_KB, ge=1, le=HARD_FILE_KB)
    """The most that a repository may choose as its own `max_file_size_kb` in
    `.agent/config.yaml`."""
    vectors: Literal["none", "local", "any"] = "local"
    """Models that make vectors of chunks, so that a search finds them by meaning too: `local`, a
    model on this machine; `any`, the model of `memory.embedding_provider`, also a service, which
    then receives the text of every repository; `none`, search by words only."""

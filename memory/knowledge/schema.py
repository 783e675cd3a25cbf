"""The tables of repositories as knowledge.

On SQLite they are in a file of their own, `knowledge.db`, on PostgreSQL in the long-lived database.
A row of `knowledge_contents` is a text with its chunks, which files of several paths and branches
share; `knowledge_skipped` are files that the include lists name and that are not indexed.

A repository's `edition` grows when everything is to be split and indexed again; contents of earlier
editions are replaced file by file, so that searches find one or the other at any time. `version` is
the version of splitting that made the edition. `rules` is a digest of the configuration with which
a branch was ingested.
"""

from functools import lru_cache
from hashlib import blake2b
from typing import Final

from db.migrations import Schema
from db.statements import BY_KEY, BYTES, NUMBERED, either
from memory.knowledge.model import FileKind

REPOSITORIES: Final = (
    f"""CREATE TABLE knowledge_repositories (
        id text PRIMARY KEY, tenant text NOT NULL, project text NOT NULL, name text NOT NULL,
        folder text NOT NULL, git_dir text NOT NULL, remote text NOT NULL,
        private boolean NOT NULL, rooms text NOT NULL, branches text NOT NULL,
        created_at bigint NOT NULL, edition integer NOT NULL DEFAULT 1,
        version integer NOT NULL DEFAULT 0, forgotten boolean NOT NULL DEFAULT false
    ) {BY_KEY}""",
    """CREATE UNIQUE INDEX knowledge_repositories_name ON knowledge_repositories (tenant, name)
        WHERE NOT forgotten""",
    """CREATE UNIQUE INDEX knowledge_repositories_folder
        ON knowledge_repositories (git_dir, tenant) WHERE NOT forgotten""",
    "CREATE INDEX knowledge_repositories_project ON knowledge_repositories (tenant, project)",
    f"""CREATE TABLE knowledge_branches (
        number {NUMBERED}, repository text NOT NULL, name text NOT NULL,
        followed boolean NOT NULL, at_commit text NOT NULL, target text NOT NULL,
        rules text NOT NULL, ingested_at bigint, UNIQUE (repository, name)
    )""",
)
FILES: Final = (
    f"""CREATE TABLE knowledge_contents (
        number {NUMBERED}, repository text NOT NULL, edition integer NOT NULL,
        sha256 text NOT NULL, language text NOT NULL, kind text NOT NULL, size bigint NOT NULL,
        UNIQUE (repository, sha256, language, kind, edition)
    )""",
    f"""CREATE TABLE knowledge_files (
        number {NUMBERED}, repository text NOT NULL, branch bigint NOT NULL, path text NOT NULL,
        blob text NOT NULL, content bigint NOT NULL, at_commit text NOT NULL, kind text NOT NULL,
        title text NOT NULL, status text NOT NULL, date text NOT NULL, supersedes text NOT NULL,
        superseded_by text NOT NULL, services text NOT NULL, topics text NOT NULL,
        ingested_at bigint NOT NULL, UNIQUE (branch, path)
    )""",
    "CREATE INDEX knowledge_files_blob ON knowledge_files (repository, blob)",
    "CREATE INDEX knowledge_files_content ON knowledge_files (content)",
    f"""CREATE TABLE knowledge_skipped (
        branch bigint NOT NULL, path text NOT NULL, reason text NOT NULL,
        PRIMARY KEY (branch, path)
    ) {BY_KEY}""",
    f"""CREATE TABLE knowledge_chunks (
        number {NUMBERED}, repository text NOT NULL, content bigint NOT NULL,
        first_line integer NOT NULL, last_line integer NOT NULL, symbol text NOT NULL,
        heading text NOT NULL, text text NOT NULL
    )""",
    "CREATE INDEX knowledge_chunks_content ON knowledge_chunks (content)",
)
PREFIX: Final = "knowledge"


def word_tables(prefix: str) -> tuple[str, ...]:
    """Return the tables of a word index (`memory.knowledge.stores.word_index`), whose names begin
    with `prefix`."""
    return (
        f"""CREATE TABLE {prefix}_words (
            number {either(sqlite="integer", postgres="bigint")} PRIMARY KEY,
            partition text NOT NULL, length integer NOT NULL, words text NOT NULL
            {either(sqlite="", postgres=", lexemes tsvector NOT NULL")}
        )""",
        f"""CREATE TABLE {prefix}_word_totals (
            partition text PRIMARY KEY, chunks bigint NOT NULL, words bigint NOT NULL
        ) {BY_KEY}""",
        either(
            # It holds neither texts nor positions, and every word with its partition in front.
            sqlite=f"""CREATE VIRTUAL TABLE {prefix}_text USING fts5(
                terms, content = '', columnsize = 0, detail = none,
                tokenize = "ascii tokenchars '-_./:@+#~='"
            )""",
            postgres=f"CREATE INDEX {prefix}_words_lexemes ON {prefix}_words USING gin (lexemes)",
        ),
    )


WORDS: Final = word_tables(PREFIX)
"""The word index over chunks (`memory.knowledge.stores.word_index`)."""
VECTORS: Final = (
    # A vector that is made again gets a new number, so that a matrix in memory sees what is new.
    f"""CREATE TABLE knowledge_vectors (
        number {NUMBERED},
        chunk bigint NOT NULL UNIQUE
            {either(sqlite="", postgres="REFERENCES knowledge_chunks (number) ON DELETE CASCADE")},
        partition text NOT NULL, model text NOT NULL, dimension integer NOT NULL,
        text_hash text NOT NULL, vector {BYTES} NOT NULL
    )""",
    """CREATE INDEX knowledge_vectors_partition
        ON knowledge_vectors (partition, model, dimension, number)""",
    "CREATE INDEX knowledge_vectors_text ON knowledge_vectors (text_hash, model)",
    either(
        sqlite="""CREATE TRIGGER knowledge_vectors_gone AFTER DELETE ON knowledge_chunks BEGIN
            DELETE FROM knowledge_vectors WHERE chunk = old.number;
        END""",
        postgres="",
    ),
    f"""CREATE TABLE knowledge_vector_claims (
        chunk bigint PRIMARY KEY, until bigint NOT NULL
    ) {BY_KEY}""",
    f"""CREATE TABLE knowledge_vector_problems (
        model text PRIMARY KEY, problem text NOT NULL, at bigint NOT NULL
    ) {BY_KEY}""",
)
"""The vectors of chunks, float16 in little-endian, which are deleted with their chunk; the chunks
whose vectors a process is making; and the reason why a model made none at last."""
STEPS: Final = ((*REPOSITORIES, *FILES, *WORDS), VECTORS)
FILE_SCHEMA: Final = Schema("knowledge", STEPS)
"""The tables of an SQLite file of its own, or of a PostgreSQL database for this index alone."""
SCHEMA: Final = Schema(
    "knowledge",
    tuple(
        tuple(either(sqlite="", postgres=statement) for statement in statements)
        for statements in STEPS
    ),
)
"""The same tables as a part of the long-lived database, where that is PostgreSQL; an SQLite file
gets none of them."""


LETTERS: Final = 10
"""Letters of a partition's name."""


@lru_cache(10_000)
def partition_of(repository: str, kind: FileKind) -> str:
    """Return the name of the partition of one kind of file in one repository."""
    name = f"{kind}\x1f{repository}".encode("utf-8", "replace")
    return blake2b(name, digest_size=LETTERS // 2).hexdigest()

"""The full-text index of stored turns.

A word is indexed once for each group of readers: the person whose exchange it is, and for a room
also the operators. The index holds hashes of word and group, so a search reads nothing about texts
of anybody else, and takes no longer because of them. `turns.words` has the hashes; FTS5 in SQLite
and a GIN index in PostgreSQL find them.

New turns enter the index of SQLite several at once, in the background (`index_some`) and before a
search, because FTS5 writes about 24 kB at each commit that adds turns. Changes and deletions of
indexed turns enter it at once, by triggers.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from hashlib import blake2b
from typing import Final

from msgspec import Struct

from db import Database, Statement, Work, either, execute, fetch
from db.full_text import Merging
from gateway.people import Audience
from gateway.ports.conversations import StoredTurn

MAX_WORDS: Final = 1_000
"""Different words of a turn that are indexed."""
MAX_SEARCHED: Final = 8
"""Different words that one search looks for; further ones are left out."""
MAX_TEXT: Final = 10_000
DIGEST: Final = 8
_WORD: Final = re.compile(r"\w+")
VECTOR: Final = "array_to_tsvector(string_to_array(words, ' '))"
"""The words in PostgreSQL, exactly as its index has them."""
SCHEMA: Final = (
    "ALTER TABLE turns ADD COLUMN audience text NOT NULL DEFAULT 'direct'",
    "ALTER TABLE turns ADD COLUMN words text NOT NULL DEFAULT ''",
    either(
        sqlite="",
        postgres=f"CREATE INDEX turns_text ON turns USING gin (({VECTOR})) WITH (fastupdate = off)",
    ),
    *(
        either(sqlite=statement, postgres="")
        for statement in (
            "CREATE TABLE turn_upkeep (task text PRIMARY KEY, due integer NOT NULL) WITHOUT ROWID",
            "INSERT INTO turn_upkeep VALUES ('merge', 0)",
            """CREATE VIRTUAL TABLE turns_text USING fts5(
                words, content = '', columnsize = 0, detail = none, tokenize = "ascii"
            )""",
            """CREATE TRIGGER turns_indexed AFTER INSERT ON turns WHEN new.words <> '' BEGIN
                INSERT INTO turns_text (rowid, words) VALUES (new.id, new.words);
            END""",
            """CREATE TRIGGER turns_unindexed AFTER DELETE ON turns WHEN old.words <> '' BEGIN
                INSERT INTO turns_text (turns_text, rowid, words)
                    VALUES ('delete', old.id, old.words);
                UPDATE turn_upkeep SET due = 1 WHERE task = 'merge' AND due <> 1;
            END""",
            """CREATE TRIGGER turns_reindexed AFTER UPDATE OF words ON turns
                WHEN old.words <> new.words BEGIN
                INSERT INTO turns_text (turns_text, rowid, words)
                    SELECT 'delete', old.id, old.words WHERE old.words <> '';
                INSERT INTO turns_text (rowid, words)
                    SELECT new.id, new.words WHERE new.words <> '';
                UPDATE turn_upkeep SET due = 1 WHERE task = 'merge' AND due <> 1;
            END""",
        )
    ),
)
"""The columns and the index, which no statement but the search and `index_some` names."""
IS_INDEXED: Final = "old.id <= (SELECT due FROM turn_upkeep WHERE task = 'index')"
LATER: Final = tuple(
    either(sqlite=statement, postgres="")
    for statement in (
        "INSERT INTO turn_upkeep SELECT 'index', COALESCE(max(id), 0) FROM turns",
        "DROP TRIGGER turns_indexed",
        "DROP TRIGGER turns_unindexed",
        "DROP TRIGGER turns_reindexed",
        f"""CREATE TRIGGER turns_unindexed AFTER DELETE ON turns
            WHEN old.words <> '' AND {IS_INDEXED} BEGIN
            INSERT INTO turns_text (turns_text, rowid, words)
                VALUES ('delete', old.id, old.words);
            UPDATE turn_upkeep SET due = 1 WHERE task = 'merge' AND due <> 1;
        END""",
        f"""CREATE TRIGGER turns_reindexed AFTER UPDATE OF words ON turns
            WHEN old.words <> new.words AND {IS_INDEXED} BEGIN
            INSERT INTO turns_text (turns_text, rowid, words)
                SELECT 'delete', old.id, old.words WHERE old.words <> '';
            INSERT INTO turns_text (rowid, words)
                SELECT new.id, new.words WHERE new.words <> '';
            UPDATE turn_upkeep SET due = 1 WHERE task = 'merge' AND due <> 1;
        END""",
    )
)
"""Turns up to the id `turn_upkeep.due` of the task `index` are indexed; no id is used twice."""
AT_ONCE: Final = 100
"""Turns that one step indexes: some milliseconds."""
MAX_STEPS: Final = 10_000
"""Steps before a search. The background leaves at most some thousand turns."""
FOUND: Final = either(
    sqlite="""
        SELECT rowid AS id FROM turns_text WHERE turns_text MATCH :query AND rowid < :before
        ORDER BY rowid DESC LIMIT :most
    """,
    postgres=f"""
        SELECT id FROM (
            SELECT id FROM turns WHERE {VECTOR} @@ CAST(:query AS tsquery) OFFSET 0
        ) AS matching WHERE id < :before ORDER BY id DESC LIMIT :most
    """,
)
"""The ids of turns that have the words of `:query`, newest first. OFFSET 0: the index of the words
is read, not the table from its end."""
FOUND_NEWEST: Final = f"""
    SELECT id FROM (
        SELECT id, words FROM turns WHERE id < :before ORDER BY id DESC LIMIT :scanned
    ) AS newest WHERE {VECTOR} @@ CAST(:query AS tsquery) ORDER BY id DESC LIMIT :most
"""
"""The same among some texts before `:before`, without the index; PostgreSQL only."""
_LAST: Final = Statement(f"""
    SELECT count(*), max(id) FROM (SELECT id FROM turns
        WHERE id > (SELECT due FROM turn_upkeep WHERE task = 'index') ORDER BY id LIMIT {AT_ONCE})
""")
_INDEX: Final = Statement("""
    INSERT INTO turns_text (rowid, words) SELECT id, words FROM turns
    WHERE id > (SELECT due FROM turn_upkeep WHERE task = 'index') AND id <= :last AND words <> ''
""")
_INDEXED: Final = Statement("UPDATE turn_upkeep SET due = :last WHERE task = 'index'")


async def index_some(database: Database) -> int:
    """Add the oldest turns that SQLite's index lacks, at most `AT_ONCE`; return 0 when none is
    left, as in PostgreSQL, which indexes each turn itself. Raises `StoreUnavailable`."""
    return await database.run(_index_some) if database.engine == "sqlite" else 0


async def index_all(database: Database) -> None:
    """Add all turns that SQLite's index lacks. Raises `StoreUnavailable`."""
    for _ in range(MAX_STEPS):
        if not await index_some(database):
            return


def _index_some() -> Work[int]:
    ((number, last),) = yield from fetch(_LAST)
    if number:
        yield from execute(_INDEX, {"last": last})
        yield from execute(_INDEXED, {"last": last})
    return int(number == AT_ONCE)


def plain_words(text: str) -> Sequence[str]:
    """Return the words of a text without case."""
    return _WORD.findall(text[:MAX_TEXT].casefold())


class TurnWords(Struct, frozen=True):
    """Splits texts, and the questions of people who search them, into index words."""

    of_text: Callable[[str], Iterable[str]] = plain_words
    of_question: Callable[[str], Iterable[str]] = plain_words

    def of_turn(self, tenant: str, audience: str, person: str, turn: StoredTurn) -> str:
        """Return what `turns.words` holds for a turn of an exchange with this person. Without a
        person it is indexed for operators alone, and in private for nobody."""
        groups = _groups(tenant, (person,) if person else (), shared=audience != Audience.DIRECT)
        if not groups:
            return ""
        words = list(dict.fromkeys(self.of_text(turn.whole)))[:MAX_WORDS]
        return " ".join(_hashed(group, word) for group in groups for word in words)

    def query(self, tenant: str, persons: Sequence[str], question: str, *, shared: bool) -> str:
        """Return the query of a question for `FOUND` in the dialect of SQLite, empty for one
        without words. `persons` are the identities of the reader, `shared`: an operator."""
        groups = _groups(tenant, persons, shared=shared)
        words = list(dict.fromkeys(self.of_question(question)))[:MAX_SEARCHED]
        if not groups or not words:
            return ""
        each = (" OR ".join(f'"{_hashed(group, word)}"' for group in groups) for word in words)
        return " AND ".join(f"({one})" for one in each)


DEFAULT: Final = TurnWords()


def for_postgres(query: str) -> str:
    """Return a query of `TurnWords.query` as a tsquery."""
    return query.replace('"', "'").replace(" OR ", " | ").replace(" AND ", " & ")


MERGING: Final = Merging("turns_text", "turn_upkeep", "merge")
"""Takes deleted words out of the pages of SQLite's index."""


def _groups(tenant: str, persons: Sequence[str], *, shared: bool) -> list[bytes]:
    """Return the keys of the readers' groups."""
    names = [f"person\n{tenant}\n{person}" for person in persons if person]
    if shared:
        names.append(f"shared\n{tenant}")
    return [blake2b(name.encode("utf-8", "replace"), digest_size=32).digest() for name in names]


def _hashed(group: bytes, word: str) -> str:
    # The letter keeps PostgreSQL and FTS5 from taking digits for a number.
    text = word.encode("utf-8", "replace")
    return f"w{blake2b(text, digest_size=DIGEST, key=group).hexdigest()}"

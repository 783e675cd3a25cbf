"""Identities are linked only after both of them confirmed; a link knows whom it names and where its
identities are reached.

Two identities of one account are two people: links that hold such a pair come from the time when a
code alone linked, and are ended. Codes of that time are worthless; they were valid for ten minutes.
"""

from typing import Final

from gateway.storage.migrations.step import Migration

SQLITE: Final = """
    DROP TABLE link_codes;
    CREATE TABLE link_requests (
        tenant TEXT NOT NULL, maker TEXT NOT NULL, code TEXT NOT NULL, id TEXT NOT NULL,
        state TEXT NOT NULL CHECK (state IN ('offered', 'redeemed', 'confirmed', 'linked')),
        redeemer TEXT NOT NULL, sides TEXT NOT NULL, until REAL NOT NULL, settled TEXT NOT NULL,
        PRIMARY KEY (tenant, maker)
    ) WITHOUT ROWID;
    CREATE INDEX link_requests_code ON link_requests (tenant, code);
    CREATE INDEX link_requests_redeemer ON link_requests (tenant, redeemer);
    CREATE INDEX link_requests_until ON link_requests (until);
    ALTER TABLE people_links ADD COLUMN name TEXT NOT NULL DEFAULT '';
    ALTER TABLE people_links ADD COLUMN place TEXT NOT NULL DEFAULT '';
    ALTER TABLE people_links ADD COLUMN since REAL;
    DELETE FROM people_links WHERE (tenant, human) IN (
        SELECT tenant, human FROM people_links GROUP BY tenant, human,
            substr(person, 1, instr(person, ':')
                + instr(substr(person, instr(person, ':') + 1), ':'))
        HAVING count(*) > 1);
"""

POSTGRES: Final = """
    DROP TABLE link_codes;
    CREATE TABLE link_requests (
        tenant text NOT NULL, maker text NOT NULL, code text NOT NULL, id text NOT NULL,
        state text NOT NULL CHECK (state IN ('offered', 'redeemed', 'confirmed', 'linked')),
        redeemer text NOT NULL, sides text NOT NULL, until timestamptz NOT NULL,
        settled text NOT NULL, PRIMARY KEY (tenant, maker)
    );
    CREATE INDEX link_requests_code ON link_requests (tenant, code);
    CREATE INDEX link_requests_redeemer ON link_requests (tenant, redeemer);
    CREATE INDEX link_requests_until ON link_requests (until);
    ALTER TABLE people_links ADD COLUMN name text NOT NULL DEFAULT '';
    ALTER TABLE people_links ADD COLUMN place text NOT NULL DEFAULT '';
    ALTER TABLE people_links ADD COLUMN since timestamptz;
    DELETE FROM people_links WHERE (tenant, human) IN (
        SELECT tenant, human FROM people_links GROUP BY tenant, human,
            split_part(person, ':', 1) || ':' || split_part(person, ':', 2)
        HAVING count(*) > 1);
"""

STEP: Final = Migration(18, "links that both sides confirmed", SQLITE, POSTGRES)

"""Conversations, usage, traces."""

from typing import Final

from gateway.storage.migrations.step import Migration

SQLITE: Final = """
    CREATE TABLE turns (
        id INTEGER PRIMARY KEY AUTOINCREMENT, conversation TEXT NOT NULL,
        channel TEXT NOT NULL, message_id TEXT NOT NULL, answers TEXT NOT NULL,
        role TEXT NOT NULL CHECK (role IN ('user', 'assistant')), text TEXT NOT NULL,
        at REAL NOT NULL, person TEXT NOT NULL, speaker TEXT NOT NULL,
        UNIQUE (channel, message_id, role)
    );
    CREATE INDEX turns_conversation ON turns (conversation, id);
    CREATE INDEX turns_answers ON turns (channel, answers);
    CREATE INDEX turns_at ON turns (at);
    CREATE TABLE spent (key TEXT PRIMARY KEY, micros INTEGER NOT NULL) WITHOUT ROWID;
    CREATE TABLE reserved (
        turn TEXT NOT NULL, key TEXT NOT NULL, micros INTEGER NOT NULL, at REAL NOT NULL,
        PRIMARY KEY (key, turn)
    ) WITHOUT ROWID;
    CREATE TABLE usage (
        id INTEGER PRIMARY KEY AUTOINCREMENT, turn TEXT NOT NULL, tenant TEXT NOT NULL,
        person TEXT NOT NULL, workspace TEXT NOT NULL, model TEXT NOT NULL,
        input_tokens INTEGER NOT NULL, output_tokens INTEGER NOT NULL,
        cache_read_tokens INTEGER NOT NULL, cache_write_tokens INTEGER NOT NULL,
        micros INTEGER NOT NULL, at REAL NOT NULL
    );
    CREATE INDEX usage_person ON usage (tenant, person, at);
    CREATE TABLE traces (
        id TEXT PRIMARY KEY, message_id TEXT NOT NULL, platform TEXT NOT NULL,
        account TEXT NOT NULL, conversation TEXT NOT NULL, kind TEXT NOT NULL,
        at REAL NOT NULL, decisions TEXT NOT NULL, outcome TEXT NOT NULL,
        milliseconds REAL NOT NULL
    ) WITHOUT ROWID;
    CREATE INDEX traces_message ON traces (message_id);
    CREATE INDEX traces_at ON traces (at);
"""

POSTGRES: Final = """
    CREATE TABLE turns (
        id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, conversation text NOT NULL,
        channel text NOT NULL, message_id text NOT NULL, answers text NOT NULL,
        role text NOT NULL CHECK (role IN ('user', 'assistant')), text text NOT NULL,
        at timestamptz NOT NULL, person text NOT NULL, speaker text NOT NULL,
        UNIQUE (channel, message_id, role)
    );
    CREATE INDEX turns_conversation ON turns (conversation, id);
    CREATE INDEX turns_answers ON turns (channel, answers);
    CREATE INDEX turns_at ON turns (at);
    CREATE TABLE spent (key text PRIMARY KEY, micros bigint NOT NULL) WITH (fillfactor = 70);
    CREATE TABLE reserved (
        turn text NOT NULL, key text NOT NULL, micros bigint NOT NULL, at timestamptz NOT NULL,
        PRIMARY KEY (key, turn)
    );
    CREATE INDEX reserved_at ON reserved (at);
    CREATE TABLE usage (
        id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, turn text NOT NULL,
        tenant text NOT NULL, person text NOT NULL, workspace text NOT NULL,
        model text NOT NULL, input_tokens bigint NOT NULL, output_tokens bigint NOT NULL,
        cache_read_tokens bigint NOT NULL, cache_write_tokens bigint NOT NULL,
        micros bigint NOT NULL, at timestamptz NOT NULL
    );
    CREATE INDEX usage_person ON usage (tenant, person, at);
    CREATE TABLE traces (
        id text PRIMARY KEY, message_id text NOT NULL, platform text NOT NULL,
        account text NOT NULL, conversation text NOT NULL, kind text NOT NULL,
        at timestamptz NOT NULL, decisions json NOT NULL, outcome text NOT NULL,
        milliseconds double precision NOT NULL
    );
    CREATE INDEX traces_message ON traces (message_id);
    CREATE INDEX traces_at ON traces (at);
"""

STEP: Final = Migration(2, "long-lived state: conversations, usage, traces", SQLITE, POSTGRES)

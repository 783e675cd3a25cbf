"""The tables of the gateway. The hot ones live in SQLite or Redis, all others in SQLite or
PostgreSQL. A SQLite file has all of them, because one file can hold both.

Times are integers in microseconds since 1970, except in the hot tables, which hold seconds.
"""

from typing import Final

from db.migrations import Schema
from db.statements import BY_KEY, NUMBERED, either
from gateway.ports.traces import GAVE_UP
from gateway.stores import (
    appointments,
    break_glass,
    catchup,
    config_versions,
    conversations,
    first_contacts,
    hot_losses,
    long_documents,
    long_lived_states,
    people_languages,
    people_names,
    place_zones,
    proactive,
    takeovers,
    turn_index,
    turn_refiling,
    usage_days,
)

# The states of the outbox are compared one by one: for `IN` with more than two values SQLite makes
# a temporary table at every check.
HOT: Final = (
    """CREATE TABLE inbox (
        arrival INTEGER PRIMARY KEY AUTOINCREMENT, id text NOT NULL UNIQUE,
        conversation text NOT NULL, event blob NOT NULL, received_at real NOT NULL,
        expires_at real NOT NULL, reason text NOT NULL DEFAULT '', done integer NOT NULL DEFAULT 0
    )""",
    "CREATE INDEX inbox_open ON inbox (arrival) WHERE done = 0",
    "CREATE INDEX inbox_expiry ON inbox (expires_at) WHERE done = 1",
    """CREATE TABLE outbox (
        seq INTEGER PRIMARY KEY AUTOINCREMENT, key text NOT NULL UNIQUE, outbound blob NOT NULL,
        created_at real NOT NULL, state text NOT NULL DEFAULT 'waiting'
            CHECK (state = 'waiting' OR state = 'sent' OR state = 'dead'),
        attempts integer NOT NULL DEFAULT 0, reason text NOT NULL DEFAULT '',
        message_id text NOT NULL DEFAULT '', settled_at real, begun integer NOT NULL DEFAULT 0,
        not_before real
    )""",
    "CREATE INDEX outbox_waiting ON outbox (seq) WHERE state = 'waiting'",
    "CREATE INDEX outbox_settled ON outbox (settled_at) WHERE state = 'sent'",
    "CREATE INDEX outbox_dead ON outbox (settled_at) WHERE state = 'dead'",
    "CREATE INDEX outbox_message ON outbox (message_id) WHERE state = 'sent'",
    """CREATE TABLE buckets (
        key text PRIMARY KEY, tokens real NOT NULL, at real NOT NULL
    ) WITHOUT ROWID""",
    "CREATE TABLE claimed_keys (key text PRIMARY KEY, expires_at real NOT NULL) WITHOUT ROWID",
    """CREATE TABLE adapter_state (
        platform text NOT NULL, account text NOT NULL, key text NOT NULL, value text NOT NULL,
        expires_at real NOT NULL, PRIMARY KEY (platform, account, key)
    ) WITHOUT ROWID""",
)
CONVERSATIONS: Final = (
    f"""CREATE TABLE turns (
        id {NUMBERED}, conversation text NOT NULL, channel text NOT NULL,
        message_id text NOT NULL, answers text NOT NULL,
        role text NOT NULL CHECK (role IN ('user', 'assistant')), text text NOT NULL,
        at bigint NOT NULL, person text NOT NULL, speaker text NOT NULL,
        material text NOT NULL DEFAULT '', UNIQUE (channel, message_id, role)
    )""",
    "CREATE INDEX turns_conversation ON turns (conversation, id)",
    "CREATE INDEX turns_answers ON turns (channel, answers)",
    "CREATE INDEX turns_at ON turns (at)",
    """CREATE TABLE conversation_notes (
        conversation text PRIMARY KEY, channel text NOT NULL, at bigint NOT NULL,
        task text NOT NULL DEFAULT '', task_person text NOT NULL DEFAULT '',
        task_name text NOT NULL DEFAULT '', task_message text NOT NULL DEFAULT '',
        summary text NOT NULL DEFAULT '', upto_message text NOT NULL DEFAULT '',
        upto_role text NOT NULL DEFAULT '',
        upto_at bigint NOT NULL DEFAULT 0, persons text NOT NULL DEFAULT '[]'
    )""",
    "CREATE INDEX conversation_notes_channel ON conversation_notes (channel)",
    "CREATE INDEX conversation_notes_at ON conversation_notes (at)",
    # Every answer updates these indexes, so there are only those that a person's lookup needs.
    """CREATE TABLE waiting_turns (
        id text PRIMARY KEY, tenant text NOT NULL, person text NOT NULL, room text NOT NULL,
        channel text NOT NULL, message_ids text NOT NULL, at bigint NOT NULL, body text NOT NULL
    )""",
    either(sqlite="", postgres="CREATE INDEX waiting_turns_at ON waiting_turns (at)"),
    "CREATE INDEX waiting_turns_person ON waiting_turns (person)",
    "CREATE INDEX waiting_turns_room ON waiting_turns (room) WHERE room <> ''",
)
SPENDING: Final = (
    f"""CREATE TABLE spent (
        key text PRIMARY KEY, micros bigint NOT NULL,
        since bigint NOT NULL DEFAULT 0
    ) {either(sqlite="WITHOUT ROWID", postgres="WITH (fillfactor = 70)")}""",
    "CREATE INDEX spent_since ON spent (since)",
    f"""CREATE TABLE reserved (
        turn text NOT NULL, key text NOT NULL, micros bigint NOT NULL, at bigint NOT NULL,
        PRIMARY KEY (key, turn)
    ) {BY_KEY}""",
    either(sqlite="", postgres="CREATE INDEX reserved_at ON reserved (at)"),
    f"""CREATE TABLE usage (
        id {NUMBERED}, turn text NOT NULL, tenant text NOT NULL, person text NOT NULL,
        workspace text NOT NULL, model text NOT NULL, input_tokens bigint NOT NULL,
        output_tokens bigint NOT NULL, cache_read_tokens bigint NOT NULL,
        cache_write_tokens bigint NOT NULL, micros bigint NOT NULL, at bigint NOT NULL,
        position integer NOT NULL DEFAULT 0
    )""",
    "CREATE INDEX usage_person ON usage (tenant, person, at)",
    "CREATE INDEX usage_at ON usage (at)",
    "CREATE UNIQUE INDEX usage_turn ON usage (turn, position)",
)
OBSERVATION: Final = (
    # With rowids: a row of about 1,070 bytes would need a page of its own beside the key's tree.
    """CREATE TABLE traces (
        id text PRIMARY KEY, message_id text NOT NULL, platform text NOT NULL,
        account text NOT NULL, conversation text NOT NULL, kind text NOT NULL, at bigint NOT NULL,
        decisions text NOT NULL, outcome text NOT NULL,
        milliseconds double precision NOT NULL, slot integer,
        durations text NOT NULL DEFAULT '[]'
    )""",
    "CREATE INDEX traces_message ON traces (message_id)",
    "CREATE INDEX traces_at ON traces (at)",
    # Traces of refusals are a ring: a later refusal replaces the one in its slot.
    "CREATE INDEX traces_slot ON traces (slot) WHERE slot IS NOT NULL",
    f"""CREATE TABLE quarantine (
        kind text NOT NULL, id text NOT NULL, tenant text NOT NULL, person text NOT NULL,
        place text NOT NULL, weight integer NOT NULL, at bigint NOT NULL, PRIMARY KEY (kind, id)
    ) {BY_KEY}""",
    f"""CREATE TABLE feedback (
        message_key text NOT NULL, person text NOT NULL, tenant text NOT NULL,
        turn text NOT NULL, rating integer NOT NULL, at bigint NOT NULL,
        PRIMARY KEY (message_key, person)
    ) {BY_KEY}""",
    "CREATE INDEX feedback_turn ON feedback (turn)",
    "CREATE INDEX feedback_person ON feedback (tenant, person)",
    "CREATE INDEX feedback_at ON feedback (at)",
)
ADMISSIONS: Final = (
    f"""CREATE TABLE admissions (
        tenant text NOT NULL, person text NOT NULL,
        role text NOT NULL CHECK (role IN ('member', 'owner')), name text NOT NULL,
        place text NOT NULL, by_person text NOT NULL, at bigint NOT NULL,
        notified integer NOT NULL DEFAULT 0, PRIMARY KEY (tenant, person)
    ) {BY_KEY}""",
    "CREATE INDEX admissions_owners ON admissions (tenant, person) WHERE role = 'owner'",
    "CREATE INDEX admissions_unnotified ON admissions (at) WHERE notified = 0",
    f"""CREATE TABLE pairing_requests (
        tenant text NOT NULL, person text NOT NULL, id text NOT NULL UNIQUE,
        code_hash text NOT NULL, account text NOT NULL, name text NOT NULL, place text NOT NULL,
        state text NOT NULL CHECK (state IN ('waiting', 'rejected')), made_at bigint NOT NULL,
        until bigint NOT NULL, codes integer NOT NULL, counted_since bigint NOT NULL,
        notified_at bigint NOT NULL DEFAULT 0, PRIMARY KEY (tenant, person)
    ) {BY_KEY}""",
    "CREATE INDEX pairing_requests_until ON pairing_requests (until)",
    f"""CREATE TABLE approvers (
        tenant text NOT NULL, person text NOT NULL, place text NOT NULL, at bigint NOT NULL,
        PRIMARY KEY (tenant, person)
    ) {BY_KEY}""",
    """CREATE TABLE owner_codes (
        id text PRIMARY KEY, code_hash text NOT NULL, until bigint NOT NULL,
        wrong_codes integer NOT NULL DEFAULT 0, tenant text NOT NULL DEFAULT '',
        person text NOT NULL DEFAULT ''
    )""",
)
CONSOLE: Final = (
    f"""CREATE TABLE console_links (
        secret_hash text PRIMARY KEY, tenant text NOT NULL, person text NOT NULL,
        made_at bigint NOT NULL, until bigint NOT NULL
    ) {BY_KEY}""",
    "CREATE INDEX console_links_person ON console_links (tenant, person)",
    "CREATE INDEX console_links_until ON console_links (until)",
    f"""CREATE TABLE console_sessions (
        secret_hash text PRIMARY KEY, id text NOT NULL UNIQUE, tenant text NOT NULL,
        person text NOT NULL, label text NOT NULL, zone text NOT NULL, theme text NOT NULL,
        made_at bigint NOT NULL, seen_at bigint NOT NULL, until bigint NOT NULL
    ) {BY_KEY}""",
    "CREATE INDEX console_sessions_person ON console_sessions (tenant, person)",
    "CREATE INDEX console_sessions_until ON console_sessions (until)",
)
VIEWS: Final = (
    "ALTER TABLE traces ADD COLUMN audience text NOT NULL DEFAULT ''",
    "CREATE INDEX traces_conversation ON traces (conversation, at)",
    # `owner` is a person, or empty for the list of the operators.
    f"""CREATE TABLE archived_conversations (
        tenant text NOT NULL, owner text NOT NULL, conversation text NOT NULL, at bigint NOT NULL,
        PRIMARY KEY (tenant, owner, conversation)
    ) {BY_KEY}""",
    "CREATE INDEX archived_conversations_at ON archived_conversations (at)",
)
CRASHES: Final = (
    either(
        sqlite="UPDATE adapter_state SET account = 'crashes'"
        " WHERE platform = 'parley' AND account = 'takeovers'",
        postgres="",
    ),
    """UPDATE traces SET decisions = replace(decisions, '["takeover",', '["crash_guard",')
    WHERE outcome = 'gave_up'""",
)
"""A takeover is the act of an operator only."""
SCHEMA: Final = Schema(
    "gateway",
    (
        (
            *(either(sqlite=statement, postgres="") for statement in HOT),
            *CONVERSATIONS,
            *SPENDING,
            *OBSERVATION,
            *ADMISSIONS,
        ),
        CONSOLE,
        (*turn_index.SCHEMA, *VIEWS),
        takeovers.SCHEMA,
        usage_days.SCHEMA,
        break_glass.SCHEMA,
        config_versions.SCHEMA,
        (f"CREATE INDEX traces_given_up ON traces (at) WHERE outcome = '{GAVE_UP}'",),
        turn_index.LATER,
        usage_days.QUARTERS,
        hot_losses.SCHEMA,
        (*takeovers.LATER, *break_glass.LATER),
        conversations.LATER,
        CRASHES,
        long_lived_states.SCHEMA,
        people_names.SCHEMA,
        people_languages.SCHEMA,
        first_contacts.SCHEMA,
        people_languages.ZONES,
        place_zones.SCHEMA,
        (turn_refiling.TURNS.table, *turn_refiling.TURNS.again),
        people_languages.VOICE,
        appointments.SCHEMA,
        catchup.SCHEMA,
        (*people_languages.QUIET, *proactive.SCHEMA),
        long_documents.SCHEMA,
    ),
)

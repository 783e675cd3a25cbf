"""The documents of conversations that can be searched (`gateway.ports.long_documents`).

The rows are written by the index of their text, in memory; this module has their table. A document
leaves with the stored message that shows it, in the same transaction, whatever deletes the message.
`long_documents_gone` are the numbers of deleted documents whose text is still to be deleted.
"""

from typing import Final

from db import Statement
from db.statements import BY_KEY, NUMBERED, either

SCHEMA: Final = (
    # `passages` is the number of stored ones, `digest` that of the whole text.
    f"""CREATE TABLE long_documents (
        number {NUMBERED}, tenant text NOT NULL, conversation text NOT NULL,
        channel text NOT NULL, message_id text NOT NULL, ref text NOT NULL,
        origin_id text NOT NULL, person text NOT NULL, name text NOT NULL,
        language text NOT NULL, total integer NOT NULL, searchable integer NOT NULL,
        characters bigint NOT NULL, passages integer NOT NULL, complete boolean NOT NULL,
        digest text NOT NULL, at bigint NOT NULL, kept_at bigint NOT NULL,
        UNIQUE (channel, message_id, ref)
    )""",
    "CREATE INDEX long_documents_conversation ON long_documents (conversation, number)",
    "CREATE INDEX long_documents_person ON long_documents (tenant, person, number)",
    """CREATE INDEX long_documents_origin ON long_documents (channel, origin_id)
        WHERE origin_id <> ''""",
    "CREATE INDEX long_documents_kept ON long_documents (kept_at)",
    f"CREATE TABLE long_documents_gone (number bigint PRIMARY KEY) {BY_KEY}",
    either(
        sqlite="""CREATE TRIGGER long_documents_of_message AFTER DELETE ON turns
            WHEN old.role = 'user' BEGIN
            DELETE FROM long_documents
                WHERE channel = old.channel AND message_id = old.message_id;
        END""",
        postgres="""CREATE FUNCTION long_documents_of_message() RETURNS trigger
        LANGUAGE plpgsql AS $$ BEGIN
            DELETE FROM long_documents
                WHERE channel = old.channel AND message_id = old.message_id;
            RETURN old; END $$""",
    ),
    either(
        sqlite="",
        postgres="""CREATE TRIGGER long_documents_of_message AFTER DELETE ON turns
            FOR EACH ROW WHEN (old.role = 'user') EXECUTE FUNCTION long_documents_of_message()""",
    ),
    either(
        sqlite="""CREATE TRIGGER long_documents_leave AFTER DELETE ON long_documents BEGIN
            INSERT INTO long_documents_gone VALUES (old.number);
        END""",
        postgres="""CREATE FUNCTION long_documents_leave() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
            INSERT INTO long_documents_gone VALUES (old.number);
            RETURN old; END $$""",
    ),
    either(
        sqlite="",
        postgres="""CREATE TRIGGER long_documents_leave AFTER DELETE ON long_documents
            FOR EACH ROW EXECUTE FUNCTION long_documents_leave()""",
    ),
)
ANY: Final = Statement("SELECT 1 FROM long_documents WHERE conversation = :conversation LIMIT 1")
"""Finds out if a conversation has a document."""

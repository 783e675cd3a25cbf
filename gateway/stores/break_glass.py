"""Grants of private texts to operators. An ended grant stays as a record for its person."""

from datetime import datetime
from typing import Final

from msgspec import Struct

from db import Database, Statement
from db.database import delete_some, deleting_some
from db.statements import BY_KEY
from db.values import micros, storable, time_of


class TextGrant(Struct, frozen=True):
    """A permission that an operator took in an emergency ("break glass"). `operator` and `person`
    are `str(PersonId)`: who reads, and whose text it is. `subject` is a conversation as a
    `str(ConversationKey)`, or the id of a memory. `reason` is what the operator wrote."""

    id: str
    tenant: str
    operator: str
    person: str
    subject: str
    since: datetime
    until: datetime
    reason: str = ""


SCHEMA: Final = (
    f"""CREATE TABLE text_grants (
        tenant text NOT NULL, operator text NOT NULL, subject text NOT NULL, id text NOT NULL,
        person text NOT NULL, since bigint NOT NULL, until bigint NOT NULL,
        PRIMARY KEY (tenant, operator, subject)
    ) {BY_KEY}""",
    "CREATE INDEX text_grants_until ON text_grants (until)",
)
COLUMNS: Final = "id, tenant, operator, person, subject, since, until"
LATER: Final = (
    f"""CREATE TABLE text_grants_kept (
        id text PRIMARY KEY, tenant text NOT NULL, operator text NOT NULL, person text NOT NULL,
        subject text NOT NULL, since bigint NOT NULL, until bigint NOT NULL,
        reason text NOT NULL DEFAULT ''
    ) {BY_KEY}""",
    f"INSERT INTO text_grants_kept ({COLUMNS}) SELECT {COLUMNS} FROM text_grants",
    "DROP TABLE text_grants",
    "ALTER TABLE text_grants_kept RENAME TO text_grants",
    "CREATE INDEX text_grants_operator ON text_grants (tenant, operator, until)",
    "CREATE INDEX text_grants_person ON text_grants (tenant, person)",
    "CREATE INDEX text_grants_until ON text_grants (until)",
)
"""Ended grants stay, each in a row of its own."""
ADD: Final = Statement(f"""
    INSERT INTO text_grants ({COLUMNS}, reason)
    VALUES (:id, :tenant, :operator, :person, :subject, :since, :until, :reason)
""")
OF: Final = Statement("""
    SELECT id, person, since, until, reason FROM text_grants
    WHERE tenant = :tenant AND operator = :operator AND subject = :subject AND until > :now
    ORDER BY until DESC LIMIT 1
""")
COUNT: Final = Statement("""
    SELECT count(*) FROM text_grants
    WHERE tenant = :tenant AND operator = :operator AND until > :now
""")
PRUNE: Final = deleting_some("text_grants", "id", "until < :before", "until")


class TextGrantStore:
    """Every method raises `StoreUnavailable`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, grant: TextGrant) -> None:
        """Store a grant."""
        params = {
            "tenant": grant.tenant,
            "operator": grant.operator,
            "subject": storable(grant.subject),
            "id": grant.id,
            "person": grant.person,
            "since": micros(grant.since),
            "until": micros(grant.until),
            "reason": storable(grant.reason),
        }
        await self._database.change(ADD, params)

    async def of(self, tenant: str, operator: str, subject: str, now: datetime) -> TextGrant | None:
        """Return the grant of this operator, unless it has ended."""
        params = {
            "tenant": tenant,
            "operator": operator,
            "subject": storable(subject),
            "now": micros(now),
        }
        rows = await self._database.fetch(OF, params)
        if not rows:
            return None
        id_, person, since, until, reason = rows[0]
        who = (str(id_), tenant, operator, str(person), subject)
        return TextGrant(*who, time_of(since), time_of(until), str(reason))

    async def count(self, tenant: str, operator: str, now: datetime) -> int:
        """Return how many grants of this operator have not ended."""
        params = {"tenant": tenant, "operator": operator, "now": micros(now)}
        return int((await self._database.fetch(COUNT, params))[0][0])

    async def prune(self, before: datetime) -> int:
        """Delete some grants that ended before then; returns how many, 0 at the end."""
        return await delete_some(self._database, PRUNE, {"before": micros(before)})

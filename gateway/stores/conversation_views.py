"""Conversations for people who look at them: lists, messages, texts and search.

A list is read from the traces: the latest message of a conversation stands for it. What a reader
may not see is excluded by the statements. Long reads use a connection of their own.
"""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Final, Literal, cast

from db import Database, Row, Statement, Work, among, either, execute
from db.database import delete_some, deleting_some
from db.statements import Engine, json_item, listed
from db.values import micros, time_of
from gateway.conversation import ConversationKey
from gateway.errors import UsageError
from gateway.people import Audience
from gateway.ports.conversation_views import (
    MAX_COUNTED,
    ConversationReader,
    ConversationSums,
    ExchangePage,
    FoundText,
    HitPage,
    ListedConversation,
    ListedPage,
    ShownText,
    StoredExchange,
    Wanted,
)
from gateway.ports.traces import FAILED
from gateway.stores.codec import files_from_json, material_from_json
from gateway.stores.traces import columns_of, parse_trace
from gateway.stores.turn_index import (
    DEFAULT,
    FOUND,
    FOUND_NEWEST,
    MERGING,
    TurnWords,
    for_postgres,
    index_all,
    index_some,
)
from gateway.stores.turn_refiling import refile_some

SCANNED: Final = (75, 500, 20_000)
"""Messages that one page of a list looks at: usually the first number has enough conversations, and
with rare filters more pages follow the last."""
FAILING: Final = 2_000
"""The latest messages among which failed ones are looked for. Without statistics PostgreSQL sorts
all messages, as long as they are fewer than about 25,000, and walks the index from then on."""
LOOKED_AT: Final = (75, 2_000)
"""Matching texts that one page of a search looks at: the second number if a page needs more than
the first."""
NEWEST_SCANNED: Final = 1_000
"""Texts in which PostgreSQL looks for words before it reads its index, which returns all texts of a
common word."""
MAX_AT: Final = 2**62
OUTCOME: Final = f"""CASE
    WHEN {{0}}.outcome = 'answered' THEN 'answered'
    WHEN substr({{0}}.outcome, 1, 8) = 'refused:' THEN 'refused'
    WHEN {{0}}.outcome IN {FAILED} THEN 'failed'
    ELSE 'other' END"""
"""The group of a trace's outcome, see `Wanted`."""
FITS: Final = """
    {0}.at >= :since AND {0}.at < :until AND (:platform = '' OR {0}.platform = :platform)
    AND (:channel = '' OR {channel} = :channel) AND (:outcome = '' OR {outcome} = :outcome)
    AND (:micros = 0 OR {cost} >= :micros)
"""
COST: Final = "COALESCE((SELECT sum(c.micros) FROM usage c WHERE c.turn = {0}.id), 0)"


def _fits(alias: str) -> str:
    return FITS.format(
        alias,
        channel=json_item(f"{alias}.conversation", 4),
        outcome=OUTCOME.format(alias),
        cost=COST.format(alias),
    )


ARCHIVED: Final = """EXISTS (SELECT 1 FROM archived_conversations a WHERE a.tenant = :tenant
    AND a.owner = :owner AND a.conversation = t.conversation AND a.at >= t.at)"""
SHOWN: Final = (
    "t.id, t.message_id, t.conversation, t.audience, t.at, t.kind, t.outcome, t.milliseconds"
)
COUNTED: Final = f"""(SELECT count(*) FROM (
    SELECT 1 FROM traces o WHERE o.conversation = t.conversation LIMIT {MAX_COUNTED}) counted)"""
SPENT: Final = f"""COALESCE((SELECT sum({COST.format("o")}) FROM (
    SELECT o.id FROM traces o WHERE o.conversation = t.conversation
        ORDER BY o.at DESC LIMIT {MAX_COUNTED}) AS o), 0)"""
"""The cost of each message is looked up by its turn. For a join, PostgreSQL would read the whole
table of usage for each conversation."""
PERSON: Final = "(SELECT min(u.person) FROM usage u WHERE u.turn = t.id)"
SPEAKER: Final = """COALESCE((SELECT s.speaker FROM turns s WHERE s.conversation = t.conversation
    AND s.role = 'user' AND s.speaker <> '' ORDER BY s.id DESC LIMIT 1), '')"""
BY_ROW: Final = either(sqlite="", postgres="OFFSET 0")
"""Looks a subquery up for each row by its index. PostgreSQL may otherwise read the whole table for
each row, because it expects one row."""
LIST: Final = Statement(f"""
    SELECT {SHOWN}, COALESCE({PERSON}, ''), {SPEAKER}, {SPENT}, {COUNTED}
    FROM (
        SELECT {SHOWN} FROM (
            SELECT id, message_id, conversation, audience, at, kind, outcome, milliseconds, platform
            FROM traces
            WHERE at <= :at AND (at < :at OR id < :id) ORDER BY at DESC, id DESC LIMIT :scanned
        ) AS t
        WHERE {json_item("t.conversation", 0)} = :tenant AND {_fits("t")}
            AND (CASE WHEN {ARCHIVED} THEN 1 ELSE 0 END) = :archived
            AND NOT EXISTS (SELECT 1 FROM traces n WHERE n.conversation = t.conversation
                AND n.at >= t.at AND (n.at > t.at OR n.id > t.id) AND {_fits("n")} {BY_ROW})
        ORDER BY t.at DESC, t.id DESC LIMIT :limit
    ) AS t
    ORDER BY t.at DESC, t.id DESC
""")
"""The inner queries choose the conversations, so that what is shown besides is read only for
these."""
LAST_SCANNED: Final = Statement("""
    SELECT at, id FROM traces WHERE at <= :at AND (at < :at OR id < :id)
    ORDER BY at DESC, id DESC LIMIT 1 OFFSET :scanned
""")
OF_PERSONS: Final = Statement(f"""
    SELECT {SHOWN}, COALESCE({PERSON}, ''), {SPEAKER}, own.micros, own.messages
    FROM (
        SELECT max(latest.at) AS newest, count(DISTINCT latest.id) AS messages,
            sum(u.micros) AS micros, latest.conversation AS conversation
        FROM usage u JOIN traces latest ON latest.id = u.turn
        WHERE u.tenant = :tenant AND {among("u.person", "persons")} AND u.at >= :since
            AND {json_item("latest.conversation", 0)} = :tenant AND {_fits("latest")}
        GROUP BY latest.conversation
    ) AS own JOIN traces t ON t.conversation = own.conversation AND t.at = own.newest
    WHERE t.at <= :at AND (t.at < :at OR t.id < :id)
        AND (CASE WHEN {ARCHIVED} THEN 1 ELSE 0 END) = :archived
    ORDER BY t.at DESC, t.id DESC LIMIT :limit
""")
TRACE: Final = columns_of("t")
EXCHANGE: Final = f"""
    SELECT {TRACE}, COALESCE(min(u.person), ''), COALESCE(min(u.model), ''),
        COALESCE(sum(u.micros), 0), COALESCE(sum(u.input_tokens), 0),
        COALESCE(sum(u.output_tokens), 0), COALESCE(sum(u.cache_read_tokens), 0),
        COALESCE(sum(u.cache_write_tokens), 0)
"""
OWN_EXCHANGES: Final = f"""
    EXISTS (SELECT 1 FROM usage own WHERE own.turn = t.id AND own.tenant = :tenant
        AND {among("own.person", "persons")})
"""
SUMS: Final = Statement(f"""
    SELECT count(*), COALESCE(sum(cost), 0) FROM (
        SELECT {COST.format("t")} AS cost FROM traces t
        WHERE t.conversation = :conversation AND (:everything OR {OWN_EXCHANGES})
        ORDER BY t.at DESC LIMIT {MAX_COUNTED}
    ) AS counted
""")
ONE: Final = Statement(f"""
    {EXCHANGE} FROM traces t LEFT JOIN usage u ON u.turn = t.id
    WHERE t.id = :id AND {json_item("t.conversation", 0)} = :tenant GROUP BY t.id
""")
MESSAGES: Final = Statement(f"""
    {EXCHANGE} FROM (
        SELECT * FROM traces t WHERE t.conversation = :conversation
            AND t.at <= :at AND (t.at < :at OR t.id < :id) AND (:everything OR {OWN_EXCHANGES})
        ORDER BY t.at DESC, t.id DESC LIMIT :limit
    ) AS t LEFT JOIN usage u ON u.turn = t.id
    GROUP BY {TRACE} ORDER BY t.at DESC, t.id DESC
""")
LATEST: Final = Statement(f"""
    SELECT t.id, t.message_id FROM traces t
    WHERE t.conversation = :conversation AND (:everything OR {OWN_EXCHANGES})
    ORDER BY t.at DESC, t.id DESC LIMIT :limit
""")
WROTE_IN: Final = Statement(f"""
    SELECT 1 FROM usage u JOIN traces t ON t.id = u.turn
    WHERE u.tenant = :tenant AND {among("u.person", "persons")} AND t.conversation = :conversation
    LIMIT 1
""")
ASKER: Final = """(CASE WHEN t.role = 'user' THEN t.person ELSE COALESCE((
    SELECT q.person FROM turns q WHERE q.channel = t.channel AND q.answers = t.answers
        AND q.role = 'user' ORDER BY q.id LIMIT 1), '') END)"""
READABLE: Final = f"""((:shared AND t.audience <> '{Audience.DIRECT}')
    OR {among("e.person", "persons")})"""
TEXT: Final = """t.message_id, t.role, t.text, t.at, e.person, t.speaker, t.audience,
    t.conversation, t.material, t.files"""
TEXTS: Final = Statement(f"""
    SELECT {TEXT} FROM turns t
    JOIN (SELECT t.id, {ASKER} AS person FROM turns t
        WHERE {among("t.channel", "channels")} AND {among("t.message_id", "message_ids")}
    ) AS e ON e.id = t.id
    WHERE {json_item("t.conversation", 0)} = :tenant AND {READABLE} ORDER BY t.id
""")
OF_MESSAGE: Final = f"""r.message_id = t.message_id
    AND {either(sqlite="+r.conversation", postgres="r.conversation")} = t.conversation"""
"""The traces of a text. A plus keeps SQLite from the index of conversations, in which it looks at
each message of a conversation."""
SEARCH: Final = Statement(f"""
    SELECT t.id, COALESCE((SELECT r.id FROM traces r WHERE {OF_MESSAGE}
            ORDER BY r.at DESC LIMIT 1), ''), {TEXT}
    FROM turns t JOIN (SELECT t.id, {ASKER} AS person FROM turns t) AS e ON e.id = t.id
    WHERE {among("t.id", "ids")} AND {json_item("t.conversation", 0)} = :tenant AND {READABLE}
        AND t.at >= :since AND t.at < :until
        AND (:platform = '' OR {json_item("t.conversation", 1)} = :platform)
        AND (:channel = '' OR {json_item("t.conversation", 4)} = :channel)
        AND (:person = '' OR e.person = :person)
        AND ((:outcome = '' AND :micros = 0) OR EXISTS (
            SELECT 1 FROM traces r WHERE {OF_MESSAGE}
                AND (:outcome = '' OR {OUTCOME.format("r")} = :outcome)
                AND (:micros = 0 OR {COST.format("r")} >= :micros)))
    ORDER BY t.id DESC LIMIT :limit
""")
FIND: Final = Statement(FOUND)
FIND_NEWEST: Final = Statement(FOUND_NEWEST)
FINDING: Final[Mapping[Engine, Sequence[tuple[Statement, int]]]] = {
    "sqlite": tuple((FIND, most) for most in LOOKED_AT),
    "postgres": ((FIND_NEWEST, LOOKED_AT[0]), (FIND, LOOKED_AT[-1])),
}
"""The steps of a search, until a page is full: a statement, and the texts it finds at most."""
NEWEST: Final = Statement(f"""
    SELECT c.value, (SELECT n.id FROM traces n WHERE n.conversation = c.value
        ORDER BY n.at DESC, n.id DESC LIMIT 1)
    FROM {listed("conversations", "c")}
""")
"""One trace of each conversation, by the index: a comparison with the others of its conversation
makes PostgreSQL read all traces where it has no statistics."""
CONVERSATIONS_OF: Final = Statement(f"""
    SELECT t.id, t.conversation FROM traces t WHERE {among("t.id", "ids")}
        AND {json_item("t.conversation", 0)} = :tenant AND (:everything OR {OWN_EXCHANGES})
""")
ARCHIVE: Final = Statement("""
    INSERT INTO archived_conversations (tenant, owner, conversation, at)
    VALUES (:tenant, :owner, :conversation, :at)
    ON CONFLICT (tenant, owner, conversation) DO UPDATE SET at = excluded.at
""")
UNARCHIVE: Final = Statement(f"""
    DELETE FROM archived_conversations WHERE tenant = :tenant AND owner = :owner
        AND {among("conversation", "conversations")}
""")
PRUNE: Final = deleting_some(
    "archived_conversations", "tenant, owner, conversation", "at < :before", "at"
)


class ConversationViews:
    """Reads conversations for a `ConversationReader`, and keeps which ones are archived."""

    def __init__(self, database: Database, words: TurnWords = DEFAULT) -> None:
        self._database = database
        self._words = words

    async def page(
        self, reader: ConversationReader, filters: Wanted, limit: int, after: str = ""
    ) -> ListedPage:
        """Return conversations, the one with the newest message first. Raises `BadInput` for an
        invalid cursor. A page can be empty and still have a next one."""
        persons = _persons(reader, filters.person)
        if persons is not None and not persons:
            return ListedPage(())
        params = {
            **_filter_params(filters),
            **_cursor(after),
            "tenant": reader.tenant,
            "persons": list(persons or ()),
            "owner": reader.owner,
            "archived": int(filters.archived),
            "limit": limit + 1,
        }
        async with self._database.reader() as database:
            if persons is not None:
                rows = await database.fetch(OF_PERSONS, params)
            for scanned in SCANNED if persons is None else ():
                rows = await database.fetch(LIST, {**params, "scanned": scanned})
                if len(rows) > limit:
                    break
            listed = tuple(_listed(row) for row in rows[:limit])
            if len(rows) > limit:
                last = listed[-1]
                return ListedPage(listed, f"{micros(last.at)}-{last.id}")
            if persons is not None:
                return ListedPage(listed)
            beyond = await database.fetch(LAST_SCANNED, {**params, "scanned": SCANNED[-1] - 1})
        return ListedPage(listed, "".join(f"{at}-{id_}" for at, id_ in beyond))

    async def one(self, reader: ConversationReader, turn: str) -> StoredExchange | None:
        """Return a message that the reader may see, by the id of its turn."""
        rows = await self._database.fetch(ONE, {"id": turn, "tenant": reader.tenant})
        if not rows:
            return None
        exchange = _exchange(rows[0])
        if reader.operator or exchange.person in reader.persons:
            return exchange
        return exchange if await self._is_own(reader, exchange) else None

    async def messages(
        self, reader: ConversationReader, of: StoredExchange, limit: int, before: str = ""
    ) -> ExchangePage:
        """Return messages of the conversation of `of`, the latest before the cursor."""
        everything = reader.operator or await self._is_own(reader, of)
        params = {
            **_reads(reader),
            **_cursor(before),
            "conversation": of.trace.conversation,
            "everything": everything,
            "limit": limit + 1,
        }
        async with self._database.reader() as database:
            rows = [_exchange(row) for row in await database.fetch(MESSAGES, params)]
        last = rows[limit - 1].trace if len(rows) > limit else None
        more = "" if last is None else f"{micros(last.at)}-{last.id}"
        return ExchangePage(tuple(reversed(rows[:limit])), more)

    async def latest(
        self, reader: ConversationReader, of: StoredExchange, limit: int
    ) -> list[tuple[str, str]]:
        """Return the latest messages of the conversation of `of`: the id of the turn and of the
        message, the latest first."""
        params = {
            **_reads(reader),
            "conversation": of.trace.conversation,
            "everything": reader.operator or await self._is_own(reader, of),
            "limit": limit,
        }
        rows = await self._database.fetch(LATEST, params)
        return [(str(turn), str(message)) for turn, message in rows]

    async def texts(
        self, reader: ConversationReader, conversation: str, message_ids: Sequence[str]
    ) -> list[ShownText]:
        """Return the texts of these messages and of their answers that the reader may see."""
        return await self._texts(
            reader, {ConversationKey.of(conversation).channel_name}, message_ids
        )

    async def texts_of(
        self, reader: ConversationReader, messages: Collection[tuple[str, str]]
    ) -> list[ShownText]:
        """Return the texts of messages of several conversations that the reader may see. A message
        is named by its conversation and its id."""
        channels = {ConversationKey.of(name).channel_name for name, _ in messages}
        found = await self._texts(reader, channels, {id_ for _, id_ in messages})
        return [one for one in found if (one.conversation, one.message_id) in messages]

    async def _texts(
        self, reader: ConversationReader, channels: Collection[str], message_ids: Collection[str]
    ) -> list[ShownText]:
        params = {
            **_reads(reader),
            "channels": sorted(channels),
            "message_ids": sorted(message_ids),
        }
        return [_text(row) for row in await self._database.fetch(TEXTS, params)]

    async def failing(self, reader: ConversationReader, limit: int) -> list[ListedConversation]:
        """Return conversations of everybody whose latest message failed, among the latest
        messages, without archived ones. For operators."""
        params = {
            **_filter_params(Wanted(outcome="failed")),
            **_cursor(""),
            "tenant": reader.tenant,
            "owner": reader.owner,
            "archived": 0,
            "limit": limit,
            "scanned": FAILING,
        }
        async with self._database.reader() as database:
            rows = [_listed(row) for row in await database.fetch(LIST, params)]
        latest = await self.newest([one.conversation for one in rows]) if rows else {}
        return [one for one in rows if latest.get(one.conversation) == one.id]

    async def sums(self, reader: ConversationReader, of: StoredExchange) -> ConversationSums:
        """Return the number and the cost of the messages of the conversation of `of`."""
        params = {
            **_reads(reader),
            "conversation": of.trace.conversation,
            "everything": reader.operator or await self._is_own(reader, of),
        }
        async with self._database.reader() as database:
            ((messages, cost),) = await database.fetch(SUMS, params)
        return ConversationSums(int(messages), int(cost))

    async def search(
        self,
        reader: ConversationReader,
        question: str,
        filters: Wanted,
        limit: int,
        after: str = "",
    ) -> HitPage:
        """Return texts that have all words of a question, newest first. Raises `BadInput` for an
        invalid cursor."""
        operator = reader.operator
        query = self._words.query(reader.tenant, reader.persons, question, shared=operator)
        if not query:
            return HitPage(())
        params = {
            **_filter_params(filters),
            **_reads(reader),
            "person": filters.person,
            "query": query if self._database.engine == "sqlite" else for_postgres(query),
            "before": _number(after) if after else MAX_AT,
            "scanned": NEWEST_SCANNED,
            "limit": limit + 1,
        }
        await index_all(self._database)
        async with self._database.reader() as database:
            for find, most in FINDING[self._database.engine]:
                found = await database.fetch(find, {**params, "most": most + 1})
                ids = [int(row[0]) for row in found[:most]]
                rows = await database.fetch(SEARCH, {**params, "ids": ids}) if ids else []
                if len(rows) > limit:
                    return HitPage(_hits(rows[:limit]), str(rows[limit - 1][0]))
                if find is FIND and len(found) <= most:
                    return HitPage(_hits(rows))
        return HitPage(_hits(rows), str(ids[-1]))

    async def newest(self, conversations: Sequence[str]) -> Mapping[str, str]:
        """Return the ids of the latest turns of these conversations, by conversation."""
        names = {"conversations": list(conversations)}
        found = await self._database.fetch(NEWEST, names)
        return {str(name): str(id_) for name, id_ in found if id_ is not None}

    async def conversations_of(
        self, reader: ConversationReader, turns: Sequence[str]
    ) -> Mapping[str, str]:
        """Return the conversations of these turns, by turn, as far as the reader may see them."""
        params = {**_reads(reader), "ids": list(turns), "everything": reader.operator}
        rows = await self._database.fetch(CONVERSATIONS_OF, params)
        return {str(id_): str(conversation) for id_, conversation in rows}

    async def archive(
        self, reader: ConversationReader, turns: Sequence[str], at: datetime, *, back: bool = False
    ) -> int:
        """Archive the conversations of these turns until their next message, or take them `back`;
        return the number of conversations."""
        names = sorted(set((await self.conversations_of(reader, turns)).values()))
        owner: dict[str, object] = {"tenant": reader.tenant, "owner": reader.owner}

        def work() -> Work[None]:
            if back:
                yield from execute(UNARCHIVE, {**owner, "conversations": names})
            else:
                rows = [{**owner, "conversation": name, "at": micros(at)} for name in names]
                yield from execute(ARCHIVE, *rows)

        if names:
            await self._database.run(work)
        return len(names)

    async def index(self) -> int:
        """Add some of the turns that SQLite's index lacks; return 0 when none is left."""
        return await index_some(self._database)

    async def merge(self) -> int:
        """Do one step of taking deleted words out of SQLite's index; 0 when nothing is left."""
        return await MERGING.run(self._database)

    async def maintain(self) -> int:
        """File some older turns again after an upgrade, and then do a step of `merge`; 0 when
        nothing is left."""
        return await refile_some(self._database, self._words) or await self.merge()

    async def prune(self, before: datetime) -> int:
        """Delete some marks of archived conversations from before then; 0 at the end."""
        return await delete_some(self._database, PRUNE, {"before": micros(before)})

    async def _is_own(self, reader: ConversationReader, of: StoredExchange) -> bool:
        """Return True for a direct conversation of the reader, whose messages are all theirs."""
        if of.trace.audience != Audience.DIRECT:
            return False
        params = {**_reads(reader), "conversation": of.trace.conversation}
        return bool(await self._database.fetch(WROTE_IN, params))


def _reads(reader: ConversationReader) -> dict[str, object]:
    persons = [person for person in reader.persons if person]
    return {"tenant": reader.tenant, "persons": persons, "shared": reader.operator}


def _persons(reader: ConversationReader, person: str) -> tuple[str, ...] | None:
    """Return the people whose messages are listed; None for everybody."""
    if reader.operator:
        return (person,) if person else None
    return tuple(one for one in reader.persons if one and person in ("", one))


def _filter_params(filters: Wanted) -> dict[str, object]:
    return {
        "platform": filters.platform,
        "channel": filters.channel,
        "outcome": filters.outcome,
        "micros": filters.micros,
        "since": 0 if filters.since is None else micros(filters.since),
        "until": MAX_AT if filters.until is None else micros(filters.until),
    }


def _cursor(text: str) -> dict[str, object]:
    """Return the position after which a page begins."""
    if not text:
        return {"at": MAX_AT, "id": ""}
    at, _, id_ = text.partition("-")
    return {"at": _number(at), "id": id_}


def _number(text: str) -> int:
    if not (text.isascii() and text.isdecimal() and len(text) < 19):
        raise UsageError("This page does not exist: the address has an invalid position.")
    return int(text)


def _hits(rows: Sequence[Row]) -> tuple[FoundText, ...]:
    return tuple(FoundText(str(row[1]), _text(row[2:])) for row in rows)


def _listed(row: Row) -> ListedConversation:
    id_, message_id, conversation, audience, at, kind, outcome, took, *more = row
    person, speaker, cost, messages = more
    shown = (id_, message_id, conversation, audience, time_of(at), kind, outcome, took)
    return ListedConversation(*shown, person, speaker, int(cost), int(messages))


def _exchange(row: Row) -> StoredExchange:
    *trace, person, model, cost, given, made, read, written = row
    tokens = (int(given), int(made), int(read), int(written))
    return StoredExchange(parse_trace(tuple(trace)), str(person), str(model), int(cost), tokens)


def _text(row: Row) -> ShownText:
    message_id, role, text, at, person, speaker, audience, conversation, material, files = row
    named = (str(message_id), cast("Literal['user', 'assistant']", role), str(text), time_of(at))
    of = (str(person), str(speaker), str(audience), str(conversation))
    return ShownText(*named, *of, material_from_json(material), files_from_json(files))

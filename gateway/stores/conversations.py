"""Conversations with their tasks and summaries. An answer refers to the messages that it answers,
and is deleted with them."""

import json
from collections.abc import Sequence
from datetime import datetime
from typing import Final, Literal

from db import (
    FOR_UPDATE,
    Database,
    Row,
    Statement,
    Work,
    among,
    execute,
    fetch,
    fetch_first,
    together,
)
from db.database import delete_some, deleting_some
from db.statements import contains
from db.transaction import Change, Execute, Fetch
from db.values import json_list, micros, storable, texts_of, time_of
from gateway.conversation import ConversationKey, channel_name
from gateway.errors import UsageError
from gateway.immutable import replace
from gateway.message import Outbound, Place, Receipt
from gateway.people import Audience
from gateway.ports import ProjectActivity
from gateway.ports.conversations import (
    NO_NOTES,
    ConversationNotes,
    ConversationSummary,
    ConversationTask,
    QuotedTurn,
    StoredTurn,
)
from gateway.ports.traces import NO_CONVERSATION
from gateway.stores.codec import (
    files_from_json,
    files_to_json,
    material_from_json,
    material_to_json,
)
from gateway.stores.long_documents import ANY as ANY_DOCUMENT
from gateway.stores.people_names import keep_names
from gateway.stores.turn_index import DEFAULT, TurnWords

LATER: Final = (
    "ALTER TABLE turns ADD COLUMN files text NOT NULL DEFAULT ''",
    "ALTER TABLE turns ADD COLUMN sent text NOT NULL DEFAULT ''",
)
"""The files of a message of a person, as JSON; and the platform's ids of the messages of an answer,
a line each."""
COLUMNS: Final = "message_id, role, text, at, person, speaker, material, files"
ADD: Final = Statement("""
    INSERT INTO turns (conversation, channel, message_id, answers, role, text, at, person, speaker,
        material, files, audience, words)
    VALUES (:conversation, :channel, :message_id, :answers, :role, :text, :at, :person, :speaker,
        :material, :files, :audience, :words)
    ON CONFLICT (channel, message_id, role) DO UPDATE SET text = excluded.text,
        material = excluded.material, files = excluded.files, words = excluded.words
""")
LATEST: Final = Statement(f"""
    SELECT {COLUMNS} FROM turns WHERE conversation = :conversation ORDER BY id DESC LIMIT :limit
""")
LATEST_SINCE_SUMMARY: Final = Statement(f"""
    SELECT {COLUMNS} FROM turns WHERE conversation = :conversation AND id >= COALESCE((
        SELECT last.id FROM conversation_notes AS notes JOIN turns AS last
            ON last.channel = :channel AND last.message_id = notes.upto_message
                AND last.role = notes.upto_role
        WHERE notes.conversation = :conversation), 0)
    ORDER BY id DESC LIMIT :limit
""")
KNOWS: Final = Statement(f"""
    SELECT 1 FROM turns
    WHERE channel = :channel AND {among("message_id", "message_ids")} AND role = 'user' LIMIT 1
""")
FIRST: Final = Statement(f"""
    SELECT {COLUMNS}, audience FROM turns
    WHERE channel = :channel AND {among("message_id", "message_ids")} AND role = 'user' LIMIT 1
""")
EDIT: Final = Statement(f"""
    UPDATE turns SET text = :text, words = :words
    WHERE channel = :channel AND {among("message_id", "message_ids")} AND role = 'user'
        AND (text <> '' OR material = '')
""")
DELETE: Final = Statement(f"""
    DELETE FROM turns WHERE id IN (
        SELECT id FROM turns
        WHERE channel = :channel AND role = 'user' AND {among("message_id", "message_ids")}
        UNION ALL SELECT id FROM turns
        WHERE channel = :channel AND role = 'assistant' AND answers IN (
            SELECT answers FROM turns
            WHERE channel = :channel AND role = 'user' AND {among("message_id", "message_ids")})
    )
""")
ASKED: Final = Statement("SELECT conversation, message_id FROM traces WHERE id = :turn")
NOTE_SENT: Final = Statement("""
    UPDATE turns SET sent = sent || :line
    WHERE channel = :channel AND message_id = :message_id AND role = 'assistant'
        AND conversation = :conversation AND length(sent) < :most
""")
OWN_QUOTED: Final = Statement(f"""
    SELECT {COLUMNS} FROM turns WHERE channel = :channel AND message_id = :message_id
        AND role = 'user' AND conversation = :conversation
""")
ANSWER_QUOTED: Final = Statement(f"""
    SELECT {COLUMNS}, sent FROM (
        SELECT {COLUMNS}, sent FROM turns WHERE conversation = :conversation
        ORDER BY id DESC LIMIT :scanned
    ) AS latest WHERE role = 'assistant' AND {contains("sent", ":line")} LIMIT 1
""")
MAX_SENT: Final = 20_000
"""Characters of the ids of the messages of one answer; an id has at most 512."""
MAX_SCANNED: Final = 5_000
"""The latest turns of a conversation among which a quoted answer is searched."""
CLEAR: Final = Statement("DELETE FROM turns WHERE conversation = :conversation")
TAKES_PART: Final = Statement("""
    SELECT 1 FROM turns WHERE conversation = :conversation AND role = 'assistant' LIMIT 1
""")
PRUNE: Final = deleting_some("turns", "id", "at < :before", "at")
PRUNE_NOTES: Final = deleting_some("conversation_notes", "conversation", "at < :before", "at")

READ_NOTES: Final = Statement("""
    SELECT task, task_person, task_name, task_message,
        summary, upto_message, upto_role, upto_at, persons
    FROM conversation_notes WHERE conversation = :conversation
""")
SET_TASK: Final = Statement("""
    INSERT INTO conversation_notes
        (conversation, channel, at, task, task_person, task_name, task_message)
    VALUES (:conversation, :channel, :at, :task, :person, :name, :message_id)
    ON CONFLICT (conversation) DO UPDATE SET
        at = excluded.at, task = excluded.task, task_person = excluded.task_person,
        task_name = excluded.task_name, task_message = excluded.task_message
""")
TOUCH: Final = Statement("""
    INSERT INTO conversation_notes (conversation, channel, at)
    VALUES (:conversation, :channel, :at)
    ON CONFLICT (conversation) DO UPDATE SET at = excluded.at
    RETURNING summary
""")
SUMMARISED: Final = Statement(f"""
    SELECT message_id, role, text FROM turns
    WHERE conversation = :conversation AND {among("message_id", "message_ids")} {FOR_UPDATE}
""")
SET_SUMMARY: Final = Statement("""
    INSERT INTO conversation_notes
        (conversation, channel, at, summary, upto_message, upto_role, upto_at, persons)
    VALUES (:conversation, :channel, :at, :summary, :upto_message, :upto_role, :upto_at, :persons)
    ON CONFLICT (conversation) DO UPDATE SET
        at = excluded.at, summary = excluded.summary, upto_message = excluded.upto_message,
        upto_role = excluded.upto_role, upto_at = excluded.upto_at, persons = excluded.persons
""")
NO_SUMMARY: Final = "summary = '', upto_message = '', upto_role = '', upto_at = 0, persons = '[]'"
NO_TASK: Final = "task = '', task_person = '', task_name = '', task_message = ''"
FORGET_SUMMARIES_OF: Final = Statement(f"""
    UPDATE conversation_notes SET {NO_SUMMARY} WHERE conversation IN (
        SELECT conversation FROM turns
        WHERE channel = :channel AND role = 'user' AND {among("message_id", "message_ids")})
""")
"""Deletes a summary with any message that it may derive from. Run it before the message is deleted.
"""
FORGET_TASKS_OF: Final = Statement(f"""
    UPDATE conversation_notes SET {NO_TASK}
    WHERE channel = :channel AND task_message <> '' AND {among("task_message", "message_ids")}
""")
CLEAR_NOTES: Final = Statement("DELETE FROM conversation_notes WHERE conversation = :conversation")


def add_turns(
    key: ConversationKey,
    turns: Sequence[StoredTurn],
    audience: str,
    words: TurnWords,
    question: StoredTurn | None = None,
) -> Work[None]:
    """Add the messages of one turn and their answer; a known message gets the new text. `audience`
    are the readers, and an unknown one is private. `question` is the stored message that the turns
    answer, if it is not among them."""
    conversation, channel = str(key), key.channel_name
    question = next((turn for turn in turns if turn.role == "user"), question)
    answers, person = (question.message_id, question.person) if question else ("", "")
    readers = audience or Audience.DIRECT
    rows = [
        {
            "conversation": conversation,
            "channel": channel,
            "message_id": turn.message_id,
            "answers": answers,
            "role": turn.role,
            "text": storable(turn.text),
            "at": micros(turn.at),
            "person": turn.person,
            "speaker": storable(turn.speaker),
            "material": storable(material_to_json(turn.material)),
            "files": storable(files_to_json(turn.files)),
            "audience": readers,
            "words": words.of_turn(key.tenant, readers, person, turn),
        }
        for turn in turns
    ]
    yield Execute(ADD, rows)
    yield from keep_names(key.tenant, turns)


def remove_turns(key: ConversationKey, turns: Sequence[StoredTurn]) -> Work[int]:
    """Delete the messages of one turn, their answer, and the notes that derive from them,
    as the last statements of the work."""
    ids = [turn.message_id for turn in turns if turn.role == "user"]
    return (yield from _with_notes(DELETE, {"channel": key.channel_name, "message_ids": ids}))


class Conversations:
    """Messages to the assistant and its answers, by conversation."""

    def __init__(self, database: Database, words: TurnWords = DEFAULT) -> None:
        self._database = database
        self._words = words

    async def append(
        self, key: ConversationKey, turns: Sequence[StoredTurn], audience: str = Audience.DIRECT
    ) -> None:
        """Add the messages of one turn and their answer; a known message id is replaced."""
        await self._database.run(lambda: add_turns(key, turns, audience, self._words))

    async def latest(self, key: ConversationKey, limit: int) -> list[StoredTurn]:
        """Return the last turns, oldest first."""
        rows = await self._database.fetch(LATEST, {"conversation": str(key), "limit": limit})
        return [stored_turn(row) for row in reversed(rows)]

    async def opened(
        self, key: ConversationKey, limit: int
    ) -> tuple[list[StoredTurn], ConversationNotes]:
        """Return the last turns, oldest first, with the notes of the conversation. Turns that the
        summary replaces may be missing, except the last of them."""
        return await self._database.run(lambda: _opened(key, limit))

    async def note_sent(self, outbound: Outbound, receipt: Receipt) -> None:
        """Keep the platform's id of a message of an answer with the answer, so that a reply to it
        is understood. Nothing is kept for a send of anything else."""
        turn, _, index = outbound.key.partition(":")
        if index.isdigit() and receipt.message_id:
            line = _sent_line(receipt.message_id)
            await self._database.run(lambda: _note_sent(turn, f"{index}{line}"))

    async def quoted(self, key: ConversationKey, message_id: str) -> QuotedTurn | None:
        """Return the message with this id of the platform, a person's or a part of an answer; None
        unless it is stored in this very conversation."""
        return await self._database.run(lambda: _quoted(key, message_id)) if message_id else None

    async def knows(self, tenant: str, place: Place, message_ids: Sequence[str]) -> bool:
        """Return True if one of these messages is stored."""
        return bool(await self._database.fetch(KNOWS, _messages(tenant, place, message_ids)))

    async def edit(self, tenant: str, place: Place, message_id: str, text: str) -> bool:
        """Replace the text of a stored message, in any conversation of the tenant's channel,
        unless it had no text of its author's own."""
        params = {**_messages(tenant, place, (message_id,)), "text": storable(text)}

        def work() -> Work[int]:
            row = yield from fetch_first(FIRST, params)
            if row is None:
                return 0
            turn, audience = stored_turn(row[:-1])._replace(text=text), str(row[-1])
            words = self._words.of_turn(tenant, audience, turn.person, turn)
            return (yield from _with_notes(EDIT, {**params, "words": words}))

        return await self._database.run(work) > 0

    async def delete(self, tenant: str, place: Place, message_ids: Sequence[str]) -> int:
        """Delete these messages and the answers to them; returns the number of turns. Notes that
        derive from them are deleted too, also when a message is edited."""
        params = _messages(tenant, place, message_ids)
        return await self._database.run(lambda: _with_notes(DELETE, params))

    async def clear(self, key: ConversationKey) -> int:
        """Delete a whole conversation with its notes; returns the number of turns."""
        params = {"conversation": str(key)}

        def work() -> Work[int]:
            _, gone = yield from together(
                Change(CLEAR_NOTES, params), Change(CLEAR, params), last=True
            )
            return int(gone)

        return await self._database.run(work)

    async def takes_part(self, key: ConversationKey) -> bool:
        """Return True if the assistant has written there."""
        return bool(await self._database.fetch(TAKES_PART, {"conversation": str(key)}))

    async def prune(self, before: datetime) -> int:
        """Delete some turns from before then; returns how many, 0 at the end."""
        params = {"before": micros(before)}
        await delete_some(self._database, PRUNE_NOTES, params)
        return await delete_some(self._database, PRUNE, params)


def _opened(key: ConversationKey, limit: int) -> Work[tuple[list[StoredTurn], ConversationNotes]]:
    params = {"conversation": str(key), "channel": key.channel_name, "limit": limit}
    note_rows, turn_rows, documents = yield from together(
        Fetch(READ_NOTES, params),
        Fetch(LATEST_SINCE_SUMMARY, params),
        Fetch(ANY_DOCUMENT, params),
        last=True,
    )
    notes = parse_notes(*note_rows or (None,))
    if documents:
        notes = replace(notes, documents=True)
    return [stored_turn(row) for row in reversed(turn_rows)], notes


def _sent_line(message_id: str) -> str:
    """Return the end of a line of `sent`, which holds "INDEX ID" for each message of an answer."""
    return f" {''.join(message_id.split())}\n"


def _note_sent(turn: str, line: str) -> Work[None]:
    asked = yield from fetch_first(ASKED, {"turn": turn})
    if asked is None or asked[0] == NO_CONVERSATION:
        return
    key = ConversationKey.of(str(asked[0]))
    params = {"channel": key.channel_name, "conversation": str(key), "message_id": str(asked[1])}
    yield from execute(NOTE_SENT, {**params, "line": storable(line), "most": MAX_SENT})


def _quoted(key: ConversationKey, message_id: str) -> Work[QuotedTurn | None]:
    where = {"conversation": str(key)}
    own = {**where, "channel": key.channel_name, "message_id": storable(message_id)}
    row = yield from fetch_first(OWN_QUOTED, own)
    if row is not None:
        return QuotedTurn(stored_turn(row))
    line = storable(_sent_line(message_id))
    row = yield from fetch_first(ANSWER_QUOTED, {**where, "line": line, "scanned": MAX_SCANNED})
    if row is None:
        return None
    index = str(row[-1]).partition(line)[0].rpartition("\n")[2]
    return QuotedTurn(stored_turn(row[:-1]), int(index) if index.isdigit() else 0)


def _with_notes(statement: Statement, params: dict[str, object]) -> Work[int]:
    """Delete the notes that derive from these messages, then change the messages."""
    *_, changed = yield from together(
        Change(FORGET_SUMMARIES_OF, params),
        Change(FORGET_TASKS_OF, params),
        Change(statement, params),
        last=True,
    )
    return int(changed)


def _messages(tenant: str, place: Place, message_ids: Sequence[str]) -> dict[str, object]:
    channel = channel_name(tenant, place.platform, place.account, place.channel_id)
    return {"channel": channel, "message_ids": list(message_ids)}


def stored_turn(row: Row) -> StoredTurn:
    """Return the turn of a row of `COLUMNS`."""
    message_id, role, text, at, person, speaker, material, files = row
    return StoredTurn(
        message_id,
        "assistant" if role == "assistant" else "user",
        text,
        time_of(at),
        person,
        speaker,
        material_from_json(material) if material else (),
        files_from_json(files) if files else (),
    )


SUMS: Final = Statement("""
    SELECT count(DISTINCT traces.id), count(DISTINCT usage.person),
        COALESCE(SUM(input_tokens + output_tokens + cache_read_tokens + cache_write_tokens), 0),
        COALESCE(SUM(micros), 0)
    FROM traces JOIN usage ON usage.turn = traces.id
    WHERE traces.at >= :since AND usage.tenant = :tenant AND (
        substr(conversation, 1, length(:in_workspace)) = :in_workspace
        OR substr(conversation, 1, length(:in_channel)) = :in_channel)
""")
"""An answered question has a cost: its trace and its usage have the same id."""


class SqlActivity:
    """Implements `gateway.ports.ActivityLog`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def of_project(self, tenant: str, project: str, since: datetime) -> ProjectActivity:
        in_workspace, in_channel = beginnings(tenant, project)
        params = {
            "since": micros(since),
            "tenant": tenant,
            "in_workspace": in_workspace,
            "in_channel": in_channel,
        }
        (row,) = await self._database.fetch(SUMS, params)
        return ProjectActivity(*map(int, row))


def beginnings(tenant: str, project: str) -> tuple[str, str]:
    """Return the beginnings of `str(ConversationKey)` for this workspace, and for this channel
    without a workspace.

    Raises `BadInput` unless the project is "platform:account:id".
    """
    platform, _, rest = project.partition(":")
    account, _, inside = rest.partition(":")
    if not (platform and account and inside):
        raise UsageError(f"{project[:80]!r} is not a project: write platform:account:id")
    whole = ([tenant, platform, account, inside], [tenant, platform, account, "", inside])
    in_workspace, in_channel = (json.dumps(parts)[:-1] + "," for parts in whole)
    return in_workspace, in_channel


def parse_notes(row: Row | None) -> ConversationNotes:
    """The notes in a row of `READ_NOTES`."""
    if row is None:
        return NO_NOTES
    task, person, name, task_message, summary, message, role, at, persons = row
    set_task = ConversationTask(task, person, name, task_message) if task else None
    if not message:
        return ConversationNotes(set_task)
    by: Literal["user", "assistant"] = "assistant" if role == "assistant" else "user"
    return ConversationNotes(
        set_task, ConversationSummary(summary, message, by, time_of(at), texts_of(persons))
    )


class ConversationNoteStore:
    """Stores notes. They are read with the turns (`Conversations.opened`) and deleted with them:
    when the conversation is cleared, and when the message they derive from is deleted or edited."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def set_task(
        self, key: ConversationKey, task: ConversationTask | None, at: datetime
    ) -> None:
        """Replace the task; None removes it."""
        new = task or ConversationTask("")
        params = {
            **_conversation(key, at),
            "task": storable(new.text),
            "person": new.person,
            "name": storable(new.name),
            "message_id": new.message_id,
        }
        await self._database.change(SET_TASK, params)

    async def set_summary(
        self,
        key: ConversationKey,
        summary: ConversationSummary,
        at: datetime,
        turns: Sequence[StoredTurn] = (),
        before: ConversationSummary | None = None,
    ) -> bool:
        """Replace the summary. False, and nothing is stored, if one of the `turns` or the summary
        `before` that it derives from was changed or deleted meanwhile."""
        params = {
            **_conversation(key, at),
            "summary": storable(summary.text),
            "upto_message": summary.message_id,
            "upto_role": summary.role,
            "upto_at": micros(summary.at),
            "persons": json_list(summary.persons),
        }
        return await self._database.run(lambda: _set_summary(params, turns, before))


def _set_summary(
    params: dict[str, object], turns: Sequence[StoredTurn], before: ConversationSummary | None
) -> Work[bool]:
    # Notes before turns, as everywhere: what is cleared at the same time is cleared before or after
    # this, never in between.
    stored = yield from fetch_first(TOUCH, params)
    ids = sorted({turn.message_id for turn in turns})
    rows = yield from fetch(SUMMARISED, {**params, "message_ids": ids})
    present = {(str(id_), str(role), str(text)) for id_, role, text in rows}
    if not present.issuperset((one.message_id, one.role, one.text) for one in turns):
        return False
    if before is not None and (stored is None or stored[0] != before.text):
        return False
    yield from execute(SET_SUMMARY, params)
    return True


def _conversation(key: ConversationKey, at: datetime) -> dict[str, object]:
    return {"conversation": str(key), "channel": key.channel_name, "at": micros(at)}

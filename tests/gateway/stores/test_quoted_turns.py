"""Stored messages are found by the platform's id, for replies: only in their own conversation."""

from datetime import UTC, datetime

from gateway.authorship import Material
from gateway.conversation import ConversationKey
from gateway.message import Attachment, Outbound, Receipt
from gateway.ports.clock import SystemClock
from gateway.ports.conversations import StoredTurn
from gateway.ports.traces import Trace
from gateway.stores.conversations import Conversations
from gateway.stores.personal_data import SqlPersonalData
from gateway.stores.traces import Traces
from tests.support.databases import Engine
from tests.support.messages import place

AT = datetime(2026, 11, 27, 9, 0, tzinfo=UTC)
ADA = "test:main:ada"
HERE = ConversationKey("t", "test", "main", "", "ada")
PICTURE = Attachment("image", "media-1", "menu.png", "image/png", 7)


async def exchange(
    conversations: Conversations, traces: Traces, key: ConversationKey = HERE, id_: str = "q1"
) -> None:
    """A picture with a question, and an answer in three messages, one of them a file."""
    turns = (
        StoredTurn(id_, "user", "what is it?", AT, ADA, "Ada", (), (PICTURE,)),
        StoredTurn(id_, "assistant", "a menu", AT),
    )
    await conversations.append(key, turns)
    decided = (key.platform, key.account, str(key), "message", AT, (), "answered", 1)
    await traces.add(Trace(f"turn-{id_}", id_, *decided))
    for part in range(3):
        sent = Outbound(f"turn-{id_}:{part}", place())
        await conversations.note_sent(sent, Receipt(f"{id_}-answer-{part}"))


async def test_a_message_is_found_with_its_files(
    conversations: Conversations, traces: Traces
) -> None:
    await exchange(conversations, traces)
    found = await conversations.quoted(HERE, "q1")
    assert found is not None
    assert (found.part, found.turn.text, found.turn.files) == (None, "what is it?", (PICTURE,))
    assert found.turn.shown == (Material("file", "picture: menu.png"),)
    assert found.turn.whole == "what is it?\npicture: menu.png"


async def test_every_message_of_an_answer_is_found(
    conversations: Conversations, traces: Traces
) -> None:
    await exchange(conversations, traces)
    for part in range(3):
        found = await conversations.quoted(HERE, f"q1-answer-{part}")
        assert found is not None
        assert (found.part, found.turn.text) == (part, "a menu")


async def test_another_conversation_finds_nothing(
    conversations: Conversations, traces: Traces
) -> None:
    await exchange(conversations, traces)
    for other in (
        ConversationKey("t", "test", "main", "", "mallory"),
        ConversationKey("other", "test", "main", "", "ada"),
        ConversationKey("t", "test", "second", "", "ada"),
        ConversationKey("t", "test", "main", "", "ada", "thread"),
    ):
        await exchange(conversations, traces, other, f"own-{other.tenant}{other.channel}")
        for id_ in ("q1", "q1-answer-0"):
            assert await conversations.quoted(other, id_) is None


async def test_a_part_of_an_id_finds_nothing(conversations: Conversations, traces: Traces) -> None:
    await exchange(conversations, traces)
    for id_ in ("", "1", "answer-0", "q1-answer", "0 q1-answer-0", "%", "q1-answer-0\n1 x"):
        assert await conversations.quoted(HERE, id_) is None


async def test_sends_of_anything_else_are_not_kept(
    conversations: Conversations, traces: Traces
) -> None:
    await exchange(conversations, traces)
    for key in ("unknown:0", "turn-q1:note:0", "turn-q1", "turn-q1:x"):
        await conversations.note_sent(Outbound(key, place()), Receipt("stray"))
    assert await conversations.quoted(HERE, "stray") is None


async def test_a_deleted_message_takes_its_answer_along(
    conversations: Conversations, traces: Traces
) -> None:
    await exchange(conversations, traces)
    assert await conversations.delete("t", place("ada"), ("q1",)) == 2
    assert await conversations.quoted(HERE, "q1-answer-0") is None


async def test_an_edited_message_is_found_as_it_is_now(
    conversations: Conversations, traces: Traces
) -> None:
    await exchange(conversations, traces)
    await conversations.edit("t", place("ada"), "q1", "what is this?")
    found = await conversations.quoted(HERE, "q1")
    assert found is not None
    assert (found.turn.text, found.turn.files) == ("what is this?", (PICTURE,))


async def test_export_and_erasure_have_files_and_ids(
    conversations: Conversations, traces: Traces, engine: Engine
) -> None:
    await exchange(conversations, traces)
    personal = SqlPersonalData(engine, SystemClock())
    rows = [row for row in await personal.export("t", [ADA]) if row["table"] == "turns"]
    assert "menu.png" in str(rows[0]["files"])
    assert "q1-answer-2" in str(rows[1]["sent"])
    await personal.erase("t", [ADA])
    assert await conversations.quoted(HERE, "q1-answer-0") is None
    assert await conversations.latest(HERE, 9) == []

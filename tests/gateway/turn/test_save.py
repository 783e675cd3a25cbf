"""The stored turn contains no secret; the model reads the turn unchanged."""

from gateway.immutable import replace
from gateway.message import MessageEdited
from tests.support.gateway import gateway
from tests.support.messages import message, received

KEY = "AKIA" + "QZX7PL2M" * 2
GONE = "[SECRET_REDACTED]"


async def test_the_model_receives_a_key_once_and_the_history_never_contains_it() -> None:
    async with gateway() as g:
        g.model.reply = lambda request: f"{KEY} looks right"
        await g.take(received(f"is {KEY} a valid key?", message_id="m1"))
        assert KEY in g.model.last_words()
        assert await g.stored_words() == [f"is {GONE} a valid key?"]
        await g.take(received("and now?", message_id="m2"))
        assert KEY not in str(g.model.requests[-1])
        assert GONE in str(g.model.requests[-1])


async def test_a_key_added_by_an_edit_is_not_stored() -> None:
    async with gateway() as g:
        await g.take(received("hello", message_id="m1"))
        await g.take(MessageEdited("e1", message(f"hello, {KEY}", message_id="m1")))
        assert (await g.stored_words())[0] == f"hello, {GONE}"


async def test_text_without_a_secret_is_stored_unchanged() -> None:
    async with gateway() as g:
        text = "a < b, commit 4ee28d6a1b2c3d4e5f60718293a4b5c6d7e8f901 🙂\u200d"
        await g.take(received(text, message_id="m1"))
        assert (await g.stored_words())[0] == text


async def test_the_halves_of_a_key_in_two_turns_are_both_removed() -> None:
    token = "ghp_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    async with gateway() as g:
        await g.take(received(f"first {token[:20]}", message_id="m1"))
        await g.take(received(f"{token[20:]} second", message_id="m2"))
        assert await g.stored_words() == [f"first {GONE}", f"{GONE} second"]


async def test_a_copy_of_a_key_is_not_stored_in_a_later_turn() -> None:
    async with gateway() as g:
        await g.take(received("my password is Xy12zz89x", message_id="m1"))
        g.model.reply = lambda request: "backwards: x98zz21yX"
        await g.take(received("say it backwards", message_id="m2"))
        sql = "SELECT text FROM turns WHERE role = 'assistant' ORDER BY id"
        rows = await g.database.run_job(lambda db: db.execute(sql).fetchall())
        assert rows[-1][0] == f"backwards: {GONE}"


async def test_a_name_that_is_a_key_reaches_neither_the_model_nor_the_history() -> None:
    async with gateway() as g:
        event = received("hello", message_id="m1")
        author = replace(event.message.author, name=KEY)
        await g.take(replace(event, message=replace(event.message, author=author)))
        assert KEY not in str(g.model.requests[-1])
        rows = await g.database.run_job(lambda db: db.execute("SELECT * FROM turns").fetchall())
        assert KEY not in str([tuple(row) for row in rows])


async def test_a_hidden_character_does_not_protect_a_key() -> None:
    async with gateway() as g:
        await g.take(received(f"it is {KEY[:8]}\u200b{KEY[8:]}", message_id="m1"))
        assert await g.stored_words() == [f"it is {GONE}"]

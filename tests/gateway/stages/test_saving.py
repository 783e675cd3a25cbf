"""What is kept of a turn holds no secret; the model reads the turn as it was written."""

from gateway.message import MessageEdited
from tests.support.gateway import gateway
from tests.support.messages import message, received

KEY = "AKIA" + "QZX7PL2M" * 2
GONE = "[SECRET_REDACTED]"


async def test_the_model_reads_a_key_once_and_the_history_never() -> None:
    async with gateway() as g:
        g.model.reply = lambda request: f"{KEY} looks right"
        await g.take(received(f"is {KEY} a valid key?", message_id="m1"))
        assert KEY in g.model.last_words()
        assert await g.stored_words() == [f"is {GONE} a valid key?"]
        await g.take(received("and now?", message_id="m2"))
        assert KEY not in str(g.model.requests[-1])
        assert GONE in str(g.model.requests[-1])


async def test_a_key_that_an_edit_brings_in_is_not_kept() -> None:
    async with gateway() as g:
        await g.take(received("hello", message_id="m1"))
        await g.take(MessageEdited("e1", message(f"hello, {KEY}", message_id="m1")))
        assert (await g.stored_words())[0] == f"hello, {GONE}"


async def test_words_without_a_secret_are_kept_as_they_are() -> None:
    async with gateway() as g:
        text = "a < b, commit 4ee28d6a1b2c3d4e5f60718293a4b5c6d7e8f901 🙂\u200d"
        await g.take(received(text, message_id="m1"))
        assert (await g.stored_words())[0] == text

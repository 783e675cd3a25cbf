"""Questions that wait for a model that does not answer hold up no other conversation."""

from pathlib import Path

from gateway.errors import ModelUnavailable
from gateway.immutable import replace
from gateway.message import Attachment, MessageReceived
from gateway.policy.rate_limits import RateLimits
from gateway.ports import ModelRequest, TextBlock
from gateway.turn.attachments import FILE_LIMITS
from gateway.turn.model_attempts import FIRST_PAUSE, LONGEST_PAUSE
from gateway.turn.services import Policies
from gateway.turn.slots import MAX_BYTES_ASIDE
from tests.support.adapter import RecordingAdapter
from tests.support.databases import sqlite_database
from tests.support.gateway import Gateway, gateway
from tests.support.messages import direct, received

PLACES = 16
POLICIES = Policies(
    limits=RateLimits(user_per_minute=0, channel_per_minute=0, workspace_per_minute=0)
)


def question_from(person: str, text: str = "dead?", number: int = 0) -> MessageReceived:
    name = f"{person}-{number}"
    return received(text, message_id=name, author=person, at=direct(person))


def people(count: int) -> list[str]:
    return [f"p{number}" for number in range(count)]


def is_dead(g: Gateway) -> None:
    """The model answers what does not say "dead", and says which question it answers."""
    g.model.reply = _broken


def is_back(g: Gateway) -> None:
    g.model.reply = _said


def _said(request: ModelRequest) -> str:
    blocks = request.messages[-1].content
    texts = [block.text for block in blocks if isinstance(block, TextBlock)]
    return "re: " + " ".join(text for text in texts if not text.startswith("Today is "))


def _broken(request: ModelRequest) -> str:
    if "dead" in _said(request):
        raise ModelUnavailable("down")
    return _said(request)


async def test_a_conversation_with_a_working_model_is_answered_at_once() -> None:
    async with gateway(policies=POLICIES, concurrency=PLACES) as g:
        is_dead(g)
        await g.take(*map(question_from, people(PLACES)))
        assert (len(g.model.requests), g.texts) == (PLACES, [])
        await g.take(question_from("ada", "are you there?"))
        assert g.texts == ["re: are you there?"]
        assert g.clock.monotonic() == 0.0
        assert (g.dispatcher.queues.running, g.dispatcher.queues.aside) == (0, PLACES)


async def test_the_order_within_a_conversation_is_kept() -> None:
    async with gateway(policies=POLICIES, concurrency=PLACES, overlap="queue") as g:
        is_dead(g)
        await g.take(*map(question_from, people(PLACES)))
        await g.take(question_from("p0", "and then?", 1))
        assert g.texts == []
        is_back(g)
        await g.clock.advance(FIRST_PAUSE)
        await g.rest()
        assert len(g.texts) == PLACES + 1
        assert g.texts.index("re: dead?") < g.texts.index("re: and then?")
        assert (g.dispatcher.queues.running, g.dispatcher.queues.aside) == (0, 0)


async def test_the_number_of_concurrent_model_calls_is_limited() -> None:
    async with gateway(policies=POLICIES, concurrency=PLACES) as g:
        is_dead(g)
        await g.take(*map(question_from, people(2 * PLACES)))
        assert len(g.model.requests) == 2 * PLACES
        is_back(g)
        g.model.open.clear()
        await g.clock.advance(LONGEST_PAUSE)
        await g.rest()
        assert len(g.model.requests) == 3 * PLACES
        g.model.open.set()
        await g.rest()
        assert len(g.texts) == 2 * PLACES


class Pictures(RecordingAdapter):
    """Every file is a picture of the largest size that is read."""

    async def fetch(self, attachment: Attachment, limit: int) -> bytes:
        return b"GIF89a".ljust(limit, b".")


async def test_questions_with_large_pictures_release_their_slot_within_the_memory_limit() -> None:
    picture = Attachment("image", "x", "x.gif", "image/gif")
    pictures = (picture,) * FILE_LIMITS.images
    most = MAX_BYTES_ASIDE // (FILE_LIMITS.images * FILE_LIMITS.image_bytes)
    async with gateway(policies=POLICIES, concurrency=PLACES, adapter=Pictures()) as g:
        is_dead(g)
        for name in people(most + 2):
            question = question_from(name)
            await g.take(replace(question, message=replace(question.message, attachments=pictures)))
        assert (g.dispatcher.queues.running, g.dispatcher.queues.aside) == (2, most)
        is_back(g)
        await g.clock.advance(LONGEST_PAUSE)
        await g.rest()
        assert len(g.texts) == most + 2
        assert (g.dispatcher.queues.running, g.dispatcher.queues.aside) == (0, 0)


async def test_stopping_a_waiting_question_releases_its_conversation() -> None:
    async with gateway(policies=POLICIES, concurrency=1) as g:
        is_dead(g)
        await g.take(question_from("ada"), question_from("ben"))
        await g.take(question_from("ada", "/stop", 1), question_from("ada", "again", 2))
        assert g.texts[-1] == "re: again"
        assert (g.dispatcher.queues.running, g.dispatcher.queues.aside) == (0, 1)
        is_back(g)
        await g.clock.advance(FIRST_PAUSE)
        await g.rest()
        assert g.texts[-1] == "re: dead?"


async def test_a_shutdown_meanwhile_loses_nothing(tmp_path: Path) -> None:
    database = sqlite_database(tmp_path / "kept.db")
    await database.start()
    async with gateway(policies=POLICIES, concurrency=PLACES, database=database) as g:
        is_dead(g)
        await g.take(*map(question_from, people(2 * PLACES)))
        assert not await g.dispatcher.drain(0.01)
        await g.dispatcher.stop()
        assert (g.texts, g.dispatcher.queues.running, g.dispatcher.queues.aside) == ([], 0, 0)
    async with gateway(policies=POLICIES, concurrency=PLACES, database=database) as g:
        is_back(g)
        for entry in await g.services.stores.inbox.unfinished(100):
            g.dispatcher.dispatch(entry)
        await g.rest()
        assert g.texts == ["re: dead?"] * (2 * PLACES)
    await database.stop()

"""Spoken answers: the choice of a person, and what is spoken beside the text."""

from collections.abc import AsyncIterator

import pytest

from gateway.commands.voice_command import IS_ALWAYS, IS_OFF, IS_ON, UNKNOWN
from gateway.message import CommandInvoked, MessageAuthor, VoiceMessage
from gateway.ports.speech import Heard, Speech, SpeechError
from gateway.turn.voice_answer import spoken_words
from tests.gateway.turn.test_voice import VOICE, VoiceAdapter, said
from tests.support.gateway import Gateway, gateway
from tests.support.messages import direct, received
from tests.support.speech import StubRecogniser, StubSpeaker

ADA = MessageAuthor("ada", "Ada")


@pytest.fixture
def speaker() -> StubSpeaker:
    return StubSpeaker()


@pytest.fixture
async def g(speaker: StubSpeaker) -> AsyncIterator[Gateway]:
    recogniser = StubRecogniser(Heard("wie geht es dir?", "de", 2.0))
    speech = Speech(recogniser, speaker=speaker, micros_per_thousand=15_000)
    async with gateway(adapter=VoiceAdapter(), speech=speech) as running:
        yield running


async def choose(g: Gateway, arguments: str) -> str:
    number = len(g.traces)
    await g.take(CommandInvoked(f"c{number}", direct(), ADA, "voice", arguments))
    return g.texts[-1]


def voices(g: Gateway) -> list[VoiceMessage | None]:
    return [sent.file.voice for sent in g.adapter.sent if sent.file is not None]


async def test_nothing_is_spoken_before_it_is_chosen(g: Gateway, speaker: StubSpeaker) -> None:
    await g.take(said(VOICE))
    assert (speaker.texts, voices(g)) == ([], [])


async def test_with_on_a_voice_message_is_answered_with_one(
    g: Gateway, speaker: StubSpeaker
) -> None:
    assert await choose(g, "on") == IS_ON.english
    await g.take(said(VOICE))
    assert speaker.texts == [("answer", "de")]
    assert voices(g) == [VoiceMessage(1.0, b"\x10\x20")]
    assert g.texts[-1] == "I heard: “wie geht es dir?”\n\nanswer"
    await g.take(received("a written question", message_id="m2"))
    assert len(voices(g)) == 1


async def test_with_always_every_answer_is_spoken(g: Gateway, speaker: StubSpeaker) -> None:
    assert await choose(g, "always") == IS_ALWAYS.english
    await g.take(received("a written question"))
    assert speaker.texts == [("answer", "en")]
    assert await choose(g, "off") == IS_OFF.english
    await g.take(received("another one", message_id="m2"))
    assert len(speaker.texts) == 1


async def test_the_choice_is_shown_and_another_word_is_refused(g: Gateway) -> None:
    assert (await choose(g, "")).startswith(IS_OFF.english.replace("`", ""))
    assert await choose(g, "loud") == UNKNOWN.english.replace("`", "")
    await choose(g, "on")
    assert (await choose(g, "")).startswith(IS_ON.english)


async def test_a_failure_leaves_the_text_and_is_told_once(g: Gateway, speaker: StubSpeaker) -> None:
    await choose(g, "always")
    speaker.problem = SpeechError("failed")
    await g.take(received("one"))
    await g.take(received("two", message_id="m2"))
    assert g.texts[-2:] == ["answer\n\n(I could not speak this answer.)", "answer"]
    assert voices(g) == []


async def test_a_long_answer_is_text_only(g: Gateway, speaker: StubSpeaker) -> None:
    await choose(g, "always")
    g.model.reply = lambda request: "word " * 1_000
    await g.take(received("one"))
    assert (speaker.texts, voices(g)) == ([], [])


async def test_it_costs_what_it_costs(g: Gateway) -> None:
    await choose(g, "always")
    await g.take(received("one"))
    sql = "SELECT micros FROM usage WHERE model = 'speech'"
    rows = await g.database.run_job(lambda db: db.execute(sql).fetchall())
    assert [row[0] for row in rows] == [90]  # six characters


async def test_the_command_exists_only_where_something_speaks() -> None:
    async with gateway() as g:
        await g.take(CommandInvoked("c1", direct(), ADA, "voice", "on"))
        assert (await g.services.readers.known("default", "test:main:ada")).voice == ""
        assert "voice" not in [one.name for one in g.services.commands]


def test_code_and_addresses_are_not_spoken() -> None:
    text = "**Look** at [this](https://a.example/x):\n\n```\ncode\n```\n\nAnd https://b.example."
    words = spoken_words(text)
    assert "Look at this" in words
    assert "code" not in words
    assert "example" not in words

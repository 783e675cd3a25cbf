"""Speech by a service: the dialects of the servers, refusals and failures."""

from collections.abc import AsyncIterator

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from gateway.ports.speech import Clip, Heard, SpeechError
from gateway.speech import endpoint
from gateway.speech.endpoint import EndpointRecogniser, EndpointSpeaker, answer_of, listed_models
from simulators.base import Fault
from simulators.openai import OpenAISimulator
from simulators.openai.speech import Dialect
from tests.support.speech import ogg_opus

VOICE = Clip(ogg_opus(50), "audio/ogg", "voice.oga")


@pytest.fixture
async def openai(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[OpenAISimulator]:
    monkeypatch.setattr(endpoint, "RETRY_SECONDS", 0.01)
    server = OpenAISimulator()
    await server.start()
    yield server
    await server.stop()


@pytest.fixture
async def recogniser(openai: OpenAISimulator) -> AsyncIterator[EndpointRecogniser]:
    made = EndpointRecogniser(openai.base_url, "test-key", "whisper-1")
    yield made
    await made.close()


@pytest.mark.parametrize(
    ("dialect", "heard"),
    [
        ("openai", Heard("guten Tag", "de", 1.0)),
        ("transcribe", Heard("guten Tag")),
        ("vllm", Heard("guten Tag", "", 1.0)),
        ("localai", Heard("guten Tag")),
        ("text", Heard("guten Tag")),
    ],
)
async def test_every_dialect_is_read(
    openai: OpenAISimulator, recogniser: EndpointRecogniser, dialect: Dialect, heard: Heard
) -> None:
    openai.speech.dialect, openai.speech.language = dialect, "german"
    openai.speech.script("guten Tag", "guten Tag")
    assert await recogniser.recognise(VOICE) == heard


async def test_the_recording_is_sent_unchanged_under_a_name_that_servers_take(
    openai: OpenAISimulator, recogniser: EndpointRecogniser
) -> None:
    await recogniser.recognise(VOICE)
    (sent,) = openai.speech.requests
    assert (sent["name"], sent["type"], sent["data"]) == ("voice.ogg", "audio/ogg", VOICE.data)
    assert "language" not in sent


async def test_a_refused_parameter_is_left_out_from_then_on(
    openai: OpenAISimulator, recogniser: EndpointRecogniser
) -> None:
    openai.speech.dialect = "transcribe"
    await recogniser.recognise(VOICE)
    await recogniser.recognise(VOICE)
    formats = [one.get("response_format") for one in openai.speech.requests]
    assert formats == ["verbose_json", None, None]


@pytest.mark.parametrize("kind", ["server_error", "overloaded", "rate_limit", "drop_before"])
async def test_a_failing_service_is_asked_once_more(
    openai: OpenAISimulator, recogniser: EndpointRecogniser, kind: str
) -> None:
    openai.faults.add(Fault("audio/transcriptions", kind))  # type: ignore[arg-type]  # a kind
    assert (await recogniser.recognise(VOICE)).text == "hello"
    openai.faults.add(Fault("audio/transcriptions", kind, times=2))  # type: ignore[arg-type]  # a kind
    with pytest.raises(SpeechError) as failed:
        await recogniser.recognise(VOICE)
    assert failed.value.problem == "failed"


async def test_a_slow_service_is_left(
    openai: OpenAISimulator, recogniser: EndpointRecogniser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(endpoint, "RECOGNISE_SECONDS", 0.05)
    openai.faults.add(Fault("audio/transcriptions", "slow", delay=0.3))
    with pytest.raises(SpeechError) as failed:
        await recogniser.recognise(VOICE)
    assert failed.value.problem == "too_slow"


async def test_silence_is_no_words(openai: OpenAISimulator, recogniser: EndpointRecogniser) -> None:
    for words in ("", " ", "[BLANK_AUDIO]"):
        openai.speech.script(words)
        with pytest.raises(SpeechError) as failed:
            await recogniser.recognise(VOICE)
        assert failed.value.problem == "silent"


def test_words_that_whisper_writes_into_silence_are_none() -> None:
    segment = '{"text": "Thanks for watching!", "no_speech_prob": 0.9, "avg_logprob": -1.3}'
    answer = f'{{"text": "Thanks for watching!", "segments": [{segment}]}}'
    assert answer_of("application/json", answer.encode()).text == ""
    likely = answer.replace("-1.3", "-0.1")
    assert answer_of("application/json", likely.encode()).text == "Thanks for watching!"


@pytest.mark.parametrize(
    "body",
    [b"<html>login</html>", b'{"error": {"message": "no"}}', b"[1]", b'{"segments": 4}'],
)
def test_an_answer_that_is_none_is_a_failure(body: bytes) -> None:
    with pytest.raises(SpeechError) as failed:
        answer_of("application/json", body)
    assert failed.value.problem == "failed"


async def test_refused_content_is_unreadable(
    openai: OpenAISimulator, recogniser: EndpointRecogniser
) -> None:
    with pytest.raises(SpeechError) as failed:
        await recogniser.recognise(Clip(b"\x00" * 100, name="voice.silk"))
    assert failed.value.problem == "unreadable"


async def test_a_wrong_key_is_a_failure(openai: OpenAISimulator) -> None:
    recogniser = EndpointRecogniser(openai.base_url, "wrong")
    with pytest.raises(SpeechError) as failed:
        await recogniser.recognise(VOICE)
    assert failed.value.problem == "failed"
    await recogniser.close()


async def test_a_text_is_spoken_by_the_voice_of_its_language(openai: OpenAISimulator) -> None:
    openai.speech.spoken = ogg_opus(100)
    speaker = EndpointSpeaker(openai.base_url, "test-key", "tts-1", {"": "alloy", "de": "anna"})
    spoken = await speaker.speak("Hallo", "de")
    await speaker.speak("Olá", "pt_BR")
    assert spoken.data == openai.speech.spoken
    assert spoken.seconds == pytest.approx(2)
    assert [one["voice"] for one in openai.speech.requests] == ["anna", "alloy"]
    assert openai.speech.requests[0]["response_format"] == "opus"
    await speaker.close()


async def test_speech_in_another_format_is_not_sent(openai: OpenAISimulator) -> None:
    openai.speech.spoken = b"ID3" + bytes(1_000)
    speaker = EndpointSpeaker(openai.base_url, "test-key", "tts-1", {"": "alloy"})
    with pytest.raises(SpeechError) as failed:
        await speaker.speak("Hello", "en")
    assert failed.value.problem == "unreadable"
    await speaker.close()


@pytest.mark.parametrize("body", ["<html>Sign in</html>", "[]", '{"data": 1}', "[" * 100_000])
async def test_an_answer_that_is_no_list_of_models_is_a_failure(body: str) -> None:
    async def answer(_: web.Request) -> web.Response:
        return web.Response(text=body)

    app = web.Application()
    app.router.add_get("/v1/models", answer)
    async with TestServer(app) as server:
        with pytest.raises(SpeechError, match="no list of models"):
            await listed_models(str(server.make_url("/v1")), "")


async def test_a_list_of_models_is_bounded() -> None:
    async def answer(_: web.Request) -> web.Response:
        entries = [{"id": "m" * 1_000}, {"id": 3}, "x", *({"id": str(n)} for n in range(5_000))]
        return web.json_response({"data": entries})

    app = web.Application()
    app.router.add_get("/v1/models", answer)
    async with TestServer(app) as server:
        listed = await listed_models(str(server.make_url("/v1")), "")
    assert (listed.status, listed.names[:2]) == (200, ("m" * 200, "0"))
    assert len(listed.names) == endpoint.MAX_LISTED - 2

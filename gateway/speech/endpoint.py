"""Speech by a service with OpenAI's `/v1/audio/transcriptions` and `/v1/audio/speech`.

The servers differ: the answer is JSON with `text`, JSON with segments, or plain text; some know no
`response_format`, some want no model. A refused parameter is left out and the request sent once
more; a failing service is asked once more too.
"""

import asyncio
import json
from collections.abc import Mapping
from typing import Final

import aiohttp
import structlog
from msgspec import Struct

from gateway.ports.speech import MAX_HEARD, Clip, Heard, SpeechError, Spoken
from gateway.speech.containers import file_name, kind_of, opus_seconds, opus_waveform
from safety.http.environment_proxy import proxy_of

CONNECT_SECONDS: Final = 5.0
RECOGNISE_SECONDS: Final = 120.0
SPEAK_SECONDS: Final = 60.0
"""Seconds of one request in all."""
LIST_SECONDS: Final = 10.0
"""Seconds of the question for the models of a service."""
RETRY_SECONDS: Final = 1.0
MAX_ANSWER: Final = 2 * 1024 * 1024
"""Bytes of an answer with a text; segments and words take most of them."""
MAX_SPOKEN: Final = 8 * 1024 * 1024
MAX_SPOKEN_SECONDS: Final = 900.0
"""Bytes and seconds of a spoken answer."""
MAX_REASON: Final = 300
MAX_SEGMENTS: Final = 5_000
NO_SPEECH: Final = 0.6
UNLIKELY: Final = -1.0
"""Whisper's own thresholds of a segment without speech."""
MAX_LANGUAGE: Final = 20
MAX_LISTED: Final = 1_000
MAX_NAME: Final = 200
"""Models of a list that are read, and characters of a name."""
_NAMED: Final = {
    "english": "en", "german": "de", "french": "fr", "spanish": "es", "italian": "it",
    "portuguese": "pt", "dutch": "nl", "polish": "pl", "japanese": "ja", "chinese": "zh",
    "korean": "ko", "russian": "ru", "ukrainian": "uk", "turkish": "tr", "arabic": "ar",
}  # fmt: skip
"""Whisper's names of languages, which `verbose_json` gives in place of codes."""
_PASSING: Final = frozenset((408, 409, 425, 429, 500, 502, 503, 504, 529))
_OPTIONAL: Final = ("response_format", "language")
_UNREADABLE: Final = ("decod", "invalid file", "format", "corrupt", "could not be read", "audio")
_CAPTIONS: Final = ("[BLANK_AUDIO]", "[silence]", "(silence)", "[MUSIC]", "[ Silence ]")
"""The text of whisper.cpp for a recording without words."""

log = structlog.get_logger(__name__)


class _Refused(Exception):
    def __init__(self, status: int, words: str) -> None:
        super().__init__(f"status {status}: {words}")
        self.status = status
        self.words = words.lower()


class _Service:
    """One service: its address, its key, and its one session, which is made when it is needed."""

    def __init__(self, base_url: str, api_key: str) -> None:
        self._base = base_url.rstrip("/")
        self._headers = {"Authorization": f"Bearer {api_key}"} if api_key else {}
        self._session: aiohttp.ClientSession | None = None

    async def post(
        self, path: str, form: aiohttp.FormData | None, body: object, most: int
    ) -> tuple[str, bytes]:
        """Return the media type and the body of an answer. Raises `_Refused`, `SpeechError`,
        `aiohttp.ClientError` and `TimeoutError`."""
        return await self._request("POST", path, form, body if form is None else None, most)

    async def get(self, path: str, most: int) -> bytes:
        """Return the body of an answer. Raises as `post` does."""
        return (await self._request("GET", path, None, None, most))[1]

    async def _request(
        self, method: str, path: str, form: aiohttp.FormData | None, body: object, most: int
    ) -> tuple[str, bytes]:
        url = f"{self._base}/{path}"
        if self._session is None:
            self._session = aiohttp.ClientSession(
                timeout=aiohttp.ClientTimeout(None, sock_connect=CONNECT_SECONDS),
                cookie_jar=aiohttp.DummyCookieJar(),
                proxy=proxy_of(url),
            )
        async with self._session.request(
            method, url, data=form, json=body, headers=self._headers, allow_redirects=False
        ) as response:
            data = bytearray()
            async for piece in response.content.iter_any():
                data += piece
                if len(data) > most:
                    raise SpeechError("failed", f"the service answers more than {most:,} bytes")
            if response.status != 200:
                raise _Refused(response.status, bytes(data[:MAX_REASON]).decode("utf-8", "replace"))
            return response.content_type, bytes(data)

    async def close(self) -> None:
        session, self._session = self._session, None
        if session is not None:
            await session.close()


class ListedModels(Struct, frozen=True):
    """The answer to the question for a service's models: the HTTP status, and the names with 200,
    none where the service lists none."""

    status: int
    names: tuple[str, ...] = ()


async def listed_models(base_url: str, api_key: str) -> ListedModels:
    """Ask a service for its models, which costs nothing. Raises `SpeechError` without an answer,
    and for one that is no list."""
    service = _Service(base_url, api_key)
    try:
        async with asyncio.timeout(LIST_SECONDS):
            return ListedModels(200, _names(await service.get("models", MAX_ANSWER)))
    except _Refused as error:
        return ListedModels(error.status)
    except TimeoutError:
        raise SpeechError("too_slow", "no answer within the time limit") from None
    except aiohttp.ClientError as error:
        raise SpeechError("failed", f"no answer: {type(error).__name__}") from error
    finally:
        await service.close()


def _names(data: bytes) -> tuple[str, ...]:
    try:
        answer = json.loads(data)
    except (ValueError, RecursionError):
        answer = None
    listed = answer.get("data") if isinstance(answer, Mapping) else None
    if not isinstance(listed, list):
        raise SpeechError("failed", "the answer is no list of models")
    ids = (entry.get("id") for entry in listed[:MAX_LISTED] if isinstance(entry, Mapping))
    return tuple(id_[:MAX_NAME] for id_ in ids if isinstance(id_, str))


class EndpointRecogniser:
    """Implements `Recogniser`. The recording goes to the service as the platform delivered it."""

    def __init__(self, base_url: str, api_key: str = "", model: str = "whisper-1") -> None:
        self._service = _Service(base_url, api_key)
        self._model = model
        self._without: frozenset[str] = frozenset()
        """Parameters that the service refused."""

    async def recognise(self, clip: Clip) -> Heard:
        try:
            async with asyncio.timeout(RECOGNISE_SECONDS):
                kind, data = await self._asked(clip)
        except TimeoutError:
            raise SpeechError("too_slow", "no answer within the time limit") from None
        except _Refused as error:
            raise _refusal(error) from error
        except aiohttp.ClientError as error:
            raise SpeechError("failed", f"no answer: {type(error).__name__}") from error
        heard = answer_of(kind, data)
        if not heard.text:
            raise SpeechError("silent")
        return heard

    async def _asked(self, clip: Clip) -> tuple[str, bytes]:
        again = True
        for _ in range(len(_OPTIONAL) + 2):
            try:
                return await self._service.post(
                    "audio/transcriptions", self._form(clip), None, MAX_ANSWER
                )
            except _Refused as error:
                named = self._refused_parameter(error, clip)
                if named:
                    self._without |= {named}
                    continue
                if error.status not in _PASSING or not again:
                    raise
            except aiohttp.ClientError:
                if not again:
                    raise
            again = False
            await asyncio.sleep(RETRY_SECONDS)
        raise SpeechError("failed", "the service refuses every form of the request")

    def _refused_parameter(self, error: _Refused, clip: Clip) -> str:
        """Return the optional parameter that a refusal names; "" for none."""
        if error.status not in (400, 415, 422):
            return ""
        sent = [one for one in _OPTIONAL if one not in self._without]
        if not clip.language:
            sent = [one for one in sent if one != "language"]
        return next((one for one in sent if one in error.words), "")

    def _form(self, clip: Clip) -> aiohttp.FormData:
        kind = kind_of(clip.data) or clip.name.rpartition(".")[2][:8] or "ogg"
        form = aiohttp.FormData()
        form.add_field(
            "file",
            clip.data,
            filename=file_name(clip.name, kind),
            content_type=clip.mime.partition(";")[0].strip() or "application/octet-stream",
        )
        form.add_field("model", self._model)
        if "response_format" not in self._without:
            form.add_field("response_format", "verbose_json")
        if clip.language and "language" not in self._without:
            form.add_field("language", clip.language)
        return form

    async def close(self) -> None:
        await self._service.close()


def answer_of(kind: str, data: bytes) -> Heard:
    """Return the words of an answer in any of the dialects, empty for a recording without words.
    Raises `SpeechError` for an answer that is none."""
    text = data.decode("utf-8", "replace").strip()
    if kind == "text/html" or text[:1] == "<":
        raise SpeechError("failed", "the answer is a page of HTML")
    if text[:1] not in ("{", "[", '"'):
        return Heard(_words(text))
    try:
        answer = json.loads(text)
    except ValueError:
        if kind == "application/json":
            raise SpeechError("failed", "the answer is no JSON") from None
        return Heard(_words(text))
    if isinstance(answer, str):
        return Heard(_words(answer))
    if not isinstance(answer, Mapping):
        raise SpeechError("failed", "the answer is no object")
    if "error" in answer and not answer.get("text"):
        raise SpeechError("failed", str(answer["error"])[:MAX_REASON])
    words, segments = answer.get("text"), answer.get("segments")
    if not isinstance(words, str):
        words = _of_segments(segments)
    if isinstance(segments, list) and segments and all(map(_is_silent, segments[:MAX_SEGMENTS])):
        words = ""
    return Heard(_words(words), _language(answer.get("language")), _seconds(answer))


def _is_silent(segment: object) -> bool:
    """Return True for words that Whisper wrote into silence, such as "Thanks for watching!": by its
    own figures nobody speaks there, and the words are unlikely."""
    if not isinstance(segment, Mapping):
        return False
    silence, likely = segment.get("no_speech_prob"), segment.get("avg_logprob")
    if not (isinstance(silence, int | float) and isinstance(likely, int | float)):
        return False
    return silence > NO_SPEECH and likely < UNLIKELY


def _of_segments(segments: object) -> str:
    if not isinstance(segments, list):
        raise SpeechError("failed", "the answer has neither text nor segments")
    texts = (one.get("text") for one in segments[:MAX_SEGMENTS] if isinstance(one, Mapping))
    return "".join(text for text in texts if isinstance(text, str))


def _words(text: str) -> str:
    text = " ".join(text.split())
    return "" if text in _CAPTIONS else text[:MAX_HEARD]


def _language(value: object) -> str:
    name = value.strip().lower()[:MAX_LANGUAGE] if isinstance(value, str) else ""
    return _NAMED.get(name, name if name.isascii() and len(name) in (2, 3) else "")


def _seconds(answer: Mapping[str, object]) -> float | None:
    usage = answer.get("usage")
    told = (answer.get("duration"), usage.get("seconds") if isinstance(usage, Mapping) else None)
    for value in told:
        try:
            seconds = float(value) if isinstance(value, int | float | str) else -1.0
        except ValueError:
            continue
        if 0 <= seconds <= 86_400:
            return seconds
    return None


def _refusal(error: _Refused) -> SpeechError:
    if error.status == 413:
        return SpeechError("too_large", str(error))
    if error.status in (400, 415, 422) and any(part in error.words for part in _UNREADABLE):
        return SpeechError("unreadable", str(error))
    return SpeechError("failed", str(error))


class EndpointSpeaker:
    """Implements `Speaker`. `voices` are names of voices by language, "" for all others."""

    def __init__(self, base_url: str, api_key: str, model: str, voices: Mapping[str, str]) -> None:
        self._service = _Service(base_url, api_key)
        self._model = model
        self._voices = voices

    async def speak(self, text: str, language: str) -> Spoken:
        voices = self._voices
        voice = voices.get(language) or voices.get(language.partition("_")[0]) or voices.get("", "")
        body = {"model": self._model, "voice": voice, "input": text, "response_format": "opus"}
        for again in (True, False):
            try:
                async with asyncio.timeout(SPEAK_SECONDS):
                    _, data = await self._service.post("audio/speech", None, body, MAX_SPOKEN)
                return _spoken(data)
            except TimeoutError:
                raise SpeechError("too_slow", "no speech within the time limit") from None
            except _Refused as error:
                if error.status not in _PASSING or not again:
                    raise SpeechError("failed", str(error)) from error
            except aiohttp.ClientError as error:
                if not again:
                    raise SpeechError("failed", f"no answer: {type(error).__name__}") from error
            await asyncio.sleep(RETRY_SECONDS)
        raise AssertionError("the second attempt returns or raises")

    async def close(self) -> None:
        await self._service.close()


def _spoken(data: bytes) -> Spoken:
    """Return the speech of an answer. Raises `SpeechError` where it is not OGG with Opus, which
    platforms show as a voice message."""
    seconds = opus_seconds(data)
    if not seconds or seconds > MAX_SPOKEN_SECONDS:
        raise SpeechError("unreadable", "the service does not speak in OGG with Opus")
    return Spoken(data, seconds, opus_waveform(data))

"""Builds what recognises and makes speech."""

from pathlib import Path
from typing import Final

import structlog

from gateway.ports import AlarmClock
from gateway.ports.speech import Recogniser, Speaker, Speech
from memory.embeddings.catalogue import HEARING
from parley.config import Settings
from parley.config.voice import VoiceSection
from parley.python_environment import install_command
from parley.wiring.recall import models_folder

OPENAI: Final = "api.openai.com"
OPENAI_MINUTE: Final = 0.006
"""Dollars for a minute of whisper-1 at OpenAI."""
DEFAULT_MODEL: Final = "whisper-1"
MICROS: Final = 1_000_000

log = structlog.get_logger(__name__)


def speech_of(settings: Settings, clock: AlarmClock) -> Speech:
    """Return what recognises and makes speech as configured. Nothing is loaded, and no process
    started, before the first recording."""
    voice = settings.voice
    return Speech(
        _recogniser(settings, clock),
        _name(voice),
        voice.language,
        float(voice.max_seconds),
        voice.max_bytes,
        round(MICROS * _minute(voice)),
        _speaker(voice),
        f"{voice.speech.model} (voice)",
        voice.speech.max_characters,
        round(MICROS * voice.speech.price_per_thousand),
    )


def hearing_folder(settings: Settings) -> Path:
    """The folder of the model for `local`."""
    if settings.voice.model:
        return Path(settings.voice.model).expanduser()
    return HEARING.folder(models_folder(settings))


def hearing_problem(settings: Settings) -> str:
    """The reason why the model for `local` cannot be used on this machine; empty when it can."""
    from gateway.speech.local import missing  # noqa: PLC0415 - not part of every installation

    return missing(hearing_folder(settings))


def _recogniser(settings: Settings, clock: AlarmClock) -> Recogniser | None:
    voice = settings.voice
    match voice.recogniser:
        case "endpoint":
            from gateway.speech.endpoint import EndpointRecogniser  # noqa: PLC0415 - if configured

            key = voice.api_key.get_secret_value() if voice.api_key else ""
            return EndpointRecogniser(voice.base_url or "", key, voice.model or DEFAULT_MODEL)
        case "local":
            from gateway.speech.local import LocalRecogniser  # noqa: PLC0415 - if configured

            if problem := hearing_problem(settings):
                hint = f"parley models pull {HEARING.name}; {install_command('voice')}"
                log.warning("voice_not_heard", problem=problem, hint=hint)
                return None
            most = float(voice.max_seconds)
            return LocalRecogniser(hearing_folder(settings), clock, most_seconds=most)
        case _:
            return None


def _speaker(voice: VoiceSection) -> Speaker | None:
    speech = voice.speech
    if speech.base_url is None:
        return None
    from gateway.speech.endpoint import EndpointSpeaker  # noqa: PLC0415 - if configured

    key = speech.api_key.get_secret_value() if speech.api_key else ""
    return EndpointSpeaker(speech.base_url, key, speech.model, {"": speech.voice, **speech.voices})


def _name(voice: VoiceSection) -> str:
    name = voice.model or DEFAULT_MODEL if voice.recogniser == "endpoint" else HEARING.name
    return f"{name[:100]} (voice)"


def _minute(voice: VoiceSection) -> float:
    if voice.price_per_minute is not None:
        return voice.price_per_minute
    at_openai = voice.recogniser == "endpoint" and OPENAI in (voice.base_url or "")
    return OPENAI_MINUTE if at_openai else 0.0

"""The section `voice` of the configuration."""

from typing import Annotated, Literal, Self

from pydantic import Field, SecretStr, StringConstraints, model_validator

from gateway.settings import Dollars, Section
from parley.config.sections import HttpUrl

MAX_BYTES = 25_000_000
"""Bytes that OpenAI takes."""
LanguageCode = Annotated[str, StringConstraints(pattern=r"^([a-z]{2,3})?$")]


class SpeechSection(Section):
    """Spoken answers (`/voice`), by a service with `/v1/audio/speech`."""

    base_url: HttpUrl | None = None
    """Address of the service, such as `https://api.openai.com/v1`; empty: nothing is spoken."""
    api_key: SecretStr | None = None
    """Key of the service, such as `${OPENAI_API_KEY}`; local servers may need none."""
    model: str = Field(default="tts-1", min_length=1, max_length=200)
    """Name of the model."""
    voice: str = Field(default="alloy", min_length=1, max_length=200)
    """Name of the voice."""
    voices: dict[str, str] = Field(default={}, max_length=100)
    """Other voices by language, such as `de: NAME`."""
    max_characters: int = Field(default=1_500, ge=100, le=4_000)
    """Characters of an answer that is spoken; a longer one is text only."""
    price_per_thousand: Dollars = 0.015
    """Dollars for 1,000 characters, which the budgets count; 0 for a server of your own."""


class VoiceSection(Section):
    """Voice messages: listening to them, and spoken answers (docs/how-to/voice.md). Without
    `recogniser` the assistant knows only that there is one."""

    recogniser: Literal["none", "endpoint", "local"] = "none"
    """`endpoint`, a service with OpenAI's `/v1/audio/transcriptions`; `local`, a model on this
    machine (the extra `voice`, and `parley models pull faster-whisper-base`)."""
    base_url: HttpUrl | None = None
    """Address of the service for `endpoint`, such as `https://api.openai.com/v1`."""
    api_key: SecretStr | None = None
    """Key of the service, such as `${OPENAI_API_KEY}`; local servers may need none."""
    model: str = Field(default="", max_length=1_000)
    """For `endpoint` the name of the model (empty: `whisper-1`). For `local` a folder with a model
    of faster-whisper (empty: `faster-whisper-base` in the folder of the models)."""
    language: LanguageCode = ""
    """The language that everybody speaks, such as `de`; empty: it is recognised too, for each
    recording."""
    max_seconds: int = Field(default=300, ge=5, le=3_600)
    """Seconds of the longest recording that is listened to."""
    max_bytes: int = Field(default=20_000_000, ge=10_000, le=MAX_BYTES)
    """Bytes of the largest one."""
    price_per_minute: Dollars | None = None
    """Dollars for a minute, which the budgets count. Empty: 0.006 at api.openai.com, otherwise
    0."""
    speech: SpeechSection = SpeechSection()

    @model_validator(mode="after")
    def _complete(self) -> Self:
        if self.recogniser == "endpoint" and self.base_url is None:
            raise ValueError("needs base_url for recogniser endpoint")
        return self

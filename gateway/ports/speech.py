"""The seams of speech: recognises what people say, and speaks what the assistant writes."""

from dataclasses import dataclass, field
from typing import Final, Literal, Protocol, TypeAlias

from gateway.errors import ParleyError

MAX_HEARD: Final = 20_000
"""Characters of recognised text that are kept: more than anybody says in an hour."""

SpeechProblem: TypeAlias = Literal[
    "off",  # no recogniser is configured
    "too_long",  # more seconds than are recognised
    "too_large",  # more bytes than are recognised
    "silent",  # no words in it
    "unreadable",  # no audio, or a format that the recogniser does not read
    "not_fetched",  # the platform did not give the file
    "busy",  # other recordings were not finished in time
    "too_slow",  # the recogniser was not finished in time
    "failed",  # the recogniser refused or failed; the log has its words
    "too_many",  # more recordings in one message than are recognised
]


class SpeechError(ParleyError):
    """Speech was not recognised, or not made. The reason is for the operator, never for a room."""

    def __init__(self, problem: SpeechProblem, reason: str = "") -> None:
        super().__init__(reason or problem)
        self.problem: SpeechProblem = problem


@dataclass(frozen=True, slots=True)
class Clip:
    """A recording of speech, as its platform delivers it."""

    data: bytes = field(repr=False)
    """The content."""
    mime: str = ""
    """The media type as the platform gives it; empty if unknown."""
    name: str = ""
    """The file's name; empty if there is none."""
    language: str = ""
    """The language that is probably spoken ("de"); empty: the recogniser finds it."""
    seconds: float | None = None
    """The length that is known before it is recognised; None if it is unknown."""


@dataclass(frozen=True, slots=True)
class Heard:
    """The words of a recording. A program wrote them down: they may differ from what was said."""

    text: str
    """The words, without space around them; never empty."""
    language: str = ""
    """The language that was spoken ("de"); empty if the recogniser does not tell."""
    seconds: float | None = None
    """The length of the recording; None if the recogniser does not tell."""


class Recogniser(Protocol):
    """Recognises speech."""

    async def recognise(self, clip: Clip) -> Heard:
        """Return the words of a recording. Raises `SpeechError`."""
        ...

    async def close(self) -> None:
        """Close connections and end processes."""


@dataclass(frozen=True, slots=True)
class Spoken:
    """Speech that was made of a text."""

    data: bytes = field(repr=False)
    """The content: OGG with Opus."""
    seconds: float
    """The length."""
    waveform: bytes = b""
    """Its loudness from beginning to end, a byte for each of at most 100 parts."""


class Speaker(Protocol):
    """Speaks texts."""

    async def speak(self, text: str, language: str) -> Spoken:
        """Return a text as speech. Raises `SpeechError`."""
        ...

    async def close(self) -> None:
        """Close connections."""


@dataclass(frozen=True, slots=True)
class Speech:
    """The parts of speech, with limits and prices. Without a recogniser nobody is
    listened to, and without a speaker nothing is spoken."""

    recogniser: Recogniser | None = None
    """Recognises speech; None: nothing does."""
    recogniser_name: str = "recognition"
    """Its name in the usage."""
    language: str = ""
    """The language that everybody speaks ("de"); empty: it is found for each recording."""
    most_seconds: float = 300.0
    """Seconds of a recording that is recognised."""
    most_bytes: int = 20_000_000
    """Bytes of a recording that is recognised."""
    micros_per_minute: int = 0
    """The price of a recognised minute, in millionths of a dollar."""
    speaker: Speaker | None = None
    """Speaks; None: nothing does."""
    speaker_name: str = "speech"
    """Its name in the usage."""
    most_characters: int = 1_500
    """Characters of an answer that is spoken; a longer one is text only."""
    micros_per_thousand: int = 0
    """The price of 1,000 spoken characters, in millionths of a dollar."""

    async def close(self) -> None:
        """Close both."""
        for part in (self.recogniser, self.speaker):
            if part is not None:
                await part.close()

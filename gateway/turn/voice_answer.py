"""Speaks an answer, where the person who asked wants that; its text is sent all the same."""

import math
import re
from collections.abc import Iterator
from datetime import timedelta
from typing import Final

import structlog

from gateway.markdown.parse import parse
from gateway.markdown.text_renderer import plain_parts
from gateway.markdown.tree import CodeBlock, Document
from gateway.message import OutboundFile, VoiceMessage
from gateway.policy.decision import NOTHING_TO_DO, Decision
from gateway.ports.speech import SpeechError
from gateway.text import Text, text
from gateway.turn.services import Services
from gateway.turn.turn_context import TurnContext

ON: Final = "on"
"""Answers to voice messages are spoken."""
ALWAYS: Final = "always"
"""Every answer is spoken."""
NAME: Final = "answer.ogg"
MIME: Final = "audio/ogg"
TOLD_AGAIN: Final = timedelta(hours=1)
"""The time within which a failure is told once."""
NOT_SPOKEN: Final = text("_(I could not speak this answer.)_")
_ADDRESS: Final = re.compile(r"https?://[^\s)>]{1,2000}")
_UNSPOKEN: Final = re.compile(r"[*_`#|>~]{1,100}")

log = structlog.get_logger(__name__)


async def speak(turn: TurnContext, services: Services) -> Decision:
    """Make the voice message of the answer, before the answer is rendered."""
    speech = services.speech
    if speech.speaker is None or not turn.generation.answered or turn.answer.closing:
        return NOTHING_TO_DO
    known = await services.readers.known(turn.asker.who.tenant, turn.asker.person)
    by_voice = any(one.own and one.heard for one in turn.inputs.recordings.values())
    if not (known.voice == ALWAYS or (known.voice == ON and by_voice)):
        return NOTHING_TO_DO
    words = spoken_words(turn.answer.text)
    if not words or len(words) > speech.most_characters:
        return Decision("speech", True, "too_long" if words else "nothing_to_speak")
    meter, cost = turn.generation.meter, math.ceil(speech.micros_per_thousand * len(words) / 1000)
    if meter is not None and meter.accounts and cost:
        reserved = await meter.reserve_amount(cost)
        if not reserved.allowed:
            return Decision("speech", True, "no_budget", reserved.reason)
    try:
        spoken = await speech.speaker.speak(words, _language(turn))
    except SpeechError as error:
        log.warning("answer_not_spoken", problem=error.problem, error=str(error)[:300])
        services.count("voice_answer", error.problem)
        turn.answer.unspoken = await _told(turn, services)
        return Decision("speech", True, error.problem)
    if meter is not None and cost:
        meter.charge(speech.speaker_name, cost)
    services.count("voice_answer", "spoken")
    shape = VoiceMessage(spoken.seconds, spoken.waveform)
    turn.answer.spoken = OutboundFile(NAME, MIME, spoken.data, shape)
    return Decision("speech", True, "spoken", f"{spoken.seconds:.0f} s")


def _language(turn: TurnContext) -> str:
    """Return the language that the person spoke, or else the one in which they read."""
    spoken = (one.language for one in turn.inputs.recordings.values() if one.own)
    return next(filter(None, spoken), "") or turn.asker.language.code


async def _told(turn: TurnContext, services: Services) -> Text | None:
    key = f"unspoken:{turn.key.tenant}:{turn.asker.person}"
    return NOT_SPOKEN if await services.stores.buckets.claim(key, TOLD_AGAIN) else None


def spoken_words(markdown: str) -> str:
    """Return the words of a text that can be spoken: without code, addresses and marks."""
    blocks: Document = tuple(block for block in parse(markdown) if not isinstance(block, CodeBlock))
    return " ".join(" ".join(_lines(blocks)).split())


def _lines(blocks: Document) -> Iterator[str]:
    for part in plain_parts(blocks):
        yield _UNSPOKEN.sub(" ", _ADDRESS.sub(" ", part.text))

"""Listens to the recordings of a question before the model is asked, and tells the person what was
heard.

A voice message of the person is their question, as `heard` material: never written words, so it is
no command, no answer to a question of the program, and no proof of a memory. Any other recording is
material in which anybody may speak.
"""

import asyncio
import math
from collections.abc import Iterator
from typing import Final

import structlog

from gateway.authorship import Material, within_bounds
from gateway.errors import BadInput, DeliveryError
from gateway.immutable import replace
from gateway.message import Attachment, ChatMessage
from gateway.policy.decision import NOTHING_TO_DO, Decision
from gateway.ports.speech import Clip, Heard, Speech, SpeechError, SpeechProblem
from gateway.speech.containers import kind_of, opus_seconds
from gateway.text import Size, Span, Text, text, verbatim
from gateway.turn.admission import with_sharing
from gateway.turn.memory import kept_material
from gateway.turn.one_line import in_one_line
from gateway.turn.recording import Recording
from gateway.turn.services import Services
from gateway.turn.turn_context import TurnContext
from safety.unicode import safe_unicode

MAX_RECORDINGS: Final = 3
"""Recordings of one question that are listened to."""
MAX_QUOTED: Final = 200
"""Characters of what was heard that the answer quotes."""
_PAID: Final = ("silent", "too_slow")
"""Problems after which a service may have been paid."""

I_HEARD: Final = text("_I heard: “{words}”_")
_TOO_LONG: Final = text("_(I did not listen to your voice message: it is longer than {most}.)_")
_TOO_LARGE: Final = text("_(I did not listen to your voice message: it is larger than {most}.)_")
_SILENT: Final = text("_(I heard no words in your voice message.)_")
_UNREADABLE: Final = text("_(I cannot play your voice message: I do not know its format.)_")
_OFF: Final = text("_(I cannot listen to voice messages here. Please write your message.)_")
_TOO_MANY: Final = text("_(I listened to your first {most} recordings only.)_")
_FAILED: Final = text(
    "_(I could not listen to your voice message. Please send it again in a minute, or write it.)_"
)

log = structlog.get_logger(__name__)


async def hear(turn: TurnContext, services: Services) -> Decision:
    """Listen to the recordings of the messages, and of those that they reply to."""
    if not any(_is_recording(file) for file in _files(turn)):
        return NOTHING_TO_DO
    recordings: dict[str, Recording] = {}
    refusal = None
    for message in turn.asked.messages:
        for file, own in _recordings(message):
            if file.ref in recordings or refusal is not None:
                continue
            if len(recordings) >= MAX_RECORDINGS:
                recordings[file.ref] = Recording(own, problem="too_many")
                continue
            recordings[file.ref], refusal = await _listen(turn, services, file, own)
    turn.inputs.recordings = recordings
    if refusal is not None:
        return await with_sharing(refusal, turn, services)
    turn.asked = replace(
        turn.asked,
        messages=tuple(_with_heard(message, recordings) for message in turn.asked.messages),
    )
    heard = sum(one.heard is not None for one in recordings.values())
    problems = sorted({one.problem for one in recordings.values() if one.heard is None})
    detail = ", ".join((f"{heard} of {len(recordings)}", *problems))
    return Decision("voice", True, "heard" if heard else "not_heard", detail)


def _files(turn: TurnContext) -> Iterator[Attachment]:
    for message in turn.asked.messages:
        yield from message.attachments
        if message.quote is not None:
            yield from message.quote.attachments


def _is_recording(file: Attachment) -> bool:
    return file.kind == "audio"


def _recordings(message: ChatMessage) -> Iterator[tuple[Attachment, bool]]:
    """Yield the recordings of a message, and True for voice messages of its author. The assistant's
    own voice is not listened to: its words are in the quote."""
    for file in message.attachments:
        if _is_recording(file):
            yield file, file.voice
    if message.quote is not None and not message.quote.by_this_bot:
        for file in message.quote.attachments:
            if _is_recording(file):
                yield file, False


async def _listen(
    turn: TurnContext, services: Services, file: Attachment, own: bool
) -> tuple[Recording, Decision | None]:
    """Return a recording as it was heard, and the refusal of the budget if there is one."""
    speech, meter = services.speech, turn.generation.meter
    try:
        if speech.recogniser is None:
            raise SpeechError("off")
        clip = await _fetched(turn, speech, file)
    except SpeechError as error:
        return _unheard(turn, services, own, error), None
    most = _price(speech, clip.seconds if clip.seconds is not None else speech.most_seconds)
    if meter is not None and meter.accounts and most:
        decision = await meter.reserve_amount(most)
        if not decision.allowed:
            return Recording(own), decision
    began = services.clock.monotonic()
    try:
        await _show_typing(turn)
        heard = await speech.recogniser.recognise(clip)
    except SpeechError as error:
        if meter is not None and most and error.problem in _PAID:
            meter.charge(speech.recogniser_name, most)
        return _unheard(turn, services, own, error), None
    if meter is not None and most:
        meter.charge(speech.recogniser_name, _paid(speech, heard, clip, most))
    took = {"seconds": round(services.clock.monotonic() - began, 3), "length": heard.seconds}
    turn.note(Decision("speech", True, "heard", heard.language, data=took))
    services.count("voice", "heard")
    words = " ".join(safe_unicode(heard.text).split())
    if not words:
        return _unheard(turn, services, own, SpeechError("silent")), None
    piece = Material("heard" if own else "recording", words, file.shown_name)
    return Recording(own, piece, language=heard.language), None


async def _fetched(turn: TurnContext, speech: Speech, file: Attachment) -> Clip:
    """Return a recording with its content. Raises `SpeechError` for one that is not listened to:
    what the platform says of it is asked first, and then its own content."""
    if file.seconds is not None and file.seconds > speech.most_seconds:
        raise SpeechError("too_long")
    if file.size is not None and file.size > speech.most_bytes:
        raise SpeechError("too_large")
    if turn.connected.files is None:
        raise SpeechError("not_fetched", "the platform gives no files")
    try:
        data = await turn.connected.files.fetch(file, speech.most_bytes)
    except BadInput as error:
        raise SpeechError("too_large", str(error)) from error
    except DeliveryError as error:
        raise SpeechError("not_fetched", str(error)) from error
    if not data:
        raise SpeechError("silent", "no bytes")
    # A recording of very many small pieces takes a tenth of a second.
    length = await asyncio.to_thread(opus_seconds, data) if kind_of(data) == "ogg" else None
    known = [one for one in (file.seconds, length) if one is not None]
    if known and max(known) > speech.most_seconds:
        raise SpeechError("too_long")
    return Clip(data, file.mime, file.name, speech.language, max(known) if known else None)


def _price(speech: Speech, seconds: float) -> int:
    return math.ceil(speech.micros_per_minute * seconds / 60)


def _paid(speech: Speech, heard: Heard, clip: Clip, most: int) -> int:
    """Return the price of a recognised recording: by the longer of what its content and the service
    tell, so that neither makes it cheaper."""
    told = [one for one in (heard.seconds, clip.seconds) if one is not None]
    return _price(speech, max(told)) if told else most


def _unheard(turn: TurnContext, services: Services, own: bool, error: SpeechError) -> Recording:
    services.count("voice", error.problem)
    turn.note(Decision("speech", True, error.problem))
    if str(error) != error.problem:
        log.warning("voice_not_heard", problem=error.problem, error=str(error)[:300])
    return Recording(own, problem=error.problem)


async def _show_typing(turn: TurnContext) -> None:
    typing = turn.connected.typing
    if typing is None:
        return
    try:
        await typing.typing(turn.place, turn.asked.last.id)
    except DeliveryError as error:
        log.debug("progress_indicator_failed", error=str(error))


def _with_heard(message: ChatMessage, recordings: dict[str, Recording]) -> ChatMessage:
    """Return a message with what was heard in its recordings, before its other material."""
    found = (recordings[file.ref] for file, _ in _recordings(message) if file.ref in recordings)
    pieces = [one.heard for one in found if one.heard is not None]
    if not pieces:
        return message
    return replace(message, material=within_bounds((*pieces, *message.material)))


def lead_of(turn: TurnContext) -> str:
    """Return the lines above the answer, in the language of its readers: when the question is late,
    and what was heard. Empty for none."""
    age, shown = turn.age_line(), turn.language_of().shown
    own = [one.heard for one in turn.inputs.recordings.values() if one.own and one.heard]
    heard = (I_HEARD.of(words=verbatim(_quoted(one))) for one in kept_material(turn, own))
    return "\n\n".join((*filter(None, (age,)), *map(shown, heard)))


def _quoted(heard: Material) -> str:
    words = heard.text
    if len(words) > MAX_QUOTED:
        words = f"{words[: MAX_QUOTED - 1].rstrip()}…"
    return in_one_line(words)


def voice_problems(turn: TurnContext, speech: Speech) -> list[Text]:
    """Return a sentence for each kind of problem with a voice message of the person."""
    found = dict.fromkeys(
        one.problem for one in turn.inputs.recordings.values() if one.own and one.heard is None
    )
    return [_said(problem, speech) for problem in found]


def _said(problem: SpeechProblem, speech: Speech) -> Text:
    match problem:
        case "too_long":
            return _TOO_LONG.of(most=Span(speech.most_seconds))
        case "too_large":
            return _TOO_LARGE.of(most=Size(speech.most_bytes))
        case "too_many":
            return _TOO_MANY.of(most=MAX_RECORDINGS)
        case "silent":
            return _SILENT
        case "unreadable":
            return _UNREADABLE
        case "off":
            return _OFF
        case _:
            return _FAILED

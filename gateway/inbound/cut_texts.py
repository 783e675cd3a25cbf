"""The pieces of texts that clients cut: in the queues of this process, and as they arrive."""

from collections import OrderedDict
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Final

import structlog
from msgspec import MsgspecError, Struct, json

from db.errors import StoreUnavailable
from gateway.conversation import place_to_answer
from gateway.immutable import replace
from gateway.message import ChatMessage, MessageAuthor, MessageReceived, Place, TextCut
from gateway.platforms import ConnectedAccount
from gateway.policy.cut_text import WAIT_SECONDS, awaits_rest, continues, may_be_first, units_of
from gateway.ports.adapter import AdapterStates
from gateway.ports.clock import Clock
from gateway.ports.queues import InboxEntry

REST: Final = "rest_of_text"
"""The reason for an answer to a message that no rule addresses to the assistant: the first piece of
its text is."""
MAX_OPEN: Final = 1_000
"""Texts that wait for their rest, and messages that were stored as a rest."""
OPEN_SECONDS: Final = 10.0
"""The time after which a piece that arrives late belongs to no text."""
AFTER_START: Final = 60.0
"""Seconds after the start in which the texts of the process before it are read."""
STORED_FOR: Final = timedelta(minutes=2)
CHANGED_WITHIN: Final = timedelta(hours=1)
"""The time for which the conversation of a rest is known to an edit or a deletion of it; no turn is
as long, and a stored message is found without it."""

log = structlog.get_logger(__name__)


class Pieces:
    """Decides which entries of a queue are pieces of one text."""

    def __init__(self, connected: Mapping[tuple[str, str], ConnectedAccount]) -> None:
        self._connected = connected

    def wait_for_rest(self, entry: InboxEntry) -> float:
        """Return the seconds for which an entry waits for its next piece; 0 for nearly all."""
        event = entry.event
        if not isinstance(event, MessageReceived):
            return 0.0
        return WAIT_SECONDS if awaits_rest(event.message, self._cut(event.message)) else 0.0

    def follows(self, entries: Sequence[InboxEntry], entry: InboxEntry) -> bool:
        """Return True if `entry` is the next piece of the text that ends with the last one of
        `entries`, which follow each other."""
        event = entry.event
        if not (entries and isinstance(event, MessageReceived)):
            return False
        cut = self._cut(event.message)
        if cut is None:
            return False
        pieces: list[ChatMessage] = []
        for one in entries:
            message = one.message if isinstance(one.event, MessageReceived) else None
            if message is None:
                pieces = []
            elif pieces and continues(pieces, message, cut):
                pieces.append(message)
            else:
                pieces = [message]
        return bool(pieces) and continues(pieces, event.message, cut)

    def _cut(self, message: ChatMessage) -> TextCut | None:
        account = self._connected.get((message.place.platform, message.place.account))
        return None if account is None else account.manifest.text_cut


class _OpenText(Struct, frozen=True):
    """A text that waits for its rest: its conversation, and its pieces without their content.
    `person` is its author's `str(PersonId)`, by which an erasure finds it."""

    person: str
    conversation: str
    pieces: tuple[ChatMessage, ...]
    at: datetime


class OpenTexts:
    """The texts that are addressed to the assistant and wait for their rest. In a room only the
    first piece mentions the assistant; the others are stored because of it, and nothing else is.

    Texts are also kept in a store for the next process, without content.
    """

    def __init__(
        self,
        connected: Mapping[tuple[str, str], ConnectedAccount],
        states: AdapterStates,
        clock: Clock,
    ) -> None:
        self._connected = connected
        self._state = states.of("parley", "cut_texts")
        self._clock = clock
        self._since = clock.monotonic()
        self._open: OrderedDict[str, _OpenText] = OrderedDict()
        self._moved: OrderedDict[str, str] = OrderedDict()

    async def conversation_of_rest(self, message: ChatMessage, *, addressed: bool) -> str:
        """Return the conversation of the text of which this message is the next piece, "" for any
        other message. `addressed`: the message would be stored anyway; any other one follows a
        nearly full message. Raises `StoreUnavailable`."""
        starting = not addressed and self._clock.monotonic() - self._since < AFTER_START
        if known := self._known_rest(message.place, message.id):  # delivered again
            return known
        if not (self._open or starting) or not message.content:
            return ""
        name = _name(message)
        text, cut = self._open.get(name), self._cut(message)
        if text is None and starting:
            text = await self._stored(name)
        if text is None or not continues(text.pieces, message, cut):
            return ""
        if not (addressed or awaits_rest(text.pieces[-1], cut)):
            return ""
        late = (self._clock.now() - text.at).total_seconds() > OPEN_SECONDS
        return "" if late and name in self._open else text.conversation

    async def note(self, message: ChatMessage, conversation: str) -> None:
        """Record an accepted message of the assistant: it may be a piece."""
        cut = self._cut(message)
        opens, waits = may_be_first(message, cut), awaits_rest(message, cut)
        if not (opens or self._open):
            return
        name = _name(message)
        before = self._open.pop(name, None)
        pieces = () if before is None else before.pieces
        if pieces and continues(pieces, message, cut):
            await self._note_rest(message, conversation)
        else:
            pieces = ()
        text = _OpenText(
            str(message.person), conversation, (*pieces, _outline(message)), self._clock.now()
        )
        if opens:
            self._open[name] = text
            _bound(self._open)
        if waits or before is not None:
            await self._store(name, text, waits=waits)

    async def conversation_of(self, place: Place, message_id: str) -> str:
        """Return the conversation in which this message was stored as a rest, "" for any other.
        Raises `StoreUnavailable`."""
        known = self._known_rest(place, message_id)
        if known or not self._begins_conversation(place):
            return known
        stored = await self._state.get(_rest_name(place, message_id)) or ""
        return stored.partition("\n")[2]

    async def deleted(self, place: Place, message_ids: Collection[str]) -> None:
        """Wait no longer for the rest of a text whose first piece was deleted."""
        for name, text in list(self._open.items()):
            first = text.pieces[0]
            if first.id in message_ids and _place_name(first.place) == _place_name(place):
                del self._open[name]
                await self._store(name, text, waits=False)

    def _known_rest(self, place: Place, message_id: str) -> str:
        return self._moved.get(_rest_name(place, message_id), "") if self._moved else ""

    async def _note_rest(self, message: ChatMessage, conversation: str) -> None:
        """Record the conversation of a rest for its edits and deletions, where its id alone does
        not tell it, also for the next process and for other ones."""
        name = _rest_name(message.place, message.id)
        self._moved[name] = conversation
        _bound(self._moved)
        if self._begins_conversation(message.place):
            await self._put(name, f"{message.person}\n{conversation}", CHANGED_WITHIN)

    def _begins_conversation(self, place: Place) -> bool:
        """Return True if each message in this place begins a conversation, unless it is a rest."""
        capabilities = self._connected[place.platform, place.account].manifest.capabilities
        return place_to_answer(place, "any", capabilities) != place

    async def _stored(self, name: str) -> _OpenText | None:
        value = await self._state.get(name)
        try:
            return json.decode(value, type=_OpenText) if value else None
        except MsgspecError:
            return None

    async def _store(self, name: str, text: _OpenText, *, waits: bool) -> None:
        value = text.person  # in place of a text that waits no longer
        if waits:  # the first and the last piece decide about the next one
            pieces = (*text.pieces[:1], *text.pieces[1:][-1:])
            value = json.encode(replace(text, pieces=pieces)).decode()
        await self._put(name, value, STORED_FOR)

    async def _put(self, name: str, value: str, ttl: timedelta) -> None:
        try:
            await self._state.put(name, value, ttl)
        except StoreUnavailable as error:
            log.warning("cut_text_not_stored", error=str(error))

    def _cut(self, message: ChatMessage) -> TextCut | None:
        return self._connected[message.platform, message.place.account].manifest.text_cut


def _outline(message: ChatMessage) -> ChatMessage:
    """Return a piece without its content and names."""
    return ChatMessage(
        message.id,
        "",
        MessageAuthor(message.author.id),
        message.place,
        message.timestamp,
        message.reply_to_id,
        units=units_of(message),
    )


def _place_name(place: Place) -> str:
    return f"{place.platform}:{place.account}:{place.channel_id}:{place.thread_id}"


def _name(message: ChatMessage) -> str:
    return f"{_place_name(message.place)}:{message.author.id}"[:200]


def _rest_name(place: Place, message_id: str) -> str:
    """Return a name without the thread, which not every deletion tells."""
    return f"rest:{place.platform}:{place.account}:{place.channel_id}:{message_id}"[:200]


def _bound(known: OrderedDict[Any, Any]) -> None:
    while len(known) > MAX_OPEN:
        known.popitem(last=False)

"""One conversation: its messages, and the handling of one of them.

Both pages are named by the id of a message's turn. Operators see the decisions and costs of direct
messages of other people, and not their text: each text passes `may_read_text`.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import date, datetime
from itertools import islice
from typing import Final, Literal, TypeAlias

from pydantic import Field

from gateway.authorship import MAX_PIECES, Authorship, Material
from gateway.conversation import ConversationKey
from gateway.errors import NotFound
from gateway.message import Attachment
from gateway.outbound.pictures import Found
from gateway.people import Audience, Role
from gateway.policy.takeover_return import HANDED_OVER, decide_takeover
from gateway.ports.action import Output
from gateway.ports.conversation_views import ShownText, StoredExchange
from gateway.ports.conversations import with_files
from gateway.ports.queues import SendState
from gateway.ports.rights import to_read
from gateway.stores.break_glass import TextGrant
from gateway.stores.takeovers import Takeover
from gateway.text import (
    NO_TEXT,
    text,
)
from parley.console.names import names_of, titled
from parley.console.reading import (
    Cursor,
    Excerpt,
    PlaceOut,
    audience_of,
    excerpts,
    may_read,
    place_out,
    reader_of,
)
from parley.console.route import AnyRoute, ConsoleRoute, ItemParams
from parley.console.said import Said
from parley.console.services import ConsoleServices
from parley.console.timeline import TimelineOut, timeline_of
from parley.console.today import zone_of
from parley.console.viewer import BREAK_GLASS, TextSource, Viewer, may_read_text
from parley.console.views.conversations import PATH
from parley.maintenance.message_log import lost_delivery
from parley.wiring.retention import KEEP_TRACES
from parley.wiring.storage import read_hot

PAGE: Final = 20
"""Messages of a page, each with its answer."""
MOST_OF_PAGE: Final = 40_000
"""Bytes of all texts of a page of messages."""
MOST_OF_MESSAGE: Final = 60_000
"""Bytes of the texts of one message."""
MAX_SENDS: Final = 50
MAX_PICTURES: Final = 10
"""Pictures of one message."""
GONE: Final = text(
    "There is no such message, or you may not see it. Decisions about messages are kept for "
    "{days} days."
)

KEPT: Final = frozenset({HANDED_OVER, "collected"})
"""The outcomes of messages that are stored although no model was called for them alone."""
Words: TypeAlias = Literal["shown", "private", "none"]
"""Why a message has a text here, or none: "private": another person's direct message; "none": it is
not stored."""


class ConversationParams(ItemParams):
    """`before` is the position of earlier messages, from the page after them."""

    before: Cursor = ""


class MessageParams(ItemParams):
    """The page has no parameters of its own."""


class PieceOut(Output):
    """A text that the person showed and did not write, such as a forwarded message."""

    authorship: Authorship
    """The kind of the text."""
    by: str
    """The author whom the platform names; empty for none."""
    text: Excerpt


class PictureOut(Output):
    """A picture of a message. `number` is its place among the files of the message; `missing` says
    why it is not shown, as far as that is known before it is asked for: "gone": the platform does
    not give it any more, "unfit": it is too large or of another type."""

    number: int = Field(ge=0)
    name: str
    """The name of the file; empty if it has none."""
    missing: Literal["", "gone", "unfit"] = ""


class MessageOut(Output):
    """A message with its answer. `id` is the id of its turn. `person` is given to operators only.
    `words` says why there is no text. Money in millionths of a dollar; `tokens` are input, output,
    read from the cache and written to it."""

    id: str
    at: datetime
    """The time of the trace."""
    day: date
    """The day in the viewer's time zone."""
    kind: str
    """The kind of the event."""
    outcome: str
    """The code of the outcome, as `parley why` shows it."""
    person: str
    speaker: str
    """The name of the author; empty if unknown."""
    own: bool
    """True for a message of the viewer."""
    words: Words
    question: Excerpt | None = None
    """The text of the message; None where it is not shown."""
    answer: Excerpt | None = None
    """The text of the answer, in Markdown; None where it is not shown."""
    answered_by: str = ""
    """The name of the operator who answered; empty for the assistant."""
    pieces: tuple[PieceOut, ...] = Field(default=(), max_length=MAX_PIECES)
    """The texts that the person showed and did not write."""
    pictures: tuple[PictureOut, ...] = Field(default=(), max_length=MAX_PICTURES)
    """The pictures that came with it."""
    model: str = ""
    """The model that answered; empty for none."""
    micros: int = 0
    """The cost."""
    tokens: tuple[int, int, int, int] = (0, 0, 0, 0)
    milliseconds: float = 0.0
    """The duration of the handling."""


class TakeoverOut(Output):
    """An operator answers this conversation: `yours`, you do; `name` is the name that people read.
    `shared`: the person of a direct conversation shows the earlier text. `until` is when it returns
    to the assistant without a further answer."""

    yours: bool
    name: str
    since: datetime
    """The time of the takeover."""
    until: datetime
    direct: bool
    shared: bool


class ConversationOut(Output):
    """A page of a conversation, the oldest message first. `newest`: the page has the latest
    messages; `before` is the position of earlier ones, empty at the begin. `everything` is false
    for a person who sees only their own messages of a room. `takeover` is None while the assistant
    answers; `can_take`: the viewer may take the conversation over. `can_break`: they may ask to
    read its private text in an emergency; `granted_until` is how long they may. `person` is the
    person of a direct conversation, for operators; empty otherwise. `count` and `micros` are the
    number of its messages that the viewer may see, at most 1,000, and their cost in millionths of a
    dollar."""

    id: str
    """The key of the conversation."""
    place: PlaceOut
    """The place of the conversation."""
    can_take: bool
    takeover: TakeoverOut | None
    can_break: bool
    granted_until: datetime | None
    person: str
    count: int
    micros: int
    everything: bool
    newest: bool
    working: bool
    """True while a message is being answered."""
    messages: tuple[MessageOut, ...] = Field(max_length=PAGE)
    before: str = ""


class SendOut(Output):
    """A message of the answer on its way: `reason` is that of the last failed attempt."""

    state: Literal["waiting", "sent", "dead"]
    """The state of the delivery."""
    attempts: int
    """The number of attempts that ended."""
    reason: str
    queued_at: datetime | None
    """The time at which it was queued; None where it is not stored."""
    ended_at: datetime | None
    """The time of its end; None while it waits, and where it is not stored."""


class HandlingOut(Output):
    """A message with its handling. `sends_missing`: the reason why `sends` is not known; `lost`
    says so because data was lost. `up` and `down` are thumbs under its answer."""

    place: PlaceOut
    """The place of the conversation."""
    message: MessageOut
    timeline: TimelineOut
    """The handling."""
    sends: tuple[SendOut, ...] = Field(max_length=MAX_SENDS)
    sends_missing: Said = NO_TEXT
    lost: str = ""
    up: int = 0
    down: int = 0


async def conversation(
    viewer: Viewer, services: ConsoleServices, params: ConversationParams
) -> ConversationOut:
    """Return the latest messages of a conversation that the viewer may see, or those before a
    position. Raises `NotFound`."""
    of = await exchange_of(viewer, services, params.id)
    reader, views = reader_of(viewer), services.storage.conversation_views
    page = await views.messages(reader, of, PAGE, params.before)
    everything = viewer.is_operator or of.trace.audience == Audience.DIRECT
    name = of.trace.conversation
    takeover = await lasting_takeover(services, name) if everything else None
    grant = await lasting_grant(viewer, services, name)
    messages = await messages_of(viewer, services, page.rows, MOST_OF_PAGE)
    place, person = await _place(viewer, services, of, messages)
    sums = await views.sums(reader, of)
    private = any(one.words == "private" for one in messages)
    return ConversationOut(
        id=params.id,
        can_break=viewer.is_operator and viewer.breaks_glass and private and grant is None,
        granted_until=None if grant is None else grant.until,
        can_take=viewer.is_operator and takeover is None,
        takeover=None if takeover is None else _takeover(viewer, services, takeover),
        place=place,
        person=person,
        count=sums.messages,
        micros=sums.micros,
        everything=everything,
        newest=not params.before,
        working=everything and services.health.works_on(name),
        messages=messages,
        before=page.before,
    )


async def message(viewer: Viewer, services: ConsoleServices, params: MessageParams) -> HandlingOut:
    """Return the handling of one message. Raises `NotFound`."""
    of = await exchange_of(viewer, services, params.id)
    shown = await messages_of(viewer, services, (of,), MOST_OF_MESSAGE)
    reading = services.storage.hot.outbox.deliveries(of.trace.id, MAX_SENDS)
    sends, missing = await read_hot(reading, [])
    thumbs = (await services.storage.stores.feedback.of([of.trace.id])).get(of.trace.id)
    return HandlingOut(
        place=(await _place(viewer, services, of, shown))[0],
        message=shown[0],
        timeline=timeline_of(of.trace),
        sends=tuple(map(_send, sorted(sends, key=lambda one: one.key))),
        sends_missing=missing,
        lost="" if sends or missing else await lost_delivery(services.storage, of.trace),
        up=thumbs.up if thumbs else 0,
        down=thumbs.down if thumbs else 0,
    )


async def exchange_of(viewer: Viewer, services: ConsoleServices, turn: str) -> StoredExchange:
    """Return a message that the viewer may see, by the id of its turn. Raises `NotFound`."""
    found = await services.storage.conversation_views.one(reader_of(viewer), turn)
    if found is None:
        raise NotFound(GONE.of(days=KEEP_TRACES.days))
    return found


async def messages_of(
    viewer: Viewer, services: ConsoleServices, rows: Sequence[StoredExchange], most: int
) -> tuple[MessageOut, ...]:
    """Return messages of one conversation with the texts that the viewer may read, which together
    take at most `most` bytes in a page."""
    if not rows:
        return ()
    texts = await readable_texts(viewer, services, rows)
    kept = [text for each in rows for text in texts.get(each.trace.message_id, ())]
    shown = iter(excerpts([each for text in kept for each in _texts_of(text)], most))
    known = services.pictures.known
    names = await names_of(viewer, services, (one.person for one in rows))
    return tuple(
        _message(viewer, one, texts.get(one.trace.message_id, ()), shown, names, known)
        for one in rows
    )


async def _place(
    viewer: Viewer,
    services: ConsoleServices,
    of: StoredExchange,
    messages: Sequence[MessageOut],
) -> tuple[PlaceOut, str]:
    """Return the place with its title, and for operators the person of a direct conversation."""
    place = place_out(of.trace.conversation, of.trace.audience)
    person = ""
    if place.audience == Audience.DIRECT and viewer.is_operator:
        person = next((one for one in (of.person, *(each.person for each in messages)) if one), "")
    return titled(place, person, await names_of(viewer, services, [person], [place])), person


async def readable_texts(
    viewer: Viewer, services: ConsoleServices, rows: Sequence[StoredExchange]
) -> Mapping[str, Sequence[ShownText]]:
    """Return the texts of these messages that the viewer may read, by the message's id: first the
    question, then the answer."""
    ids = [one.trace.message_id for one in rows]
    texts, grant = await granted_texts(viewer, services, rows[0].trace.conversation, ids)
    if grant is not None:
        await note_reading(viewer, services, grant)
    found: dict[str, list[ShownText]] = defaultdict(list)
    for stored in texts:
        found[stored.message_id].append(stored)
    return {
        id_: sorted(texts, key=lambda one: one.role == "assistant")[:2]
        for id_, texts in found.items()
    }


async def granted_texts(
    viewer: Viewer, services: ConsoleServices, name: str, message_ids: Sequence[str]
) -> tuple[list[ShownText], TextGrant | None]:
    """Return the texts of these messages of a conversation that the viewer may read, and the grant
    without which they may not read all of them. Whoever shows the texts records that first
    (`note_reading`)."""
    takeover = await lasting_takeover(services, name) if viewer.is_operator else None
    grant = await lasting_grant(viewer, services, name)
    reader, views = reader_of(viewer, takeover, grant), services.storage.conversation_views
    found, broken = [], False
    for stored in await views.texts(reader, name, sorted({*message_ids} - {""})):
        decision = may_read(viewer, stored, takeover, grant)
        if stored.conversation == name and decision.allowed:
            found.append(stored)
            broken = broken or decision.reason == BREAK_GLASS
    return found, grant if broken else None


async def lasting_grant(
    viewer: Viewer, services: ConsoleServices, subject: str
) -> TextGrant | None:
    """Return the viewer's grant of a private text, if it has not ended."""
    if not (viewer.is_operator and viewer.breaks_glass):
        return None
    now, grants = services.gateway.clock.now(), services.storage.text_grants
    return await grants.of(viewer.tenant, viewer.person, subject, now)


async def note_reading(viewer: Viewer, services: ConsoleServices, grant: TextGrant) -> None:
    """Record that a private text is shown because of a grant, before it is. Raises
    `StoreUnavailable`: then it is not shown."""
    await services.audit.console(
        "private_text_read", viewer.tenant, viewer.person, of=grant.person, grant=grant.id
    )


async def lasting_takeover(services: ConsoleServices, conversation: str) -> Takeover | None:
    """Return the takeover of a conversation; None if there is none, or its operator was idle for
    too long."""
    takeover = await services.storage.takeovers.of(conversation)
    if takeover is None:
        return None
    now, idle = services.gateway.clock.now(), services.gateway.policies.takeover_idle
    return None if decide_takeover(takeover.active, now, idle).allowed else takeover


def _takeover(viewer: Viewer, services: ConsoleServices, takeover: Takeover) -> TakeoverOut:
    return TakeoverOut(
        yours=takeover.operator == viewer.person,
        name=takeover.name,
        since=takeover.since,
        until=takeover.active + services.gateway.policies.takeover_idle,
        direct=bool(takeover.person),
        shared=takeover.shared,
    )


def _texts_of(text: ShownText) -> list[str]:
    return [text.text, *(one.text for one in pieces_of(text))]


def pieces_of(text: ShownText) -> tuple[Material, ...]:
    """Return what a person showed beside their own words and beside pictures."""
    if text.role == "assistant":
        return ()
    pictures = pictures_of(text)
    others = tuple(file for at, file in enumerate(text.files) if at not in pictures)
    return with_files(text.material[: MAX_PIECES - 1], others)


def pictures_of(text: ShownText) -> Mapping[int, Attachment]:
    """Return the pictures of a message that the platform may still have, by their place among its
    files."""
    found = ((at, file) for at, file in enumerate(text.files) if file.kind == "image" and file.ref)
    return dict(islice(found, MAX_PICTURES))


def _message(
    viewer: Viewer,
    one: StoredExchange,
    texts: Sequence[ShownText],
    shown: Iterator[Excerpt],
    names: Mapping[str, str],
    known: Callable[[tuple[str, str], Attachment], Found | None],
) -> MessageOut:
    """Return a message; `shown` has the excerpts of its texts next. `known` tells what is known of
    a picture."""
    trace = one.trace
    question = answer = None
    speaker = answered_by = ""
    pieces: tuple[PieceOut, ...] = ()
    pictures: tuple[PictureOut, ...] = ()
    for stored in texts:
        if stored.role == "assistant":
            answer, answered_by = next(shown), stored.speaker
            continue
        question, speaker = next(shown), stored.speaker
        pieces = tuple(
            PieceOut(authorship=piece.authorship, by=piece.by, text=next(shown))
            for piece in pieces_of(stored)
        )
        pictures = tuple(
            _picture(at, file, known(account_of(trace.conversation), file))
            for at, file in pictures_of(stored).items()
        )
    return MessageOut(
        id=trace.id,
        at=trace.at,
        day=trace.at.astimezone(zone_of(viewer.zone)).date(),
        kind=trace.kind,
        outcome=trace.outcome,
        person=one.person if viewer.is_operator else "",
        speaker=speaker or names.get(one.person, ""),
        own=not viewer.is_operator or one.person in viewer.persons,
        words=words_of(viewer, one, texts),
        question=question,
        answer=answer,
        answered_by=answered_by,
        pieces=pieces,
        pictures=pictures,
        model=one.model,
        micros=one.micros,
        tokens=one.tokens,
        milliseconds=trace.milliseconds,
    )


def _picture(number: int, file: Attachment, found: Found | None) -> PictureOut:
    missing = found if found in ("gone", "unfit") else ""
    return PictureOut(number=number, name=file.shown_name, missing=missing)


def account_of(conversation: str) -> tuple[str, str]:
    """Return platform and account of a conversation."""
    key = ConversationKey.of(conversation)
    return key.platform, key.account


def words_of(viewer: Viewer, one: StoredExchange, texts: Sequence[ShownText]) -> Words:
    """Return why a message has these texts. Nothing is stored of one that no model and no operator
    answered, such as a command; another one that names nobody is private to operators."""
    if texts:
        return "shown"
    kept = one.trace.outcome in KEPT or one.trace.kind == "answer"
    if not (one.person or kept):
        return "none"
    tenant = ConversationKey.of(one.trace.conversation).tenant
    source = TextSource(tenant, audience_of(one.trace.audience), frozenset({one.person} - {""}))
    readable = not viewer.is_operator or may_read_text(viewer, source).allowed
    return "none" if readable else "private"


def _send(one: SendState) -> SendOut:
    return SendOut(
        state=one.state,
        attempts=one.attempts,
        reason=one.reason,
        queued_at=one.queued_at,
        ended_at=one.ended_at,
    )


ROUTES: Final[tuple[AnyRoute, ...]] = (
    ConsoleRoute(
        name="conversation",
        method="GET",
        path=f"{PATH}/{{id}}",
        allowed=to_read(Role.GUEST),
        summary="The messages of one conversation",
        run=conversation,
        template="conversation.html",
    ),
    ConsoleRoute(
        name="message",
        method="GET",
        path=f"{PATH}/{{id}}/message",
        allowed=to_read(Role.GUEST),
        summary="The handling of one message",
        run=message,
        template="message.html",
    ),
)

"""Conversations: the list with its filters, the search, and the archive.

A list and a search are read for the viewer by `gateway.stores.conversation_views`; each text also
passes `may_read_text`.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Annotated, Final, Literal
from urllib.parse import parse_qsl, urlencode

from pydantic import Field, StringConstraints, ValidationError

from gateway.conversation import ConversationKey
from gateway.errors import BadInput
from gateway.markdown.parse import parse
from gateway.markdown.text_renderer import PLAIN
from gateway.markdown.unfinished import close_unfinished
from gateway.message import MessageDeleted, MessageEdited
from gateway.people import Audience, Role
from gateway.policy.budgets import MICRO
from gateway.ports.action import Input, Output
from gateway.ports.conversation_views import FoundText, ListedConversation, ShownText, Wanted
from gateway.ports.queues import InboxEntry
from gateway.ports.rights import in_person, to_read
from gateway.ports.traces import FAILED
from gateway.text import (
    NO_TEXT,
    text,
    verbatim,
)
from parley.console.names import names_of, titled
from parley.console.reading import (
    Cursor,
    PlaceOut,
    TurnId,
    audience_of,
    may_read,
    place_out,
    reader_of,
)
from parley.console.route import AnyRoute, ConsoleRoute, Done
from parley.console.said import Said
from parley.console.services import ConsoleServices
from parley.console.today import zone_of
from parley.console.viewer import Viewer
from parley.wiring.storage import read_hot

PATH: Final = "/conversations"
PAGE: Final = 25
"""Conversations, or hits, of a page."""
UNFINISHED: Final = 500
"""Accepted messages that the list of waiting conversations looks at, the oldest first."""
TAKEN: Final = 1_000
"""Conversations of operators that the list looks at."""
AROUND: Final = 160
"""Characters that a hit shows on either side of the first word."""
LOOKED: Final = 20_000
"""Characters of a hit in which the word is looked for."""
MAX_BACK: Final = 4_000
YEARS: Final = range(1970, 2970)
"""A day outside these years is before or after everything, and no filter."""
NOTHING: Final = text("No conversation is chosen. Tick the conversations first.")
NO_DAY: Final = text("{day} is not a day. Write it as 2026-11-23.")

_LINES: Final = re.compile("[\u2500-\u257f]+")
"""Lines of a table."""

State = Literal["waiting", "working", "done", "handed_over"]
HANDED_OVER: Final[State] = "handed_over"
Day = Annotated[str, StringConstraints(pattern=r"^([0-9]{4}-[0-9]{2}-[0-9]{2})?$")]
Dollars = Annotated[str, StringConstraints(pattern=r"^([0-9]{1,6}(\.[0-9]{1,6})?)?$")]


class ConversationsQuery(Input):
    """The filters; empty ones are off. `q` are words that a text must have. `cost` is the least
    cost of a message in dollars. `since` and `until` are days in the viewer's time zone, both
    included. `after` is `next` of the page before."""

    q: Annotated[str, Field(max_length=300)] = ""
    state: Literal["", "waiting", "working", "done", "handed_over"] = ""
    platform: Annotated[str, Field(max_length=30)] = ""
    channel: Annotated[str, Field(max_length=200)] = ""
    person: Annotated[str, Field(max_length=300)] = ""
    outcome: Literal["", "answered", "refused", "failed", "other"] = ""
    cost: Dollars = ""
    since: Day = ""
    until: Day = ""
    archived: Literal["", "yes"] = ""
    after: Cursor = ""


class ArchiveForm(Input):
    """The conversations by the ids of turns; `back` are the filters of the list to return to."""

    ids: Annotated[tuple[TurnId, ...], Field(max_length=PAGE)] = ()
    back: Annotated[str, Field(max_length=MAX_BACK)] = ""


class LastLine(Output):
    """The beginning of the latest text of a conversation. `by` is the name of its writer, empty for
    the assistant and where it is unknown."""

    role: Literal["user", "assistant"]
    """The writer: a person, or the assistant's side."""
    by: str
    text: str
    """At most 160 characters, in one line."""


class ConversationRow(Output):
    """A conversation by its latest message that fits: `id` is the id of that message's turn.
    `person` and `speaker` are given to operators only. `last` is the latest text of that message,
    None if there is none or the viewer may not read it. `messages` counts up to 1,000, and `micros`
    is the cost of these messages in millionths of a dollar."""

    id: str
    state: State
    place: PlaceOut
    at: datetime
    kind: str
    outcome: str
    person: str
    speaker: str
    messages: int
    micros: int
    last: LastLine | None = None
    private: bool = False
    """True for the direct conversation of somebody else, whose text operators do not see."""
    failed: bool = False
    """True if the latest message failed."""


class ActiveRow(Output):
    """A conversation with messages that are not answered yet. `id` is the id of its latest stored
    turn, empty without one; `since` is when the oldest of these messages arrived."""

    id: str
    state: State
    place: PlaceOut
    since: datetime
    person: str
    messages: int
    name: str = ""
    """The name of the person, for operators; empty if unknown."""


class HitRow(Output):
    """A text that has all words, shown around the first one. `turn` is empty if the decisions about
    its message are no longer stored."""

    turn: str
    role: Literal["user", "assistant"]
    place: PlaceOut
    at: datetime
    person: str
    speaker: str
    before: str
    match: str
    after: str


class ConversationsOut(Output):
    """A page of conversations, or with words to search for a page of hits. `failing` are
    conversations whose latest message failed; they are on the first page without filters, and not
    among `rows`. `query` are the filters
    as a query, `platforms` those that can be chosen; `next` is empty at the end. `active_missing`:
    the reason why `active` is not known. `turn` is the id of a turn that was searched for: the
    reference in an apology."""

    of: Literal["all", "own"]
    platforms: tuple[str, ...] = Field(max_length=200)
    active: tuple[ActiveRow, ...] = Field(default=(), max_length=PAGE)
    active_missing: Said = NO_TEXT
    turn: str = ""
    failing: tuple[ConversationRow, ...] = Field(default=(), max_length=PAGE)
    rows: tuple[ConversationRow, ...] = Field(default=(), max_length=PAGE)
    hits: tuple[HitRow, ...] = Field(default=(), max_length=PAGE)
    query: str = ""
    next: str = ""


async def conversations(
    viewer: Viewer, services: ConsoleServices, params: ConversationsQuery
) -> ConversationsOut:
    """Return conversations: of everybody for operators, otherwise those of the viewer. Raises
    `BadInput` for a day or a position that does not exist."""
    wanted = wanted_of(params, viewer.zone)
    shown = ConversationsOut(
        of="all" if viewer.is_operator else "own",
        platforms=tuple(sorted({one.platform for one in services.settings.accounts()})),
        query=query_of(params),
    )
    views, reader = services.storage.conversation_views, reader_of(viewer)
    if params.q.strip():
        named = await views.conversations_of(reader, [params.q.strip()])
        found = await views.search(reader, params.q, wanted, PAGE, params.after)
        names = await names_of(
            viewer,
            services,
            (one.text.person for one in found.rows),
            (place_out(one.text.conversation, one.text.audience) for one in found.rows),
        )
        hits = tuple(
            _hit(viewer, hit, params.q, names)
            for hit in found.rows
            if may_read(viewer, hit.text).allowed
        )
        turn = next(iter(named), "")
        return shown.model_copy(update={"hits": hits, "next": found.next, "turn": turn})
    nothing: dict[str, ActiveRow] = {}
    active, missing = await read_hot(_active(viewer, services, wanted), nothing)
    active = await _named(viewer, services, active)
    now = {name: row.state for name, row in active.items()}
    handed_over = await _handed_over(viewer, services)
    chosen = _chosen(active.values(), params)
    update: dict[str, object] = {"active": chosen, "active_missing": missing}
    if params.state in ("", "done", "handed_over"):
        page = await views.page(reader, wanted, PAGE, params.after)
        first = not shown.query and not params.after
        failing = await views.failing(reader, PAGE) if first and viewer.is_operator else []
        known = {one.conversation: one for one in (*failing, *page.rows)}
        states: dict[str, State] = {**dict.fromkeys(handed_over, HANDED_OVER), **now}
        rows = [
            one
            for one in await rows_of(viewer, services, list(known.values()), states)
            if params.state in ("", one.state)
        ]
        ahead = {one.id for one in rows if one.failed} if first else set[str]()
        update["failing"] = tuple(one for one in rows if one.id in ahead)[:PAGE]
        update["rows"] = tuple(one for one in rows if one.id not in ahead)[:PAGE]
        update["next"] = page.next
    return shown.model_copy(update=update)


def wanted_of(params: ConversationsQuery, zone: str) -> Wanted:
    """Return the filters for the store. Raises `BadInput`."""
    until = begin_of(params.until, zone)
    return Wanted(
        platform=params.platform.strip(),
        channel=params.channel.strip(),
        person=params.person.strip(),
        outcome=params.outcome,
        micros=int(Decimal(params.cost or "0") * MICRO),
        since=begin_of(params.since, zone),
        until=None if until is None else until + timedelta(days=1),
        archived=params.archived == "yes",
    )


def query_of(params: ConversationsQuery) -> str:
    """Return the filters as a query, without the position: the link to this list or search."""
    given = params.model_dump(exclude={"after"})
    return urlencode({name: value for name, value in given.items() if value})


async def archive(viewer: Viewer, services: ConsoleServices, params: ArchiveForm) -> Done:
    """Hide conversations from the list until their next message."""
    return await _move(viewer, services, params, back=False)


async def take_back(viewer: Viewer, services: ConsoleServices, params: ArchiveForm) -> Done:
    """Show archived conversations in the list again."""
    return await _move(viewer, services, params, back=True)


async def _move(
    viewer: Viewer, services: ConsoleServices, params: ArchiveForm, *, back: bool
) -> Done:
    if not params.ids:
        raise BadInput(NOTHING)
    views, now = services.storage.conversation_views, services.gateway.clock.now()
    number = await views.archive(reader_of(viewer), params.ids, now, back=back)
    what = "conversations_taken_back" if back else "conversations_archived"
    await services.audit.console(what, viewer.tenant, viewer.person, number=number)
    return Done(query=_list_of(params.back))


def _list_of(text: str) -> str:
    """Return the filters of a list, checked; empty for anything else."""
    try:
        return query_of(ConversationsQuery.model_validate(dict(parse_qsl(text, max_num_fields=20))))
    except (ValidationError, ValueError):
        return ""


def begin_of(day: str, zone: str) -> datetime | None:
    """Return the begin of a day in a time zone; None for no day and for one outside `YEARS`. Raises
    `BadInput` for a day that does not exist."""
    if not day:
        return None
    try:
        begin = datetime.combine(date.fromisoformat(day), time(), zone_of(zone))
        return begin if begin.year in YEARS else None
    except ValueError:
        raise BadInput(NO_DAY.of(day=verbatim(day))) from None


async def _active(
    viewer: Viewer, services: ConsoleServices, wanted: Wanted
) -> dict[str, ActiveRow]:
    """Return the conversations with unanswered messages that the viewer may see, by name."""
    found: dict[str, ActiveRow] = {}
    for entry in await services.storage.stores.inbox.unfinished(UNFINISHED):
        row = _active_row(viewer, services, entry)
        if row is None or not _fits(row, wanted):
            continue
        earlier = found.get(entry.conversation, row.model_copy(update={"messages": 0}))
        number = earlier.messages + 1
        found[entry.conversation] = earlier.model_copy(update={"messages": number})
    first = dict(list(found.items())[:PAGE])
    latest = await services.storage.conversation_views.newest(list(first))
    return {
        name: row.model_copy(update={"id": latest.get(name, "")}) for name, row in first.items()
    }


async def _handed_over(viewer: Viewer, services: ConsoleServices) -> set[str]:
    """Return the conversations that operators answer."""
    since = services.gateway.clock.now() - services.gateway.policies.takeover_idle
    takeovers = await services.storage.takeovers.listed(viewer.tenant, since, TAKEN)
    return {one.conversation for one in takeovers}


def _active_row(viewer: Viewer, services: ConsoleServices, entry: InboxEntry) -> ActiveRow | None:
    if isinstance(entry.event, MessageEdited | MessageDeleted):
        return None
    place = entry.event.place
    person = str(place.identity(entry.event.author))
    tenant = ConversationKey.of(entry.conversation).tenant
    if tenant != viewer.tenant or not (viewer.is_operator or person in viewer.persons):
        return None
    works = services.health.works_on(entry.conversation)
    return ActiveRow(
        id="",
        state="working" if works else "waiting",
        place=place_out(entry.conversation, place.audience),
        since=entry.received_at,
        person=person if viewer.is_operator else "",
        messages=1,
    )


def _fits(row: ActiveRow, wanted: Wanted) -> bool:
    return (
        wanted.platform in ("", row.place.platform)
        and wanted.channel in ("", row.place.channel)
        and wanted.person in ("", row.person)
    )


def _chosen(active: Collection[ActiveRow], params: ConversationsQuery) -> tuple[ActiveRow, ...]:
    """Return the active conversations that belong on this page."""
    later = bool(params.after or params.archived or params.outcome or params.cost)
    if later or params.state == "done":
        return ()
    return tuple(one for one in active if params.state in ("", one.state))


async def _named(
    viewer: Viewer, services: ConsoleServices, active: Mapping[str, ActiveRow]
) -> dict[str, ActiveRow]:
    rows = active.values()
    names = await names_of(
        viewer, services, (row.person for row in rows), (row.place for row in rows)
    )
    return {
        name: row.model_copy(
            update={
                "name": names.get(row.person, ""),
                "place": titled(row.place, row.person, names),
            }
        )
        for name, row in active.items()
    }


async def rows_of(
    viewer: Viewer,
    services: ConsoleServices,
    listed: Sequence[ListedConversation],
    states: Mapping[str, State],
) -> list[ConversationRow]:
    """Return conversations with their latest texts, as far as the viewer may read them."""
    places = (place_out(one.conversation, one.audience) for one in listed)
    names = await names_of(viewer, services, (one.person for one in listed), places)
    messages = {(one.conversation, one.message_id) for one in listed}
    views = services.storage.conversation_views
    texts = await views.texts_of(reader_of(viewer), messages) if messages else []
    lines: dict[tuple[str, str], LastLine] = {}
    # An answer comes after its question.
    for one in sorted(texts, key=lambda said: said.role == "assistant"):
        if may_read(viewer, one).allowed:
            lines[one.conversation, one.message_id] = _line(one)
    return [
        _row(viewer, one, states.get(one.conversation, "done"), names).model_copy(
            update={"last": lines.get((one.conversation, one.message_id))}
        )
        for one in listed
    ]


def _line(text: ShownText) -> LastLine:
    line = text.text[: 2 * AROUND]
    if text.role == "assistant":
        line = PLAIN.document(parse(close_unfinished(line)))
    line = " ".join(_LINES.sub(" ", line).split())
    return LastLine(role=text.role, by=text.speaker, text=_head(line))


def _row(
    viewer: Viewer, one: ListedConversation, state: State, names: Mapping[str, str]
) -> ConversationRow:
    return ConversationRow(
        id=one.id,
        state=state,
        place=titled(place_out(one.conversation, one.audience), one.person, names),
        at=one.at,
        kind=one.kind,
        outcome=one.outcome,
        person=one.person if viewer.is_operator else "",
        speaker=one.speaker if viewer.is_operator else "",
        messages=one.messages,
        micros=one.micros,
        private=viewer.is_operator
        and audience_of(one.audience) is Audience.DIRECT
        and one.person not in viewer.persons,
        failed=one.outcome in FAILED,
    )


def _hit(viewer: Viewer, hit: FoundText, question: str, names: Mapping[str, str]) -> HitRow:
    text = hit.text
    begin, end = span_of(text.text, question)
    return HitRow(
        turn=hit.turn,
        role=text.role,
        place=titled(place_out(text.conversation, text.audience), text.person, names),
        at=text.at,
        person=text.person if viewer.is_operator else "",
        speaker=text.speaker,
        before=_tail(text.text[:begin]),
        match=text.text[begin:end],
        after=_head(text.text[end:]),
    )


def span_of(text: str, question: str) -> tuple[int, int]:
    """Return where the first word of a question is in a text; (0, 0) if a form of it is there that
    differs in its letters."""
    looked = text[:LOOKED].lower()
    if len(looked) != len(text[:LOOKED]):  # letters that lower case makes longer
        return 0, 0
    return next(((at, at + len(word)) for word, at in _found(looked, question) if at >= 0), (0, 0))


def _found(text: str, question: str) -> Iterator[tuple[str, int]]:
    for word in question.lower().split()[:10]:
        yield word, text.find(word)


def _tail(text: str) -> str:
    return text if len(text) <= AROUND else f"…{text[-AROUND:]}"


def _head(text: str) -> str:
    return text if len(text) <= AROUND else f"{text[:AROUND]}…"


ROUTES: Final[tuple[AnyRoute, ...]] = (
    ConsoleRoute(
        name="conversations",
        method="GET",
        path=PATH,
        allowed=to_read(Role.GUEST),
        summary=text("Conversations with search, filters and archive"),
        run=conversations,
        template="conversations.html",
        menu=text("Conversations"),
    ),
    ConsoleRoute(
        name="archive_conversations",
        method="POST",
        path=f"{PATH}/archive",
        allowed=in_person(Role.GUEST),
        summary="Archive conversations until their next message",
        run=archive,
        done=text("The chosen conversations are in the archive until their next message."),
        then=PATH,
    ),
    ConsoleRoute(
        name="take_back_conversations",
        method="POST",
        path=f"{PATH}/take-back",
        allowed=in_person(Role.GUEST),
        summary="Take conversations out of the archive",
        run=take_back,
        done=text("The chosen conversations are back in the list."),
        then=PATH,
    ),
)

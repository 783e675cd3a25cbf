"""The common parts of views of conversations and the outbox: reader, place, a text that fits."""

from typing import Annotated, Final

from markupsafe import escape
from pydantic import Field, StringConstraints, TypeAdapter, ValidationError

from gateway.conversation import ConversationKey
from gateway.people import Audience
from gateway.policy.decision import Decision
from gateway.ports.action import Output
from gateway.ports.conversation_views import ConversationReader, ShownText
from gateway.stores.break_glass import TextGrant
from gateway.stores.takeovers import Takeover
from gateway.turn.context.token_budgets import allot
from parley.console.viewer import TextSource, Viewer, may_read_text

TURN: Final = r"^[0-9A-Za-z_.-]{1,100}$"
TurnId = Annotated[str, StringConstraints(pattern=TURN)]
_TURN: Final = TypeAdapter(TurnId)
Cursor = Annotated[str, StringConstraints(pattern=r"^([0-9]{1,18}(-[0-9A-Za-z_.-]{0,100})?)?$")]
"""The position of a page: a time and an id, or a number; empty for the first page."""


class PlaceOut(Output):
    """A place of a platform: its ids, and its readers: direct, private_room or public_room, empty
    where they are unknown."""

    platform: str
    account: str
    """The name of the account."""
    workspace: str
    """The id of the workspace; empty where there is none."""
    channel: str
    """The id of the room."""
    thread: str
    """The id of the thread; empty outside of one."""
    audience: str
    """The readers."""
    title: str = ""
    """The name of the room, or of the person of a direct conversation; empty if unknown."""


class Excerpt(Output):
    """A text, or its beginning: `characters` is the number of all."""

    text: str
    characters: int = Field(ge=0)


def reader_of(
    viewer: Viewer, takeover: Takeover | None = None, grant: TextGrant | None = None
) -> ConversationReader:
    """Return the viewer as a reader of conversations; with their takeover of a direct conversation
    or their grant, also of the texts of its person, which `may_read` then narrows down."""
    persons = set(viewer.persons)
    if grant is not None and grant.operator == viewer.person:
        persons.add(grant.person)
    if takeover is not None and takeover.person and takeover.operator == viewer.person:
        persons.add(takeover.person)
    return ConversationReader(viewer.tenant, tuple(sorted(persons)), viewer.is_operator)


def place_out(conversation: str, audience: str) -> PlaceOut:
    """Return the place of a conversation."""
    key = ConversationKey.of(conversation)
    return PlaceOut(
        platform=key.platform,
        account=key.account,
        workspace=key.workspace,
        channel=key.channel,
        thread=key.thread,
        audience=audience,
    )


def may_read(
    viewer: Viewer,
    text: ShownText,
    takeover: Takeover | None = None,
    grant: TextGrant | None = None,
) -> Decision:
    """Decide if this viewer may read a stored text. A text of an unknown audience is private.
    `takeover` and `grant` still last."""
    tenant = ConversationKey.of(text.conversation).tenant
    persons = frozenset({text.person} - {""})
    shown_to = "" if takeover is None else shown_by(takeover, text)
    source = TextSource(tenant, audience_of(text.audience), persons, shown_to)
    return may_read_text(viewer, source, emergency=granted(viewer, grant, text))


def granted(viewer: Viewer, grant: TextGrant | None, text: ShownText) -> bool:
    """Return True if a grant of this viewer is for this text: of the person of that direct
    conversation."""
    if grant is None or grant.operator != viewer.person:
        return False
    return (text.conversation, text.person) == (grant.subject, grant.person)


def shown_by(takeover: Takeover, text: ShownText) -> str:
    """Return the operator who may read a text because of a takeover, empty for nobody: it is of
    the person of that direct conversation, and of the time since then unless the person shared
    more."""
    mine = text.conversation == takeover.conversation and text.person == takeover.person
    in_time = takeover.shared or text.at >= takeover.since
    return takeover.operator if takeover.person and mine and in_time else ""


def audience_of(name: str) -> Audience:
    """Return the audience of this name; direct for an unknown one."""
    return Audience(name) if name in set(Audience) else Audience.DIRECT


def excerpts(texts: list[str], most: int) -> list[Excerpt]:
    """Return the beginnings of texts, which together take at most `most` bytes in a page. A text
    that needs less than its share leaves the rest to the others, the last ones first."""
    sizes = [shown_bytes(text[:most]) for text in texts]
    share = most // max(1, len(texts))
    given = allot(sizes, [share] * len(texts), most)
    return [
        Excerpt(text=fitting(text, room), characters=len(text))
        for text, room in zip(texts, given, strict=True)
    ]


def fitting(text: str, most: int) -> str:
    """Return the longest beginning of a text that takes at most `most` bytes in a page."""
    low, high = 0, min(len(text), max(0, most))
    while low < high:
        middle = (low + high + 1) // 2
        if shown_bytes(text[:middle]) <= most:
            low = middle
        else:
            high = middle - 1
    return text[:low]


def shown_bytes(text: str) -> int:
    """Return the bytes of a text in a page."""
    return len(str(escape(text)).encode("utf-8", "replace"))


def turn_id_of(text: str) -> str:
    """Return a text that can be the id of a turn, otherwise an empty one."""
    try:
        return _TURN.validate_python(text)
    except ValidationError:
        return ""

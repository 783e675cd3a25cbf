"""The optional abilities of an adapter: it has each one whose methods it has."""

from dataclasses import dataclass, field
from typing import Final, Literal, Protocol, runtime_checkable

from msgspec import Struct

from gateway.message import (
    Attachment,
    Button,
    ChatMessage,
    Outbound,
    Part,
    Place,
    Reach,
    Receipt,
)
from gateway.text import Unconverted


class LiveStyle(Struct, frozen=True):
    """The style of live answers in a conversation."""

    pause: float = 1.2
    """The least seconds between two requests."""
    fades: float = 0.0
    """Seconds after which a preview disappears unless it is repeated; 0 for never."""
    costs: bool = True
    """True if the requests count against the send budget."""
    appends: bool = False
    """True if text can only be added until the answer is complete."""


@dataclass(frozen=True, slots=True)
class LiveView:
    """The current state of a live answer."""

    key: str
    """The same for the whole answer, also after a restart."""
    place: Place
    """The place of the answer."""
    part: Part
    """The text so far as one message, with open marks closed."""
    added: str
    """The new Markdown in it."""
    handle: str = ""
    """The result of the last call; empty for the first one."""
    reply_to_id: str = ""
    """The id of the answered message; empty for none."""
    reply_handle: str = field(default="", repr=False)
    """The adapter's handle of the command or the press that is answered; empty for none."""


@runtime_checkable
class CanShowLive(Protocol):
    def live_style(self, place: Place) -> LiveStyle | None:
        """Return the style for a place; None where live answers are not possible."""

    async def show_live(self, view: LiveView) -> str:
        """Show the text, or update it. Returns the handle of the message, empty for a preview that
        disappears by itself. Raises a `DeliveryError`."""

    async def end_live(self, outbound: Outbound) -> Receipt:
        """Replace the message with the handle `outbound.replaces`. Idempotent. Raises a
        `DeliveryError`; `Permanent` if it is gone or cannot be changed."""


@runtime_checkable
class CanDelete(Protocol):
    async def delete(self, place: Place, message_id: str) -> None:
        """Delete a sent message. Raises a `DeliveryError`."""


@runtime_checkable
class CanClearButtons(Protocol):
    async def clear_buttons(self, outbound: Outbound) -> None:
        """Remove the buttons under the message `outbound.clears`; its text stays. Raises a
        `DeliveryError`."""


@runtime_checkable
class CanType(Protocol):
    async def typing(self, place: Place, message_id: str) -> None:
        """Show that an answer to `message_id` is being written. Raises a `DeliveryError`."""


@runtime_checkable
class CanShowEnd(Protocol):
    async def ended(self, place: Place, message_ids: tuple[str, ...]) -> None:
        """Show that nobody has to wait for these messages any more: they are answered, refused or
        dropped. An answer may still be on its way. Raises a `DeliveryError`."""


@runtime_checkable
class CanMarkRead(Protocol):
    async def mark_read(self, place: Place, message_id: str) -> None:
        """Show that a message was read. Raises a `DeliveryError`."""


@runtime_checkable
class CanReact(Protocol):
    async def react(self, place: Place, message_id: str, emoji: str) -> None:
        """Add a reaction (a Unicode emoji). Raises a `DeliveryError`."""

    async def unreact(self, place: Place, message_id: str, emoji: str) -> None:
        """Remove our reaction; a reaction that is gone is no error. Raises a `DeliveryError`."""


@runtime_checkable
class CanFetchFiles(Protocol):
    async def fetch(self, attachment: Attachment, limit: int) -> bytes:
        """Return the bytes of an attachment, at most `limit`, also long after its message, as far
        as the platform keeps them. Raises `BadInput` if it is larger, a `DeliveryError` if the
        platform does not provide it: `Permanent` if it will not do so later either."""


@runtime_checkable
class CanAnswerInline(Protocol):
    async def answer_inline(self, query_id: str, suggestions: tuple[Button, ...]) -> None:
        """Suggest texts for an inline query; `query_id` is the event's id."""


@runtime_checkable
class CanCheckMembership(Protocol):
    async def is_member(self, space: str, person: str) -> bool:
        """Return True if the person is a full member of a workspace (by its id), or of a room where
        the platform has no workspaces. False for guests, for people of another company, and for
        everybody where the bot itself was removed. Raises a `DeliveryError` if the platform does
        not answer."""


@dataclass(frozen=True, slots=True)
class PlatformReach:
    """The messages that a platform takes for a person who did not write just now."""

    reach: Reach
    """Any message, the configured template only, or none before the person writes."""
    template_chars: int = 0
    """The longest text that the template takes."""
    refused: tuple[str, ...] = ()
    """The ids of messages that the platform took in the last hour and did not deliver, because it
    takes nothing of their kind before the person writes; at most 20."""


@runtime_checkable
class CanTellReach(Protocol):
    async def reach(self, place: Place) -> PlatformReach:
        """Return the messages that the platform takes now for the reader of a direct conversation.
        Raises a `DeliveryError`."""


@runtime_checkable
class CanNameRooms(Protocol):
    async def room_name(self, channel: str) -> str:
        """Return the present name of a room, as people see it; empty where it has none. Raises a
        `DeliveryError`."""


@dataclass(frozen=True, slots=True)
class SpaceDescription:
    """The facts that a platform tells about a workspace, or about a room where it has none."""

    title: str
    """The name; empty if it is not known."""
    description: str = ""
    """The description that its administrators wrote; empty for none."""
    administrators: tuple[str, ...] = ()
    """The names of people who administer it; empty if they are not known."""


@runtime_checkable
class CanDescribeSpaces(Protocol):
    async def describe_space(self, space: str) -> SpaceDescription:
        """Return the facts about a workspace (by its id), or about a room where the platform has no
        workspaces; with empty texts for what is unknown. Raises a `DeliveryError`."""


@runtime_checkable
class CanFetchPortraits(Protocol):
    async def portrait(self, person: str, limit: int) -> bytes:
        """Return the picture that a person (the id of an author) shows on the platform, in a small
        size, at most `limit` bytes; empty where they show none, and for an unknown person. Raises
        `BadInput` if it is larger, a `DeliveryError` if the platform does not provide it."""


@runtime_checkable
class CanLinkMessages(Protocol):
    def message_link(self, place: Place, message_id: str) -> str:
        """Return the address at which the members of a room find a message; empty where it has
        none."""


@runtime_checkable
class CanOverhear(Protocol):
    def overhears(self) -> bool:
        """Return True if the account gets messages of rooms that do not address it, as far as the
        platform told."""


@dataclass(frozen=True, slots=True)
class ThreadMessage:
    """A message of a thread as it reads now."""

    message: ChatMessage
    """The message."""
    own: bool = False
    """True if this assistant wrote it."""
    addressed: bool = False
    """True if it mentions this assistant, or replies to it."""


@dataclass(frozen=True, slots=True)
class ThreadMessages:
    """The messages of a thread before a question, without deleted ones and notices."""

    first: ThreadMessage | None = None
    """The message that began it; None if it is deleted or unknown."""
    latest: tuple[ThreadMessage, ...] = ()
    """The messages that follow it, oldest first."""
    between: int = 0
    """The number of missing messages between the two."""
    or_more: bool = False
    """True if at least so many are missing."""
    newest_missing: bool = False
    """True if later ones could not be read."""
    hidden: bool = False
    """True if the person may not read the thread's earlier messages; none are given then."""
    title: str = ""
    """The thread's name; empty where threads have none."""


@runtime_checkable
class CanReadThread(Protocol):
    async def read_thread(
        self, place: Place, person: str, before: str, most: int
    ) -> ThreadMessages:
        """Return the messages of the thread `place.thread_id` that were written before the message
        `before`, as far as the person may read them: the first one, and at most `most` of the
        latest. Raises a `DeliveryError`; its text names a permission that the account lacks, and
        the step that grants it. Nothing of it may be stored."""


REMOTE_ABILITIES: Final[tuple[type, ...]] = (
    CanType,
    CanMarkRead,
    CanFetchFiles,
    CanReact,
    CanCheckMembership,
    CanClearButtons,
    CanReadThread,
    CanShowEnd,
    CanTellReach,
)
"""Those that a process uses which holds no connection, and that its manifest has to name for it."""


class Liveness(Struct, frozen=True):
    """Shows if a connection has recently proven that it works."""

    ok: bool
    """True if the connection works."""
    detail: Unconverted = ""
    """The problem, in words; empty if it works."""
    seconds_since: float = 0.0
    """The age of the last proof, in seconds."""


@runtime_checkable
class CanCheckLiveness(Protocol):
    def alive(self) -> Liveness:
        """Return what the transport has proven: an answered ping, a finished poll. Messages of
        people are no proof: a room without messages is not a lost connection. It is called often
        and must not wait."""


@runtime_checkable
class CanReconnect(Protocol):
    async def reconnect(self) -> None:
        """Close a dead connection so that it resumes with the missed events; a restart of the
        adapter would lose them. Never raises."""


CheckCause = Literal["", "credential", "wrong_app", "permission", "unreachable"]
"""A credential that the platform refuses, or that belongs to another app; an intent, a scope or an
invitation that the app lacks; no connection. Empty: other reasons."""


class Check(Struct, frozen=True):
    """One line of `parley doctor`."""

    name: str
    """The thing that was checked, in a few words."""
    ok: bool
    """True if it is in order."""
    detail: Unconverted
    """The finding, in words. Pages show a text in the language of their reader."""
    advice: Unconverted = ""
    """The repair of a failed check; empty for one in order."""
    cause: CheckCause = ""
    """The kind of failure: `parley init` asks again for a refused credential only."""


@runtime_checkable
class CanDiagnose(Protocol):
    async def diagnose(self) -> list[Check]:
        """Check credentials, scopes and intents with the platform. Never raises."""

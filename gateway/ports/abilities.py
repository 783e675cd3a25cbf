"""The optional abilities of an adapter: it has each one whose methods it has."""

from dataclasses import dataclass
from typing import Final, Protocol, runtime_checkable

from gateway.message import Attachment, Button, Outbound, Part, Place


@runtime_checkable
class CanEdit(Protocol):
    async def edit(self, place: Place, message_id: str, part: Part) -> None:
        """Replace the text of a message of ours. Raises a `DeliveryError`."""
        ...


@runtime_checkable
class CanDelete(Protocol):
    async def delete(self, place: Place, message_id: str) -> None:
        """Delete a message of ours. Raises a `DeliveryError`."""
        ...


@runtime_checkable
class CanClearButtons(Protocol):
    async def clear_buttons(self, outbound: Outbound) -> None:
        """Take the buttons away from under the message `outbound.clears`; what it says stays.
        Raises a `DeliveryError`."""
        ...


@runtime_checkable
class CanType(Protocol):
    async def typing(self, place: Place, message_id: str) -> None:
        """Show that an answer to `message_id` is being written. Raises a `DeliveryError`."""
        ...


@runtime_checkable
class CanMarkRead(Protocol):
    async def mark_read(self, place: Place, message_id: str) -> None:
        """Show that a message was read. Raises a `DeliveryError`."""
        ...


@runtime_checkable
class CanReact(Protocol):
    async def react(self, place: Place, message_id: str, emoji: str) -> None:
        """Add a reaction (a Unicode emoji). Raises a `DeliveryError`."""
        ...

    async def unreact(self, place: Place, message_id: str, emoji: str) -> None:
        """Take our reaction back; one that is gone already is fine. Raises a `DeliveryError`."""
        ...


@runtime_checkable
class CanFetchFiles(Protocol):
    async def fetch(self, attachment: Attachment, limit: int) -> bytes:
        """The bytes of an attachment, at most `limit`. Raises `BadInput` when it is larger,
        a `DeliveryError` when the platform does not give it."""
        ...


@runtime_checkable
class CanAnswerInline(Protocol):
    async def answer_inline(self, query_id: str, suggestions: tuple[Button, ...]) -> None:
        """Offer texts to send for an inline query; `query_id` is the event's id."""
        ...


@runtime_checkable
class CanCheckMembership(Protocol):
    async def is_member(self, space: str, person: str) -> bool:
        """True when this person is a full member of a space now: a workspace's id, or a room's
        where the platform has no workspaces. False for guests, for people of another company, and
        for everybody where the bot itself was removed. Raises a `DeliveryError` when the platform
        does not say."""
        ...


REMOTE_ABILITIES: Final[tuple[type, ...]] = (
    CanType,
    CanMarkRead,
    CanFetchFiles,
    CanReact,
    CanCheckMembership,
    CanClearButtons,
)
"""Those that a process uses which holds no connection, and that its manifest has to name for it."""


@dataclass(frozen=True, slots=True)
class Liveness:
    """The state of a connection by its last proof that it works. `detail` says in words what is
    wrong, `seconds_since` how long ago the proof was."""

    ok: bool
    detail: str = ""
    seconds_since: float = 0.0


@runtime_checkable
class CanCheckLiveness(Protocol):
    def alive(self) -> Liveness:
        """The last proof by the transport itself: an answered ping, a finished poll. Never what
        people write: a quiet room is no deaf socket. Asked often, must not wait."""
        ...


@runtime_checkable
class CanReconnect(Protocol):
    async def reconnect(self) -> None:
        """Cut a deaf connection so that it resumes with what it missed; a restart of the adapter
        would lose that. Never raises."""
        ...


@dataclass(frozen=True, slots=True)
class Check:
    """One line of `parley doctor`. `advice` says what to do when it is not ok."""

    name: str
    ok: bool
    detail: str
    advice: str = ""


@runtime_checkable
class CanDiagnose(Protocol):
    async def diagnose(self) -> list[Check]:
        """Ask the platform whether credentials, scopes and intents are right. Never raises."""
        ...

"""Messages that the assistant writes first, while they wait for their time."""

from datetime import datetime

from msgspec import Struct

from gateway.message import Notice
from gateway.policy.proactive import Kind


class PendingNotice(Struct, frozen=True):
    """A message that nobody's message asks for now. A `notice` in a room is read by everybody
    there; its `person` is the one on whose behalf it is written. Its `buttons_until` ends its use.
    """

    tenant: str
    key: str
    """The same whenever this message is made again, and unique among all sends."""
    notice: Notice
    kind: Kind = "notice"
    asked_for: datetime | None = None
    """The time for which the person asked; None for a time that nobody named."""
    as_member: bool = False
    """True if the person was a full member of the workspace or room when they asked for it, and
    gets it only while they still are."""


class WaitingNotice(Struct, frozen=True):
    """A stored message. `reason` is the code of the latest decision; `batch` names the messages
    that are sent as one, empty before that."""

    pending: PendingNotice
    reason: str
    at: datetime
    """The time at which it was to be sent first."""
    batch: str = ""

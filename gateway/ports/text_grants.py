"""Grants of a text: an operator may read the private text of somebody else, for a short time."""

from datetime import datetime

from msgspec import Struct


class TextGrant(Struct, frozen=True):
    """A permission that an operator took in an emergency ("break glass"). `operator` and `person`
    are `str(PersonId)`: who reads, and whose text it is. `subject` is a conversation as a
    `str(ConversationKey)`, or the id of a memory. `reason` is what the operator wrote."""

    id: str
    tenant: str
    operator: str
    person: str
    subject: str
    since: datetime
    until: datetime
    reason: str = ""

"""Secrets of recent messages in a conversation, kept in this process's memory only.

They serve to recognise copies of a secret in later messages, and the second half of a secret that
is split over two messages. They are never stored, and other processes do not know them.
"""

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final

MAX_CONVERSATIONS: Final = 1_000
MAX_SECRETS: Final = 20
"""Secrets of one conversation; the oldest are dropped first."""
MAX_SECRET: Final = 400
MAX_AUTHORS: Final = 20
MAX_LAST: Final = 4_000
"""Characters of a last message that can be redacted once its other half is known."""
VALID_FOR: Final = timedelta(hours=24)
"""The time for which a conversation's history is shown to the model."""
LAST_FOR: Final = timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class LastMessage:
    """The last message of one author, as it was stored."""

    message_id: str
    text: str
    at: datetime


@dataclass(slots=True)
class _Said:
    secrets: "OrderedDict[str, tuple[datetime, str]]" = field(default_factory=OrderedDict)
    last: "OrderedDict[str, LastMessage]" = field(default_factory=OrderedDict)


class RecentSecrets:
    """Recent secrets and last messages, bounded in conversations, secrets, authors and time."""

    def __init__(self) -> None:
        self._said: OrderedDict[str, _Said] = OrderedDict()

    def of(self, conversation: str, now: datetime) -> tuple[str, ...]:
        """Return the secrets of a conversation, oldest first."""
        recent = self._said.get(conversation)
        if recent is None or not recent.secrets:
            return ()
        return tuple(one for one, (at, _) in recent.secrets.items() if now - at <= VALID_FOR)

    def last_words(self, conversation: str, person: str, now: datetime) -> LastMessage | None:
        """Return the last message of this person in a conversation."""
        recent = self._said.get(conversation)
        last = recent.last.get(person) if recent is not None else None
        return last if last is not None and now - last.at <= LAST_FOR else None

    def add(
        self, conversation: str, secrets: tuple[str, ...], now: datetime, person: str = ""
    ) -> None:
        """Remember secrets that a person (a `str(PersonId)`) wrote in a conversation."""
        if not secrets:
            return
        kept = self._opened(conversation).secrets
        for secret in secrets:
            if len(secret) <= MAX_SECRET:
                kept[secret] = now, person
                kept.move_to_end(secret)
        while len(kept) > MAX_SECRETS:
            kept.popitem(last=False)

    def said(self, conversation: str, person: str, last: LastMessage) -> None:
        """Remember the last message of a person, if it is short enough to be half of a secret."""
        authors = self._opened(conversation).last
        authors.pop(person, None)
        if len(last.text) <= MAX_LAST:
            authors[person] = last
        while len(authors) > MAX_AUTHORS:
            authors.popitem(last=False)

    def forget(self, conversation: str) -> None:
        """Forget a conversation, because its history was deleted."""
        self._said.pop(conversation, None)

    def forget_person(self, conversation: str, person: str) -> None:
        """Forget everything that this person wrote in a conversation."""
        recent = self._said.get(conversation)
        if recent is None:
            return
        recent.last.pop(person, None)
        for secret in [one for one, (_, by) in recent.secrets.items() if by == person]:
            del recent.secrets[secret]

    async def export(self, tenant: str, persons: Sequence[str]) -> list[dict[str, object]]:
        """Return an empty list: a secret is never shown again and expires after a day."""
        del tenant, persons
        return []

    async def erase(self, tenant: str, persons: Sequence[str], turn_id: str = "") -> int:
        """Forget the secrets of these persons in all conversations; returns 0, because no row is
        deleted."""
        del tenant, turn_id
        for recent in self._said.values():
            matches = [
                secret for secret, (_, person) in recent.secrets.items() if person in persons
            ]
            for secret in matches:
                del recent.secrets[secret]
            for person in persons:
                recent.last.pop(person, None)
        return 0

    def _opened(self, conversation: str) -> _Said:
        recent = self._said.get(conversation)
        if recent is not None:
            self._said.move_to_end(conversation)
            return recent
        recent = self._said[conversation] = _Said()
        while len(self._said) > MAX_CONVERSATIONS:
            self._said.popitem(last=False)
        return recent

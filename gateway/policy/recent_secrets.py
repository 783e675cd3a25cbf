"""Secrets that were said in a conversation a little while ago, in this process's memory alone.

With them a copy of a secret is recognised in a later message, and the second half of one that is
split over two. Nothing of this is ever stored; other processes do not know it.
"""

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final

MAX_CONVERSATIONS: Final = 1_000
MAX_SECRETS: Final = 20
"""Secrets of one conversation; the oldest go first."""
MAX_SECRET: Final = 400
MAX_AUTHORS: Final = 20
MAX_LAST: Final = 4_000
"""Characters of a message that can be mended once its other half is known."""
VALID_FOR: Final = timedelta(hours=24)
"""As long as a conversation's history is shown to the model."""
LAST_FOR: Final = timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class LastMessage:
    """The last message of one author, as it was kept."""

    message_id: str
    text: str
    at: datetime


@dataclass(slots=True)
class _Said:
    secrets: "OrderedDict[str, tuple[datetime, str]]" = field(default_factory=OrderedDict)
    last: "OrderedDict[str, LastMessage]" = field(default_factory=OrderedDict)


class RecentSecrets:
    """Bounded in conversations, secrets, authors and time."""

    def __init__(self) -> None:
        self._said: OrderedDict[str, _Said] = OrderedDict()

    def of(self, conversation: str, now: datetime) -> tuple[str, ...]:
        """The secrets of a conversation, oldest first."""
        said = self._said.get(conversation)
        if said is None or not said.secrets:
            return ()
        return tuple(one for one, (at, _) in said.secrets.items() if now - at <= VALID_FOR)

    def last_words(self, conversation: str, person: str, now: datetime) -> LastMessage | None:
        """The last message that this person wrote here."""
        said = self._said.get(conversation)
        last = said.last.get(person) if said is not None else None
        return last if last is not None and now - last.at <= LAST_FOR else None

    def add(
        self, conversation: str, secrets: tuple[str, ...], now: datetime, person: str = ""
    ) -> None:
        """Remember secrets of a conversation that a person (a `str(PersonId)`) told."""
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
        """Remember the last message of a person, if it is short enough to be one half."""
        authors = self._opened(conversation).last
        authors.pop(person, None)
        if len(last.text) <= MAX_LAST:
            authors[person] = last
        while len(authors) > MAX_AUTHORS:
            authors.popitem(last=False)

    def forget(self, conversation: str) -> None:
        """The conversation's history was deleted."""
        self._said.pop(conversation, None)

    def forget_person(self, conversation: str, person: str) -> None:
        """Nothing that this person said in a conversation is to be remembered."""
        said = self._said.get(conversation)
        if said is None:
            return
        said.last.pop(person, None)
        for secret in [one for one, (_, by) in said.secrets.items() if by == person]:
            del said.secrets[secret]

    async def export(self, tenant: str, persons: Sequence[str]) -> list[dict[str, object]]:
        """Nothing: a secret is shown to nobody again, and is gone after a day."""
        del tenant, persons
        return []

    async def erase(self, tenant: str, persons: Sequence[str], exchange: str = "") -> int:
        """Forget what these persons told in any conversation; 0, because no row goes."""
        del tenant, exchange
        for said in self._said.values():
            told = [one for one, (_, person) in said.secrets.items() if person in persons]
            for one in told:
                del said.secrets[one]
            for person in persons:
                said.last.pop(person, None)
        return 0

    def _opened(self, conversation: str) -> _Said:
        said = self._said.get(conversation)
        if said is not None:
            self._said.move_to_end(conversation)
            return said
        said = self._said[conversation] = _Said()
        while len(self._said) > MAX_CONVERSATIONS:
            self._said.popitem(last=False)
        return said

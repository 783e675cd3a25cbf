"""Redaction of the text that is stored as conversation history: secrets are removed.

The model reads the current turn as it was written; the stored text, and so every later turn, backup
and export, holds no password and no key. Pure.
"""

from collections import OrderedDict
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import lru_cache
from itertools import pairwise
from typing import Final

from msgspec import Struct

from gateway.immutable import replace
from gateway.message import MAX_CONTENT
from safety.secret_detection.detect import (
    find_secrets,
    may_hold_token,
    may_label,
    redact_and_cut,
    redact_secrets,
    secret_of,
)
from safety.secret_detection.kinds import Level, SecretFinding
from safety.unicode import REDACTED, cut

JOINED: Final = 2_000
"""Characters at the border of two neighbouring messages that are searched as one text."""
MAX_READ: Final = MAX_CONTENT + 4_000
"""Characters of a message that are searched: a secret at the cut is removed whole."""
MIN_DISTINCT: Final = 10
"""A run of characters with fewer distinct ones ("aaaa…") is not treated as a key."""
MAX_NAME: Final = 200
"""Characters of a name that are kept."""
MAX_NAMES: Final = 1_000
"""Names for which the result of the search is cached."""


class RedactedMessages(Struct, frozen=True):
    """Messages of one author as they are stored. `earlier` is the author's previous message, if
    these messages show that a part of it was a secret, otherwise None. `secrets` are the secrets
    found, `possible` the candidates; both stay in the process's memory and are never stored."""

    texts: tuple[str, ...]
    secrets: tuple[str, ...] = ()
    possible: tuple[str, ...] = ()
    earlier: str | None = None


def redact_for_history(text: str, known: Sequence[str] = ()) -> str:
    """Return the text without definite and probable secrets and without copies of the `known` ones,
    at most `MAX_CONTENT` characters."""
    return redact_and_cut(text, MAX_CONTENT, known)


def redact_name(name: str) -> str:
    """Return a person's name as it is stored and shown to the model, without secrets."""
    if not name or (len(name) <= MAX_NAME and _is_plain(name)):
        return name
    return redact_and_cut(name, MAX_NAME)


@lru_cache(MAX_NAMES)
def _is_plain(name: str) -> bool:
    """Return True if a name holds no secret. Cached, because the same people write again and
    again."""
    return redact_secrets(name).text == name


def redact_messages(
    texts: Sequence[str], known: Sequence[str] = (), earlier: str = ""
) -> RedactedMessages:
    """Redact the messages of one author, oldest first: secrets, halves of a secret that is split
    over two messages, and candidates. `earlier` is the end of the author's previous message."""
    given = [earlier, *[text[:MAX_READ] for text in texts]]
    parts: list[list[tuple[int, int]]] = [[] for _ in given]
    secrets: list[str] = []
    possible: list[str] = []
    for index, text in enumerate(given[1:], start=1):
        for one in find_secrets(text, known):
            secret = secret_of(text, one)
            if _is_sure(one):
                secrets.append(secret)
            elif len(set(secret)) >= MIN_DISTINCT:
                possible.append(secret)
                parts[index].append((one.start, one.end))
    halves = [
        (index, *half)
        for index, (first, second) in enumerate(pairwise(given))
        for half in (_split(first, second) if first and second else ())
    ]
    if not (secrets or possible or halves):
        return RedactedMessages(tuple(cut(text, MAX_CONTENT) for text in given[1:]))
    for index, before, after, secret in halves:
        parts[index].append(before)
        parts[index + 1].append(after)
        secrets.append(secret)
    all_known = (*known, *secrets)
    left = [_without(text, spans) for text, spans in zip(given, parts, strict=True)]
    return RedactedMessages(
        tuple(redact_for_history(text, all_known) for text in left[1:]),
        tuple(dict.fromkeys(secrets)),
        tuple(dict.fromkeys(possible)),
        left[0] if left[0] != earlier else None,
    )


def _split(first: str, second: str) -> list[tuple[tuple[int, int], tuple[int, int], str]]:
    """Find secrets that begin in the first text and end in the second; return their places in
    both."""
    end = len(first.rstrip())
    begin = len(second) - len(second.lstrip())
    tail, head = first[max(0, end - JOINED) : end], second[begin : begin + JOINED]
    halves: list[tuple[tuple[int, int], tuple[int, int], str]] = []
    for between in ("", "\n"):
        joined = f"{tail}{between}{head}"
        if not (may_label(tail) if between else may_hold_token(joined)):
            continue
        border, offset = len(tail), len(tail) + len(between)
        for one in find_secrets(joined):
            if not _is_sure(one) or one.end <= offset or not _crosses(one, border, between):
                continue
            start = min(one.start, border)
            places = (end - len(tail) + start, end), (begin, begin + one.end - offset)
            if between:
                places = (end, end), (begin + max(0, one.start - offset), begin + one.end - offset)
            halves.append((*places, secret_of(joined, one)))
    return halves


def _crosses(finding: SecretFinding, border: int, between: str) -> bool:
    """Return True if a secret exists only when both texts are read together: a token that
    continues, or a password in the message after its announcement."""
    if between:
        return finding.start >= border and finding.kind.level is Level.PROBABLE
    return (finding.start < border and finding.kind.name in _IN_PARTS) or (
        finding.start < border and finding.kind.level is Level.DEFINITE
    )


_IN_PARTS: Final = frozenset({"shaped_key", "bare_aws_secret", "wallet_key", "card_number"})


def _is_sure(finding: SecretFinding) -> bool:
    return finding.kind.level is not Level.POSSIBLE


def _without(text: str, spans: Sequence[tuple[int, int]]) -> str:
    """Replace each span of the text by a mark; overlapping spans are joined."""
    pieces: list[str] = []
    done = 0
    for start, end in sorted(spans):
        if start >= end or end <= done:
            continue
        if start >= done:
            pieces += (text[done:start], REDACTED)
        done = end
    return "".join((*pieces, text[done:]))


MAX_CONVERSATIONS: Final = 1_000
MAX_SECRETS: Final = 20
"""Secrets of one conversation; the oldest are dropped first."""
MAX_SECRET: Final = 400
"""Characters of a secret that are remembered: a copy is recognised by its beginning."""
MAX_AUTHORS: Final = 20
MAX_LAST: Final = 4_000
"""Characters of a last message that can be redacted once its other half is known."""
VALID_FOR: Final = timedelta(hours=24)
"""The time for which a conversation's history is shown to the model."""
LAST_FOR: Final = timedelta(hours=1)


class LastMessage(Struct, frozen=True):
    """The last message of one author, as it was stored. `before` is the one before it, for a
    repeated attempt to store the last one."""

    message_id: str
    text: str
    at: datetime
    before: "LastMessage | None" = None


@dataclass(slots=True)
class _Recent:
    secrets: "OrderedDict[str, tuple[datetime, str]]" = field(default_factory=OrderedDict)
    last: "OrderedDict[str, LastMessage]" = field(default_factory=OrderedDict)


class RecentSecrets:
    """Recent secrets and last messages, bounded in conversations, secrets, authors and time."""

    def __init__(self) -> None:
        self._conversations: OrderedDict[str, _Recent] = OrderedDict()

    def of(self, conversation: str, now: datetime) -> tuple[str, ...]:
        """Return the secrets of a conversation, oldest first."""
        recent = self._conversations.get(conversation)
        if recent is None or not recent.secrets:
            return ()
        return tuple(one for one, (at, _) in recent.secrets.items() if now - at <= VALID_FOR)

    def last_words(
        self, conversation: str, person: str, now: datetime, ids: Collection[str] = ()
    ) -> LastMessage | None:
        """Return the last message of this person in a conversation, without those with these
        ids."""
        recent = self._conversations.get(conversation)
        last = recent.last.get(person) if recent is not None else None
        if last is not None and last.message_id in ids:
            last = last.before
        return last if last is not None and now - last.at <= LAST_FOR else None

    def add(
        self, conversation: str, secrets: tuple[str, ...], now: datetime, person: str = ""
    ) -> None:
        """Remember secrets that a person (a `str(PersonId)`) wrote in a conversation."""
        if not secrets:
            return
        kept = self._opened(conversation).secrets
        for secret in secrets:
            beginning = secret[:MAX_SECRET]
            kept[beginning] = now, person
            kept.move_to_end(beginning)
        while len(kept) > MAX_SECRETS:
            kept.popitem(last=False)

    def add_message(self, conversation: str, person: str, last: LastMessage) -> None:
        """Remember the last message of a person, if it is short enough to be half of a secret."""
        authors = self._opened(conversation).last
        before = authors.pop(person, None)
        if before is not None:
            repeated = before.message_id == last.message_id
            before = before.before if repeated else replace(before, before=None)
        if len(last.text) <= MAX_LAST:
            authors[person] = replace(last, before=before)
        while len(authors) > MAX_AUTHORS:
            authors.popitem(last=False)

    def forget(self, conversation: str) -> None:
        """Forget a conversation, because its history was deleted."""
        self._conversations.pop(conversation, None)

    def forget_person(self, conversation: str, person: str) -> None:
        """Forget everything that this person wrote in a conversation."""
        recent = self._conversations.get(conversation)
        if recent is None:
            return
        recent.last.pop(person, None)
        for secret in [one for one, (_, by) in recent.secrets.items() if by == person]:
            del recent.secrets[secret]

    async def export(self, tenant: str, persons: Sequence[str]) -> list[dict[str, object]]:
        """Return an empty list: a secret is never shown again and expires after a day."""
        del tenant, persons
        return []

    async def count(self, tenant: str, persons: Sequence[str]) -> list[tuple[str, int]]:
        """Return an empty list, as `export` does."""
        del tenant, persons
        return []

    async def erase(self, tenant: str, persons: Sequence[str], turn_id: str = "") -> int:
        """Forget the secrets of these persons in all conversations; returns 0, because no row is
        deleted."""
        del tenant, turn_id
        for recent in self._conversations.values():
            matches = [
                secret for secret, (_, person) in recent.secrets.items() if person in persons
            ]
            for secret in matches:
                del recent.secrets[secret]
            for person in persons:
                recent.last.pop(person, None)
        return 0

    def _opened(self, conversation: str) -> _Recent:
        recent = self._conversations.get(conversation)
        if recent is not None:
            self._conversations.move_to_end(conversation)
            return recent
        recent = self._conversations[conversation] = _Recent()
        while len(self._conversations) > MAX_CONVERSATIONS:
            self._conversations.popitem(last=False)
        return recent

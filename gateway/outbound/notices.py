"""Messages to people who did not write just now: rendered, addressed and queued in the outbox.

They follow at once from what their reader did, on another account for example; other messages that
the assistant writes first go through `gateway/turn/proactive.py`. A platform may refuse such a
message (WhatsApp after 24 hours, a blocked bot); it then becomes a dead letter, as any send that is
given up.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TypeAlias

from gateway.message import Notice, Outbound, Reply
from gateway.outbound.deliverer import Deliverer
from gateway.people import Audience
from gateway.platforms import ConnectedAccount
from gateway.ports.queues import Outbox
from gateway.render import address, render_with, with_commands
from gateway.text import ENGLISH, Language

LanguageOf: TypeAlias = Callable[[Notice], Awaitable[Language]]
"""Returns the language of the reader of a notice."""


async def in_english(_notice: Notice) -> Language:
    """Return English, where nothing is known of people."""
    return ENGLISH


async def addressed(
    group: str,
    notices: Sequence[Notice],
    connected: Mapping[tuple[str, str], ConnectedAccount],
    language_of: LanguageOf = in_english,
) -> tuple[Outbound, ...]:
    """Return the sends of these notices, under keys that begin with `group`. A notice is left out
    if its account is not configured, or if more than one person reads its place."""
    sends: list[Outbound] = []
    for number, notice in enumerate(notices):
        account = connected.get((notice.place.platform, notice.place.account))
        if account is None or notice.place.audience is not Audience.DIRECT:
            continue
        sends += sends_of(notice_key(group, number), notice, account, await language_of(notice))
    return tuple(sends)


def notice_key(group: str, number: int) -> str:
    """Return the name of one notice of a group."""
    return f"{group}:notice-{number}"


def sends_of(
    key: str, notice: Notice, account: ConnectedAccount, language: Language
) -> tuple[Outbound, ...]:
    """Return the sends of one notice for readers of this language."""
    shows = account.manifest.capabilities.max_buttons >= len(notice.buttons)
    until = notice.buttons_until if shows else None
    said = Reply(notice.markdown, notice.buttons if shows else (), buttons_until=until)
    reply = said.shown(language)
    markdown = with_commands(reply.markdown, account.manifest.capabilities)
    parts = render_with(account.renderer, markdown)
    return address(key, notice.place, parts, reply, person=notice.person)


class NoticeSender:
    """Sends notices that no answer carries."""

    def __init__(
        self,
        outbox: Outbox,
        deliverer: Deliverer,
        connected: Mapping[tuple[str, str], ConnectedAccount],
        language_of: LanguageOf = in_english,
    ) -> None:
        self._language_of = language_of
        self._outbox = outbox
        self._deliverer = deliverer
        self._connected = connected

    async def send(self, group: str, notices: Sequence[Notice]) -> None:
        """Queue notices; the same `group` again queues nothing twice. Raises `StoreUnavailable`."""
        sends = await addressed(group, notices, self._connected, self._language_of)
        if sends:
            await self._outbox.add(sends)
            self._deliverer.submit(sends)

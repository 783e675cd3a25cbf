"""Ends links that were not confirmed in time, and tells both sides."""

from collections.abc import Awaitable, Callable
from typing import Final

from gateway.outbound.notices import NoticeSender
from memory.commands.link import expired
from memory.service.links import Links

LINKS_EVERY: Final = 20.0
"""Seconds between two looks for links whose time is over."""


def expiring(links: Links, notices: NoticeSender) -> Callable[[], Awaitable[int]]:
    """A chore that ends some of them; it returns how many."""

    async def expire() -> int:
        ended = await links.expire()
        for request in ended:
            await notices.send(f"link-{request.id}-expired", expired(request))
        return len(ended)

    return expire

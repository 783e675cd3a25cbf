"""Asks the platforms for the facts about a project's workspace or room, from which its first
description is made."""

import asyncio
from collections.abc import Mapping
from typing import Final

import structlog

from gateway.errors import DeliveryError
from gateway.immutable import replace
from gateway.platforms import ConnectedAccount
from gateway.ports import SpaceDescription
from safety.unicode import cut, safe_unicode

ASK_SECONDS: Final = 1.5
"""The time limit of a platform's answer; the first person of a project waits for it once."""
MAX_TITLE: Final = 200
MAX_DESCRIPTION: Final = 1_000
"""Characters that are kept."""
MAX_ADMINISTRATORS: Final = 10
"""Administrators that are named."""
log = structlog.get_logger(__name__)


class SpaceDescriptions:
    """Describes projects over the connected accounts."""

    def __init__(self, connected: Mapping[tuple[str, str], ConnectedAccount]) -> None:
        self._connected = connected

    async def of(self, project: str) -> SpaceDescription | None:
        """Return the facts about "platform:account:workspace or room", each in one line; None if
        the platform does not tell them in time. Never raises."""
        platform, _, rest = project.partition(":")
        account, _, space = rest.partition(":")
        connected = self._connected.get((platform, account))
        if connected is None or connected.spaces is None or not space:
            return None
        try:
            async with asyncio.timeout(ASK_SECONDS):
                about = await connected.spaces.describe_space(space)
        except (DeliveryError, TimeoutError) as error:
            log.info("space_not_described", platform=platform, error=str(error))
            return None
        except Exception:
            log.exception("space_description_failed", platform=platform)
            return None
        named = (_line(name, MAX_TITLE) for name in about.administrators[:MAX_ADMINISTRATORS])
        return replace(
            about,
            title=_line(about.title, MAX_TITLE),
            description=_line(about.description, MAX_DESCRIPTION),
            administrators=tuple(name for name in named if name),
        )


def _line(text: str, most: int) -> str:
    return cut(" ".join(safe_unicode(text[: 4 * most]).split()), most)

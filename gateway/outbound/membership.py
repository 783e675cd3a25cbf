"""Asks the platforms if a person still belongs to a project's workspace or room.

A platform's event about a departure can be lost, or is not sent at all (Discord needs the members
intent), so membership is checked when it is used.
"""

import asyncio
from collections.abc import Mapping
from datetime import timedelta
from typing import Final

import structlog

from db.errors import StoreUnavailable
from gateway.errors import DeliveryError
from gateway.latest import Latest
from gateway.platforms import ConnectedAccount
from gateway.ports import Clock, MembershipStatus

ASK_SECONDS: Final = 3.0
"""The time limit of a platform's answer; the person waits for an answer meanwhile."""
BELIEVED_FOR: Final = timedelta(minutes=1)
"""The time for which a confirmed membership is cached. Without an event, a removed person keeps
access to a project for at most this time; a person who writes constantly costs one request a
minute."""
DOUBTED_FOR: Final = timedelta(seconds=30)
"""The time for which a platform that did not answer is not asked again about the same person."""
MAX_ANSWERS: Final = 10_000
log = structlog.get_logger(__name__)


class PlatformMembership:
    """Implements `MembershipCheck` over the connected accounts, with a bounded cache.

    A departure is not cached: a person who is seen again is a member again at once.
    """

    def __init__(self, connected: Mapping[tuple[str, str], ConnectedAccount], clock: Clock) -> None:
        self._connected = connected
        self._clock = clock
        self._answers: Latest[tuple[str, str], tuple[float, MembershipStatus]] = Latest(MAX_ANSWERS)

    async def belongs(self, person: str, project: str) -> MembershipStatus:
        """Ask the platform, or use its cached answer."""
        key, now = (person, project), self._clock.monotonic()
        until, known = self._answers.get(key, (0.0, MembershipStatus.UNKNOWN))
        if now < until:
            return known
        status = await self._ask(person, project)
        self._answers.pop(key, None)
        if status is not MembershipStatus.GONE:
            lasts = BELIEVED_FOR if status is MembershipStatus.MEMBER else DOUBTED_FOR
            self._answers[key] = (self._clock.monotonic() + lasts.total_seconds(), status)
        return status

    async def _ask(self, person: str, project: str) -> MembershipStatus:
        where, whose = project.split(":", 2), person.split(":", 2)
        if len(where) != 3 or len(whose) != 3 or where[:2] != whose[:2]:
            return MembershipStatus.UNKNOWN
        connected = self._connected.get((where[0], where[1]))
        if connected is None or connected.members is None:
            return MembershipStatus.UNKNOWN
        try:
            async with asyncio.timeout(ASK_SECONDS):
                there = await connected.members.is_member(where[2], whose[2])
        except (DeliveryError, StoreUnavailable, TimeoutError) as error:
            log.warning("membership_unknown", platform=where[0], error=str(error) or "too slow")
            return MembershipStatus.UNKNOWN
        except Exception:
            log.exception("membership_check_failed", platform=where[0])
            return MembershipStatus.UNKNOWN
        return MembershipStatus.MEMBER if there else MembershipStatus.GONE

"""Audit of security-relevant events: in the program's own log, then in an audit logger of an
extension, which may fail without any effect."""

import asyncio
from collections.abc import Mapping

import structlog

from gateway.extensions import EXTENSION_SECONDS
from gateway.message import Place
from gateway.people import PersonId, Principal
from gateway.policy.decision import Decision
from gateway.ports import ToolAnswer, ToolProvider, ToolSpec
from gateway.ports.observer import SecurityEvent
from gateway.turn.services import Services
from gateway.turn.turn_context import TurnContext

log = structlog.get_logger(__name__)


async def audit(event: str, turn: TurnContext, services: Services, decision: Decision) -> None:
    """Record a security-relevant event of a turn whose principal is known."""
    who = turn.asker.who
    await audit_of(event, who.tenant, who.person, turn.place, services, decision)


async def audit_of(
    event: str,
    tenant: str,
    person: PersonId,
    place: Place,
    services: Services,
    decision: Decision,
) -> None:
    """Record a security-relevant event of this person in this place. Never raises."""
    channel = f"{place.platform}:{place.account}:{place.channel_id}"
    services.security.note(SecurityEvent(event, decision.reason, tenant, str(person), channel))
    if not services.extensions.audits:
        return
    try:
        async with asyncio.timeout(EXTENSION_SECONDS):
            await services.extensions.audit_logger.audit(event, person, place, decision)
    except Exception:
        log.exception("audit_failed", event_name=event)


class AuditedTools:
    """Tools whose calls with side effects are recorded before they run.

    They know the principal and the place, not the turn: the turn holds them, and a cycle would keep
    everything that a turn read until the next collection of garbage.
    """

    def __init__(
        self, tools: ToolProvider, who: Principal, place: Place, services: Services
    ) -> None:
        self._tools = tools
        self._who = who
        self._place = place
        self._services = services
        self._only_read: frozenset[str] = frozenset()
        self.acted = False
        """True after a call with side effects."""

    async def tools(self) -> tuple[ToolSpec, ...]:
        """The tools on offer. Raises `ToolError`."""
        offered = await self._tools.tools()
        self._only_read = frozenset(spec.name for spec in offered if not spec.side_effects)
        return offered

    async def call(self, name: str, arguments: Mapping[str, object]) -> ToolAnswer:
        if name not in self._only_read:
            self.acted = True
            who, decision = self._who, Decision("tool", True, name)
            await audit_of(
                "tool_used", who.tenant, who.person, self._place, self._services, decision
            )
        return await self._tools.call(name, arguments)

    async def close(self) -> None:
        """Leave the tools open: they outlive the turn."""

"""May they, and not too often? The stages before anything costs money."""

import asyncio

import structlog

from gateway.exchange import Exchange
from gateway.extensions import EXTENSION_SECONDS
from gateway.message import Place
from gateway.people import PersonId, Principal, Role
from gateway.policy.access import decide_access
from gateway.policy.decision import Decision
from gateway.policy.rate_limits import rules_for
from gateway.policy.roles import role_of
from gateway.services import Services

log = structlog.get_logger(__name__)


async def identify(exchange: Exchange, services: Services) -> Decision:
    """Find out on whose behalf this runs."""
    author = exchange.last.author
    person = exchange.last.person
    role = role_of(person, services.policies.roles, aliases=author.aliases)
    exchange.principal = Principal(exchange.key.tenant, person, role)
    return Decision("identity", True, role.value)


async def guard_loops(exchange: Exchange, services: Services) -> Decision:
    """Notice two bots that answer each other."""
    return services.loop_guard.check(
        str(exchange.key.room),
        by_bot=exchange.last.author.is_bot,
        now=services.clock.monotonic(),
    )


async def check_access(exchange: Exchange, services: Services) -> Decision:
    """Whether this person is served here."""
    who, aliases = exchange.who, exchange.last.author.aliases
    return await access_of(who.person, who.role, exchange.place, aliases, services)


async def access_of(
    person: PersonId, role: Role, place: Place, aliases: tuple[str, ...], services: Services
) -> Decision:
    """The operator's lists, then whatever gate was plugged in; a gate that fails denies."""
    decision = decide_access(
        person,
        place,
        services.policies.access,
        aliases=aliases,
        trusted=role.at_least(Role.OPERATOR),
    )
    if not decision.allowed or not services.extensions.controls_access:
        return decision
    try:
        async with asyncio.timeout(EXTENSION_SECONDS):
            further = await services.extensions.access_controller.check_access(person, place)
    except Exception as error:
        log.exception("access_controller_failed")
        return Decision("access", False, "controller_failed", type(error).__name__)
    return decision if further.allowed else further


async def check_limits(exchange: Exchange, services: Services) -> Decision:
    """Three buckets: each message takes a token from all of them, or from none."""
    rules = rules_for(exchange.who.person, exchange.place, services.policies.limits)
    if not rules:
        return Decision("limits", True, "no_limits")
    taken = await services.stores.buckets.take(rules, services.clock.now().timestamp())
    return taken.decision()

"""May they, and not too often? The stages before anything costs money."""

import asyncio

import structlog

from gateway.exchange import Exchange
from gateway.extensions import EXTENSION_SECONDS
from gateway.message import Place
from gateway.people import KnownIds, PersonId, Principal, Role
from gateway.policy.access import decide_access
from gateway.policy.decision import Decision
from gateway.policy.rate_limits import rules_for, sender_key
from gateway.policy.roles import role_of
from gateway.services import Services
from gateway.stages.identities import blocked_by_link
from gateway.stages.sharing import with_sharing

log = structlog.get_logger(__name__)


async def identify(exchange: Exchange, services: Services) -> Decision:
    """Find out on whose behalf this runs."""
    author = exchange.last.author
    person = exchange.last.person
    outside = author.outside or author.is_bot
    role = role_of(person, services.policies.roles, aliases=author.aliases, outside=outside)
    exchange.principal = Principal(exchange.key.tenant, person, role, outside)
    return Decision("identity", True, role.value, "outside" if outside else "")


async def guard_loops(exchange: Exchange, services: Services) -> Decision:
    """Notice two bots that answer each other."""
    return services.loop_guard.check(
        str(exchange.key.room),
        by_bot=exchange.last.author.is_bot,
        now=services.clock.monotonic(),
    )


async def check_access(exchange: Exchange, services: Services) -> Decision:
    """Whether this person is served here."""
    author = exchange.last.author
    known = KnownIds(author.aliases, author.former)
    return await served(exchange.who, exchange.place, known, services)


async def served(who: Principal, place: Place, known: KnownIds, services: Services) -> Decision:
    """Decide on access, in a chat or over HTTP. `known` are further ids of the person.

    A block of one identity holds for every identity that is linked with it.
    """
    decision = await access_of(
        who.person, who.role, place, known.current, services, former=known.former
    )
    if not (decision.allowed and services.policies.access.blocked_users):
        return decision
    return await blocked_by_link(who, services) or decision


async def access_of(
    person: PersonId,
    role: Role,
    place: Place,
    aliases: tuple[str, ...],
    services: Services,
    *,
    former: tuple[str, ...] = (),
) -> Decision:
    """The operator's lists, then whatever gate was plugged in; a gate that fails denies."""
    decision = decide_access(
        person,
        place,
        services.policies.access,
        aliases=aliases,
        former=former,
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
    """Each message takes a token from all buckets that it has to pass, or from none."""
    who = exchange.who
    human = await services.humans.human(who.tenant, who.person)
    exchange.sender = sender_key(human, exchange.last.author, exchange.place)
    rules = rules_for(who.tenant, exchange.sender, exchange.place, services.policies.limits)
    if not rules:
        return Decision("limits", True, "no_limits")
    taken = await services.stores.buckets.take(rules, services.clock.now().timestamp())
    return await with_sharing(taken.decision(), exchange, services)

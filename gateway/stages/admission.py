"""May they, and not too often? The stages before anything costs money."""

from gateway.exchange import Exchange
from gateway.people import Principal, Role
from gateway.policy.access import decide_access
from gateway.policy.decision import Decision
from gateway.policy.rate_limits import rules_for
from gateway.policy.roles import role_of
from gateway.services import Services


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
        str(exchange.key),
        by_bot=exchange.last.author.is_bot,
        now=services.clock.monotonic(),
    )


async def check_access(exchange: Exchange, services: Services) -> Decision:
    """The operator's lists, then whatever gate was plugged in; a gate that fails denies."""
    who = exchange.who
    decision = decide_access(
        who.person,
        exchange.place,
        services.policies.access,
        aliases=exchange.last.author.aliases,
        trusted=who.role.at_least(Role.OPERATOR),
    )
    if decision.allowed:
        try:
            further = await services.extensions.access_controller.check_access(
                who.person, exchange.place
            )
        except Exception as error:  # noqa: BLE001 - somebody else's code; unsure means no
            further = Decision("access", False, "controller_failed", type(error).__name__)
        decision = decision if further.allowed else further
    if not decision.allowed:
        await services.extensions.audit_logger.audit(
            "access_denied", who.person, exchange.place, decision
        )
    return decision


async def check_limits(exchange: Exchange, services: Services) -> Decision:
    """Three buckets: each message takes a token from all of them, or from none."""
    rules = rules_for(exchange.who.person, exchange.place, services.policies.limits)
    if not rules:
        return Decision("limits", True, "no_limits")
    taken = await services.stores.buckets.take(rules, services.clock.now().timestamp())
    return taken.decision()

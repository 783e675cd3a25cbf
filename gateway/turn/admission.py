"""The stages before anything costs money: identity, bot loops, access, limits and budget."""

import asyncio
from collections.abc import Callable
from functools import partial
from typing import Final

import structlog

from gateway.authorship import text_of
from gateway.extensions import EXTENSION_SECONDS, InvalidResult, controlled_access
from gateway.llm.prices import price_of, reserve
from gateway.llm.tokens import estimate
from gateway.message import MessageAuthor, Place
from gateway.pairing.admissions import role_with
from gateway.people import Audience, KnownIds, PersonId, Principal, Role
from gateway.policy.access import NOT_APPROVED, STAGE, decide_access, listed
from gateway.policy.budgets import accounts_for, decide_budget
from gateway.policy.decision import Decision
from gateway.policy.rate_limits import BucketRule, RateLimits, command_rules, rules_for, sender_key
from gateway.policy.refusals import NOT_PASSED_ON, READABLE, Sharing, sharing_of
from gateway.ports import kept_ids
from gateway.turn.metering import Meter
from gateway.turn.moved_zones import follow_zone
from gateway.turn.readers import place_language
from gateway.turn.services import Services
from gateway.turn.takeover import is_silenced
from gateway.turn.turn_context import TurnContext

log = structlog.get_logger(__name__)


async def identify(turn: TurnContext, services: Services) -> Decision:
    """Determine the principal of the turn."""
    last = turn.asked.last
    who = turn.asker.principal = principal_of(last.author, last.place, turn.key.tenant, services)
    turn.asker.person = str(who.person)
    languages, told = turn.policies.languages, last.author.language
    language = await services.readers.language(
        languages, who.tenant, turn.asker.person, turn.place, told
    )
    times, zone_told = turn.policies.times, last.author.zone
    turn.asker.zone = await services.readers.zone(
        times, who.tenant, turn.asker.person, turn.place, zone_told
    )
    turn.asker.language = language.in_zone(turn.asker.zone)
    if of_place := place_language(languages, turn.place):
        await languages.loaded(of_place)
    return Decision("identity", True, who.role.value, "outside" if who.outside else "")


async def guard_loops(turn: TurnContext, services: Services) -> Decision:
    """Detect bots that answer each other."""
    return services.loop_guard.check(
        str(turn.key.room),
        by_bot=turn.asked.last.author.is_bot,
        now=services.clock.monotonic(),
    )


async def check_access(turn: TurnContext, services: Services) -> Decision:
    """Decide if this person is served here."""
    who = turn.asker.who
    decision = await served(who, turn.place, turn.asked.last.author.known, services)
    if decision.allowed and not turn.asked.last.author.is_bot:
        languages, told = turn.policies.languages, turn.asked.last.author.language
        await services.readers.note(languages, who.tenant, turn.asker.person, told)
        zone = turn.asked.last.author.zone
        if await services.readers.note_zone(who.tenant, turn.asker.person, zone):
            await follow_zone(who.tenant, turn.asker.person, services)
        services.awaited.note_heard(who.tenant, turn.asker.person)
    if decision.allowed and _is_approver(turn, services):
        await services.admissions.remember_approver(who.tenant, str(who.person), turn.place)
    return decision


def principal_of(author: MessageAuthor, place: Place, tenant: str, services: Services) -> Principal:
    """Return the author of an event as the person whose rights decide about it."""
    person, outside = place.identity(author), author.outside or author.is_bot
    role = role_in(tenant, person, services, aliases=author.aliases, outside=outside)
    return Principal(tenant, person, role, outside)


def role_in(
    tenant: str,
    person: PersonId,
    services: Services,
    *,
    aliases: tuple[str, ...] = (),
    outside: bool = False,
) -> Role:
    """Return the role of a person in a tenant: of the lists, or stored by an owner code."""
    lists = services.policies.roles
    return role_with(services.admissions, lists, tenant, person, aliases=aliases, outside=outside)


async def served(who: Principal, place: Place, known: KnownIds, services: Services) -> Decision:
    """Decide on access, in a chat or over HTTP. `known` are further ids of the person.

    A block of one identity holds for every identity that is linked with it.
    """
    decision = await access_of(who, place, known, services)
    if not (decision.allowed and services.policies.access.blocked_users):
        return decision
    return await blocked_by_link(who, services) or decision


async def access_of(who: Principal, place: Place, known: KnownIds, services: Services) -> Decision:
    """Apply the operator's lists and the admissions, then the access controllers of extensions; a
    failing one denies."""
    decision = await listed_access(who, place, known, services)
    if not decision.allowed or not services.extensions.controls_access:
        return decision
    try:
        async with asyncio.timeout(EXTENSION_SECONDS):
            further = await controlled_access(
                services.extensions.access_controller, who.person, place
            )
    except InvalidResult as error:
        log.error("access_controller_invalid", problem=str(error))
        return Decision("access", False, "controller_invalid")
    except Exception as error:
        log.exception("access_controller_failed")
        return Decision("access", False, "controller_failed", type(error).__name__)
    return decision if further.allowed else further


async def listed_access(
    who: Principal, place: Place, known: KnownIds, services: Services
) -> Decision:
    """Apply the operator's lists. An admission is read only if the decision depends on it. Raises
    `StoreUnavailable`."""
    decide = partial(
        decide_access,
        who.person,
        place,
        services.policies.access,
        aliases=known.current,
        former=known.former,
        trusted=who.role.at_least(Role.OPERATOR),
    )
    decision = decide()
    if decision.reason == NOT_APPROVED and await _has_admission(who, known, services):
        return decide(approved=True)
    return decision


async def _has_admission(who: Principal, known: KnownIds, services: Services) -> bool:
    """Return True if this person, or a linked identity, is admitted."""
    tenant, person, admissions = who.tenant, who.person, services.admissions
    kept = admissions.kept(tenant, str(person))
    if kept is not None:
        return kept
    ids = (person.id, *(one for one in known.current if one))
    own = [str(PersonId(person.platform, person.account, one)) for one in ids]
    admitted = await admissions.any_of(tenant, own)
    if not admitted:
        linked = await services.memory.linked(who)
        admitted = await admissions.any_of(tenant, [str(one) for one in linked])
    admissions.keep(tenant, str(person), admitted)
    return admitted


def _is_approver(turn: TurnContext, services: Services) -> bool:
    """Return True if the notices about people who wait may be sent to this person here."""
    return (
        services.policies.access.admission == "approved"
        and turn.place.audience is Audience.DIRECT
        and turn.asker.who.role.at_least(Role.OPERATOR)
    )


Rules = Callable[[str, str, Place, RateLimits], tuple[BucketRule, ...]]


async def check_limits(turn: TurnContext, services: Services) -> Decision:
    """Each question takes a token from all buckets that it has to pass, or from none; a repeated
    attempt takes no further one."""
    return await _within(rules_for, turn, services)


async def check_command_limits(turn: TurnContext, services: Services) -> Decision:
    """Each command or press that asks no model takes a token as `check_limits`, from buckets of
    its own."""
    return await _within(command_rules, turn, services)


async def _within(rules_of: Rules, turn: TurnContext, services: Services) -> Decision:
    who = turn.asker.who
    human = await services.identities.human(who.tenant, who.person)
    turn.asker.sender = sender_key(human, turn.asked.last.author, turn.place)
    if turn.attempt.counted:
        return Decision("limits", True, "counted_before")
    rules = rules_of(who.tenant, turn.asker.sender, turn.place, services.policies.limits)
    if not rules:
        return Decision("limits", True, "no_limits")
    taken = await services.stores.buckets.take(rules, services.clock.now().timestamp())
    return await with_sharing(taken.decision(), turn, services)


async def known_ids(person: PersonId, services: Services) -> KnownIds | None:
    """Return the further ids of a person, as the adapter stores them. None if the platform uses
    several ids per person and none is stored: then it is unknown which lists name this person.
    Raises `StoreUnavailable`; of other platforms nothing is stored, and no store is asked."""
    account = services.connected.get((person.platform, person.account))
    if account is not None and not account.manifest.identify:
        return KnownIds()
    known = await kept_ids(services.stores.states.of(person.platform, person.account), person.id)
    if known is not None:
        return known
    return KnownIds() if account is None else None


async def blocked_by_link(who: Principal, services: Services) -> Decision | None:
    """Return the refusal if a linked identity of this person is blocked, else None."""
    blocked = services.policies.access.blocked_users
    for other in await services.memory.linked(who):
        known = await known_ids(other, services) or KnownIds()
        if listed(blocked, other.platform, (other.id, *known.every)):
            return Decision(STAGE, False, "linked_user_blocked", str(other))
    return None


DETAILS: Final[dict[Sharing, str]] = {
    "channel": "shared by everybody in the channel",
    "conversation": "the limit of the conversation",
    "workspace": "shared by everybody in the workspace",
    "account": "shared by everybody who writes to the account",
}


async def with_sharing(decision: Decision, turn: TurnContext, services: Services) -> Decision:
    """Return a refusal with a text for `parley why` about the people who share the used-up limit;
    the turn stores it. Raises `StoreUnavailable`."""
    if decision.allowed:
        return decision
    linked = 0
    if decision.reason.startswith("user_"):
        linked = len(await services.memory.linked(turn.asker.who))
    sharing = turn.asker.sharing = sharing_of(decision, turn.place, linked=linked > 0)
    if sharing is None:
        return decision
    accounts = f"{linked} linked account{'' if linked == 1 else 's'}"
    sharing_text = f"shared with {accounts}" if sharing == "linked" else DETAILS[sharing]
    detail = f"{decision.detail}, {sharing_text}" if decision.detail else sharing_text
    return decision._replace(detail=detail)


async def check_readable(turn: TurnContext, services: Services) -> Decision:
    """Refuse a message whose content the platform does not pass on, unless an operator answers the
    conversation: they see that there is one."""
    if await is_silenced(turn, services):
        return Decision(READABLE, True, "for_operator")
    return Decision(READABLE, False, NOT_PASSED_ON, "the platform does not tell its content")


PROMPT_TOKENS = 1_000
"""Tokens that the system prompt and the tools add to an estimate."""


async def reserve_budget(turn: TurnContext, services: Services) -> Decision:
    """Reserve the maximum cost of this turn's first call, before any other work."""
    accounts = accounts_for(
        turn.key.tenant,
        turn.asker.sender or turn.asker.person,
        turn.place,
        services.policies.budgets,
        services.clock.now(),
    )
    persona = services.assistant.persona_in(turn.place.platform, *turn.place.channel_ids)
    model = persona.model or services.assistant.default_model
    # Known to the turn before it holds anything, so that a stop at any moment gives it back.
    turn.generation.meter = Meter(
        services.provider,
        services.stores.usage,
        services.prices,
        turn=turn.id,
        accounts=accounts,
        default_model=model,
        count=services.count,
    )
    if not accounts:
        return decide_budget((), (), 0).decision
    price = price_of(model, services.prices)
    if price is None:
        return Decision("budget", False, "no_price", f"budgets.prices has no price for {model}")
    question_tokens = estimate(turn.asked.content) + estimate(text_of(turn.asked.material))
    tokens = question_tokens + services.policies.context.max_tokens + PROMPT_TOKENS
    most = reserve(tokens, services.assistant.max_tokens, price)
    return await with_sharing(await turn.generation.meter.reserve_amount(most), turn, services)

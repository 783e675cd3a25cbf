"""Authentication: from a token to its person in a direct conversation, or to an agent of that
person, with a rate limit."""

import math
import uuid
from typing import Final

import structlog
from starlette.types import Scope

from gateway.errors import TenantUnknown
from gateway.message import Place
from gateway.people import Audience, PersonId, Principal, Role
from gateway.policy.rate_limits import BucketRule
from gateway.ports.memory import Caller
from gateway.ports.rights import Credential, Proof
from gateway.turn.admission import known_ids, role_in, served
from gateway.turn.services import Services
from memory.agents.model import Agent
from memory.agents.stores.agents import SqlAgents
from memory.stores.api_tokens import TokenStore
from parley.http.api.errors import CallRefused
from parley.http.asgi import exchange_of, headers_of
from parley.security.keys import TokenKey
from parley.security.tokens import BadToken, TokenClaims, read

PLATFORM: Final = "api"
"""The platform of the direct conversation that stands for HTTP."""
CALLER: Final = "parley.caller"
"""The key of the caller in a scope."""
CHALLENGE: Final = {"WWW-Authenticate": 'Bearer realm="parley"'}
_ADVICE: Final = {
    "token_wrong": "This token is not valid here, or was revoked. `parley token` prints a new one.",
    "token_expired": "This token has expired. `parley token` prints a new one.",
    "token_revoked": "This token was revoked. `parley token` prints a new one.",
}
_NO_TENANT: Final = "Your tenant cannot be determined. Ask the operator of this assistant."
_WRITE_FIRST: Final = (
    "Your platform uses several ids for you, and not all of them are known yet. Write a message to "
    "the assistant there, then try again."
)


log = structlog.get_logger(__name__)


class Authenticator:
    """Authenticates people and their agents. `tokens` has the valid tokens, `agents` the registered
    agents; `services` gives roles, access lists, rate limits and the clock, so that a person has
    the same rights as in a chat."""

    def __init__(
        self, key: TokenKey, tokens: TokenStore, agents: SqlAgents, services: Services
    ) -> None:
        self._key = key
        self._tokens = tokens
        self._agents = agents
        self._services = services

    def holder(self, authorization: str) -> TokenClaims:
        """Return the claims of the token in an Authorization header. Raises `CallRefused` (401)."""
        try:
            return read(self._key.current(), _bearer(authorization), self._services.clock.now())
        except BadToken as error:
            raise _unknown(error.problem, _ADVICE[error.problem]) from None

    async def caller_of(self, holder: TokenClaims) -> tuple[Caller, Proof]:
        """Return the caller for these claims with what their token proves, and count the request.
        Raises `CallRefused` (401, 403, 429) and `StoreUnavailable`."""
        clock = self._services.clock
        principal, agent = await self._admitted(holder)
        await self._check_rate(principal)
        place, person = _place(PLATFORM, holder.person, str(holder.person)), str(principal.person)
        policies, readers = self._services.policies, self._services.readers
        language = await readers.language(policies.languages, principal.tenant, person, place)
        caller = Caller(
            id=str(uuid.uuid4()),
            principal=principal,
            name="",
            place=place,
            conversation=f"{PLATFORM}/{holder.person}",
            at=clock.now(),
            client=True,
            agent=holder.agent,
            zone=await readers.zone(policies.times, principal.tenant, person, place),
            languages=(language.code, policies.languages.default),
        )
        return caller, _proof(principal, holder, agent)

    async def admitted(self, holder: TokenClaims) -> Principal:
        """Return the person of these claims with their present role, without counting a request.
        Raises `CallRefused` (401, 403) and `StoreUnavailable`, also for an agent that ended.
        """
        return (await self._admitted(holder))[0]

    async def _admitted(self, holder: TokenClaims) -> tuple[Principal, Agent | None]:
        self._check_tenant(holder)
        await self._check_good(holder)
        principal = await admitted_person(holder.tenant, holder.person, self._services)
        return principal, await self._agent_of(holder, principal) if holder.agent else None

    async def _agent_of(self, holder: TokenClaims, principal: Principal) -> Agent:
        """Return the agent of a token as it is registered now, which is one of the token's person
        or of an identity that is linked with it."""
        agent = await self._agents.get(holder.tenant, holder.agent)
        linked = await self._services.memory.linked(principal)
        if agent is None or agent.owner not in {str(holder.person), *map(str, linked)}:
            raise _unknown("token_revoked", _ADVICE["token_revoked"])
        return agent

    def _check_tenant(self, holder: TokenClaims) -> None:
        """Refuse a token whose tenant is not the present tenant of its person."""
        try:
            tenant = self._services.extensions.tenant_of_person(holder.person)
        except TenantUnknown as error:
            log.error("tenant_unknown", platform=holder.person.platform, problem=str(error))
            raise CallRefused("not_served", _NO_TENANT) from None
        if tenant != holder.tenant:
            raise _unknown("token_wrong", _ADVICE["token_wrong"])

    async def _check_good(self, holder: TokenClaims) -> None:
        """Refuse a revoked token; the database is read for each request."""
        if holder.id and not await self._tokens.good(holder.id):
            raise _unknown("token_revoked", _ADVICE["token_revoked"])

    async def _check_rate(self, principal: Principal) -> None:
        per_minute = self._services.policies.limits.api_per_minute
        if not per_minute:
            return
        human = await self._services.identities.human(principal.tenant, principal.person)
        key = f"api:{principal.tenant}:{human}"
        rule = BucketRule("user", key, per_minute)
        now = self._services.clock.now().timestamp()
        taken = await self._services.stores.buckets.take((rule,), now)
        if not taken.allowed:
            wait = str(max(1, math.ceil(taken.retry_after)))
            linked = await self._services.memory.linked(principal)
            shared = ", of your linked accounts together" if linked else ""
            message = f"At most {per_minute} requests a minute{shared}. Try again in {wait} s."
            raise CallRefused("too_many", message, headers={"Retry-After": wait})


async def authenticated(scope: Scope, authenticator: Authenticator) -> Caller:
    """Return the caller with the token of a request, and note what it proves. Raises `CallRefused`
    (401, 403, 429)."""
    exchange = exchange_of(scope)
    exchange.holder = authenticator.holder(headers_of(scope).get("authorization", ""))
    caller, exchange.proof = await authenticator.caller_of(exchange.holder)
    return caller


async def admitted_person(tenant: str, person: PersonId, services: Services) -> Principal:
    """Return a person with their role in chat. Access lists and roles apply to all their ids.
    Raises `CallRefused` (403) for one who is not served, and `StoreUnavailable`."""
    known = await known_ids(person, services)
    if known is None:
        raise CallRefused("not_served", _WRITE_FIRST)
    role = role_in(tenant, person, services, aliases=known.current)
    principal = Principal(tenant, person, role)
    place = _place(person.platform, person, "")
    if not (await served(principal, place, known, services)).allowed:
        raise CallRefused("not_served", "The configuration does not allow you to use this.")
    return principal


def _proof(principal: Principal, holder: TokenClaims, agent: Agent | None) -> Proof:
    """The proof of a token. An agent has no role: what needs one is for people."""
    if agent is None:
        return Proof(Credential.TOKEN, principal.role, holder.scopes)
    capabilities = frozenset(map(str, agent.capabilities))
    return Proof(Credential.AGENT, Role.GUEST, holder.scopes, capabilities)


def _bearer(authorization: str) -> str:
    scheme, _, token = authorization.partition(" ")
    if scheme.lower() != "bearer":
        advice = "Send `Authorization: Bearer TOKEN`; `parley token` prints one."
        raise _unknown("token_missing", advice)
    return token.strip()


def _unknown(code: str, message: str) -> CallRefused:
    return CallRefused(code, message, "header.Authorization", CHALLENGE)


def _place(platform: str, person: PersonId, channel: str) -> Place:
    return Place(platform, person.account, channel, Audience.DIRECT)

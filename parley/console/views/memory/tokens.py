"""The viewer's tokens, with which their own programs and agents use the API and MCP."""

import asyncio
import secrets
from datetime import datetime, timedelta
from typing import Annotated, Final, Literal

from pydantic import Field, StringConstraints

from gateway.errors import BadInput, NotFound
from gateway.people import Role
from gateway.ports.action import Input, Output
from gateway.ports.rights import EVERY_SCOPE, TokenScope, in_person, to_read
from gateway.text import (
    NO_TEXT,
    Text,
    text,
    verbatim,
)
from memory.actions.call import Integral
from memory.agents.model import Agent, AgentType
from memory.stores.api_tokens import ApiToken
from parley.console.route import AnyRoute, ConsoleRoute, ItemParams
from parley.console.said import Said
from parley.console.services import ConsoleServices
from parley.console.viewer import Viewer
from parley.console.views.memory.accounts import check_account
from parley.console.views.memory.documents import PATH
from parley.security.keys import token_key
from parley.security.tokens import MAX_ID, TokenClaims, issue

TOKENS: Final = f"{PATH}/tokens"
TEMPLATE: Final = "memory/tokens.html"
MAX_TOKENS: Final = 50
MAX_AGENTS: Final = 1_000
MAX_DAYS: Final = 365
ID_BYTES: Final = 6
TAKEN: Final = text("This name is taken. Choose another one.")
TOO_MANY: Final = text("You have 50 tokens, the maximum. Revoke one that you do not need first.")
NOT_YOURS: Final = text("You have no token with this id. The page lists yours.")
NOT_YOUR_AGENT: Final = text("You have no agent with this id. The page lists yours.")
REVOKED: Final = text("The token {name} is revoked and no longer works.")
UNNAMED: Final = "token"

TokenName = Annotated[str, StringConstraints(max_length=40, pattern=r"^[\w .()+-]*$")]


class TokensQuery(Input):
    """The page has no parameters."""


class CreateForm(Input):
    """The name that the list shows, the days until the token expires, what it is for ("read" for
    one that changes nothing), and the id of an agent for a token of that agent alone."""

    name: TokenName = ""
    use: Literal["read", "write"] = "write"
    days: Annotated[int, Field(ge=1, le=MAX_DAYS), Integral] = 30
    agent: Annotated[str, StringConstraints(max_length=MAX_ID, pattern=r"^[0-9a-f]*$")] = ""


class TokenAgentOut(Output):
    """An agent of the viewer, which a token can stand for."""

    id: str
    name: str
    type: AgentType


class PersonTokenOut(Output):
    """A token, without what grants access. `person` is the account for which it stands, `agent` the
    agent, empty for the person; without the scope `write` it only reads."""

    id: str
    name: str
    person: str
    agent: str
    issued_at: datetime
    until: datetime
    scopes: tuple[TokenScope, ...] = Field(max_length=len(TokenScope))


class TokensOut(Output):
    """The tokens, the latest first, and the agents of the viewer. `token` is a new one, which is
    shown once, with its `scopes` and its agent; `said` is the outcome of an action."""

    tokens: tuple[PersonTokenOut, ...] = Field(max_length=MAX_TOKENS)
    agents: tuple[TokenAgentOut, ...] = Field(default=(), max_length=MAX_AGENTS)
    most_days: int = MAX_DAYS
    token: str = ""
    scopes: tuple[TokenScope, ...] = Field(default=(), max_length=len(TokenScope))
    of_agent: str = ""
    said: Said = NO_TEXT


async def tokens(viewer: Viewer, services: ConsoleServices, _params: TokensQuery) -> TokensOut:
    """Return the tokens of the viewer's linked accounts."""
    return await _shown(viewer, services)


async def create(viewer: Viewer, services: ConsoleServices, params: CreateForm) -> TokensOut:
    """Create a token of the viewer's account, or of an agent of theirs. Raises `BadInput` beyond
    the maximum, and `NotFound` for an agent of somebody else."""
    check_account(viewer)
    store, now = services.storage.memory.tokens, services.gateway.clock.now()
    if len(await store.of_persons(viewer.tenant, sorted(viewer.persons), now)) >= MAX_TOKENS:
        raise BadInput(TOO_MANY)
    if params.agent and params.agent not in {one.id for one in await _agents(viewer, services)}:
        raise NotFound(NOT_YOUR_AGENT)
    until, id_ = now + timedelta(days=params.days), secrets.token_hex(ID_BYTES)
    # Names are unique in the whole program: with a part of the id, none says what others have.
    name = f"{' '.join(params.name.split()) or UNNAMED}-{id_[:6]}"
    key = await asyncio.to_thread(token_key(services.settings).get_or_create)
    scopes = frozenset({TokenScope.READ}) if params.use == "read" else EVERY_SCOPE
    kept = ApiToken(id_, name, viewer.tenant, viewer.person, now, until, scopes, params.agent)
    if not await store.add(kept):
        raise BadInput(TAKEN)
    about = {"token": id_, **({"agent": params.agent} if params.agent else {})}
    await services.audit.console("token_created", viewer.tenant, viewer.person, **about)
    person = viewer.principal.person
    made = issue(key, TokenClaims(person, viewer.tenant, until, id_, scopes, params.agent))
    page = await _shown(viewer, services)
    shown = {"token": made, "scopes": tuple(sorted(scopes)), "of_agent": params.agent}
    return page.model_copy(update=shown)


async def revoke(viewer: Viewer, services: ConsoleServices, params: ItemParams) -> TokensOut:
    """Revoke a token of the viewer's linked accounts. Raises `NotFound`."""
    store = services.storage.memory.tokens
    gone = await store.revoke_of(viewer.tenant, sorted(viewer.persons), params.id)
    if gone is None:
        raise NotFound(NOT_YOURS)
    await services.audit.console("token_revoked", viewer.tenant, viewer.person, token=params.id)
    return await _shown(viewer, services, REVOKED.of(name=verbatim(gone.name)))


async def _shown(viewer: Viewer, services: ConsoleServices, said: Text = NO_TEXT) -> TokensOut:
    store, now = services.storage.memory.tokens, services.gateway.clock.now()
    found = await store.of_persons(viewer.tenant, sorted(viewer.persons), now)
    return TokensOut(
        tokens=tuple(
            PersonTokenOut(
                id=one.id,
                name=one.name,
                person=one.person,
                agent=one.agent,
                issued_at=one.issued_at,
                until=one.until,
                scopes=tuple(sorted(one.scopes)),
            )
            for one in found[:MAX_TOKENS]
        ),
        agents=tuple(
            TokenAgentOut(id=one.id, name=one.name, type=one.type)
            for one in await _agents(viewer, services)
        ),
        said=said,
    )


async def _agents(viewer: Viewer, services: ConsoleServices) -> list[Agent]:
    stores = services.storage.memory
    return await stores.agents.of_persons(viewer.tenant, sorted(viewer.persons), MAX_AGENTS)


ROUTES: Final[tuple[AnyRoute, ...]] = (
    ConsoleRoute(
        name="tokens",
        method="GET",
        path=TOKENS,
        allowed=to_read(Role.GUEST),
        summary=text("Your tokens for the API and MCP"),
        run=tokens,
        template=TEMPLATE,
        palette=text("Tokens"),
    ),
    ConsoleRoute(
        name="create_token",
        method="POST",
        path=f"{TOKENS}/create",
        allowed=in_person(Role.GUEST),
        summary="Create a token of your account or of an agent of yours, on the page only",
        run=create,
        template=TEMPLATE,
        example={"name": "laptop", "days": "7"},
    ),
    ConsoleRoute(
        name="revoke_token",
        method="POST",
        path=f"{TOKENS}/{{id}}/revoke",
        allowed=in_person(Role.GUEST),
        summary="Revoke one of your tokens",
        run=revoke,
        template=TEMPLATE,
        example={"id": "0123456789ab"},
    ),
)

"""The HTTP API of memory: every request has a person, and reaches that person's data."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Final

from msgspec import Struct
from starlette.responses import Response
from starlette.routing import Router
from starlette.types import ASGIApp, Receive, Scope, Send

from gateway.people import Role
from gateway.ports.action import Input, Nothing
from gateway.ports.http_routes import json_response
from gateway.ports.rights import TOKENS, Allowed, Credential, Proof, TokenScope
from gateway.stores.usage import SpendingReader
from memory.actions.call import MAX_ID, AgentServices
from memory.service.handle import Memory
from parley.http.api import PREFIX
from parley.http.api.addresses import OPERATIONS
from parley.http.api.authentication import CALLER, Authenticator, authenticated
from parley.http.api.errors import CallRefused, UniformErrors
from parley.http.api.openapi import PATH, describe
from parley.http.api.operations import (
    ApiCall,
    Operation,
    OperationAnswer,
    Plain,
    has_body,
    read_json,
    read_query,
)
from parley.http.asgi import exchange_of
from parley.http.starlette_routes import Served, as_http, params_of, proven, routes_of

DESCRIPTION: Final = Allowed(TOKENS | {Credential.LOCAL}, Role.GUEST, TokenScope.READ, "")
"""The OpenAPI description: with a token, or with access to the local pages."""


class MemoryApi(Struct, frozen=True):
    """Serves `OPERATIONS` and their description. `turns`: turns are stored as memory. `described`
    returns the operations below the same prefix that another application serves."""

    memory: Memory
    authenticator: Authenticator
    """Finds the person of a request's token."""
    spending: SpendingReader
    """Reads the cost of answers."""
    agents: AgentServices
    """The services of agents, pools and handoffs."""
    turns: bool = True
    described: Callable[[], Sequence[Operation]] = tuple

    def app(self) -> ASGIApp:
        """Return the application for the path `openapi.PREFIX`."""
        served = [
            Served("GET", PATH, _Description(self), DESCRIPTION),
            *(
                Served(one.method, one.path, _Operation(self, one), one.allowed)
                for one in OPERATIONS
            ),
        ]
        routes = routes_of(served, proven)
        return UniformErrors(_WithToken(Router(routes, redirect_slashes=False), self.authenticator))


class _WithToken(Struct, frozen=True):
    """Authenticates first: an unknown caller does not learn which paths exist. The description is
    also for people with access to the local pages."""

    app: ASGIApp
    authenticator: Authenticator

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        exchange = exchange_of(scope)
        description = (scope["method"], scope["path"]) == ("GET", PREFIX + PATH)
        if description and exchange.page_access.allowed:
            exchange.proof = Proof(Credential.LOCAL, Role.GUEST)
        else:
            scope[CALLER] = await authenticated(scope, self.authenticator)
        await self.app(scope, receive, send)


class _Operation(Struct, frozen=True):
    """Serves one operation."""

    api: MemoryApi
    operation: Operation

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        operation = self.operation
        query = read_query(scope, operation.query)
        body: Input = Nothing()
        if operation.takes_body and (operation.body_required or has_body(scope)):
            body = await read_json(scope, receive, operation.body, operation.most)
        elif operation.takes_body:
            body = operation.body()
        answer = await operation.run(await self._call(scope, query), query, body)
        await _as_http(answer)(scope, receive, send)

    async def _call(self, scope: Scope, query: Plain) -> ApiCall:
        api, item = self.api, params_of(scope).get("id", "")
        if len(item) > MAX_ID:
            message = "This entry does not exist, or is not yours."
            raise CallRefused("not_found", message, "path.id")
        handle = await api.memory.for_principal(scope[CALLER])
        if query.project is not None:
            handle = await handle.in_project(query.project)
        proof = exchange_of(scope).proof
        return ApiCall(proof, handle, api.agents, api.spending, item, api.turns)


def _as_http(answer: OperationAnswer) -> Response:
    if answer.body is None:
        return Response(status_code=answer.status)
    return Response(
        answer.body.model_dump_json(),
        answer.status,
        {"Content-Type": "application/json; charset=utf-8"},
    )


class _Description(Struct, frozen=True):
    """Serves the OpenAPI description."""

    api: MemoryApi

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        others = await asyncio.to_thread(self.api.described)
        described = await asyncio.to_thread(describe, (*OPERATIONS, *others))
        await as_http(json_response(described))(scope, receive, send)

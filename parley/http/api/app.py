"""The HTTP API of memory: every request has a person, and reaches that person's data."""

from dataclasses import dataclass
from typing import Final

from aiohttp import web
from aiohttp.typedefs import Handler

from gateway.ports.memory import Caller
from gateway.stores.usage import SpendingReader
from memory.brain.documents import Brain
from memory.service.handle import Memory
from parley.http.api.authentication import Authenticator
from parley.http.api.documents import document_operations
from parley.http.api.memories import memory_operations
from parley.http.api.models import MAX_ID, Nothing
from parley.http.api.openapi import PATH, describe
from parley.http.api.operations import (
    AnyOperation,
    Call,
    Refused,
    error_middleware,
    read_body,
    read_query,
)
from parley.http.api.privacy import choice_operations, transfer_operations
from parley.http.api.usage import usage_operations
from parley.http.local_listener import ENTRY

OPERATIONS: Final = (
    *document_operations(),
    *memory_operations(),
    *choice_operations(),
    *transfer_operations(),
    *usage_operations(),
)
_ASKER: Final = web.RequestKey("parley.asker", Caller)


@dataclass(frozen=True, slots=True)
class MemoryApi:
    """Serves `OPERATIONS` and their description. `turns`: turns are stored as memory."""

    memory: Memory
    brain: Brain
    entrance: Authenticator
    spending: SpendingReader
    turns: bool = True

    def app(self) -> web.Application:
        """Return the application for the path `openapi.PREFIX`."""
        app = web.Application(middlewares=[error_middleware, self._known])
        app.router.add_route("GET", PATH, _description)
        for operation in OPERATIONS:
            app.router.add_route(operation.method, operation.path, self._handler(operation))
        return app

    @web.middleware
    async def _known(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """Authenticate first: an unknown caller does not learn which paths exist."""
        local = request.match_info.handler is _description and request[ENTRY].allowed
        if not local:
            request[_ASKER] = await self.entrance.caller(request)
        return await handler(request)

    def _handler(self, operation: AnyOperation) -> Handler:
        async def handle(request: web.Request) -> web.StreamResponse:
            query = read_query(request, operation.query)
            body = Nothing()
            if operation.takes_body and (operation.body_required or request.body_exists):
                body = await read_body(request, operation.body, operation.most)
            elif operation.takes_body:
                body = operation.body()
            item = request.match_info.get("id", "")
            if len(item) > MAX_ID:
                raise Refused(
                    404, "not_found", "This entry does not exist, or is not yours.", "path.id"
                )
            handle = await self.memory.for_principal(request[_ASKER])
            if query.project is not None:
                handle = await handle.in_project(query.project)
            call = Call(handle, self.brain, self.spending, item, self.turns)
            answer = await operation.run(call, query, body)
            if answer.body is None:
                return web.Response(status=answer.status)
            return web.json_response(text=answer.body.model_dump_json(), status=answer.status)

        return handle


async def _description(_request: web.Request) -> web.StreamResponse:
    return web.json_response(describe(OPERATIONS))

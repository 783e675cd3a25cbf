"""The Graph API as a server on loopback: messages, media, the phone number."""

import asyncio
import hashlib
import hmac
import json
import re
import secrets
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, Final, Literal, TypeAlias

from aiohttp import BodyPartReader, web

from simulators.base import MAX_CALLS, ApiCall, ChangeSignal, Fault, Faults, SimFile
from simulators.local_server import LocalServer, cut_within
from simulators.whatsapp.checks import Draft, ReadMark, check
from simulators.whatsapp.errors import GraphError, bad_token, unknown_node
from simulators.whatsapp.world import Human, World

_VERSION: Final = re.compile(r"v\d{1,3}\.\d")

_Answer: TypeAlias = dict[str, object] | web.Response
_Work: TypeAlias = Callable[[], Awaitable[_Answer]]
OnSent: TypeAlias = Callable[[Human, str, GraphError | None], None]


@dataclass(slots=True)
class GraphState:
    """The state that tests read and change.

    `window_error` says how Meta reports a closed window: afterwards in a failed status, or at once.
    `failing` holds errors for the next requests by method, first in, first out. `accounts` are the
    ones that the token names in its permissions, none where it is for a whole business;
    `other_numbers` are further numbers of the account, by id. `template_statuses` are those of the
    templates that are not approved, by name and language.
    """

    window_error: Literal["webhook", "response"] = "webhook"
    failing: dict[str, list[GraphError]] = field(default_factory=dict)
    accounts: list[str] = field(default_factory=list)
    other_numbers: dict[str, str] = field(default_factory=dict)
    template_statuses: dict[tuple[str, str], str] = field(default_factory=dict)
    calls: deque[ApiCall] = field(default_factory=lambda: deque(maxlen=MAX_CALLS))
    read: deque[str] = field(default_factory=lambda: deque(maxlen=1_000))
    typing: deque[str] = field(default_factory=lambda: deque(maxlen=1_000))
    reactions: deque[tuple[str, str]] = field(default_factory=lambda: deque(maxlen=1_000))


class GraphServer:
    """Serves one business phone number."""

    def __init__(
        self, world: World, credentials: tuple[str, str], faults: Faults, on_sent: OnSent
    ) -> None:
        self._world = world
        self._token, self._app_secret = credentials
        self._faults = faults
        self._on_sent = on_sent
        self._server = LocalServer()
        self.state = GraphState(accounts=[world.number.waba_id])
        self.changed = ChangeSignal()

    async def start(self) -> None:
        """Listen on a free port of 127.0.0.1."""
        app = web.Application(client_max_size=110 * 1024 * 1024)
        app.router.add_get("/files/{media}", self._download)
        app.router.add_get("/{version}/debug_token", self._described_token)
        app.router.add_get("/{version}/{node}", self._node)
        app.router.add_get("/{version}/{node}/phone_numbers", self._numbers)
        app.router.add_get("/{version}/{node}/message_templates", self._templates)
        app.router.add_post("/{version}/{node}/messages", self._messages)
        app.router.add_post("/{version}/{node}/media", self._upload)
        app.router.add_route("*", "/{rest:.*}", self._nothing)
        await self._server.start(web.AppRunner(app, access_log=None, shutdown_timeout=1.0))

    async def stop(self) -> None:
        """Close the port."""
        await self._server.stop()

    def cut(self) -> None:
        """Abort every open connection."""
        self._server.drop_connections()

    @property
    def url(self) -> str:
        """The base URL, without a version."""
        return self._server.url

    # --- endpoints ------------------------------------------------------------------------------

    async def _messages(self, request: web.Request) -> web.StreamResponse:
        try:
            text = await request.text()
        except ConnectionResetError:  # the client disconnected during its request
            return web.Response(status=400)
        try:
            body = json.loads(text)
        except ValueError:
            body = None
        marks = isinstance(body, dict) and "status" in body

        async def work() -> _Answer:
            self._own_number(request)
            if not isinstance(body, dict):
                raise GraphError(100, "The request body is not a JSON object.")
            return self._accept(body)

        return await self._serve(request, "read" if marks else "messages", body, work)

    def _accept(self, body: dict[str, Any]) -> _Answer:
        draft = check(body)
        if isinstance(draft, ReadMark):
            return self._mark(draft)
        human = self._world.addressed(draft.address)
        wamid = self._world.wamid()
        error = self._deliver(draft, human, wamid, body)
        contact: dict[str, object] = {"input": draft.address}
        contact["wa_id" if draft.by == "to" else "user_id"] = draft.address
        if human is not None:
            self._on_sent(human, wamid, error)
        self.changed.notify()
        return {
            "messaging_product": "whatsapp",
            "contacts": [contact],
            "messages": [{"id": wamid}],
        }

    def _deliver(
        self, draft: Draft, human: Human | None, wamid: str, body: dict[str, Any]
    ) -> GraphError | None:
        """Show the message; what Meta notices only afterwards is returned, the rest is raised."""
        if human is None:
            return GraphError(131026, "The recipient is not a WhatsApp user.")
        if draft.kind == "reaction":
            if self._world.find(human.key, draft.reaction_to) is None:
                raise GraphError(131009, "Param reaction['message_id'] is unknown.")
            self.state.reactions.append((draft.reaction_to, draft.text))
            return None
        if draft.kind != "template" and not self._world.window_open(human):
            late = GraphError(
                131047,
                "Message failed to send because more than 24 hours have passed since the "
                "customer last replied to this number.",
            )
            if self.state.window_error == "response":
                raise late
            return late
        self._world.receive(human, draft, wamid, body)
        return None

    def _mark(self, mark: ReadMark) -> _Answer:
        known = any(
            shown.id == mark.message_id and not shown.by_bot for _, shown in self._world.lines
        )
        if not known:
            raise GraphError(131009, "Param message_id is unknown.")
        self.state.read.append(mark.message_id)
        if mark.typing:
            self.state.typing.append(mark.message_id)
        self.changed.notify()
        return {"success": True}

    async def _upload(self, request: web.Request) -> web.StreamResponse:
        fields: dict[str, str] = {}
        file: SimFile | None = None
        if request.content_type == "multipart/form-data":
            async for part in await request.multipart():
                if not isinstance(part, BodyPartReader):
                    continue
                if part.name == "file":
                    mime = part.headers.get("Content-Type", "")
                    file = SimFile(part.filename or "", mime, bytes(await part.read()))
                else:
                    fields[part.name or ""] = await part.text()

        async def work() -> _Answer:
            self._own_number(request)
            if fields.get("messaging_product") != "whatsapp":
                raise GraphError(100, "The parameter messaging_product is required.")
            if file is None or not fields.get("type"):
                raise GraphError(100, "The parameters file and type are required.")
            named = SimFile(file.name, fields["type"], file.data)
            return {"id": self._world.store(named)}

        return await self._serve(request, "media", dict(fields), work)

    async def _node(self, request: web.Request) -> web.StreamResponse:
        node = request.match_info["node"]
        number = self._world.number

        async def work() -> _Answer:
            if node == number.phone_number_id:
                if request.query.get("fields") == "health_status":
                    return {"health_status": self._health(), "id": node}
                return {
                    "id": node,
                    "display_phone_number": number.display,
                    "verified_name": "Simulated Business",
                    "quality_rating": "GREEN",
                }
            stored = self._world.media.get(node)
            if stored is None:
                raise unknown_node("GET", node)
            return {
                "url": f"{self.url}/files/{node}",
                "mime_type": stored.file.mime,
                "file_size": len(stored.file.data),
                "id": node,
                "messaging_product": "whatsapp",
            }

        name = "media_url" if node in self._world.media else "phone_number"
        return await self._serve(request, name, {"node": node}, work)

    def _health(self) -> dict[str, object]:
        """The objects that Meta's "Messaging and Calling Health Status" names for a number."""
        number = self._world.number
        ids = {"PHONE_NUMBER": number.phone_number_id, "WABA": number.waba_id}
        ids |= {"BUSINESS": "506914307656634", "APP": "670843887433847"}
        entities = [
            {"entity_type": kind, "id": id_, "can_send_message": "AVAILABLE"}
            for kind, id_ in ids.items()
        ]
        return {"can_send_message": "AVAILABLE", "entities": entities}

    async def _described_token(self, request: web.Request) -> web.StreamResponse:
        """Describe the token that asks; a token may be asked about itself."""

        async def work() -> _Answer:
            if request.query.get("input_token") != self._token:
                raise GraphError(100, message="The access token could not be decrypted")
            scopes = ["whatsapp_business_management", "whatsapp_business_messaging"]
            granted: list[dict[str, object]] = [
                {"scope": scope, "target_ids": list(self.state.accounts)}
                if self.state.accounts
                else {"scope": scope}
                for scope in scopes
            ]
            return {
                "data": {
                    "app_id": "670843887433847",
                    "type": "SYSTEM_USER",
                    "is_valid": True,
                    "expires_at": 0,
                    "scopes": scopes,
                    "granular_scopes": granted,
                }
            }

        return await self._serve(request, "debug_token", {}, work)

    async def _numbers(self, request: web.Request) -> web.StreamResponse:
        node = request.match_info["node"]

        async def work() -> _Answer:
            if node != self._world.number.waba_id:
                raise unknown_node("GET", node)
            own = self._world.number
            numbers = {own.phone_number_id: own.display, **self.state.other_numbers}
            return {
                "data": [
                    {
                        "id": id_,
                        "display_phone_number": display,
                        "verified_name": "Simulated Business",
                    }
                    for id_, display in numbers.items()
                ],
                "paging": {"cursors": {"before": "QVFI", "after": "QVFI"}},
            }

        return await self._serve(request, "phone_numbers", {"node": node}, work)

    async def _templates(self, request: web.Request) -> web.StreamResponse:
        """List templates as in Meta's "Template management", with the filter `name` of the Graph
        API's reference, which also finds longer names; the form of the answer is from there."""
        node, wanted = request.match_info["node"], request.query.get("name", "")

        async def work() -> _Answer:
            if node != self._world.number.waba_id:
                raise unknown_node("GET", node)
            statuses = self.state.template_statuses
            data: list[dict[str, object]] = [
                {
                    "name": name,
                    "language": language,
                    "status": statuses.get((name, language), "APPROVED"),
                    "id": str(1_000_000_000_000 + nth),
                }
                for nth, (name, language) in enumerate(self._world.templates)
                if wanted in name
            ]
            return {"data": data, "paging": {"cursors": {"before": "MAZDZD", "after": "MjQZD"}}}

        return await self._serve(request, "message_templates", {"node": node}, work)

    async def _download(self, request: web.Request) -> web.StreamResponse:
        media = request.match_info["media"]

        async def work() -> _Answer:
            stored = self._world.media.get(media)
            if stored is None:
                raise GraphError(131052, "The media is gone.", status=404)
            return web.Response(body=stored.file.data, content_type="application/octet-stream")

        return await self._serve(request, "download", {"media": media}, work)

    async def _nothing(self, request: web.Request) -> web.StreamResponse:
        async def work() -> _Answer:
            raise unknown_node(request.method, request.path.strip("/")[:80])

        return await self._serve(request, "unknown", {}, work)

    def _own_number(self, request: web.Request) -> None:
        if request.match_info["node"] != self._world.number.phone_number_id:
            raise unknown_node(request.method, request.match_info["node"])

    # --- around every request -------------------------------------------------------------------

    def _check_proof(self, request: web.Request) -> None:
        """A proof of the app secret has to be right where one is sent."""
        proof = request.query.get("appsecret_proof")
        signed = hmac.new(self._app_secret.encode(), self._token.encode(), hashlib.sha256)
        if proof is not None and proof != signed.hexdigest():
            raise GraphError(
                100,
                kind="GraphMethodException",
                message="Invalid appsecret_proof provided in the API argument",
            )

    async def _serve(
        self, request: web.Request, method: str, body: object, work: _Work
    ) -> web.StreamResponse:
        fault = self._faults.take(method)
        if fault is not None and fault.kind == "slow":
            await asyncio.sleep(fault.delay)
        response = await self._respond(request, method, fault, work)
        held = body if isinstance(body, dict) else {}
        now = asyncio.get_running_loop().time()
        self.state.calls.append(ApiCall(method, held, response.status, now))
        self.changed.notify()
        if fault is not None and fault.kind == "drop_within":
            return await cut_within(request, response)
        if fault is not None and fault.kind in ("drop_before", "drop_after") and request.transport:
            request.transport.abort()
        return response

    async def _respond(
        self, request: web.Request, method: str, fault: Fault | None, work: _Work
    ) -> web.Response:
        try:
            if fault is not None and fault.kind == "drop_before":
                return web.Response(status=500)
            if fault is not None and fault.kind == "rate_limit":
                raise GraphError(
                    130429, "Message throughput reached.", retry_after=fault.retry_after
                )
            if fault is not None and fault.kind == "server_error":
                raise GraphError(131000, "Something went wrong.")
            if waiting := self.state.failing.get(method):
                raise waiting.pop(0)
            version = request.match_info.get("version")
            if version is not None and not _VERSION.fullmatch(version):
                raise unknown_node(request.method, version)
            if request.headers.get("Authorization") != f"Bearer {self._token}":
                raise bad_token()
            self._check_proof(request)
            answer = await work()
        except GraphError as error:
            headers = {}
            if error.retry_after is not None:
                headers["Retry-After"] = f"{error.retry_after:g}"
            trace = secrets.token_urlsafe(16)
            return web.json_response(error.body(trace), status=error.status, headers=headers)
        return answer if isinstance(answer, web.Response) else web.json_response(answer)

"""The gateway: sessions over a WebSocket, with heartbeats, replay after RESUME, intents, and the
compression that a client asks for in the address."""

import asyncio
import importlib
import json
import time
import zlib
from collections import deque
from collections.abc import Callable
from typing import Final

from aiohttp import WSMsgType, web

from simulators.base import ChangeSignal
from simulators.discord.payloads import guild_json, user_json
from simulators.discord.sessions import Bits, Session
from simulators.discord.world import World

Compressor = Callable[[str], bytes | str]
"""Makes of each message of a connection what goes over the wire."""
HEARTBEAT_MS: Final = 41_250
MAX_SESSIONS: Final = 16
MAX_COMMAND_BYTES: Final = 4096
MAX_COMMANDS_PER_MINUTE: Final = 120
MAX_IDLE_SECONDS: Final = 3600.0
GOODBYES: Final = (1000, 1001)
"""Close codes after which a session is over (Discord: events/gateway#initiating-a-disconnect)."""
ALL_INTENTS: Final = (1 << 26) - 1
DISPATCH, HEARTBEAT, IDENTIFY, PRESENCE, VOICE, RESUME, RECONNECT = 0, 1, 2, 3, 4, 6, 7
REQUEST_MEMBERS, INVALID_SESSION, HELLO, HEARTBEAT_ACK = 8, 9, 10, 11
_AFTER_IDENTIFY: Final = (PRESENCE, VOICE, REQUEST_MEMBERS, 31)
UNKNOWN_OPCODE, DECODE_ERROR, NOT_AUTHENTICATED, BAD_TOKEN = 4001, 4002, 4003, 4004
ALREADY_AUTHENTICATED, RATE_LIMITED, INVALID_INTENTS, DISALLOWED_INTENTS = 4005, 4008, 4013, 4014


def compressor(kind: str) -> Compressor:
    """The compressor for `compress=` in the query: "zlib-stream", "zstd-stream" or "".

    A client only asks for zstd when it has a library for it, so the same library serves here.
    """
    if kind == "zlib-stream":
        return _zlib_stream()
    if kind == "zstd-stream":
        return _zstd_stream()
    return lambda text: text


def _zlib_stream() -> Compressor:
    stream = zlib.compressobj()

    def compress(text: str) -> bytes:
        return stream.compress(text.encode()) + stream.flush(zlib.Z_SYNC_FLUSH)

    return compress


def _zstd_stream() -> Compressor:
    try:
        zstd = importlib.import_module("compression.zstd")
    except ImportError:
        stream = importlib.import_module("zstandard").ZstdCompressor().compressobj()
        flush_block = 1

        def compress(text: str) -> bytes:
            return bytes(stream.compress(text.encode()) + stream.flush(flush_block))

        return compress
    encoder = zstd.ZstdCompressor()
    return lambda text: bytes(encoder.compress(text.encode(), mode=encoder.FLUSH_BLOCK))


class _Refused(Exception):
    """The client broke a rule: the socket is closed with `code`."""

    def __init__(self, code: int) -> None:
        super().__init__(str(code))
        self.code = code


class Connection:
    """One socket, bound to a session once the client identified or resumed."""

    def __init__(self, request: web.Request, ws: web.WebSocketResponse) -> None:
        self.request = request
        self.ws = ws
        self.session: Session | None = None
        self.unresponsive = False
        self.writer: asyncio.Task[None] | None = None
        self._compress: Compressor = compressor(request.query.get("compress", ""))
        self._commands: deque[float] = deque(maxlen=MAX_COMMANDS_PER_MINUTE)

    def count_command(self) -> None:
        """Raise 4008 at more than 120 commands a minute."""
        now = time.monotonic()
        full = len(self._commands) == MAX_COMMANDS_PER_MINUTE
        if full and now - self._commands[0] < 60:
            raise _Refused(RATE_LIMITED)
        self._commands.append(now)

    async def send(self, payload: dict[str, object]) -> None:
        """Send one gateway message."""
        data = self._compress(json.dumps(payload))
        if isinstance(data, bytes):
            await self.ws.send_bytes(data)
        else:
            await self.ws.send_str(data)

    def abort(self) -> None:
        """Cut the line without a farewell."""
        if self.request.transport is not None:
            self.request.transport.abort()


class Gateway:
    """Accepts sockets and hands every session what its intents allow."""

    def __init__(
        self,
        world: World,
        token: Callable[[], str],
        allowed_intents: Callable[[], int],
        signal: ChangeSignal,
    ) -> None:
        self._world = world
        self._token = token
        self._signal = signal
        self._allowed_intents = allowed_intents
        self.sessions: dict[str, Session] = {}
        self.connections: set[Connection] = set()
        self.held = False
        self.heartbeat_ms = HEARTBEAT_MS
        self._wake = ChangeSignal()

    def hold(self, held: bool) -> None:
        """While held, events wait on the server: they arrive late."""
        self.held = held
        self._wake.notify()

    def dispatch(
        self, event: str, data: dict[str, object], *, direct: bool = False, times: int = 1
    ) -> None:
        """Give an event to every session whose intents cover it."""
        for session in self.sessions.values():
            session.add(event, data, direct=direct, bot_id=self._world.bot.id, times=times)
        self._wake.notify()

    def forget_sessions(self) -> None:
        """No session can be resumed any more."""
        self.sessions = {
            c.session.id: c.session for c in self.connections if c.session and not c.ws.closed
        }
        for session in self.sessions.values():
            session.resumable = False

    @property
    def listening(self) -> bool:
        """True while a client is connected and has got its server."""
        return any(c.session and c.session.introduced for c in self.connections)

    async def handle(self, request: web.Request) -> web.StreamResponse:
        """Serve one socket until it closes."""
        ws = web.WebSocketResponse(compress=False, max_msg_size=64 * 1024)
        await ws.prepare(request)
        connection = Connection(request, ws)
        self.connections.add(connection)
        try:
            await connection.send({"op": HELLO, "d": {"heartbeat_interval": self.heartbeat_ms}})
            async for message in ws:
                if message.type is WSMsgType.TEXT:
                    await self._receive(connection, message.data)
        except _Refused as refused:
            await ws.close(code=refused.code)
        except ConnectionError:
            pass
        finally:
            if connection.session is not None and ws.close_code in GOODBYES:
                connection.session.resumable = False
            self.connections.discard(connection)
            if connection.writer is not None:
                connection.writer.cancel()
                await asyncio.gather(connection.writer, return_exceptions=True)
            self._signal.notify()
        return ws

    async def _receive(self, connection: Connection, text: str) -> None:
        if connection.unresponsive:
            return
        connection.count_command()
        op, data = _decode(text)
        if op == HEARTBEAT:
            await connection.send({"op": HEARTBEAT_ACK, "d": None})
        elif op == IDENTIFY:
            self._identify(connection, data)
        elif op == RESUME:
            await self._resume(connection, data)
        elif connection.session is None:
            raise _Refused(NOT_AUTHENTICATED)
        elif op not in _AFTER_IDENTIFY:
            raise _Refused(UNKNOWN_OPCODE)

    def _identify(self, connection: Connection, data: dict[str, object]) -> None:
        if connection.session is not None:
            raise _Refused(ALREADY_AUTHENTICATED)
        if data.get("token") != self._token():
            raise _Refused(BAD_TOKEN)
        intents = data.get("intents")
        if not isinstance(intents, int) or isinstance(intents, bool) or intents & ~ALL_INTENTS:
            raise _Refused(INVALID_INTENTS)
        if intents & Bits.PRIVILEGED & ~self._allowed_intents():
            raise _Refused(DISALLOWED_INTENTS)
        session = Session(intents)
        self.sessions[session.id] = session
        while len(self.sessions) > MAX_SESSIONS:
            del self.sessions[next(iter(self.sessions))]
        self._introduce(session, connection)
        self._attach(connection, session, after=0)

    def _introduce(self, session: Session, connection: Connection) -> None:
        world = self._world
        ready: dict[str, object] = {
            "v": 10,
            "user": user_json(world.bot),
            "guilds": [{"id": world.guild_id, "unavailable": True}],
            "private_channels": [],
            "session_id": session.id,
            "session_type": "normal",
            "resume_gateway_url": f"ws://{connection.request.host}/gateway",
            "application": {"id": world.application_id, "flags": 0},
        }
        session.add("READY", ready, bot_id=world.bot.id)
        session.add("GUILD_CREATE", guild_json(world), bot_id=world.bot.id)

    async def _resume(self, connection: Connection, data: dict[str, object]) -> None:
        if connection.session is not None:
            raise _Refused(ALREADY_AUTHENTICATED)
        if data.get("token") != self._token():
            raise _Refused(BAD_TOKEN)
        session = self.sessions.get(str(data.get("session_id")))
        sequence = data.get("seq")
        if session is None or not isinstance(sequence, int) or not session.can_resume(sequence):
            await connection.send({"op": INVALID_SESSION, "d": False})
            return
        session.add("RESUMED", {"_trace": []}, bot_id=self._world.bot.id)
        self._attach(connection, session, after=sequence)

    def _attach(self, connection: Connection, session: Session, after: int) -> None:
        for other in self.connections:
            if other.session is session:
                other.abort()
        connection.session = session
        connection.writer = asyncio.create_task(self._write(connection, session, after))

    async def _write(self, connection: Connection, session: Session, after: int) -> None:
        position = session.position_after(after)
        try:
            while not connection.ws.closed:
                entry = session.at(position)
                if connection.unresponsive:
                    return
                if entry is None or (self.held and session.introduced):
                    await self._wait_for(session, position)
                    continue
                await connection.send(
                    {"op": DISPATCH, "t": entry.event, "s": entry.sequence, "d": entry.data}
                )
                position += 1
                if entry.event == "GUILD_CREATE":
                    session.introduced = True
                    self._signal.notify()
        except ConnectionError:
            return

    async def _wait_for(self, session: Session, position: int) -> None:
        await self._wake.wait_until(
            lambda: not self.held and session.at(position) is not None, MAX_IDLE_SECONDS
        )

    def drop(self) -> None:
        """Cut every socket."""
        for connection in list(self.connections):
            connection.abort()

    def stop_responding(self) -> None:
        """Let nothing pass through the sockets that are open, in either direction; they stay open,
        and new ones work."""
        for connection in self.connections:
            connection.unresponsive = True

    async def request_reconnect(self) -> None:
        """Ask every client to reconnect (opcode 7), as Discord does for maintenance."""
        for connection in list(self.connections):
            await connection.send({"op": RECONNECT, "d": None})


def _decode(text: str) -> tuple[int, dict[str, object]]:
    if len(text.encode()) > MAX_COMMAND_BYTES:
        raise _Refused(DECODE_ERROR)
    try:
        payload = json.loads(text)
    except ValueError:
        raise _Refused(DECODE_ERROR) from None
    if not isinstance(payload, dict) or not isinstance(payload.get("op"), int):
        raise _Refused(DECODE_ERROR)
    data = payload.get("d")
    return payload["op"], data if isinstance(data, dict) else {}

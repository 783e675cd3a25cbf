"""The whole memory of the program for one case, without platforms and model."""

import asyncio
import uuid
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import Final

from msgspec import Struct

from gateway.immutable import replace
from gateway.message import Place
from gateway.people import DEFAULT_TENANT, Audience, PersonId, Principal, Role
from gateway.ports import Clock, MembershipStatus
from gateway.ports.clock import SystemClock
from gateway.ports.memory import Caller
from gateway.ports.memory_backend import BackendAccess, MemoryBackend, Statement
from memory.model.outcome import WriteResult
from memory.model.record import Draft, Kind, Scope
from memory.ports.memories import Filter
from memory.service.handle import MemoryHandle
from parley.config import from_mapping
from parley.testing.case import MemoryCase
from parley.wiring.memory import WiredMemory, wire_memory
from parley.wiring.memory_backends import load_backends
from parley.wiring.storage import Storage

DIRECT: Final = Place("chat", "main", "direct", Audience.DIRECT)
ROOM: Final = Place("chat", "main", "general", Audience.PUBLIC_ROOM, "team")
OTHER_ROOM: Final = Place("chat", "main", "random", Audience.PUBLIC_ROOM, "team")
ELSEWHERE: Final = Place("chat", "main", "lounge", Audience.PUBLIC_ROOM, "other-team")
MAX_FOUND: Final = 1_000
AT_ONCE: Final = 10


class _Members:
    """Implements `MembershipCheck`: everybody is a member."""

    async def belongs(self, person: str, project: str) -> MembershipStatus:
        return MembershipStatus.MEMBER


class MemoryStage(Struct, frozen=True):
    """An opened memory. `backend` is the tested backend without the gateway's checks around it,
    None for Parley's own memory."""

    storage: Storage
    """The opened stores."""
    wired: WiredMemory
    """Memory as the program builds it."""
    clock: Clock
    """The clock of the program."""
    backend: MemoryBackend | None

    def caller(
        self,
        name: str = "ada",
        place: Place = DIRECT,
        *,
        tenant: str = DEFAULT_TENANT,
        role: Role = Role.MEMBER,
        message: str = "",
        words: str = "",
    ) -> Caller:
        """A person who writes in a place."""
        person = PersonId(place.platform, place.account, name)
        here = place
        if place.audience is Audience.DIRECT:
            here = replace(place, channel_id=f"{name}-direct")
        return Caller(
            id=str(uuid.uuid4()),
            principal=Principal(tenant, person, role),
            name=name.title(),
            place=here,
            conversation=f"{tenant}/{here.platform}/{here.channel_id}",
            at=self.clock.now(),
            message_ids=(message or str(uuid.uuid4()),),
            words=(words,) if words else (),
        )

    async def handle(self, caller: Caller | None = None) -> MemoryHandle:
        """The memory of a caller; of Ada in her direct conversation by default."""
        assert self.wired.memory is not None
        return await self.wired.memory.for_principal(caller or self.caller())

    async def remember(
        self,
        text: str,
        caller: Caller | None = None,
        *,
        kind: Kind = Kind.FACT,
        scope: Scope = Scope.USER,
        tags: Sequence[str] = (),
    ) -> WriteResult:
        """Store what a person asks to keep."""
        handle = await self.handle(caller)
        return await handle.write.remember(Draft(text, kind, tuple(tags), scope))

    async def fill(self, texts: Sequence[str]) -> None:
        """Store many facts of Ada; into a tested backend directly, because the gateway compares
        each new statement with all others."""
        if self.backend is None:
            for begin in range(0, len(texts), AT_ONCE):
                some = texts[begin : begin + AT_ONCE]
                await asyncio.gather(*(self.remember(text) for text in some))
            return
        caller = self.caller()
        person, tenant, at = str(caller.principal.person), caller.principal.tenant, caller.at
        access = BackendAccess(tenant, person, (person,), private=True)
        for number, text in enumerate(texts):
            made = at - timedelta(minutes=number)
            statement = Statement(tenant, f"mem-{number}", text, "fact", made, person)
            await self.backend.remember(access, statement)

    async def listed(self, caller: Caller | None = None) -> list[str]:
        """The texts that a caller can list, newest first."""
        handle = await self.handle(caller)
        matches = await handle.read.search(Filter(limit=MAX_FOUND))
        return [match.record.content for match in matches]

    async def recalled(self, question: str, caller: Caller | None = None) -> list[str]:
        """The texts that a turn recalls for a question, best first."""
        turn = await self.wired.remembering.turn(caller or self.caller())
        return [item.text for item in await turn.knowledge(question)]

    async def prompted(self, caller: Caller | None = None) -> str:
        """The text of memory in every prompt of a caller."""
        turn = await self.wired.remembering.turn(caller or self.caller())
        parts = await turn.prompt_parts()
        return f"{parts.brief}\n{parts.shared}"

    async def exported(self, caller: Caller | None = None) -> str:
        """Everything that is stored about a caller, as one text."""
        handle = await self.handle(caller)
        return str(await handle.privacy.export_all())


@asynccontextmanager
async def opened_memory(case: MemoryCase, folder: Path) -> AsyncIterator[MemoryStage]:
    """The memory of a case over what is stored in the folder."""
    database: Mapping[str, object] = {"database": {"url": f"sqlite:///{folder / 'parley.db'}"}}
    keys = {"server": {"key_folder": str(folder)}}
    settings = from_mapping({**database, **keys, **case.settings(folder)})
    clock = SystemClock()
    storage = Storage(settings, clock)
    backends = load_backends(settings, clock)
    wired = wire_memory(settings, storage, clock, check=_Members(), backends=backends)
    tested = [one.backend for one in backends if one.name == case.backend]
    await storage.start(exclusive=False)
    try:
        await wired.start()
        yield MemoryStage(storage, wired, clock, tested[0] if tested else None)
    finally:
        await wired.close()
        await storage.stop()

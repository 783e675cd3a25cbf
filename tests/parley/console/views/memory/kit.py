"""People with memories, in a running console."""

from gateway.immutable import replace
from memory.model.outcome import Outcome
from memory.model.record import Draft, Kind, Scope
from memory.service.handle import MemoryHandle
from tests.parley.console.kit import Console
from tests.parley.http.api.kit import PROJECT


async def in_project(console: Console, name: str) -> MemoryHandle:
    """The private memory of a person who was in the room and chose its project; olga operates."""
    client = console.program.api_client(name)
    await client.in_room()
    handle = await client.in_private()
    await handle.privacy.dependencies.people.choose_project(handle.request, PROJECT)
    return await client.in_private()


async def remember(
    console: Console, name: str, text: str, kind: Kind = Kind.FACT, supersedes: str = ""
) -> str:
    """Let a person ask to keep a text; return the id of the memory."""
    handle = await console.program.api_client(name).in_private()
    result = await handle.write.remember(Draft(text, kind, supersedes=supersedes))
    assert result.outcome is Outcome.STORED, result
    return result.memory_id


async def infer(console: Console, name: str, text: str) -> str:
    """Let the assistant note what a person wrote on its own; return the id of the memory."""
    handle = await console.program.api_client(name).in_private()
    handle = MemoryHandle(
        handle.privacy.dependencies,
        replace(handle.request, message_ids=(text,), words=(text,)),
        handle.privacy.start,
    )
    result = await handle.write.infer(Draft(text, Kind.FACT))
    assert result.memory_id, result
    return result.memory_id


async def waiting(console: Console, name: str, text: str) -> str:
    """Let a text of a person wait for a decision; return the id of the entry."""
    handle = await console.program.api_client(name).in_private()
    result = await handle.write.infer(Draft(text, Kind.FACT))
    assert result.outcome is Outcome.REVIEW, result
    return result.review_id


async def shared(console: Console, text: str, scope: Scope = Scope.PROJECT) -> str:
    """Let the operator store a memory of the project, or of everybody; return its id."""
    await in_project(console, "olga")
    body = {"content": text, "scope": scope.value}
    answer = await console.program.api_client("olga")("POST", "/brain/memories", body)
    assert answer.status == 201, answer.json
    return str(answer.json["memory_id"])

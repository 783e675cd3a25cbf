"""The command `/project`: the project of direct messages, and the one that a room is bound to."""

from collections.abc import Awaitable, Callable
from typing import Final

from msgspec import Struct

from gateway.errors import BadInput
from gateway.message import Reply
from gateway.people import Audience, Role
from gateway.ports.memory import Caller
from memory.commands import texts
from memory.knowledge.access import KnowledgeReader
from memory.knowledge.bindings import RoomBindings
from memory.model.scope import room_of
from memory.service.handle import MemoryHandle
from memory.service.people import People
from memory.text.display import one_line

MAX_NAMED: Final = 20
"""Repositories that are named."""
IN_ROOM: Final = (
    "This conversation belongs to the project `{project}`: I use its memories and project notes "
    "here."
)
NO_PROJECT_HERE: Final = "I use no project here."
BOUND_TO: Final = (
    "An operator bound this channel to the project `{project}`: I search its repositories."
)
SEARCHED: Final = "Repositories that I search here: {names}."
NOT_SEARCHED: Final = "There is no repository that I may search here."
FOR_OPERATORS: Final = (
    "`/project bind PROJECT` lets me search the repositories of another project here, `/project "
    "unbind` ends that. This channel is called `{room}` in `parley knowledge init --room`."
)
BOUND: Final = (
    "This channel is bound to the project `{project}`: I search its repositories here, private "
    "ones only if the channel is private or allowed by name. `/project unbind` ends it."
)
UNBOUND: Final = "This channel is no longer bound to the project `{project}`."
NOT_BOUND: Final = "This channel is not bound to a project."
USAGE: Final = "Write `/project`, `/project bind PROJECT` or `/project unbind`."


class ProjectCommands(Struct, frozen=True):
    """Runs the command. Raises `BadInput` with words for the person."""

    people: People
    bindings: RoomBindings
    repositories: KnowledgeReader | None
    figures: Callable[[MemoryHandle], Awaitable[str]]
    """Describes the age of the project's figures."""

    async def run(self, handle: MemoryHandle, caller: Caller, text: str) -> Reply:
        """Run the command and return the answer."""
        if caller.place.audience is Audience.DIRECT:
            return await self._in_private(handle, text)
        what, _, rest = text.partition(" ")
        match what.casefold():
            case "":
                return await self._status(handle)
            case "bind" if rest.strip():
                project = rest.strip().strip("`")
                await self.bindings.bind_here(handle.request, project)
                return Reply(BOUND.format(project=project))
            case "unbind" if not rest:
                project = await self.bindings.unbind_here(handle.request)
                return Reply(UNBOUND.format(project=project) if project else NOT_BOUND)
            case "bind" | "unbind":
                raise BadInput(USAGE)
        raise BadInput(texts.PROJECT_OF_ROOM)

    async def _status(self, handle: MemoryHandle) -> Reply:
        """Describe the projects of a room."""
        request = handle.request
        bound = await self.bindings.of_place(request.principal.tenant, request.place)
        lines = [IN_ROOM.format(project=request.project) if request.project else NO_PROJECT_HERE]
        lines += [BOUND_TO.format(project=bound)] if bound else []
        lines += [await self._searched(handle)]
        if request.principal.role.at_least(Role.OPERATOR):
            lines.append(FOR_OPERATORS.format(room=room_of(request.place)))
        return Reply("\n\n".join(filter(None, lines)))

    async def _searched(self, handle: MemoryHandle) -> str:
        if self.repositories is None:
            return ""
        repositories = await self.repositories.repositories(handle.request, MAX_NAMED)
        names = ", ".join(f"`{one_line(one.name)}`" for one in repositories)
        return SEARCHED.format(names=names) if names else NOT_SEARCHED

    async def _in_private(self, handle: MemoryHandle, text: str) -> Reply:
        if text:
            title = await self.people.choose_project(handle.request, text)
            chosen = (
                f"The project is now **{one_line(title)}**." if title else "No project is chosen."
            )
            return Reply(chosen)
        known = await self.people.projects(handle.request)
        if not known:
            return Reply(texts.NO_PROJECT)
        lines = [
            f"{number}. {one_line(title)}{' ← now' * (project == handle.access.project)}"
            for number, (project, title) in enumerate(known, 1)
        ]
        choices = "\n".join(("Which one? `/project NUMBER`, or `/project none`", "", *lines))
        parts = (choices, await self.figures(handle), await self._searched(handle))
        return Reply("\n\n".join(filter(None, parts)))

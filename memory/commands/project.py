"""The command `/project`: the project of direct messages, and the one that a room is bound to."""

from collections.abc import Awaitable, Callable
from typing import Final

from msgspec import Struct

from gateway.errors import BadInput
from gateway.message import Reply
from gateway.people import Audience, Role
from gateway.ports.memory import Caller
from gateway.text import NO_TEXT, Text, joined, text, verbatim
from memory.commands import texts
from memory.knowledge.access import KnowledgeReader
from memory.knowledge.bindings import RoomBindings
from memory.model.scope import room_of
from memory.service.handle import MemoryHandle
from memory.service.people import People
from memory.text.display import one_line, paragraphs

MAX_NAMED: Final = 20
"""Repositories that are named."""
IN_ROOM: Final = text(
    "This conversation belongs to the project `{project}`: I use its memories and project notes "
    "here."
)
NO_PROJECT_HERE: Final = text("I use no project here.")
BOUND_TO: Final = text(
    "An operator bound this channel to the project `{project}`: I search its repositories."
)
SEARCHED: Final = text("Repositories that I search here: {names}.")
NOT_SEARCHED: Final = text("There is no repository that I may search here.")
FOR_OPERATORS: Final = text(
    "`/project bind PROJECT` lets me search the repositories of another project here, `/project "
    "unbind` ends that. This channel is called `{room}` in `parley knowledge init --room`."
)
BOUND: Final = text(
    "This channel is bound to the project `{project}`: I search its repositories here, private "
    "ones only if the channel is private or allowed by name. `/project unbind` ends it."
)
UNBOUND: Final = text("This channel is no longer bound to the project `{project}`.")
NOT_BOUND: Final = text("This channel is not bound to a project.")
NOW: Final = text("The project is now **{title}**.")
NONE_CHOSEN: Final = text("No project is chosen.")
WHICH: Final = text("Which one? `/project NUMBER`, or `/project none`")
# Translators: a project in a numbered list, nothing to translate.
_CHOICE: Final = text("{number}. {title}")
_CHOSEN: Final = text("{number}. {title} ← now")
USAGE: Final = text("Write `/project`, `/project bind PROJECT` or `/project unbind`.")


class ProjectCommands(Struct, frozen=True):
    """Runs the command. Raises `BadInput` with words for the person."""

    people: People
    bindings: RoomBindings
    repositories: KnowledgeReader | None
    figures: Callable[[MemoryHandle], Awaitable[Text]]
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
                return Reply(BOUND.of(project=verbatim(project)))
            case "unbind" if not rest:
                project = await self.bindings.unbind_here(handle.request)
                return Reply(UNBOUND.of(project=verbatim(project)) if project else NOT_BOUND)
            case "bind" | "unbind":
                raise BadInput(USAGE)
        raise BadInput(texts.PROJECT_OF_ROOM)

    async def _status(self, handle: MemoryHandle) -> Reply:
        """Describe the projects of a room."""
        request = handle.request
        bound = await self.bindings.of_place(request.principal.tenant, request.place)
        here = NO_PROJECT_HERE
        if request.project:
            here = IN_ROOM.of(project=verbatim(request.project))
        bound_to = BOUND_TO.of(project=verbatim(bound)) if bound else None
        advice = None
        if request.principal.role.at_least(Role.OPERATOR):
            advice = FOR_OPERATORS.of(room=verbatim(room_of(request.place)))
        return Reply(paragraphs(here, bound_to, await self._searched(handle), advice))

    async def _searched(self, handle: MemoryHandle) -> Text:
        if self.repositories is None:
            return NO_TEXT
        repositories = await self.repositories.repositories(handle.request, MAX_NAMED)
        names = ", ".join(f"`{one_line(one.name)}`" for one in repositories)
        return SEARCHED.of(names=verbatim(names)) if names else NOT_SEARCHED

    async def _in_private(self, handle: MemoryHandle, text: str) -> Reply:
        if text:
            title = await self.people.choose_project(handle.request, text)
            return Reply(NOW.of(title=verbatim(one_line(title))) if title else NONE_CHOSEN)
        known = await self.people.projects(handle.request)
        if not known:
            return Reply(texts.NO_PROJECT)
        lines = [
            (_CHOSEN if project == handle.access.project else _CHOICE).of(
                number=number, title=verbatim(one_line(title))
            )
            for number, (project, title) in enumerate(known, 1)
        ]
        figures, searched = await self.figures(handle), await self._searched(handle)
        return Reply(paragraphs(WHICH, joined(lines, "\n"), figures, searched))

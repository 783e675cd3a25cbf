"""Where proposals wait for an operator's decision: in which projects, and how many."""

import asyncio
from dataclasses import dataclass
from typing import Final

from memory.model.scope import AccessScope, RequestScope
from memory.ports import ReviewStore
from memory.service.people import People

MAX_PROJECTS: Final = 5
"""Projects that are named at most; each may have to be asked of its platform."""


@dataclass(frozen=True, slots=True)
class Proposals:
    """`count` proposals wait in a project; `project` is empty for what is for everybody of the
    tenant."""

    project: str
    title: str
    count: int


async def proposals_for(
    reviews: ReviewStore, people: People, request: RequestScope, access: AccessScope
) -> list[Proposals]:
    """Of the projects that this operator belongs to. Nothing for whoever is no operator, and
    nothing in a room: others would read which projects there are. Raises `StoreUnavailable`."""
    if access.room or not access.operates:
        return []
    titles = dict(await people.projects(request))
    counts = await reviews.proposed(access, tuple(titles))
    some = [project for project in titles if project in counts][:MAX_PROJECTS]
    held = await asyncio.gather(*(people.reaches(request, project) for project in some))
    found = [
        Proposals(project, titles[project], counts[project])
        for project, holds in zip(some, held, strict=True)
        if holds
    ]
    return found + ([Proposals("", "", counts[""])] if "" in counts else [])

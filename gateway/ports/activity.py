"""How much the assistant was used, for whoever tells of it."""

from dataclasses import dataclass
from datetime import datetime
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Activity:
    """What the assistant did: questions answered, people who asked, tokens, cost in millionths of
    a dollar."""

    answered: int
    people: int
    tokens: int
    micros: int


class ActivityLog(Protocol):
    """Sums over traces and usage; nobody's name, no content."""

    async def of_project(self, tenant: str, project: str, since: datetime) -> Activity:
        """What was done in a project since then. `project` is "platform:account:id", where the id
        is a workspace's, or a channel's that belongs to none; raises `BadInput` for another."""
        ...

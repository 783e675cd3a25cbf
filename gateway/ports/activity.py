"""Usage of the assistant by project."""

from dataclasses import dataclass
from datetime import datetime
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Activity:
    """Answered questions, people who asked, tokens, and cost in millionths of a dollar."""

    answered: int
    people: int
    tokens: int
    micros: int


class ActivityLog(Protocol):
    """Sums over traces and usage, without names and content."""

    async def of_project(self, tenant: str, project: str, since: datetime) -> Activity:
        """Return the sums of a project since then. `project` is "platform:account:id", where the id
        is a workspace's, or a channel's without a workspace; raises `BadInput` for any other text.
        """

"""The task that an agent of a person works on, which is kept between its sessions."""

from datetime import datetime
from typing import Final, Protocol

MAX_TASK_TEXT: Final = 2_000
"""Characters of a task with its details."""


class AgentTasks(Protocol):
    """Stores tasks. `person` is a `str(PersonId)`; `agent` is empty for the person's own. Every
    method raises `StoreUnavailable`."""

    async def task(self, tenant: str, person: str, agent: str) -> str:
        """Return the task, empty for none."""
        ...

    async def set_task(self, tenant: str, person: str, agent: str, text: str, at: datetime) -> None:
        """Replace the task; an empty text ends it."""
        ...

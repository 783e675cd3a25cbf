"""Limits the number of imported files of each person."""

from collections import OrderedDict, deque
from datetime import datetime, timedelta
from typing import Final

from gateway.errors import BadInput

IMPORTS: Final = 10
WITHIN: Final = timedelta(hours=1)
"""The period in which a person may import `IMPORTS` files, in each process."""
MAX_PEOPLE: Final = 10_000
TOO_OFTEN: Final = (
    f"you imported {IMPORTS} files within an hour; try again later, or ask the operator to import "
    "it at the terminal"
)


class ImportRateLimit:
    """Keeps the times of each person's imports."""

    def __init__(self) -> None:
        self._began: OrderedDict[str, deque[datetime]] = OrderedDict()

    def take(self, person: str, now: datetime) -> None:
        """Count an import of this person. Raises `BadInput` where there were too many."""
        began = self._began.setdefault(person, deque(maxlen=IMPORTS))
        self._began.move_to_end(person)
        while began and now - began[0] >= WITHIN:
            began.popleft()
        if len(began) == IMPORTS:
            raise BadInput(TOO_OFTEN)
        began.append(now)
        while len(self._began) > MAX_PEOPLE:
            self._began.popitem(last=False)

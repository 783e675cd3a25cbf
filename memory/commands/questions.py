"""Open questions: what a button under one of our answers stands for, until it is pressed."""

import json
from dataclasses import asdict, dataclass
from datetime import timedelta
from typing import Final, Literal

from gateway.message import Button
from gateway.ports import AdapterState

PREFIX: Final = "memory:"
VALID_FOR: Final = timedelta(minutes=10)
ASKED_ELSEWHERE: Final = timedelta(days=1)
"""How long somebody has to answer who was asked without having written."""

LISTED_FOR: Final = timedelta(hours=1)
"""How long one can turn the pages of a list."""

Deed = Literal["forget", "erase", "erase_surely"]


@dataclass(frozen=True, slots=True)
class Question:
    """What was asked, of whom. `person` is the `str(PersonId)`; `topic` what is to be forgotten."""

    deed: Deed
    person: str
    topic: str = ""


@dataclass(frozen=True, slots=True)
class Shown:
    """Whose list was shown, and what was searched for in it."""

    person: str
    text: str = ""


class Questions:
    """Keeps them for ten minutes, or as long as is said."""

    def __init__(self, state: AdapterState) -> None:
        self._state = state

    async def ask(
        self, question_id: str, question: Question, yes: str, valid_for: timedelta = VALID_FOR
    ) -> tuple[Button, Button]:
        """Keep a question; the two buttons to put under it."""
        await self._state.put(question_id, json.dumps(asdict(question)), valid_for)
        return (
            Button(yes, f"{PREFIX}yes:{question_id}", typed="yes"),
            Button("Cancel", f"{PREFIX}no:{question_id}", typed="no"),
        )

    async def take(self, question_id: str, person: str) -> Question | None:
        """The question, when this person was asked and it is still open; it is closed then."""
        stored = await self._state.get(question_id)
        if not stored:
            return None
        question = Question(**json.loads(stored))
        if question.person != person:
            return None
        await self._state.put(question_id, "", VALID_FOR)
        return question

    async def keep_list(self, list_id: str, shown: Shown) -> None:
        """Keep what the pages of a list are made of."""
        await self._state.put(f"list:{list_id}", json.dumps(asdict(shown)), LISTED_FOR)

    async def list_of(self, list_id: str) -> Shown | None:
        """What the pages of a list are made of, None when it is too old."""
        stored = await self._state.get(f"list:{list_id}")
        return Shown(**json.loads(stored)) if stored else None

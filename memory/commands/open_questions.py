"""Open questions: the meaning of a button under an answer until it is pressed."""

import asyncio
import json
from collections.abc import Sequence
from datetime import timedelta
from typing import Final, Literal

from msgspec import Struct
from msgspec.structs import asdict
from pydantic import TypeAdapter

from gateway.immutable import replace
from gateway.message import Choice, Place
from gateway.people import Audience
from gateway.ports import AdapterState
from gateway.text import Text, label
from memory.model.scope import channel_of
from memory.service.deletion_topics import ItemRefs

PREFIX: Final = "memory:"
VALID_FOR: Final = timedelta(minutes=10)
ASKED_ELSEWHERE: Final = timedelta(days=1)
"""The time to answer for a person who was asked in another place."""
PIECE: Final = 3_900
"""Characters of a list under one key."""
CANCEL: Final = label("Cancel")
YES: Final = label("yes")
NO: Final = label("no")
"""What a person writes instead of pressing a button."""
MAX_PERSON: Final = 300
MAX_PIECES: Final = 25
"""Pieces of one list: room for 200 items."""

REPEATED_FOR: Final = timedelta(days=1)
"""The time in which a command may be repeated after a failure."""
LISTED_FOR: Final = timedelta(hours=1)
"""The time in which the pages of a list can be turned."""

Action = Literal[
    "forget", "erase", "erase_surely", "unregister_agent", "take_back_agent", "leave_pool"
]
_BOUND: Final = TypeAdapter(tuple[ItemRefs, ...])


class OpenQuestion(Struct, frozen=True):
    """An open question. `person` is the `str(PersonId)` who may answer; `channel` is
    "platform:account:channel", empty for any direct conversation.

    `topic` is the hashed topic of a deletion. Its shown matches are stored in `pieces` parts;
    `beyond` more were not shown. `target` is the id of an agent, followed by a blank and, for a
    take-back, the time from which on it takes back, or for leaving the id of the pool. `taken_by`
    is the id of the turn that answers it; the question is closed for every other turn.
    """

    action: Action
    person: str
    topic: str = ""
    channel: str = ""
    pieces: int = 0
    beyond: int = 0
    taken_by: str = ""
    target: str = ""

    def is_of(self, person: str, channel: str) -> bool:
        """True for the asked person, in the same place or in private; `channel` is `answered_in` of
        the answer's place."""
        return self.person == person and (not channel or self.channel in ("", channel))


class Shown(Struct, frozen=True):
    """The owner of a shown list, and the text that it was searched for."""

    person: str
    text: str = ""


class Questions:
    """Stores open questions for ten minutes, or a given time."""

    def __init__(self, state: AdapterState) -> None:
        self._state = state
        self._taking = asyncio.Lock()

    async def ask(
        self, question_id: str, question: OpenQuestion, yes: Text, valid_for: timedelta = VALID_FOR
    ) -> tuple[Choice, Choice]:
        """Store a question and return its two buttons."""
        await self._state.put(question_id, json.dumps(asdict(question)), valid_for)
        return (
            Choice(yes, f"{PREFIX}yes:{question_id}", typed=YES),
            Choice(CANCEL, f"{PREFIX}no:{question_id}", typed=NO),
        )

    async def keep_list(self, question_id: str, person: str, bound: Sequence[ItemRefs]) -> int:
        """Store the items that a question shows to this person, in pieces; return the number of
        pieces. Raises `ValueError` for more than fits, see `fitting`."""
        text, size = _BOUND.dump_json(tuple(bound)).decode(), PIECE - len(person)
        pieces = [text[at : at + size] for at in range(0, len(text), size)]
        if len(pieces) > MAX_PIECES:
            raise ValueError(f"a question shows at most {MAX_PIECES} pieces, not {len(pieces)}")
        for number, piece in enumerate(pieces):
            await self._state.put(f"{question_id}:{number}", f"{person}\n{piece}", VALID_FOR)
        return len(pieces)

    async def list_of(
        self, question_id: str, question: OpenQuestion
    ) -> tuple[ItemRefs, ...] | None:
        """Return the items that a question showed; None if it expired."""
        if not question.pieces:
            return ()
        pieces = [await self._state.get(f"{question_id}:{n}") for n in range(question.pieces)]
        if any(not piece for piece in pieces):
            return None
        return _BOUND.validate_json("".join((p or "").partition("\n")[2] for p in pieces))

    async def find(self, question_id: str, turn_id: str = "") -> OpenQuestion | None:
        """Return an open question of any person, or one that this turn has taken."""
        if ":" in question_id:  # names a piece of a list
            return None
        stored = await self._state.get(question_id)
        question = OpenQuestion(**json.loads(stored)) if stored else None
        return question if question is None or question.taken_by in ("", turn_id) else None

    async def take(
        self, question_id: str, person: str, turn_id: str, channel: str = ""
    ) -> OpenQuestion | None:
        """Return the question, and close it for other turns, if this person was asked here and it
        is open. The same turn may take it again, because a failure may have interrupted its action.
        Of two simultaneous presses in this process, the second finds it closed."""
        async with self._taking:
            question = await self.find(question_id, turn_id)
            if question is None or not question.is_of(person, channel or question.channel):
                return None
            taken = replace(question, taken_by=turn_id)
            await self._state.put(question_id, json.dumps(asdict(taken)), VALID_FOR)
        return question

    async def drop_list(self, question_id: str, question: OpenQuestion) -> None:
        """Delete the items of an answered question."""
        for number in range(question.pieces):
            await self._state.put(f"{question_id}:{number}", "", VALID_FOR)

    async def keep_target(self, turn_id: str, person: str, target: str) -> None:
        """Store the memory or version that a command of this turn chose, so that a repetition of
        the turn chooses no other one."""
        await self._state.put(f"target:{turn_id}", f"{person}\n{target}", REPEATED_FOR)

    async def target_of(self, turn_id: str) -> str:
        """Return what an earlier attempt of this turn chose; empty for none."""
        stored = await self._state.get(f"target:{turn_id}")
        return (stored or "").partition("\n")[2]

    async def keep_pages(self, list_id: str, shown: Shown) -> None:
        """Store the parameters of a shown list."""
        await self._state.put(f"list:{list_id}", json.dumps(asdict(shown)), LISTED_FOR)

    async def pages_of(self, list_id: str) -> Shown | None:
        """Return the parameters of a shown list; None if it expired."""
        stored = await self._state.get(f"list:{list_id}")
        return Shown(**json.loads(stored)) if stored else None


def answered_in(place: Place) -> str:
    """Return the channel of an answer, empty in private. If a room cannot show a message to one
    person alone, the question of a room is asked in private (a command that mentions the assistant
    on Discord)."""
    return "" if place.audience is Audience.DIRECT else channel_of(place)


def fitting(bound: Sequence[ItemRefs]) -> int:
    """Return how many items, from the first, one question can hold."""
    left = MAX_PIECES * (PIECE - MAX_PERSON)
    for number, refs in enumerate(bound):
        left -= len(_BOUND.dump_json((refs,)))
        if left < 0:
            return number
    return len(bound)

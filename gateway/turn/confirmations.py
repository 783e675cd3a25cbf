"""Confirmations with buttons before an action that cannot be undone."""

import json
from datetime import timedelta
from typing import Final, Literal

from msgspec import Struct
from msgspec.structs import asdict

from gateway.conversation import ConversationKey
from gateway.message import Choice
from gateway.people import Role
from gateway.text import Text, label
from gateway.turn.services import Services

PREFIX: Final = "confirm:"
VALID_FOR: Final = timedelta(minutes=10)
YES: Final = label("yes")
NO: Final = label("no")
ALL: Final = label("all")
"""The words that answer where there are no buttons."""
Answer = Literal["yes", "no", "learned"]
ANSWERS: Final[tuple[Answer, ...]] = ("yes", "no", "learned")


class PendingConfirmation(Struct, frozen=True):
    """A question and the person who gets it. `person` is a `str(PersonId)`. For a task: its `text`,
    the `name` of the person, and the `message_id` it derives from. `at` is the time of the
    question, in ISO 8601."""

    action: Literal["clear", "task"]
    person: str
    key: ConversationKey
    text: str = ""
    name: str = ""
    message_id: str = ""
    at: str = ""


def is_confirmation(value: str) -> bool:
    """Return True for the value of a confirmation's button."""
    return value.startswith(PREFIX)


def buttons(confirmation_id: str, yes: Text, no: Text) -> tuple[Choice, Choice]:
    """Return the two buttons under the question."""
    return (
        Choice(yes, f"{PREFIX}{confirmation_id}:yes", typed=YES),
        Choice(no, f"{PREFIX}{confirmation_id}:no", typed=NO),
    )


def also_learned(confirmation_id: str, shown: Text) -> Choice:
    """Return a third button: yes, and delete learned memories too."""
    return Choice(shown, f"{PREFIX}{confirmation_id}:learned", typed=ALL)


async def remember(
    services: Services, confirmation_id: str, confirmation: PendingConfirmation
) -> None:
    """Store a question until it is answered or expires."""
    state = services.stores.states.of("parley", "confirmations")
    kept = {**asdict(confirmation), "key": confirmation.key._asdict()}
    await state.put(confirmation_id, json.dumps(kept, ensure_ascii=False), VALID_FOR)


async def recall(services: Services, value: str) -> tuple[str, PendingConfirmation, Answer] | None:
    """Return the question of a button, its id first; None if it is unknown or expired."""
    confirmation_id, _, answer = value.removeprefix(PREFIX).partition(":")
    state = services.stores.states.of("parley", "confirmations")
    stored = await state.get(confirmation_id)
    given: Answer | None = next((one for one in ANSWERS if one == answer), None)
    if not stored or given is None:
        return None
    data = json.loads(stored)
    confirmation = PendingConfirmation(**{**data, "key": ConversationKey(**data["key"])})
    return confirmation_id, confirmation, given


async def claim(services: Services, confirmation_id: str, turn_id: str) -> bool:
    """Return True for the press that answers a question first, also if its turn is repeated after a
    failure: its action may not be complete."""
    state, key = services.stores.states.of("parley", "confirmations"), f"{confirmation_id}:by"
    by = await state.get(key)
    if by:
        return by == turn_id
    await state.put(key, turn_id, VALID_FOR)
    return await services.stores.buckets.claim(f"answered:{confirmation_id}", VALID_FOR)


def may_answer(confirmation: PendingConfirmation, person: str, role: Role) -> bool:
    """Return True for the person who was asked, and for operators."""
    return confirmation.person == person or role.at_least(Role.OPERATOR)

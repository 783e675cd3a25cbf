"""Questions with two buttons, asked before something that cannot be undone."""

import json
from dataclasses import asdict, dataclass
from datetime import timedelta
from typing import Final, Literal

from gateway.conversation import ConversationKey
from gateway.message import Button
from gateway.people import Role
from gateway.turn.services import Services

PREFIX: Final = "confirm:"
VALID_FOR: Final = timedelta(minutes=10)

Answer = Literal["yes", "no", "learned"]

ANSWERS: Final[tuple[Answer, ...]] = ("yes", "no", "learned")


@dataclass(frozen=True, slots=True)
class Confirmation:
    """A question, and who asked. `person` is `str(PersonId)`. Of a task: its `text`, the `name` of
    who asked, and the `message_id` that it goes back to. `at` is when it was asked, in ISO 8601."""

    action: Literal["clear", "task"]
    person: str
    key: ConversationKey
    text: str = ""
    name: str = ""
    message_id: str = ""
    at: str = ""


def is_confirmation(value: str) -> bool:
    """True for the value of a button of ours."""
    return value.startswith(PREFIX)


def buttons(confirmation_id: str, yes: str, no: str) -> tuple[Button, Button]:
    """The two buttons under the question."""
    return (
        Button(yes, f"{PREFIX}{confirmation_id}:yes", typed="yes"),
        Button(no, f"{PREFIX}{confirmation_id}:no", typed="no"),
    )


def also_learned(confirmation_id: str, label: str) -> Button:
    """A third button: yes, and what was learned goes as well."""
    return Button(label, f"{PREFIX}{confirmation_id}:learned", typed="all")


async def remember(services: Services, confirmation_id: str, asked: Confirmation) -> None:
    """Keep a question until it is answered or too old."""
    state = services.stores.states.of("parley", "confirmations")
    kept = {**asdict(asked), "key": asked.key._asdict()}
    await state.put(confirmation_id, json.dumps(kept, ensure_ascii=False), VALID_FOR)


async def recall(services: Services, value: str) -> tuple[str, Confirmation, Answer] | None:
    """The question a button belongs to, its id first; None when it is unknown or too old."""
    confirmation_id, _, answer = value.removeprefix(PREFIX).partition(":")
    state = services.stores.states.of("parley", "confirmations")
    stored = await state.get(confirmation_id)
    given: Answer | None = next((one for one in ANSWERS if one == answer), None)
    if not stored or given is None:
        return None
    data = json.loads(stored)
    asked = Confirmation(**{**data, "key": ConversationKey(**data["key"])})
    return confirmation_id, asked, given


def may_answer(asked: Confirmation, person: str, role: Role) -> bool:
    """Who asked may answer, and so may operators."""
    return asked.person == person or role.at_least(Role.OPERATOR)

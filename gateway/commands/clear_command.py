"""`/clear`: deletes the history of a conversation and, on request, the memories learned in it."""

from datetime import datetime
from typing import Final

from gateway.commands import confirmations
from gateway.commands.confirmations import Answer, Confirmation
from gateway.message import Reply
from gateway.people import Audience
from gateway.turn.memory import caller_of
from gateway.turn.services import Services
from gateway.turn.turn_context import TurnContext

HISTORY: Final = "Delete history"
LEARNED: Final = "Also what I learned"
KEEP: Final = "Keep"
"""Labels of at most 20 characters, the limit of WhatsApp."""
QUESTION: Final = (
    "Delete the history of this conversation? I will no longer see its earlier messages. My "
    "memories of you stay (`/memories` shows them)."
)
FOR_ALL: Final = " This deletes the history for everybody here."
OFFER: Final = (
    "The button **{label}** deletes, in addition, what I learned about you in this conversation "
    "and the messages of it that I keep: {count} in total."
)
LEARNED_NOT_YOURS: Final = (
    "Only the person who asked can delete what I learned about them. You can still delete the "
    "history alone."
)
NOTHING: Final = "There was nothing to delete."
STAYS: Final = "My memories of you stay: `/memories` shows them, `/forget …` deletes them."


async def ask_to_clear(turn: TurnContext, services: Services, aside: str) -> Reply:
    """Return the question with its buttons."""
    now, conversation = services.clock.now(), str(turn.key)
    kept = Confirmation("clear", str(turn.who.person), turn.key, at=now.isoformat())
    await confirmations.remember(services, turn.id, kept)
    yes, no = confirmations.buttons(turn.id, HISTORY, KEEP)
    count = await services.memory.learned(caller_of(turn, services), conversation)
    most = turn.connected.manifest.capabilities.max_buttons
    offers = count > 0 and (most == 0 or most > len((yes, no)))  # typed where there are none
    for_all = FOR_ALL if turn.place.audience is not Audience.DIRECT else ""
    text = f"{QUESTION}{for_all}{aside}"
    if offers:
        text = f"{text}\n\n{OFFER.format(label=LEARNED, count=count)}"
    more = (confirmations.also_learned(turn.id, LEARNED),) if offers else ()
    until = now + confirmations.VALID_FOR
    return Reply(text, (yes, *more, no), buttons_until=until)


async def clear(
    confirmation: Confirmation, answer: Answer, turn: TurnContext, services: Services
) -> Reply:
    """Delete the history; returns the answer in Markdown."""
    gone = await services.stores.conversations.clear(confirmation.key)
    services.recent_secrets.forget(str(confirmation.key))
    if answer != "learned":
        in_room = turn.place.audience is not Audience.DIRECT
        stays = "My memories of people stay." if in_room else STAYS
        return Reply(f"Done: deleted {_messages(gone)}. {stays}" if gone else f"{NOTHING} {stays}")
    until = datetime.fromisoformat(confirmation.at)
    caller, conversation = caller_of(turn, services), str(confirmation.key)
    learned = await services.memory.forget_learned(caller, conversation, until)
    things = f"{learned} memor{'ies' if learned != 1 else 'y'} from this conversation"
    return Reply(f"Done: deleted {_messages(gone)}, and {things}.")


def _messages(count: int) -> str:
    return f"{count} message{'s' * (count != 1)} of this conversation's history"

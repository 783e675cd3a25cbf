"""`/clear`: deletes the history of a conversation, and, if wanted, what was learned in it."""

from datetime import datetime
from typing import Final

from gateway.commands import confirmations
from gateway.commands.confirmations import Answer, Confirmation
from gateway.exchange import Exchange
from gateway.message import Reply
from gateway.people import Audience
from gateway.services import Services
from gateway.stages.remembering import asker_of

HISTORY: Final = "Delete history"
LEARNED: Final = "Also what I learned"
KEEP: Final = "Keep"
"""Labels of at most 20 characters: WhatsApp shows no more."""
QUESTION: Final = (
    "Delete the history of this conversation? Then I no longer see what was said here before. What "
    "I remember of you stays (`/memories` shows it)."
)
FOR_ALL: Final = " The history goes for everybody here."
OFFER: Final = (
    "**{label}** deletes in addition what I learned of you in this conversation and what I keep of "
    "its messages: {count} in all."
)
NOT_YOURS: Final = (
    "Only the person who asked can delete what I learned of them. You can still delete the history "
    "alone."
)
NOTHING: Final = "There was nothing to delete."
STAYS: Final = "What I remember of you stays: `/memories` shows it, `/forget …` deletes it."


async def asked(exchange: Exchange, services: Services, aside: str) -> Reply:
    """The question, and its buttons."""
    now, conversation = services.clock.now(), str(exchange.key)
    kept = Confirmation("clear", str(exchange.who.person), exchange.key, at=now.isoformat())
    await confirmations.remember(services, exchange.id, kept)
    yes, no = confirmations.buttons(exchange.id, HISTORY, KEEP)
    count = await services.memory.learned(asker_of(exchange, services), conversation)
    most = exchange.connected.manifest.capabilities.max_buttons
    offers = count > 0 and (most == 0 or most > len((yes, no)))  # typed where there are none
    for_all = FOR_ALL if exchange.place.audience is not Audience.DIRECT else ""
    told = f"{QUESTION}{for_all}{aside}"
    if offers:
        told = f"{told}\n\n{OFFER.format(label=LEARNED, count=count)}"
    more = (confirmations.also_learned(exchange.id, LEARNED),) if offers else ()
    until = now + confirmations.VALID_FOR
    return Reply(told, (yes, *more, no), buttons_until=until)


async def cleared(
    wanted: Confirmation, answer: Answer, exchange: Exchange, services: Services
) -> Reply:
    """Delete it; the answer, in Markdown."""
    gone = await services.stores.conversations.clear(wanted.key)
    services.recent_secrets.forget(str(wanted.key))
    if answer != "learned":
        in_room = exchange.place.audience is not Audience.DIRECT
        stays = "What I remember of people stays." if in_room else STAYS
        return Reply(f"Done: deleted {_messages(gone)}. {stays}" if gone else f"{NOTHING} {stays}")
    until = datetime.fromisoformat(wanted.at)
    caller, conversation = asker_of(exchange, services), str(wanted.key)
    learned = await services.memory.forget_learned(caller, conversation, until)
    things = f"{learned} thing{'s' * (learned != 1)} that I had learned here"
    return Reply(f"Done: deleted {_messages(gone)}, and {things}.")


def _messages(count: int) -> str:
    return f"{count} message{'s' * (count != 1)} of this conversation's history"

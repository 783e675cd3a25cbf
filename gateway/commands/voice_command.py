"""`/voice` shows and changes which answers are spoken to a person, beside their text."""

from collections.abc import Mapping
from typing import Final

from gateway.errors import BadInput
from gateway.message import Reply
from gateway.text import Sentence, joined, text
from gateway.turn.services import Services
from gateway.turn.turn_context import TurnContext
from gateway.turn.voice_answer import ALWAYS, ON

OFF: Final = "off"
IS_OFF: Final = text("I answer in writing.")
IS_ON: Final = text("I answer voice messages with a voice message too, beside the text.")
IS_ALWAYS: Final = text("I speak every answer, beside the text.")
HOW: Final = text("`/voice on`, `/voice always` and `/voice off` change that.")
UNKNOWN: Final = text("I know `/voice on`, `/voice always` and `/voice off`.")
_SHOWN: Final[Mapping[str, Sentence]] = {OFF: IS_OFF, ON: IS_ON, ALWAYS: IS_ALWAYS}


async def run_voice(turn: TurnContext, arguments: str, services: Services) -> Reply:
    """Run the command. Raises `BadInput` with words for the person, and `StoreUnavailable`."""
    typed = arguments.strip(" `.*").casefold()
    tenant, person = turn.asker.who.tenant, turn.asker.person
    if not typed:
        known = await services.readers.known(tenant, person)
        return Reply(joined((_SHOWN.get(known.voice, IS_OFF), HOW), " "))
    if typed not in _SHOWN:
        raise BadInput(UNKNOWN)
    others = await services.memory.linked(turn.asker.who)
    for one in (person, *map(str, others)):
        await services.readers.choose_voice(tenant, one, "" if typed == OFF else typed)
    return Reply(_SHOWN[typed])

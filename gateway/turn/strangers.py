"""The words for a person who needs an approval: a code in a direct message, a hint for them alone
in a room, or silence."""

from gateway.message import MessageAuthor, Place
from gateway.pairing.texts import ROOM_HINT, code_text
from gateway.people import Audience, PersonId
from gateway.policy.decision import Decision
from gateway.policy.pairing import STAGE
from gateway.ports.admissions import Applicant
from gateway.turn.services import Services

NO_WORDS = Decision(STAGE, False, "silent")
HINTED = Decision(STAGE, False, "hinted")


async def words_for_stranger(
    tenant: str, author: MessageAuthor, place: Place, services: Services
) -> tuple[Decision, str]:
    """Return the decision about an answer, and its text, which is for this person alone; empty for
    silence. Raises `StoreUnavailable`."""
    if services.pairing is None or author.is_bot or author.is_chat:
        return NO_WORDS, ""
    person = str(PersonId(place.platform, place.account, author.id))
    if place.audience is Audience.DIRECT:
        applicant = Applicant(tenant, person, author.name, place)
        decision, code = await services.pairing.request(applicant)
        return decision, code_text(code) if code else ""
    can = services.connected[place.platform, place.account].manifest.capabilities
    if can.ephemeral and await services.pairing.hints(tenant, person, place):
        return HINTED, ROOM_HINT
    return NO_WORDS, ""

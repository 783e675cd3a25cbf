"""The erasure of everything about one account, and the question to its linked accounts."""

from typing import Final

from msgspec import Struct

from gateway.message import Notice, Reply
from gateway.people import Role
from gateway.ports.memory import Caller
from memory.commands import link_texts
from memory.commands.open_questions import ASKED_ELSEWHERE, Question, Questions
from memory.model.scope import channel_of
from memory.service.handle import MemoryHandle
from memory.service.links import side_of

YES: Final = "Erase everything"


class Erased(Struct, frozen=True):
    """The number of deleted entries, and the answer to the person."""

    entries: int
    reply: Reply


class Erasure(Struct, frozen=True):
    """Erases without a further question."""

    questions: Questions

    async def run(self, handle: MemoryHandle, caller: Caller) -> Erased:
        """Erase this identity; the notices of the answer ask its linked identities if theirs shall
        be erased too. Raises `StoreUnavailable`."""
        gone, others = await handle.erasure.erase_all(caller.id)
        side = link_texts.in_short(side_of(caller))
        text = link_texts.ERASED_ELSEWHERE.format(side=side)
        notices = []
        for number, other in enumerate(one.side for one in others):
            if other.place is None:
                continue
            question = Question("erase", other.person, channel=channel_of(other.place))
            id_ = f"{caller.id}-{number}"
            buttons = await self.questions.ask(id_, question, YES, ASKED_ELSEWHERE)
            until = caller.at + ASKED_ELSEWHERE
            notices.append(Notice(other.person, other.place, text, buttons, until))
        operated = caller.principal.role.at_least(Role.OPERATOR)
        text = link_texts.erased(gone, operated=operated)
        reply = Reply(text, notices=tuple(notices), forgets=True)
        return Erased(gone, reply)

"""`/memories`: lists of a person's memories and of their chat messages, page by page."""

from dataclasses import replace
from typing import Final

from gateway.message import Button, Reply
from gateway.people import Audience
from gateway.ports.memory import Caller
from memory.commands import texts
from memory.commands.open_questions import Questions, Shown
from memory.service.handle import MemoryHandle
from memory.service.listing import ListName, MemoryPage

PREFIX: Final = "memory:page:"
CHAT: Final = "chat"
"""The argument of `/memories` for chat messages."""
MAX_SEARCH: Final = 500
_LETTERS: Final[dict[str, ListName]] = {"l": "learned", "s": "said"}


class MemoryLists:
    """Shows a person's own memories. In a room only memories learned there, without buttons,
    because only that person could use them."""

    def __init__(self, questions: Questions) -> None:
        self._questions = questions

    async def first(self, handle: MemoryHandle, caller: Caller, text: str) -> Reply:
        """Return the first page of learned memories, of chat messages, or of the matches of a
        text."""
        name: ListName = "said" if text.casefold() == CHAT else "learned"
        shown = Shown(str(caller.principal.person), "" if name == "said" else text[:MAX_SEARCH])
        page = await reader(handle, caller).read.page(name, shown.text, 0)
        reply = _told(page, caller.id, caller)
        if reply.buttons:
            await self._questions.keep_pages(caller.id, shown)
        planned = texts.planned(await handle.read.plan_use())
        return replace(reply, markdown=f"{reply.markdown}\n\n_{planned}_") if planned else reply

    async def press(self, handle: MemoryHandle, caller: Caller, value: str) -> Reply:
        """Return the page of a button."""
        list_id, _, requested = value.removeprefix(PREFIX).partition(":")
        name, number = _LETTERS.get(requested[:1]), requested[1:]
        shown = await self._questions.pages_of(list_id)
        if shown is None or name is None or not (number.isascii() and number.isdigit()):
            return Reply(texts.OLD_LIST)
        if shown.person != str(caller.principal.person):
            return Reply(texts.LIST_OF_OTHERS)
        page = await reader(handle, caller).read.page(name, shown.text, int(number[:6]))
        return _told(page, list_id, caller)


def reader(handle: MemoryHandle, caller: Caller) -> MemoryHandle:
    """Return the handle for the answer to a command: in a room without memories from other
    places."""
    return handle if caller.alone else handle.before_others()


def _told(page: MemoryPage, list_id: str, caller: Caller) -> Reply:
    text = texts.page(page)
    in_room = caller.place.audience is not Audience.DIRECT
    if in_room and not (caller.alone and page.total):
        text = f"{text}\n\n{texts.ELSEWHERE}"
    return Reply(text, _buttons(page, list_id) if caller.alone else ())


def _buttons(page: MemoryPage, list_id: str) -> tuple[Button, ...]:
    """Return at most three buttons with at most 20 characters, the common limits of the
    platforms."""
    here, there = ("l", "s") if page.name == "learned" else ("s", "l")
    other = "Chat messages" if page.name == "learned" else "What I learned"
    buttons: list[Button] = []
    if page.first:
        buttons.append(Button("Previous page", f"{PREFIX}{list_id}:{here}{page.next - 2}"))
    if page.more:
        buttons.append(Button("Next page", f"{PREFIX}{list_id}:{here}{page.next}"))
    if page.other:
        buttons.append(Button(other, f"{PREFIX}{list_id}:{there}0"))
    return tuple(buttons)

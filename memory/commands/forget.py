"""`/forget`: shows everything to delete, page by page, and deletes exactly that. In a room it
neither shows nor deletes memories from other places."""

from collections.abc import Sequence
from typing import Final, Generic, TypeVar

from msgspec import Struct

from gateway.errors import BadInput
from gateway.immutable import replace
from gateway.message import Choice, Reply
from gateway.people import Audience
from gateway.ports.memory import Caller
from gateway.text import MAX_LABEL, Moment, Sentence, Text, joined, label, text, verbatim
from memory.commands import texts
from memory.commands.memories import reader
from memory.commands.open_questions import (
    CANCEL,
    PREFIX,
    VALID_FOR,
    OpenQuestion,
    Questions,
    answered_in,
    fitting,
)
from memory.model.scope import channel_of
from memory.service.deletion_topics import TopicMatch, is_memory_id, with_all_words
from memory.service.handle import MemoryHandle
from memory.text.display import bullets, listed_in_question, paragraphs
from safety.secret_detection.detect import redact_secrets

T = TypeVar("T")

PAGE_SIZE: Final = 10


NEXT: Final = label("Next {first}-{last}")
BACK: Final = label("Back {first}-{last}")
FIRST: Final = label("First {first}-{last}")
NEXT_PAGE: Final = label("Next")
BACK_PAGE: Final = label("Back")
FIRST_PAGE: Final = label("First")
FORGET: Final = label("Forget {count}")
FORGET_THIS: Final = text("Forget this?")
FORGET_PAGE: Final = text("Forget this? ({first}-{last} of {total})")
FORGET_LAST: Final = text("Forget this? ({last} of {total})")


_EVERYTHING: Final = frozenset(
    {
        *("everything", "all", "alles", "tout", "todo", "tudo", "tutto", "wszystko"),
        *("hepsini", "всё", "все", "усе", "كل", "सब", "すべて", "全て", "全部", "모두", "전부"),
    }
)
_AROUND: Final = frozenset(
    {
        *("about", "of", "that", "what", "the", "please", "stored", "know", "learned"),
        *("i", "me", "my", "it", "you", "your", "memories", "memory", "data", "have", "we", "said"),
        *("über", "mich", "de", "moi", "sobre", "mí", "mim", "su", "di", "me", "o", "mnie"),
        *("обо", "мне", "про", "мене", "شيء", "عني", "कुछ"),
    }
)
"""Words that name no subject beside such a word. In any other words, the answer about nothing found
leads to the erasure as well."""


def means_everything(text: str) -> bool:
    """Return True for a topic that is no subject, such as "everything about me"."""
    words = {word.strip(".,!?\"'`*“”") for word in text[:MAX_TOPIC].casefold().split()}
    return not _EVERYTHING.isdisjoint(words) and words <= _AROUND | _EVERYTHING


class PageButton(Struct, frozen=True):
    """A choice of another page; `number` counts from 1."""

    label: Text
    number: int


class ItemPage(Struct, Generic[T], frozen=True):
    """A page. `items` are its entries, `first` is the number of the first one, from 1; an empty
    list has one empty page."""

    items: tuple[T, ...]
    number: int
    first: int
    total: int
    size: int

    @property
    def pages(self) -> int:
        """The number of pages, at least one."""
        return max(1, -(-self.total // self.size))

    @property
    def heading(self) -> Text:
        """The question, with the numbers of the items where there are more pages than one."""
        last = self.first + len(self.items) - 1
        if self.pages == 1:
            return FORGET_THIS
        if self.first == last:
            return FORGET_LAST.of(last=last, total=self.total)
        return FORGET_PAGE.of(first=self.first, last=last, total=self.total)

    def turnings(self, room: int) -> tuple[PageButton, ...]:
        """Return at most `room` choices, with labels of at most 20 characters: the previous page
        and the next one. If there is room for one only, it leads from the last page to the
        first."""
        if self.pages == 1 or room < 1:
            return ()
        after, before = self.number % self.pages + 1, self.number - 1
        onward = PageButton(
            self._named(after, NEXT, NEXT_PAGE)
            if after > 1
            else self._named(after, FIRST, FIRST_PAGE),
            after,
        )
        if room == 1:
            return (onward,)
        back = (PageButton(self._named(before, BACK, BACK_PAGE), before),) if before else ()
        return (*back, onward) if after > 1 else back

    def _named(self, number: int, numbered: Sentence, word: Sentence) -> Text:
        first = (number - 1) * self.size + 1
        last = min(number * self.size, self.total)
        named = numbered.of(first=first, last=last)
        return named if len(named.english) <= MAX_LABEL else word


def page_of(items: Sequence[T], number: int, size: int = PAGE_SIZE) -> ItemPage[T]:
    """Return the page with this number; the nearest page for any other number."""
    total = len(items)
    number = min(max(1, number), max(1, -(-total // size)))
    first = (number - 1) * size
    return ItemPage(tuple(items[first : first + size]), number, first + 1, total, size)


PAGE_PREFIX: Final = f"{PREFIX}shown:"
MAX_TOPIC: Final = 500
CHOICES: Final = 3
"""Buttons under one page, as many as WhatsApp shows."""
KINDS: Final = {
    "message": text("you said"),
    "answer": text("I said"),
    "task": text("the task of a conversation"),
}
# Translators: a chat message in a list, who said it and its date, nothing to translate.
_SAID: Final = text("{message} _({speaker}, {at})_")
# Translators: a summary in a list and its date, nothing to translate.
_SUMMARY: Final = text("{summary} _({at})_")


class ForgetCommands:
    """Shows matches, turns pages and deletes. Raises `BadInput` with words for the person."""

    def __init__(self, questions: Questions) -> None:
        self._questions = questions

    async def ask(self, handle: MemoryHandle, caller: Caller, text: str) -> Reply:
        """Show the matches of a topic or an id, and ask before deleting them."""
        topic = text[:MAX_TOPIC].strip()
        if not topic:
            raise BadInput(texts.WHAT_TO_FORGET)
        matches = await reader(handle, caller).erasure.matches(topic)
        if not matches.items:
            several = len(topic.split()) > 1
            nothing = texts.NOTHING_WITH_ALL if several else texts.NOTHING_TO_FORGET
            said = paragraphs(nothing, await _in_soul(handle, caller, topic), texts.OR_EVERYTHING)
            return Reply(_with_aside(handle, caller, said))
        most = fitting([item.refs for item in matches.items])
        items = matches.items[:most]
        bound = [item.refs for item in items]
        person = str(caller.principal.person)
        question = OpenQuestion(
            "forget",
            person,
            handle.erasure.hashed(topic),
            channel_of(caller.place),
            await self._questions.keep_list(caller.id, person, bound),
            matches.beyond + len(matches.items) - most,
        )
        buttons = await self._questions.ask(caller.id, question, FORGET.of(count=len(items)))
        reply = _shown(handle, caller, question, page_of(items, 1), caller.id, buttons)
        unread = texts.UNREAD if matches.unread else None
        further = (unread, await _in_soul(handle, caller, topic))
        return replace(reply, markdown=paragraphs(reply.markdown, *further))

    def owns(self, value: str) -> bool:
        """True for a button that turns the page."""
        return value.startswith(PAGE_PREFIX)

    async def turn(self, handle: MemoryHandle, caller: Caller, value: str) -> Reply:
        """Return another page of the matches, in their present state."""
        question_id, _, number = value.removeprefix(PAGE_PREFIX).partition(":")
        question = await self._questions.find(question_id)
        if question is None:
            return Reply(texts.CLOSED)
        if not question.is_of(str(caller.principal.person), answered_in(caller.place)):
            return Reply(texts.NOT_ASKED, leaves_buttons=True)
        bound = await self._questions.list_of(question_id, question)
        if not bound:
            return Reply(texts.CLOSED)
        page = page_of(bound, int(number) if number.isdecimal() and len(number) < 4 else 1)
        items = await reader(handle, caller).erasure.current(page.items)
        shown = ItemPage(tuple(items), page.number, page.first, page.total, page.size)
        yes = Choice(FORGET.of(count=len(bound)), f"{PREFIX}yes:{question_id}")
        no = Choice(CANCEL, f"{PREFIX}no:{question_id}")
        return _shown(handle, caller, question, shown, question_id, (yes, no))

    async def settle(
        self, handle: MemoryHandle, caller: Caller, question_id: str, question: OpenQuestion
    ) -> Reply:
        """Delete what was shown."""
        bound = await self._questions.list_of(question_id, question)
        if bound is None:
            return Reply(texts.CLOSED)
        gone = await handle.erasure.forget(bound, question.topic)
        await self._questions.drop_list(question_id, question)
        parts: list[Text] = [texts.forgotten(gone.items)]
        if gone.changed:
            parts.append(texts.CHANGED.of(count=gone.changed))
        if question.beyond:
            parts.append(texts.BEYOND_LEFT.of(count=question.beyond))
        return Reply(_with_aside(handle, caller, joined(parts, " ")))

    async def leave(self, question_id: str, question: OpenQuestion) -> Reply:
        """Delete nothing."""
        await self._questions.drop_list(question_id, question)
        return Reply(texts.LEFT)


def _shown(
    handle: MemoryHandle,
    caller: Caller,
    question: OpenQuestion,
    page: ItemPage[TopicMatch] | ItemPage[TopicMatch | None],
    question_id: str,
    buttons: tuple[Choice, Choice],
) -> Reply:
    yes, no = buttons
    parts: list[Text] = [page.heading, _lines(page.items), texts.FORGET_MEANS]
    if question.beyond:
        parts.append(texts.BEYOND.of(shown=page.total, count=question.beyond))
    turnings = tuple(
        Choice(one.label, f"{PAGE_PREFIX}{question_id}:{one.number}")
        for one in page.turnings(CHOICES - 2)
    )
    until = caller.at + VALID_FOR
    return Reply(
        _with_aside(handle, caller, paragraphs(*parts)), (yes, *turnings, no), buttons_until=until
    )


async def _in_soul(handle: MemoryHandle, caller: Caller, topic: str) -> Text | None:
    """Return a sentence if the person's SOUL mentions the topic too; only the person rewrites
    it."""
    if caller.place.audience is not Audience.DIRECT or is_memory_id(topic):
        return None
    soul = await handle.documents.read("soul")
    return texts.IN_SOUL if soul is not None and with_all_words(topic)(soul.content) else None


def _lines(items: Sequence[TopicMatch | None]) -> Text:
    return bullets(texts.CHANGED_ITEM if one is None else _line(one) for one in items)


def _line(item: TopicMatch) -> Text:
    if item.record is not None:
        line = texts.memory_line(item.record)
        return joined((line, texts.WAITS), " ") if item.waits else line
    message = item.spoken
    if message is None:
        return texts.CHANGED_ITEM
    at = Moment(message.at, "day")
    if message.kind == "summary":
        return _SUMMARY.of(summary=texts.SUMMARY, at=at)
    shown = listed_in_question(redact_secrets(message.text).text)
    return _SAID.of(message=verbatim(shown), speaker=KINDS[message.kind], at=at)


def _with_aside(handle: MemoryHandle, caller: Caller, said: Text) -> Text:
    """Return the text, in a room with a line about the memories that it does not show."""
    if caller.place.audience is Audience.DIRECT or (caller.alone and handle.access.private):
        return said
    return paragraphs(said, texts.FORGET_IN_ROOM)

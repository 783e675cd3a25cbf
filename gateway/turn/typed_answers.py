"""Typed answers to a question, where the platform shows too few buttons for it.

A question is stored for five minutes, by its conversation and the person who was asked. The
person's next message in this conversation answers it, if it is one of the words and nothing else.
Any other message or command of the person closes the question, and so does a later answer of the
model there: a "yes" may refer to that. Forwarded or quoted text, or a message with a file, is no
answer.

A typed answer is handled as the press of the button, which checks the permissions.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from datetime import timedelta
from types import MappingProxyType
from typing import Final

from msgspec import Struct

from gateway.conversation import ConversationKey
from gateway.immutable import replace
from gateway.message import (
    Button,
    ButtonPressed,
    Choice,
    CommandInvoked,
    MessageReceived,
    Place,
    ShownReply,
    button_in,
)
from gateway.people import Audience
from gateway.ports import AdapterState
from gateway.text import ENGLISH, Listed, Span, Text, text, verbatim
from gateway.turn.services import Services
from gateway.turn.turn_context import TurnContext

VALID_FOR: Final = timedelta(minutes=5)
MAX_CHOICES: Final = 5
"""The highest number of buttons under a question; a platform with as many needs no typed answers.
"""
MAX_WORD: Final = 30
"""Characters of a typed word, and of a label beside it."""
COMMAND: Final = "/"
"""The prefix of a button's word that stands for a command; the text above names it."""
SHARED: Final = text(
    "Several people write under this account, so I cannot accept an answer from it. Send the "
    "command from an account of your own."
)
ANSWER: Final = text("Reply {words} within {time}.")
ANSWER_IN_ROOM: Final = text("In a message to me, reply {words} within {time}.")
NO_WORDS: Final[Mapping[str, Button]] = MappingProxyType({})


class TypedQuestion(Struct, frozen=True):
    """An open question to a `person` (`str(PersonId)`). `values` are the values of its buttons by
    word."""

    id: str
    person: str
    values: Mapping[str, str]

    def answer(self, event: MessageReceived, content: str) -> ButtonPressed | None:
        """Return the press that a message stands for; None if it is no answer. `content` is the
        message without the mention or prefix."""
        message = event.message
        alone = not (message.attachments or message.material or message.quote)
        word = spoken(content)
        if not alone or word not in self.values:
            return None
        return ButtonPressed(
            event.event_id, message.place, message.author, self.values[word], label=word
        )


class TypedAnswers:
    """Recognises answers among incoming messages. Every method raises `StoreUnavailable`."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._state = _state_of(services)

    async def waiting(
        self, event: MessageReceived | CommandInvoked, key: ConversationKey
    ) -> TypedQuestion | None:
        """Return the open question to the author of an event in its conversation."""
        if isinstance(event, MessageReceived):
            place, author = event.message.place, event.message.author
        else:
            place, author = event.place, event.author
        if _shows_enough(self._services, place) or author.is_bot or author.is_chat:
            return None
        person = place.identity(author)
        return await _open(self._state, _key(key, str(person)))

    async def answered_before(self, event: MessageReceived, content: str) -> bool:
        """Return True for a repeated delivery of an answer."""
        place = event.message.place
        if _shows_enough(self._services, place) or not spoken(content):
            return False
        return await self._state.get(_used(event)) is not None

    async def close(self, question: TypedQuestion, by: MessageReceived | None = None) -> None:
        """Close the question; `by` is the message that answered it."""
        if by is not None:
            place = by.message.place
            connected = self._services.connected[place.platform, place.account]
            await self._state.put(_used(by), "1", connected.manifest.dedupe_for)
        await self._state.put(_closed(question), "1", VALID_FOR)


async def typed_form(
    turn: TurnContext, reply: ShownReply, services: Services, offered: Sequence[Choice] = ()
) -> ShownReply:
    """Return the reply with its buttons, or with a sentence that names the words to type. `offered`
    are the same buttons in no language yet: their English words answer as well. Raises
    `StoreUnavailable`."""
    if _fits(services, turn.place, reply.buttons):
        return reply
    words = {spoken(button.typed): button for button in reply.buttons if button.typed}
    english = [button_in(ENGLISH, one) for one in offered]
    more = {spoken(button.typed): button for button in english if button.typed}
    if len(words) < len(reply.buttons):
        words, more = _by_label(reply.buttons), {}
    sentence = await _ask(turn, words, services, more)
    return replace(reply, markdown=f"{reply.markdown}\n\n{sentence}", buttons=())


async def typed_under_answer(turn: TurnContext, services: Services) -> None:
    """Do the same for the footer of a model's answer. It accepts labels only: a "yes" may refer to
    the answer itself. An answer without a question closes an earlier question."""
    after = turn.answer.footer
    if _shows_enough(services, turn.place):
        return
    if _fits(services, turn.place, after.buttons):
        state = _state_of(services)
        earlier = await _open(state, _key(turn.key, str(turn.asked.last.person)))
        if earlier is not None:
            await state.put(_closed(earlier), "1", VALID_FOR)
        return
    note = after.typed or after.note
    labelled = [button for button in after.buttons if not button.typed.startswith(COMMAND)]
    if labelled:
        note = f"{note}\n\n{await _ask(turn, _by_label(labelled), services)}"
    turn.answer.footer = replace(after, note=note, buttons=())


def spoken(content: str) -> str:
    """Normalise a text for comparison: lower case, no punctuation around it; empty if too long."""
    if len(content) > 2 * MAX_WORD:
        return ""
    word = " ".join(content.split()).casefold().strip(" .,!*_`'\"“”„‘’«»()")
    return word if len(word) <= MAX_WORD else ""


def sentence_of(words: Mapping[str, Button], audience: Audience) -> Text:
    """Return the sentence that names the words to type."""
    named = tuple(verbatim(_named(word, button.label)) for word, button in words.items())
    sentence = ANSWER if audience is Audience.DIRECT else ANSWER_IN_ROOM
    return sentence.of(words=Listed(named, "or"), time=Span(VALID_FOR.total_seconds()))


async def _ask(
    turn: TurnContext,
    words: Mapping[str, Button],
    services: Services,
    more: Mapping[str, Button] = NO_WORDS,
) -> str:
    """Store the question, and return the sentence with its words; those of `more` answer too."""
    language = turn.language_of()
    if turn.asked.last.author.is_chat:
        return language.shown(SHARED)
    person = str(turn.asked.last.person)
    values = {word: one.value for word, one in {**more, **words}.items()}
    question = {"id": turn.id, "person": person, "values": values}
    kept = json.dumps(question, ensure_ascii=False)
    await _state_of(services).put(_key(turn.key, person), kept, VALID_FOR)
    return language.shown(sentence_of(words, turn.place.audience))


async def _open(state: AdapterState, key: str) -> TypedQuestion | None:
    stored = await state.get(key)
    if not stored:
        return None
    question = TypedQuestion(**json.loads(stored))
    return None if await state.get(_closed(question)) else question


def _by_label(buttons: Sequence[Button]) -> dict[str, Button]:
    """Return the buttons by label, or by number if two labels are the same word."""
    words: dict[str, Button] = {}
    for number, button in enumerate(buttons, 1):
        word = spoken(_plain(button.label))
        words[word if word and word not in words else str(number)] = button
    return words


def _named(word: str, label: str) -> str:
    shown = _plain(label)
    return f"**{_plain(word)}**" + ("" if spoken(shown) == word else f" ({shown})")


def _plain(label: str) -> str:
    """Return a label without formatting characters."""
    kept = "".join(char if char.isalnum() else " " for char in label)
    return " ".join(kept.split())[:MAX_WORD].strip()


def _fits(services: Services, place: Place, buttons: Sequence[Button]) -> bool:
    most = services.connected[place.platform, place.account].manifest.capabilities.max_buttons
    return len(buttons) <= most or most >= MAX_CHOICES


def _shows_enough(services: Services, place: Place) -> bool:
    connected = services.connected[place.platform, place.account]
    return connected.manifest.capabilities.max_buttons >= MAX_CHOICES


def _state_of(services: Services) -> AdapterState:
    return services.stores.states.of("parley", "typed-answers")


def _key(conversation: ConversationKey, person: str) -> str:
    text = f"{conversation}\n{person}".encode("utf-8", "surrogatepass")
    return f"asked:{hashlib.sha256(text).hexdigest()}"


def _closed(question: TypedQuestion) -> str:
    return f"closed:{question.id}"


def _used(event: MessageReceived) -> str:
    place = event.message.place
    text = f"{place.platform}:{place.account}:{event.event_id}".encode("utf-8", "surrogatepass")
    return f"used:{hashlib.sha256(text).hexdigest()}"

"""`/language` shows and changes the language in which the assistant's own sentences are shown to a
person."""

from collections.abc import Iterator
from typing import Final

from gateway.errors import BadInput
from gateway.languages.formats import names_of
from gateway.languages.installed import Languages
from gateway.message import Choice, Reply
from gateway.people import Audience
from gateway.text import Sentence, Text, joined, text, verbatim
from gateway.turn.services import Services
from gateway.turn.turn_context import TurnContext
from gateway.turn.typed_answers import MAX_CHOICES

PREFIX: Final = "language:"
AUTO: Final = "auto"
"""The word that takes a choice back."""

CHOSEN: Final = text("I write to you in **{language}**, because you chose it.")
TOLD: Final = text("I write to you in **{language}**, the language of your app.")
OTHERWISE: Final = text(
    "I write to you in **{language}**, because I do not know which language you prefer."
)
OWN_SENTENCES: Final = text(
    "This applies to my own notes and questions and to the answers to commands. You can write "
    "to me in any language."
)
THESE: Final = text("I know these languages:")
HOW: Final = text(
    "To choose one, write for example `/language de`. After `/language auto`, I use the "
    "language of your app again."
)
SET: Final = text("Done. I write to you in **{language}** now.")
UNKNOWN: Final = text("I do not know this language. `/language` shows the ones that I know.")


def owns(value: str) -> bool:
    """Return True for the value of a button with a language."""
    return value.startswith(PREFIX)


async def run_language(turn: TurnContext, arguments: str, services: Services) -> Reply:
    """Run the command. Raises `BadInput` with words for the person, and `StoreUnavailable`."""
    typed = arguments.strip(" `.*")
    return await _choose(turn, typed, services) if typed else await _shown(turn, services)


async def press_language(turn: TurnContext, value: str, services: Services) -> Reply:
    """Carry out a button. Raises as `run_language`."""
    return await _choose(turn, value.removeprefix(PREFIX), services)


async def _choose(turn: TurnContext, typed: str, services: Services) -> Reply:
    languages, who = turn.policies.languages, turn.asker.who
    name = "" if typed.casefold() == AUTO else meant(typed, languages)
    if name is None:
        raise BadInput(UNKNOWN)
    await services.readers.choose(who.tenant, turn.asker.person, name)
    turn.asker.language = await services.readers.language(
        languages, who.tenant, turn.asker.person, turn.place, turn.asked.last.author.language
    )
    done = SET.of(language=verbatim(names_of(turn.asker.language.code)[0]))
    in_room = turn.place.audience is not Audience.DIRECT
    return Reply(done, leaves_buttons=in_room)  # others may press them as well


async def _shown(turn: TurnContext, services: Services) -> Reply:
    languages = turn.policies.languages
    parts: list[Text] = [
        joined((await _reason(turn, services), OWN_SENTENCES), " "),
        joined((THESE, *_lines(languages)), "\n"),
        HOW,
    ]
    return Reply(joined(parts, "\n\n"), _buttons(turn))


async def _reason(turn: TurnContext, services: Services) -> Sentence:
    languages, who = turn.policies.languages, turn.asker.who
    known = await services.readers.known(who.tenant, turn.asker.person)
    told = languages.fitting(turn.asked.last.author.language) or known.told
    name = turn.asker.language.code
    reasons = ((known.chosen, CHOSEN), (told, TOLD), (name, OTHERWISE))
    sentence = next(one for language, one in reasons if languages.fitting(language) == name)
    return sentence.of(language=verbatim(names_of(name)[0]))


def _lines(languages: Languages) -> Iterator[Text]:
    return (verbatim(f"- {names_of(name)[0]}: `{name}`") for name in languages.offered)


def _buttons(turn: TurnContext) -> tuple[Choice, ...]:
    """Return a button for each language, as many as the platform shows; none where answers to a
    question are typed."""
    most = turn.connected.manifest.capabilities.max_buttons
    names = turn.policies.languages.offered[: most if most >= MAX_CHOICES else 0]
    return tuple(Choice(verbatim(names_of(name)[0]), f"{PREFIX}{name}") for name in names)


def meant(typed: str, languages: Languages) -> str | None:
    """Return the offered language of a tag or of a name, in its own or in English; None for
    none."""
    if found := languages.fitting(typed):
        return found
    wanted = typed.casefold()
    for name in languages.offered:
        if wanted in (one.casefold() for one in names_of(name)):
            return name
    return None

"""`/language`: the languages by their own names, a choice, and its end."""

import pytest

from gateway.commands.language_command import UNKNOWN, meant
from gateway.languages.installed import LanguagePolicy, Languages
from gateway.message import ButtonPressed, CommandInvoked, MessageAuthor
from gateway.ports import Capabilities
from tests.support.for_each import for_each
from tests.support.gateway import Gateway, gateway
from tests.support.messages import direct, place

ADA = MessageAuthor("ada", "Ada")
LANGUAGES = Languages(LanguagePolicy())


async def say(g: Gateway, arguments: str = "", author: MessageAuthor = ADA) -> str:
    number = len(g.traces)
    await g.take(CommandInvoked(f"c{number}", direct(), author, "language", arguments))
    return g.texts[-1]


@for_each(
    "typed, name",
    [
        *(("de", "de"), ("de-AT", "de"), ("Deutsch", "de"), ("GERMAN", "de")),
        *(("français", "fr"), ("日本語", "ja"), ("zh-TW", "zh_Hant"), ("English", "en")),
        *(("xx", None), ("klingon", None), ("d" * 5_000, None), ("../de", None)),
    ],
)
def test_a_language_is_named_by_its_tag_or_by_a_name(typed: str, name: str | None) -> None:
    assert meant(typed, LANGUAGES) == name


async def test_it_shows_every_language_by_its_own_name_with_buttons() -> None:
    async with gateway(capabilities=Capabilities(max_buttons=25)) as g:
        text = await say(g)
        assert "Deutsch: de" in text
        assert "日本語: ja" in text
        buttons = g.adapter.sent[-1].buttons
        assert len(buttons) == len(LANGUAGES.offered)
        await g.take(ButtonPressed("p1", direct(), ADA, "language:de", "Deutsch"))
        assert "Deutsch" in g.texts[-1]
        known = await g.services.readers.known("default", "test:main:ada")
        assert known.chosen == "de"


@pytest.mark.parametrize(("most", "shown"), [(0, 0), (3, 0), (10, 10)])
async def test_it_shows_as_many_buttons_as_the_platform(most: int, shown: int) -> None:
    async with gateway(capabilities=Capabilities(max_buttons=most)) as g:
        await say(g)
        assert len(g.adapter.sent[-1].buttons) == shown


async def test_a_choice_is_taken_back() -> None:
    french = MessageAuthor("ada", "Ada", language="fr-CA")
    async with gateway() as g:
        assert "Français" in await say(g, author=french)
        assert "English" in await say(g, "en", french)
        assert "because you chose it" in await say(g, author=french)
        assert "Français" in await say(g, "auto", french)


async def test_an_unknown_language_changes_nothing() -> None:
    async with gateway() as g:
        assert await say(g, "klingon") == UNKNOWN.english.replace("`", "")
        assert (await g.services.readers.known("default", "test:main:ada")).at is None


async def test_anybody_may_choose_by_a_button_in_a_room() -> None:
    async with gateway(capabilities=Capabilities(max_buttons=25)) as g:
        await g.take(CommandInvoked("c1", place(), ADA, "language", ""))
        for number, who in enumerate(("ada", "bob")):
            author = MessageAuthor(who)
            await g.take(ButtonPressed(f"p{number}", place(), author, f"language:{'de'}"))
            known = await g.services.readers.known("default", f"test:main:{who}")
            assert known.chosen == "de"

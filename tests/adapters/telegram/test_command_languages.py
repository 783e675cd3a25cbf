"""The commands in the languages of people are registered when their words have changed."""

from collections.abc import AsyncIterator
from dataclasses import dataclass, field

import pytest

from adapters.telegram.client import RawBot, make_bot
from adapters.telegram.command_languages import register_languages
from gateway.immutable import replace
from gateway.ports import AdapterContext
from gateway.ports.adapter import CommandLanguages, CommandSpec
from gateway.ports.clock import SystemClock
from gateway.ports.rights import IN_CHAT
from simulators.telegram import TelegramSimulator
from tests.support.adapter_context import MemoryState, NoWebhooks

ASK = CommandSpec("ask", "Ask", allowed=IN_CHAT)


@dataclass
class Words:
    """Words that a test changes."""

    words: dict[str, str] = field(default_factory=dict)

    def load(self) -> dict[str, tuple[CommandSpec, ...]]:
        return {name: (replace(ASK, description=said),) for name, said in self.words.items()}

    def mark(self) -> str:
        return str(sorted(self.words.items())).replace(" ", "")


@pytest.fixture
async def sim() -> AsyncIterator[TelegramSimulator]:
    sim = TelegramSimulator()
    await sim.start()
    yield sim
    await sim.stop()


@pytest.fixture
async def bot(sim: TelegramSimulator) -> AsyncIterator[RawBot]:
    settings = sim.settings()
    bot = make_bot(str(settings["bot_token"]), str(settings["base_url"]))
    await bot.initialize()
    yield bot
    await bot.shutdown()


def context_of(words: Words) -> AdapterContext:
    languages = CommandLanguages(words.mark, words.load)

    def count(what: str, detail: str = "") -> None: ...

    return AdapterContext(
        *("main", "Parley", SystemClock(), MemoryState(), NoWebhooks(), count),
        command_languages=languages,
    )


def registered(sim: TelegramSimulator) -> dict[str, str]:
    """The description of /ask by language."""
    return {
        key.rpartition("/")[2]: str(commands[0]["description"])  # type: ignore[index]  # JSON of the simulator
        for key, commands in sim.api.commands.items()
    }


async def test_each_language_has_its_words_and_changed_ones_replace_them(
    sim: TelegramSimulator, bot: RawBot
) -> None:
    words = Words({"de": "Frag", "pt_BR": "Pergunte", "zh_Hans": "问", "zh_Hant": "問"})
    context = context_of(words)
    await register_languages(bot, context)
    assert registered(sim) == {"de": "Frag", "pt": "Pergunte", "zh": "问"}
    words.words = {"de": "Frage"}
    await register_languages(bot, context)
    assert registered(sim) == {"de": "Frage"}


async def test_unchanged_words_ask_nothing_of_telegram(sim: TelegramSimulator, bot: RawBot) -> None:
    context = context_of(Words({"de": "Frag"}))
    await register_languages(bot, context)
    calls = len(sim.calls)
    await register_languages(bot, context)
    assert len(sim.calls) == calls


async def test_a_description_that_is_too_long_is_cut(sim: TelegramSimulator, bot: RawBot) -> None:
    await register_languages(bot, context_of(Words({"de": "x" * 300})))
    assert registered(sim) == {"de": "x" * 256}

"""The commands in the languages of people, registered at Telegram when their words have changed."""

import asyncio
from collections.abc import Mapping
from datetime import timedelta
from typing import Final

from adapters.telegram.client import RawBot
from gateway.ports import AdapterContext, CommandSpec

KEY: Final = "registered_commands"
KEPT: Final = timedelta(days=3_650)
WITHOUT: Final = "zh_Hant"
"""Telegram has one Chinese: it shows the simplified one."""


async def register_languages(bot: RawBot, context: AdapterContext) -> None:
    """Register the commands in each language; nothing is asked of Telegram where the words are
    those of the last time. Raises `TelegramError` and `StoreUnavailable`."""
    words = context.command_languages
    if words is None:
        return
    mark = await asyncio.to_thread(words.mark)
    known, *before = (await context.lasting.get(KEY) or "").split()[:100] or [""]
    if known == mark:
        return
    codes = by_code(await asyncio.to_thread(words.load))
    for code, commands in codes.items():
        listed = [
            {"command": one.name, "description": str(one.description)[:256]} for one in commands
        ]
        await bot.call("setMyCommands", {"commands": listed, "language_code": code})
    for code in set(before) - set(codes):
        await bot.call("deleteMyCommands", {"language_code": code})
    await context.lasting.put(KEY, " ".join((mark, *codes)), KEPT)


def by_code(
    languages: Mapping[str, tuple[CommandSpec, ...]],
) -> Mapping[str, tuple[CommandSpec, ...]]:
    """Return the commands by ISO 639-1 code, which is what Telegram takes."""
    return {
        name.partition("_")[0]: commands
        for name, commands in languages.items()
        if name != WITHOUT and len(name.partition("_")[0]) == 2
    }

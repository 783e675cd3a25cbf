"""A bare echo bot with discord.py."""

import json
import sys

import discord
import yarl
from discord.gateway import DiscordWebSocket
from discord.http import Route


class Echo(discord.Client):
    """Repeats each message in its channel."""

    async def on_message(self, message: discord.Message) -> None:
        """Called by the library."""
        if message.author != self.user:
            await message.channel.send(message.content)


def main() -> None:
    """Command line."""
    section = json.loads(sys.argv[1])
    Route.BASE = section["api_base"]
    DiscordWebSocket.DEFAULT_GATEWAY = yarl.URL(section["gateway_url"])
    intents = discord.Intents.default()
    intents.message_content = True
    Echo(intents=intents).run(section["token"], log_handler=None)


if __name__ == "__main__":
    main()

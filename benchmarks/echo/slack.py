"""A bare echo bot with slack-bolt over Socket Mode."""

import asyncio
import json
import sys

from slack_bolt.adapter.socket_mode.aiohttp import AsyncSocketModeHandler
from slack_bolt.async_app import AsyncApp, AsyncSay
from slack_sdk.web.async_client import AsyncWebClient


async def echo(message: dict[str, str], say: AsyncSay) -> None:
    """Repeat a message in its channel."""
    await say(message["text"])


async def main() -> None:
    """Command line."""
    section = json.loads(sys.argv[1])
    client = AsyncWebClient(section["bot_token"], base_url=section["base_url"])
    app = AsyncApp(client=client)
    app.message()(echo)
    handler = AsyncSocketModeHandler(app, section["app_token"])
    await handler.start_async()  # type: ignore[no-untyped-call]  # bolt has no annotation there


if __name__ == "__main__":
    asyncio.run(main())

"""A bare python-telegram-bot echo bot, as a comparison for the whole gateway.

    python -m benchmarks.echo_bot                       both transports, one after the other
    python -m benchmarks.echo_bot --transport aiohttp   one of them
    python -m benchmarks.echo_bot --serve URL --token T only the bot, against a running simulator

Bot and simulated Telegram are processes of their own. Processor time is the bot's alone, from its
first poll on, so that neither start nor simulator counts.
"""

import argparse
import asyncio
import json
import signal
import subprocess
import sys
import time
from typing import Final, Literal

from telegram import Update
from telegram.ext import ApplicationBuilder, ContextTypes, MessageHandler, filters

from adapters.telegram.client import AiohttpRequest

Transport = Literal["httpx", "aiohttp"]
TRANSPORTS: Final[tuple[Transport, ...]] = ("httpx", "aiohttp")
STOP_SECONDS: Final = 20


async def _echo(update: Update, _: ContextTypes.DEFAULT_TYPE) -> None:
    if update.message is not None and update.message.text is not None:
        await update.message.reply_text(update.message.text)


async def serve(url: str, token: str, transport: Transport) -> None:
    """Echo until SIGTERM, then print the processor seconds used since the first poll."""
    builder = ApplicationBuilder().token(token).base_url(f"{url}/bot")
    if transport == "aiohttp":
        builder = builder.request(AiohttpRequest()).get_updates_request(AiohttpRequest())
    application = builder.build()
    application.add_handler(MessageHandler(filters.TEXT, _echo))
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    async with application:
        await application.start()
        if application.updater is None:
            raise RuntimeError("an application without an updater cannot poll")
        began = time.process_time()
        await application.updater.start_polling()
        await stop.wait()
        used = time.process_time() - began
        await application.updater.stop()
        await application.stop()
    print(json.dumps({"cpu_seconds": used}), flush=True)


def measure(transport: Transport, messages: int, chats: int) -> dict[str, object]:
    """Run simulator and bot; rate, losses and processor time of the bot."""
    simulator = start(
        "simulators.telegram",
        *("--messages", str(messages), "--chats", str(chats), "--linger", str(STOP_SECONDS)),
    )
    assert simulator.stdout is not None
    try:
        where = json.loads(simulator.stdout.readline())
        bot = start(
            "benchmarks.echo_bot",
            *("--serve", where["url"], "--token", where["token"], "--transport", transport),
        )
        result: dict[str, object] = json.loads(simulator.stdout.readline())
        bot.send_signal(signal.SIGTERM)
        output, _ = bot.communicate(timeout=STOP_SECONDS)
        used = float(json.loads(output.splitlines()[-1])["cpu_seconds"])
    finally:
        simulator.terminate()
        simulator.wait(STOP_SECONDS)
    return {
        "transport": transport,
        **result,
        "cpu_seconds": round(used, 3),
        "cpu_seconds_per_1000": round(used / messages * 1000, 3),
    }


def start(module: str, *arguments: str) -> "subprocess.Popen[str]":
    """Start a module of this project as a process of its own, its output in a pipe."""
    command = [sys.executable, "-m", module, *arguments]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.echo_bot")
    parser.add_argument("--transport", choices=TRANSPORTS)
    parser.add_argument("--messages", type=int, default=5000)
    parser.add_argument("--chats", type=int, default=200)
    parser.add_argument("--serve", metavar="URL")
    parser.add_argument("--token", default="")
    arguments = parser.parse_args()
    if arguments.serve:
        asyncio.run(serve(arguments.serve, arguments.token, arguments.transport or "httpx"))
        return
    for transport in (arguments.transport,) if arguments.transport else TRANSPORTS:
        print(json.dumps(measure(transport, arguments.messages, arguments.chats)), flush=True)


if __name__ == "__main__":
    main()

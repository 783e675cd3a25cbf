"""A model that answers every request after a set time, in a process of its own.

    python -m benchmarks.model_server --seconds 0.02 [--numbered]

Prints its address as JSON. It streams as the Messages API does, in `PARTS` parts spread over the
time, and checks nothing: `simulators.anthropic` does, at a cost that would slow the others down.
With `--numbered`, the answer to a question with a number such as n000042 begins with the number.
"""

import argparse
import asyncio
import json
import re
import signal
from typing import Final

from aiohttp import web

from simulators.anthropic import wire

PARTS: Final = 4
MODEL: Final = "claude-sonnet-5-5"
TEXT: Final = "This is the answer of a model, in a few sentences. It says what was asked for. " * 3
NUMBER: Final = re.compile(r"n\d{6}")


def number_of(request: bytes) -> str:
    """The last number in the last message of a request, and a space; empty if it has none."""
    numbers = NUMBER.findall(json.dumps(json.loads(request)["messages"][-1]))
    return f"{numbers[-1]} " if numbers else ""


def answer(beginning: str = "") -> tuple[bytes, ...]:
    """The parts of one streamed answer."""
    message = {
        "id": "msg_000000000001",
        "type": "message",
        "role": "assistant",
        "model": MODEL,
        "stop_reason": "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": 900, "output_tokens": 60},
    }
    content = [{"type": "text", "text": beginning + TEXT}]
    events = [wire.sse(event) for event in wire.events(message, content)]
    size = -(-len(events) // PARTS)
    return tuple(b"".join(events[at : at + size]) for at in range(0, len(events), size))


async def serve(seconds: float, *, numbered: bool = False) -> None:
    """Serve until SIGTERM."""
    same = answer()

    async def messages(request: web.Request) -> web.StreamResponse:
        body = await request.read()
        parts = answer(number_of(body)) if numbered else same
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        for part in parts:
            await asyncio.sleep(seconds / len(parts))
            await response.write(part)
        return response

    app = web.Application(client_max_size=64 * 1024 * 1024)
    app.router.add_post("/v1/messages", messages)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    print(json.dumps({"url": f"http://127.0.0.1:{runner.addresses[0][1]}"}), flush=True)
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    await stop.wait()
    await runner.cleanup()


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.model_server")
    parser.add_argument("--seconds", type=float, default=0.02)
    parser.add_argument("--numbered", action="store_true")
    arguments = parser.parse_args()
    asyncio.run(serve(arguments.seconds, numbered=arguments.numbered))


if __name__ == "__main__":
    main()

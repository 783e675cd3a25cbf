"""A whole Parley whose model has a smaller window than configured."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from aiohttp import web

from gateway.turn import model_turn
from simulators.telegram import TelegramSimulator
from tests.e2e.harness import Lab, running

Refuses = Callable[[int, int], "tuple[int, dict[str, Any]] | None"]
"""The refusal of a prompt of so many tokens with so many for the answer; None to answer it."""


class SmallModel:
    """A chat completions server that counts four characters as a token."""

    def __init__(self, refuses: Refuses) -> None:
        self._refuses = refuses
        self.statuses: list[int] = []
        self.bodies: list[dict[str, Any]] = []
        self.sizes: list[int] = []

    async def handle(self, request: web.Request) -> web.StreamResponse:
        if request.method == "GET":
            return web.Response(status=404)
        body = await request.json()
        tokens = sum(len(str(message["content"])) for message in body["messages"]) // 4
        tokens += len(str(body.get("tools", ""))) // 4
        length = body.get("max_tokens") or body.get("max_completion_tokens") or 0
        refusal = self._refuses(tokens, length)
        self.statuses.append(200 if refusal is None else refusal[0])
        self.bodies.append(body)
        self.sizes.append(tokens)
        if refusal is not None:
            return web.json_response(refusal[1], status=refusal[0])
        usage = f'{{"prompt_tokens":{tokens},"completion_tokens":2,"total_tokens":{tokens + 2}}}'
        text = (
            'data: {"choices":[{"index":0,"delta":{"content":"Noted."},"finish_reason":null}]}\n\n'
            'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n'
            f'data: {{"choices":[],"usage":{usage}}}\n\ndata: [DONE]\n\n'
        )
        return web.Response(text=text, content_type="text/event-stream")


@asynccontextmanager
async def parley(
    folder: Path, refuses: Refuses, **settings: object
) -> AsyncIterator[tuple[Lab, SmallModel]]:
    model = SmallModel(refuses)
    application = web.Application(client_max_size=2**24)
    application.router.add_route("*", "/{path:.*}", model.handle)
    runner = web.AppRunner(application)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    address = f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
    chosen = {"provider": "openai", "name": "m", "base_url": address, **settings}
    simulator = TelegramSimulator()
    try:
        async with running({"telegram": simulator}, folder, {"model": chosen}) as app:
            yield Lab(app, simulator), model
    finally:
        await runner.cleanup()


async def conversation(lab: Lab, messages: int) -> list[str]:
    """Say so many messages of about 300 tokens; returns the answers."""
    ada = lab.platform.person("Ada")
    room, answers = lab.platform.direct(ada), []
    for number in range(messages):
        await lab.platform.say(ada, room, f"Fact {number}: " + "whales sing in the sea. " * 50)
        answers.append((await lab.answer(room, after=number)).text)
        await lab.idle()
    return answers


async def test_a_refused_prompt_costs_one_request_and_only_what_exceeds(tmp_path: Path) -> None:
    def refuses(tokens: int, length: int) -> tuple[int, dict[str, Any]] | None:
        if tokens + length <= 3_000:
            return None
        text = (
            f"This model's maximum context length is 3000 tokens. However, you requested "
            f"{tokens + length} tokens ({tokens} in the messages, {length} in the completion)."
        )
        return 400, {"error": {"message": text, "code": "context_length_exceeded"}}

    async with parley(tmp_path, refuses, max_tokens=500) as (lab, model):
        answers = await conversation(lab, 16)
        (finding,) = lab.app.windows.findings()

    assert set(answers) == {"Noted."}
    assert model.statuses.count(400) == 1
    refused = model.statuses.index(400)
    assert model.sizes[refused + 1] > 0.6 * model.sizes[refused]
    assert min(model.sizes[-5:]) > 1_500
    assert finding.setting == "model.window: 3000"


async def test_a_refusal_without_figures_is_not_repeated_for_each_message(tmp_path: Path) -> None:
    def refuses(tokens: int, length: int) -> tuple[int, dict[str, Any]] | None:
        if tokens <= 2_500:
            return None
        return 500, {"error": "Input is too long for requested model."}

    async with parley(tmp_path, refuses) as (lab, model):
        answers = await conversation(lab, 16)

    assert set(answers) == {"Noted."}
    assert model.statuses.count(500) == 1


async def test_an_unknown_refusal_is_tried_once_without_the_history(tmp_path: Path) -> None:
    def refuses(tokens: int, length: int) -> tuple[int, dict[str, Any]] | None:
        return None if tokens <= 2_500 else (400, {"error": {"message": "Bad Request"}})

    async with parley(tmp_path, refuses) as (lab, model):
        answers = await conversation(lab, 16)

    assert set(answers) == {"Noted."}
    first = model.statuses.index(400)
    assert model.statuses[first + 1] == 200
    assert len(model.bodies[first + 1]["messages"]) < len(model.bodies[first]["messages"])
    assert model.bodies[first + 1].get("tools") == model.bodies[first].get("tools")


async def test_a_question_that_is_refused_alone_is_not_repeated(tmp_path: Path) -> None:
    def refuses(tokens: int, length: int) -> tuple[int, dict[str, Any]] | None:
        return 400, {"error": {"message": "Bad Request"}}

    async with parley(tmp_path, refuses) as (lab, model):
        (answer,) = await conversation(lab, 1)

    assert answer.startswith(model_turn.REFUSED.english[:30])
    assert 1 <= len(model.statuses) <= 3  # without its history, and without other parts

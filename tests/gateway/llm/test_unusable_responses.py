"""A response that is no answer, such as the sign-in of a proxy, and no response at all."""

from collections.abc import AsyncIterator

import pytest
from aiohttp import web

from gateway.errors import ModelUnavailable
from gateway.llm.anthropic.provider import AnthropicProvider
from gateway.llm.openai_compatible import OpenAICompatibleProvider
from gateway.llm.streamed_call import PAGE
from gateway.policy.model_failures import kind_of
from gateway.ports import LLMProvider
from tests.gateway.llm.asking import ask, question
from tests.support.failing_model import ANSWER

SIGN_IN = "\n<!DOCTYPE html><html><head><title>Sign in</title></head><body>Sign in</body></html>"


class Proxy:
    """Answers everything with status 200 and a text that it calls HTML."""

    text = SIGN_IN
    url = ""

    async def handle(self, _request: web.Request) -> web.Response:
        return web.Response(text=self.text, content_type="text/html")


@pytest.fixture
async def proxy() -> AsyncIterator[Proxy]:
    server, app = Proxy(), web.Application()
    app.router.add_post("/{path:.*}", server.handle)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    server.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
    yield server
    await runner.cleanup()


def providers(url: str) -> list[LLMProvider]:
    return [
        AnthropicProvider("k", base_url=url),
        OpenAICompatibleProvider("k", "m", f"{url}/v1"),
    ]


async def test_a_page_is_no_interrupted_and_no_empty_answer(proxy: Proxy) -> None:
    for provider in providers(proxy.url):
        with pytest.raises(ModelUnavailable, match=PAGE) as caught:
            await ask(provider, question("Hello"))
        await provider.close()

        assert kind_of(caught.value) == "page"
        assert not caught.value.passes


async def test_an_answer_that_a_server_calls_html_is_read(proxy: Proxy) -> None:
    proxy.text = ANSWER
    provider = providers(proxy.url)[1]

    heard = await ask(provider, question("Hello"))
    await provider.close()

    assert heard.text == "All is well again, thank you."


async def test_an_answer_of_another_api_is_no_interrupted_answer(proxy: Proxy) -> None:
    proxy.text = ANSWER
    provider = providers(proxy.url)[0]

    with pytest.raises(ModelUnavailable, match="no answer of the Messages API"):
        await ask(provider, question("Hello"))
    await provider.close()


async def test_a_server_that_cannot_be_reached_is_described_in_the_words_of_the_system() -> None:
    for provider in providers("https://no-such-host.invalid"):
        with pytest.raises(ModelUnavailable) as caught:
            await ask(provider, question("Hello"))
        await provider.close()

        assert kind_of(caught.value) == "dns"
        assert "Error" not in str(caught.value)

"""Web search and fetch of Anthropic's service."""

import json
from collections.abc import AsyncIterator
from typing import Any

import anthropic
import pytest

from gateway.immutable import replace
from gateway.llm.anthropic.answer import MAX_LINKS, links
from gateway.llm.anthropic.provider import MAX_PAUSES, AnthropicProvider
from gateway.ports import ModelMessage, ModelRequest, OpaqueBlock, TextBlock, ToolOutcome
from simulators.anthropic import Answer, AnthropicSimulator, Page, UseTool, WebUse
from tests.gateway.llm.asking import ADD, Heard, ask, question, user

FERRY = Page("https://ferry.example.org/times_(new)", "Ferry times", "The ferry leaves at nine.")
HARBOUR = Page("https://harbour.example.net/a b", "Harbour", "The harbour opens at eight.")
SEARCHED = WebUse("web_search", (FERRY, HARBOUR))
FETCHED = WebUse("web_fetch", (FERRY,))


@pytest.fixture
async def provider(claude: AnthropicSimulator) -> AsyncIterator[AnthropicProvider]:
    made = AnthropicProvider("test-key", base_url=claude.base_url, web=True)
    yield made
    await made.close()


def wanted(text: str = "When?") -> ModelRequest:
    return replace(question(text, tools=(ADD,)), web=True)


def after(request: ModelRequest, heard: Heard) -> ModelRequest:
    results = tuple(ToolOutcome(call.id, "3") for call in heard.calls)
    more = (heard.finished.message, ModelMessage("user", results))
    return replace(request, messages=(*request.messages, *more))


async def test_a_search_is_offered_and_its_sources_are_links(
    claude: AnthropicSimulator, provider: AnthropicProvider
) -> None:
    claude.script(Answer("At nine.", web=(SEARCHED,)))

    heard = await ask(provider, wanted())

    offered = {tool["name"]: tool.get("max_uses") for tool in claude.bodies[0]["tools"]}
    assert offered == {"add": None, "web_search": 5, "web_fetch": 5}
    first = "[ferry.example.org](https://ferry.example.org/times_%28new%29)"
    second = "[harbour.example.net](https://harbour.example.net/a%20b)"
    assert heard.text == f"At nine. ({first}, {second})"
    shown = [b.text for b in heard.finished.message.content if isinstance(b, TextBlock)]
    assert shown == [heard.text]
    assert heard.finished.stop == "end"
    assert heard.finished.usage.searches == 1


async def test_a_fetched_page_is_a_source_too(
    claude: AnthropicSimulator, provider: AnthropicProvider
) -> None:
    claude.script(Answer("At nine.", web=(FETCHED,)))

    heard = await ask(provider, wanted())

    assert "[ferry.example.org](https://ferry.example.org/times_%28new%29)" in heard.text
    assert heard.finished.usage.searches == 0


async def test_what_was_read_in_the_web_is_reported(
    claude: AnthropicSimulator, provider: AnthropicProvider
) -> None:
    claude.script(Answer("At nine.", web=(SEARCHED, FETCHED)))

    read = (await ask(provider, wanted())).finished.web

    assert {each.tool for each in read} == {"web_search", "web_fetch"}
    text = "\n".join(each.text for each in read)
    assert FERRY.text in text
    assert HARBOUR.title in text


async def test_the_blocks_of_the_service_go_back_unchanged_within_the_turn(
    claude: AnthropicSimulator, provider: AnthropicProvider
) -> None:
    claude.script(Answer("Let me add.", (UseTool("add", {"a": 1}),), web=(SEARCHED, FETCHED)))
    request = wanted()
    first = await ask(provider, request)
    await ask(provider, after(request, first))  # the simulator checks what is encrypted

    sent = claude.bodies[1]["messages"][1]["content"]
    body: Any = {k: v for k, v in claude.bodies[0].items() if k != "stream"}
    claude.script(Answer("Let me add.", (UseTool("add", {"a": 1}),), web=(SEARCHED, FETCHED)))
    library = anthropic.AsyncAnthropic(api_key="test-key", base_url=claude.base_url, max_retries=0)
    async with library, library.messages.stream(**body) as stream:
        made = [b.model_dump(exclude_none=True) for b in (await stream.get_final_message()).content]
    assert _plain(sent) == _plain(made)


def _plain(blocks: Any) -> Any:
    """Without numbers, which differ between two answers, and empty fields."""
    text = json.dumps(blocks, sort_keys=True)
    numbers = {b["id"] for b in blocks if "id" in b}
    for place, number in enumerate(sorted(numbers)):
        text = text.replace(number, str(place))
    unmarked = [{k: v for k, v in b.items() if k != "cache_control"} for b in json.loads(text)]
    return json.loads(json.dumps(unmarked), object_hook=_filled)


def _filled(value: dict[str, Any]) -> dict[str, Any]:
    return {k: v for k, v in value.items() if v is not None}


async def test_behind_another_text_people_s_words_stay_and_the_blocks_go(
    claude: AnthropicSimulator, provider: AnthropicProvider
) -> None:
    claude.script(Answer("Let me add.", (UseTool("add", {"a": 1}),), web=(SEARCHED,)))
    request = replace(wanted(), messages=(user("Earlier"), *wanted().messages))
    first = await ask(provider, request)
    shortened = after(request, first)

    await ask(provider, replace(shortened, messages=shortened.messages[1:]))

    sent = claude.bodies[1]["messages"][1]["content"]
    assert [block["type"] for block in sent] == ["text", "tool_use"]
    assert sent[0]["text"] == first.text


async def test_a_paused_answer_is_continued_and_is_one_answer(
    claude: AnthropicSimulator, provider: AnthropicProvider
) -> None:
    claude.script(
        Answer("I look. ", web=(SEARCHED,), stop="pause_turn", thinking="Hm."),
        Answer("At nine.", (UseTool("add", {"a": 1}),), web=(FETCHED,)),
    )
    request = wanted()

    heard = await ask(provider, request)

    assert [m["role"] for m in claude.bodies[1]["messages"]] == ["user", "assistant"]
    assert heard.finished.stop == "tool_use"
    assert heard.finished.usage.searches == 1
    assert heard.text.startswith("I look. ")
    assert "At nine." in heard.text
    await ask(provider, after(request, heard))
    kinds = [b["type"] for b in claude.bodies[2]["messages"][1]["content"]]
    assert kinds[0] == "thinking"
    assert kinds.count("server_tool_use") == 2


async def test_pauses_have_an_end(claude: AnthropicSimulator, provider: AnthropicProvider) -> None:
    claude.script(*[Answer("Hm.", web=(SEARCHED,), stop="pause_turn")] * 20)

    heard = await ask(provider, wanted())

    assert len(claude.bodies) == MAX_PAUSES + 1
    assert heard.finished.stop == "paused"


@pytest.mark.parametrize(("configured", "asked"), [(False, True), (True, False)])
async def test_without_the_setting_or_the_wish_nothing_is_offered(
    claude: AnthropicSimulator, *, configured: bool, asked: bool
) -> None:
    provider = AnthropicProvider("test-key", base_url=claude.base_url, web=configured)

    await ask(provider, replace(wanted(), web=asked))
    await provider.close()

    assert [tool["name"] for tool in claude.bodies[0]["tools"]] == ["add"]


@pytest.mark.parametrize(
    "url",
    [
        "javascript:alert(1)",
        "data:text/html,x",
        "https://",
        "https://a.example/\u202e",
        "https://[::1",
        "https://a.example/" + "x" * 3_000,
        "",
    ],
)
def test_an_address_that_is_no_page_becomes_no_link(url: str) -> None:
    assert links([{"type": "web_search_result_location", "url": url}], []) == ""


def test_links_are_few_each_once_and_cannot_end_their_markup() -> None:
    urls = [f"https://a{n}.example/x)](https://evil.example" for n in range(10)]
    text = links([{"url": url} for url in urls * 2], [])

    assert text.count("](") == MAX_LINKS
    assert ")](" not in text.replace(" (", "")
    assert links([{"type": "char_location", "document_index": 7}], ["https://a.example"]) == ""


def test_reasoning_is_not_stored_with_the_blocks() -> None:
    assert "data" not in repr(OpaqueBlock("m", '{"encrypted_content": "x"}'))

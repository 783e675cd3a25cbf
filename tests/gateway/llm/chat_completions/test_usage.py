"""The tokens of an answer, as servers report them. The source of each case is the report named."""

from typing import Any

import pytest

from gateway.ports import Usage
from tests.gateway.llm.asking import ask, question
from tests.gateway.llm.chat_completions.scripted_server import chunk, serving, sse

TEXT = chunk({"role": "assistant", "content": "Hello."})


def used(prompt: int, output: int, **more: Any) -> dict[str, Any]:
    return {"prompt_tokens": prompt, "completion_tokens": output, **more}


def alone(usage: dict[str, Any]) -> dict[str, Any]:
    return {"object": "chat.completion.chunk", "choices": [], "usage": usage}


def in_choice(usage: dict[str, Any]) -> dict[str, Any]:
    end = chunk({}, "stop")
    end["choices"][0]["usage"] = usage
    return end


END = chunk({}, "stop")
CASES: dict[str, tuple[list[dict[str, Any]], Usage]] = {
    "in the choice (AstrBotDevs/AstrBot 6614, earendil-works/pi 2017)": (
        [TEXT, in_choice(used(1336, 31, total_tokens=1367, cached_tokens=1280))],
        Usage(56, 31, 1280),
    ),
    "cached beside the prompt (earendil-works/pi 2048)": (
        [TEXT, END, alone(used(10, 5, prompt_tokens_details={"cached_tokens": 900}))],
        Usage(10, 5, 900),
    ),
    "written to the cache (OpenAI, GPT-5.6; mindroom-ai/mindroom 2134)": (
        [TEXT, END, alone(used(2600, 300, prompt_tokens_details={"cached_tokens": 2000,
                                                               "cache_write_tokens": 400}))],
        Usage(200, 300, 2000, 400),
    ),
    "Anthropic's names (BerriAI/litellm 39505)": (
        [TEXT, END, alone(used(1000, 2, cache_read_input_tokens=500,
                               cache_creation_input_tokens=400))],
        Usage(100, 2, 500, 400),
    ),
    "thoughts only in the sum (mozilla-ai/any-llm 1290)": (
        [TEXT, chunk({}, "stop", usage=used(20, 198, total_tokens=623))],
        Usage(20, 603),
    ),
    "thoughts beside an empty answer (router-for-me/CLIProxyAPI 5733)": (
        [TEXT, chunk({}, "stop", usage=used(21, 0, total_tokens=81,
                                            completion_tokens_details={"reasoning_tokens": 60}))],
        Usage(21, 60),
    ),
    "each figure in another event": (
        [chunk({"content": "Hello."}, usage=used(20, 0)), chunk({}, "stop", usage=used(0, 19))],
        Usage(20, 19),
    ),
    "cumulative in each event (xAI)": (
        [chunk({"content": "Hel"}, usage=used(20, 1)), chunk({"content": "lo."}, usage=used(20, 2)),
         chunk({}, "stop", usage=used(20, 2))],
        Usage(20, 2),
    ),
    "twice, the second time 0": (
        [TEXT, chunk({}, "stop", usage=used(20, 19)), alone(used(0, 0))],
        Usage(20, 19),
    ),
    "no figures": ([TEXT, chunk({}, "stop", usage=used(-1, True, total_tokens="9"))], Usage()),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
async def test_tokens_are_counted_once(case: str) -> None:
    events, usage = CASES[case]
    async with serving(sse(*events)) as server:
        heard = await ask(server.provider, question("Hi"))
    assert (heard.text, heard.finished.usage) == ("Hello.", usage)

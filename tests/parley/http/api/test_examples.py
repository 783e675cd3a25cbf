"""The examples of docs/how-to/use-memory-over-http.md work as documented."""

import asyncio
import json
import os
import re
import shutil
from pathlib import Path

import pytest

from parley.http.api.errors import ErrorOut
from tests.parley.http.api.kit import ApiClient, Program

PAGE = Path(__file__).parents[4] / "docs" / "how-to" / "use-memory-over-http.md"
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```", re.DOTALL | re.MULTILINE)


def blocks(language: str) -> list[str]:
    return [text for kind, text in BLOCK.findall(PAGE.read_text("utf-8")) if kind == language]


@pytest.mark.skipif(not shutil.which("curl"), reason="curl is not installed")
async def test_the_documented_calls_work_in_order(program: Program, ada: ApiClient) -> None:
    calls = [text for text in blocks("sh") if not text.startswith("parley ")]
    script = "set -euo pipefail\n" + "".join(calls)
    script = script.replace("http://localhost:8081", program.app.local.base_url)
    process = await asyncio.create_subprocess_exec(
        "bash",
        "-c",
        script,
        env={"PATH": os.environ["PATH"], "PARLEY_TOKEN": ada.token},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    out, _ = await process.communicate()
    assert process.returncode == 0, out.decode()
    response = [json.loads(line) for line in out.decode().splitlines() if line]
    assert response[0]["soul"] is None
    assert response[2]["content"] == "I answer for the kite shop. Short answers, please."
    assert [each["version"] for each in response[4]["versions"]] == [2, 1]
    assert response[5]["document"]["content"] == response[2]["content"]
    assert [each["content"] for each in response[6]["memories"]] == ["I prefer tabs."]
    assert response[7]["id"] == response[6]["memories"][0]["id"]
    assert (await ada("GET", "/brain/memories")).json["memories"] == []


async def test_the_documented_refusal_matches(ada: ApiClient) -> None:
    (shown,) = blocks("json")
    ErrorOut.model_validate_json(shown)
    response = await ada("PUT", "/brain/soul", {"content": "x", "based_on": "1"})
    assert response.json == json.loads(shown)

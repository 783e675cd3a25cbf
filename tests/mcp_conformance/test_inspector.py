"""The MCP Inspector lists and calls the tools and resources of the running program."""

from pathlib import Path

import pytest

from tests.mcp_conformance.inspector import installed_inspector
from tests.mcp_conformance.suite import SuiteMissing
from tests.parley.http.api.kit import running, settings_in

pytestmark = [pytest.mark.nightly, pytest.mark.timeout(900)]


async def test_the_inspector_lists_and_calls_tools_and_reads_resources(tmp_path: Path) -> None:
    async with running(settings_in(tmp_path)) as program:
        url = f"{program.app.local.base_url}/mcp"
        try:
            inspect = installed_inspector(tmp_path, url, program.token("ada"))
        except SuiteMissing as missing:
            pytest.skip(str(missing))
        listed = await inspect("tools/list", "--strict")
        assert listed.status == 0, listed
        names = {tool["name"] for tool in listed.found["tools"]}
        assert {"memory_search", "register_agent", "initiate_handoff", "query_shared"} <= names
        resources = await inspect("resources/list")
        assert resources.status == 0, resources
        uris = [one["uri"] for one in resources.found["resources"]]
        assert "memory://brief" in uris
        stored = await program.api_client("ada")(
            "POST", "/brain/memories", {"content": "I own a red boat."}
        )
        uri = f"memory://memories/{stored.json['memory_id']}"
        for each in ("memory://brief", uri):
            read = await inspect("resources/read", "--uri", each)
            assert read.status == 0, read
            assert "red boat" in read.found["contents"][0]["text"]
        arguments = ("--tool-name", "register_agent", "--tool-arg", "agent_type=claude_code")
        made = await inspect("tools/call", *arguments)
        assert made.status == 0, made
        assert made.found["structuredContent"]["agent_type"] == "claude_code"


async def test_the_inspector_fails_with_the_token_of_nobody(tmp_path: Path) -> None:
    async with running(settings_in(tmp_path)) as program:
        url = f"{program.app.local.base_url}/mcp"
        try:
            inspect = installed_inspector(tmp_path, url, "nobody")
        except SuiteMissing as missing:
            pytest.skip(str(missing))
        assert (await inspect("tools/list")).status != 0

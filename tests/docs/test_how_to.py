"""The tool calls and commands of the how-to pages, in their order, with a running program.

A block of a page is one call: `by` names who makes it, texts such as "id of the pool" stand for
what an earlier call returned.
"""

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any, Final

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import ElicitRequestParams, ElicitResult, TextResourceContents

from gateway.people import PersonId
from gateway.ports.clock import SystemClock
from parley.app import App
from parley.security.keys import token_key
from parley.security.tokens import TokenClaims, issue
from tests.docs.blocks import BLOCKS, ROOT, Block, runnable
from tests.e2e.conftest import open_lab, open_lab_with_model
from tests.e2e.test_handoffs import offered
from tests.e2e.test_memory import Talk, direct
from tests.e2e.test_memory_backends import files, prompt

HOW_TO: Final = ROOT / "docs" / "how-to"
COLLEAGUE: Final = "telegram:main:123456789"
"""The id of a person on the pages."""
KEYS: Final = {
    "register_agent": ("agent_id",),
    "create_pool": ("pool_id",),
    "initiate_handoff": ("handoff", "handoff_id"),
}
"""The place of the id in the result of a tool."""
NAMES: Final = {
    "register_agent": "id of {by}",
    "create_pool": "id of the pool",
    "initiate_handoff": "id of the handoff",
}


def calls_of(page: str) -> list[dict[str, Any]]:
    """The calls of a page."""
    blocks: list[Block] = [one for one in runnable("json") if one.page == HOW_TO / page]
    return [json.loads(block.code) for block in blocks]


@dataclass
class Agents:
    """The agents of a page, each with the token of its person, or with its own one: `own` has the
    ids of those."""

    app: App
    people: Mapping[str, PersonId]
    own: Mapping[str, str] = field(default_factory=dict)
    known: dict[str, str] = field(default_factory=dict)

    @asynccontextmanager
    async def client(self, by: str) -> AsyncIterator[Client]:
        """A client of this agent, whose person confirms every question."""
        until = SystemClock().now() + timedelta(days=1)
        claims = TokenClaims(self.people[by], "default", until, agent=self.own.get(by, ""))
        token = issue(token_key(self.app.settings).get_or_create(), claims)
        headers = {"Authorization": f"Bearer {token}"}
        async with httpx2.AsyncClient(headers=headers, timeout=30, trust_env=False) as http:
            url = f"{self.app.local.base_url}/mcp"
            transport = streamable_http_client(url, http_client=http)
            ask: Any = confirmed
            async with Client(transport, cache=None, elicitation_callback=ask) as client:
                yield client

    def filled(self, value: Any) -> Any:
        """An argument of the page with the ids that the program returned."""
        if isinstance(value, dict):
            return {name: self.filled(one) for name, one in value.items()}
        if isinstance(value, list):
            return [self.filled(one) for one in value]
        if not isinstance(value, str):
            return value
        for name, text in self.known.items():
            value = value.replace(name, text)
        return value

    async def make(self, call: Mapping[str, Any]) -> dict[str, Any]:
        """Make one call of the page; return its result."""
        async with self.client(call["by"]) as client:
            if "resource" in call:
                (content,) = (await client.read_resource(self.filled(call["resource"]))).contents
                assert isinstance(content, TextResourceContents)
                read: dict[str, Any] = json.loads(content.text)
                return read
            result = await client.call_tool(call["tool"], self.filled(call["arguments"]))
        assert not result.is_error, result.content
        content_: dict[str, Any] = result.structured_content or {}
        assert content_.get("success", True) or content_.get("status"), content_
        match: Any = content_
        for key in KEYS.get(call["tool"], ()):
            match = match[key]
        if call["tool"] in KEYS:
            self.known[NAMES[call["tool"]].format(by=call["by"])] = str(match)
        return content_


async def confirmed(_context: object, _params: ElicitRequestParams) -> ElicitResult:
    """The person who says yes."""
    return ElicitResult(action="accept", content={"confirm": True})


def person_of(talk: Talk) -> PersonId:
    return PersonId("telegram", "main", talk.person.id)


async def test_an_agent_is_connected_and_stores_for_review(tmp_path: Path) -> None:
    async with open_lab("telegram-polling", tmp_path) as lab:
        ada = direct(lab)
        await ada.command("remember", "The staging cluster runs in Frankfurt")
        who = {"Ada's agent": person_of(ada)}
        register = calls_of("share-memories.md")[0]
        made = await Agents(lab.app, who).make(register)
        agents = Agents(lab.app, who, {"Ada's agent": made["agent_id"]})
        brief, stored = [await agents.make(call) for call in calls_of("connect-a-coding-agent.md")]
        assert "Frankfurt" in brief["brief"]
        assert (stored["success"], "/memories review" in stored["next"]) == (False, True)
        assert "8443" in (await ada.command("memories", "review")).text


async def test_agents_of_two_people_share_a_memory_until_one_leaves(tmp_path: Path) -> None:
    async with open_lab("telegram-polling", tmp_path) as lab:
        ada, ben = direct(lab, "Ada"), direct(lab, "Ben")
        await ada.command("remember", "The billing service listens on port 8443")
        await ben.say("hello")
        agents = Agents(lab.app, {"Ada's agent": person_of(ada), "Ben's agent": person_of(ben)})
        search: dict[str, Any] = {
            "by": "Ada's agent",
            "tool": "memory_search",
            "arguments": {"query": "billing"},
        }
        (match,) = (await agents.make(search))["results"]
        agents.known["id of the memory"] = match["id"]
        *before, query, leave = calls_of("share-memories.md")
        assert [call["tool"] for call in (query, leave)] == ["query_shared", "leave_pool"]
        for call in before:
            result = await agents.make(call)
            assert result.get("success", True), result
        (shared,) = (await agents.make(query))["memories"]
        assert "8443" in shared["content"]
        own_search = {**search["arguments"], "agent_id": "id of Ben's agent"}
        searched = await agents.make({**search, "by": "Ben's agent", "arguments": own_search})
        assert [one["content"] for one in searched["results"]] == [shared["content"]]
        assert (await agents.make(leave))["success"]
        assert (await agents.make(query))["memories"] == []


async def test_a_colleague_gets_a_task_in_the_chat_and_the_agent_reads_the_result(
    tmp_path: Path,
) -> None:
    async with open_lab("telegram-polling", tmp_path) as lab:
        ada, ben = direct(lab, "Ada"), direct(lab, "Ben")
        await ben.say("hello")
        agents = Agents(lab.app, {"Ada's agent": person_of(ada)})
        agents.known[COLLEAGUE] = str(person_of(ben))
        register, hand, read = calls_of("hand-over-a-task.md")
        await agents.make(register)
        assert (await agents.make(hand))["handoff"]["status"] == "pending"
        await offered(lab.app)
        offer = (await ben.shown())[-1]
        assert "Review the login form" in offer.text
        assert "You have accepted" in (await ben.press(offer, "Accept")).text
        (command,) = commands_of("hand-over-a-task.md")
        name, _, arguments = command.partition(" ")
        await ben.command(name, arguments)
        result = await agents.make(read)
        assert (result["status"], result["result"]) == (
            "completed",
            {"text": arguments.removeprefix("done ")},
        )


async def test_what_an_agent_wrote_is_shown_and_taken_back(tmp_path: Path) -> None:
    async with open_lab("telegram-polling", tmp_path) as lab:
        ada = direct(lab)
        await ada.say("hello")
        agents = Agents(lab.app, {"Ada's agent": person_of(ada)})
        await agents.make(calls_of("share-memories.md")[0])
        number = agents.known["id of Ada's agent"]
        text = "The billing service listens on port 8443."
        given = {"type": "fact", "content": text, "agent_id": number}
        await agents.make({"by": "Ada's agent", "tool": "memory_store", "arguments": given})
        reply = await ada.command("memories", "review")
        await ada.press(reply, reply.buttons[0].label)
        show, take_back, unregister = (
            command.replace("3f9a", number[:4]) for command in commands_of("control-agents.md")
        )
        assert number[:4] in (await ada.command("agents")).text
        assert "8443" in (await ada.command(*show.split(" ", 1))).text
        reply = await ada.command(*take_back.split(" ", 1))
        assert "1 memory" in (await ada.press(reply, "Take back")).text
        assert "8443" not in (await ada.command("memories")).text
        reply = await ada.command(*unregister.split(" ", 1))
        assert "unregistered" in (await ada.press(reply, "Unregister")).text
        listed = {"by": "Ada's agent", "tool": "get_agents_for_user", "arguments": {}}
        assert (await agents.make(listed))["agents"] == []


def commands_of(page: str) -> list[str]:
    """The chat commands of a page, without their slashes."""
    texts = [one.code for one in BLOCKS if one.page == HOW_TO / page and one.language == "text"]
    return [text.strip().removeprefix("/") for text in texts if text.startswith("/")]


async def test_a_memory_is_a_markdown_file_and_its_edit_reaches_the_answer(
    tmp_path: Path,
) -> None:
    page = (HOW_TO / "markdown-memories.md").read_text("utf-8")
    (path,) = [line.strip() for line in page.splitlines() if line.strip().startswith("data/")]
    (reply,) = [part for part in page.split("`") if part.startswith("/remember ")]
    section = {
        "memory": {
            "backend": "markdown",
            "backend_load": {"markdown": "parley_memory_markdown:backend"},
            "backend_options": {"markdown": {"folder": str(tmp_path / "data" / "notes")}},
        }
    }
    async with open_lab_with_model("telegram-polling", tmp_path, section) as (lab, model):
        ada = direct(lab)
        await ada.command("remember", reply.removeprefix("/remember "))
        (file,) = files(tmp_path / "data" / "notes")
        shown = path.replace("123456789", ada.person.id)
        beginning, _, end = shown.partition("\N{HORIZONTAL ELLIPSIS}")
        written = str(file.relative_to(tmp_path))
        assert written.startswith(beginning)
        assert written.endswith(end)
        file.write_text(file.read_text("utf-8").replace("seven", "eight"), "utf-8")
        assert "opens at eight" in await prompt(ada, model, "When does the red bridge open?")
        file.unlink()
        assert "opens at" not in (await ada.command("memories")).text

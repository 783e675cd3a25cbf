"""Two agents of a person, which hand a task over to each other and to the person over MCP."""

from datetime import timedelta
from typing import TYPE_CHECKING, Any, Final

from gateway.people import PersonId
from gateway.ports.clock import SystemClock
from memory.mcp.names import PREFIX
from parley.app import App
from parley.security.keys import token_key
from parley.security.tokens import TokenClaims, issue

if TYPE_CHECKING:
    from mcp import Client

TOKEN_LASTS: Final = timedelta(minutes=5)
SECONDS: Final = 60.0
"""Time limit of a request; the first one loads the MCP server of the program."""


class DemoAgents:
    """The agents of people, by the MCP server of a running program."""

    def __init__(self, app: App) -> None:
        self._app = app

    async def hand_over(self, person: PersonId, task: str) -> None:
        """Hand a task from one agent of this person to another, which asks the person to review
        it."""
        import httpx2  # noqa: PLC0415 - the demo starts quickly
        from mcp import Client  # noqa: PLC0415 - the demo starts quickly
        from mcp.client.streamable_http import streamable_http_client  # noqa: PLC0415 - the demo starts quickly

        url = f"{self._app.local.base_url}{PREFIX}"
        headers = {"Authorization": f"Bearer {self._token(person)}"}
        async with (
            httpx2.AsyncClient(headers=headers, timeout=SECONDS, trust_env=False) as http,
            Client(streamable_http_client(url, http_client=http)) as client,
        ):
            await _hand_over(client, person, task)

    def _token(self, person: PersonId) -> str:
        key = token_key(self._app.settings).get_or_create()
        tenant = self._app.services.extensions.tenant_of_person(person)
        return issue(key, TokenClaims(person, tenant, SystemClock().now() + TOKEN_LASTS))


async def _hand_over(client: "Client", person: PersonId, task: str) -> None:
    async def call(name: str, /, **arguments: Any) -> dict[str, Any]:
        result = await client.call_tool(name, arguments)
        content: dict[str, Any] | None = result.structured_content
        if result.is_error or content is None:
            raise RuntimeError(f"{name} failed: {result.content}")
        return content

    coder, reviewer = [
        (await call("register_agent", agent_type=kind, name=name))["agent_id"]
        for kind, name in (("claude_code", "coder"), ("gpt_agent", "reviewer"))
    ]
    handed = await call(
        "initiate_handoff",
        source_id=coder,
        target_id=reviewer,
        context={"task_description": task},
    )
    number = handed["handoff"]["handoff_id"]
    await call("accept_handoff", handoff_id=number, agent_id=reviewer)
    review = {
        "task_description": f"Please review: {task}",
        "current_state": {"checked_by": "reviewer"},
    }
    await call("initiate_handoff", source_id=reviewer, target_id=str(person), context=review)

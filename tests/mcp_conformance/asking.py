"""The fixture tools that ask the client: for the person's input, its model, or its roots."""

import json
from typing import Any

import mcp_types as types
from mcp.server.mcpserver import Context, MCPServer
from mcp.shared.exceptions import MCPError
from pydantic import BaseModel, Field

Ctx = Context[Any, Any]


def text(content: str) -> types.TextContent:
    """A text."""
    return types.TextContent(type="text", text=content)


def question(message: str, name: str, kind: str = "string") -> types.ElicitRequest:
    """A question for one field."""
    schema = {"type": "object", "properties": {name: {"type": kind}}, "required": [name]}
    return types.ElicitRequest(
        params=types.ElicitRequestFormParams(message=message, requested_schema=schema)
    )


def sample(prompt: str, most: int = 100) -> types.CreateMessageRequest:
    """A request to the client's model."""
    message = types.SamplingMessage(role="user", content=text(prompt))
    return types.CreateMessageRequest(
        params=types.CreateMessageRequestParams(messages=[message], max_tokens=most)
    )


def needed(requests: dict[str, Any], state: str | None = None) -> types.InputRequiredResult:
    """A result that asks the client."""
    return types.InputRequiredResult(input_requests=requests, request_state=state)


def answer(ctx: Ctx, name: str, kind: type[BaseModel] = types.ElicitResult) -> Any:
    """The client's answer to a request, None without a usable one."""
    given = (ctx.input_responses or {}).get(name)
    return given if isinstance(given, kind) else None


def field_of(given: Any, name: str) -> Any:
    """A field of an accepted form."""
    return (given.content or {}).get(name) if given is not None else None


def add_asking_tools(server: MCPServer[Any]) -> None:
    """Add the tools."""
    _older_tools(server)
    _forms_with_fields(server)
    _one_question(server)
    _kept_state(server)
    _capabilities(server)


class _Person(BaseModel):
    username: str = Field(description="User's response")
    email: str = Field(description="User's email address")


def _older_tools(server: MCPServer[Any]) -> None:
    @server.tool()
    async def test_sampling(prompt: str, ctx: Ctx) -> str:
        """Ask the client's model."""
        response = await ctx.session.create_message(
            [types.SamplingMessage(role="user", content=text(prompt))],
            max_tokens=100,
            related_request_id=ctx.request_id,
        )
        return f"LLM response: {getattr(response.content, 'text', '')}"

    @server.tool()
    async def test_elicitation(message: str, ctx: Ctx) -> str:
        """Ask the person."""
        reply = await ctx.elicit(message, _Person)
        data = reply.data.model_dump() if reply.action == "accept" else {}
        return f"User response: action: {reply.action}, content: {json.dumps(data)}"


async def _ask(ctx: Ctx, message: str, properties: dict[str, Any]) -> str:
    """Show a form; return its outcome."""
    schema = {"type": "object", "properties": properties, "required": []}
    response = await ctx.session.elicit_form(message, schema, related_request_id=ctx.request_id)
    return (
        f"Elicitation completed: action={response.action}, content={json.dumps(response.content)}"
    )


def _forms_with_fields(server: MCPServer[Any]) -> None:
    @server.tool()
    async def test_elicitation_sep1034_defaults(ctx: Ctx) -> str:
        """Ask with a default for each type."""
        return await _ask(
            ctx,
            "Please confirm the values",
            {
                "name": {"type": "string", "default": "John Doe"},
                "age": {"type": "integer", "default": 30},
                "score": {"type": "number", "default": 95.5},
                "status": {
                    "type": "string",
                    "enum": ["active", "inactive", "pending"],
                    "default": "active",
                },
                "verified": {"type": "boolean", "default": True},
            },
        )

    @server.tool()
    async def test_elicitation_sep1330_enums(ctx: Ctx) -> str:
        """Ask with each form of a choice."""
        plain = ["option1", "option2", "option3"]
        titled = [
            {"const": f"value{n}", "title": f"{word} Option"}
            for n, word in enumerate(("First", "Second", "Third"), 1)
        ]
        choices = [
            {"const": f"value{n}", "title": f"{word} Choice"}
            for n, word in enumerate(("First", "Second", "Third"), 1)
        ]
        return await _ask(
            ctx,
            "Please choose",
            {
                "untitledSingle": {"type": "string", "enum": plain},
                "titledSingle": {"type": "string", "oneOf": titled},
                "legacyEnum": {
                    "type": "string",
                    "enum": ["opt1", "opt2", "opt3"],
                    "enumNames": ["Option One", "Option Two", "Option Three"],
                },
                "untitledMulti": {"type": "array", "items": {"type": "string", "enum": plain}},
                "titledMulti": {"type": "array", "items": {"anyOf": choices}},
            },
        )


Asking = str | types.InputRequiredResult


def _one_question(server: MCPServer[Any]) -> None:
    @server.tool()
    async def test_input_required_result_elicitation(ctx: Ctx) -> Asking:
        """Ask for a name."""
        name = field_of(answer(ctx, "user_name"), "name")
        if not isinstance(name, str):
            return needed({"user_name": question("What is your name?", "name")})
        return f"Hello, {name}!"

    @server.tool()
    async def test_input_required_result_sampling(ctx: Ctx) -> Asking:
        """Ask the client's model."""
        response = answer(ctx, "capital_question", types.CreateMessageResult)
        if response is None:
            return needed({"capital_question": sample("What is the capital of France?")})
        return f"The model says: {response.content.text}"

    @server.tool()
    async def test_input_required_result_list_roots(ctx: Ctx) -> Asking:
        """Ask for the client's roots."""
        reply = answer(ctx, "client_roots", types.ListRootsResult)
        if reply is None:
            return needed({"client_roots": types.ListRootsRequest()})
        return f"Roots: {', '.join(str(root.uri) for root in reply.roots)}"


def _kept_state(server: MCPServer[Any]) -> None:
    @server.tool()
    async def test_input_required_result_request_state(ctx: Ctx) -> Asking:
        """Ask for a confirmation and keep a state."""
        response = answer(ctx, "confirm")
        if response is None or ctx.request_state != "waiting":
            return needed({"confirm": question("Please confirm", "ok", "boolean")}, "waiting")
        return "state-ok"

    @server.tool()
    async def test_input_required_result_tampered_state(ctx: Ctx) -> Asking:
        """Keep a state that the client cannot change."""
        if answer(ctx, "confirm") is None:
            return needed({"confirm": question("Please confirm", "ok", "boolean")}, "waiting")
        return "state-ok"

    @server.tool()
    async def test_input_required_result_multiple_inputs(ctx: Ctx) -> Asking:
        """Ask three things at once."""
        expected: dict[str, tuple[Any, type[BaseModel]]] = {
            "user_name": (question("What is your name?", "name"), types.ElicitResult),
            "greeting": (sample("Generate a greeting", 50), types.CreateMessageResult),
            "client_roots": (types.ListRootsRequest(), types.ListRootsResult),
        }
        missing = {
            name: request
            for name, (request, kind) in expected.items()
            if answer(ctx, name, kind) is None
        }
        return needed(missing, "three") if missing else "All three were answered."

    @server.tool()
    async def test_input_required_result_multi_round(ctx: Ctx) -> Asking:
        """Ask twice."""
        if ctx.request_state is None:
            return needed({"step1": question("Step 1: What is your name?", "name")}, "round-1")
        if ctx.request_state == "round-1":
            asked = question("Step 2: What is your favorite color?", "color")
            return needed({"step2": asked}, "round-2")
        return "Both rounds are done."


def _capabilities(server: MCPServer[Any]) -> None:
    @server.tool()
    async def test_input_required_result_capabilities(ctx: Ctx) -> Asking:
        """Ask only what the client declared."""
        declared, requests = ctx.client_capabilities, dict[str, Any]()
        if declared is not None and declared.sampling is not None:
            requests["sampled"] = sample("Say something")
        if declared is not None and declared.elicitation is not None:
            requests["asked"] = question("What is your name?", "name")
        return needed(requests) if requests else "The client declared nothing."

    @server.tool()
    async def test_missing_capability(ctx: Ctx) -> str:
        """Require sampling."""
        declared = ctx.client_capabilities
        if declared is None or declared.sampling is None:
            required = types.ClientCapabilities(sampling=types.SamplingCapability())
            data = types.MissingRequiredClientCapabilityErrorData(required_capabilities=required)
            raise MCPError(
                types.MISSING_REQUIRED_CLIENT_CAPABILITY,
                "This tool requires sampling.",
                data.model_dump(by_alias=True, mode="json", exclude_none=True),
            )
        return "The client declared sampling."

    @server.tool()
    async def test_streaming_elicitation(ctx: Ctx) -> Asking:
        """Ask in a stream."""
        await ctx.report_progress(1, 2)
        name = field_of(answer(ctx, "user_name"), "name")
        if not isinstance(name, str):
            return needed({"user_name": question("What is your name?", "name")})
        return f"Hello, {name}!"

"""Builds the SDK's tools from `ToolDefinition`.

The SDK reads the arguments from the signature of a function. Here the signature is made from the
argument model, which also validates strictly.
"""

import asyncio
import hashlib
import hmac
import inspect
import json
from collections.abc import Awaitable, Callable, Mapping
from datetime import datetime
from typing import Annotated, Any, Final

import mcp_types
import structlog
from mcp.server.mcpserver import (
    AcceptedElicitation,
    Context,
    Elicit,
    ElicitationResult,
    Resolve,
)
from mcp.server.mcpserver.tools import Tool
from mcp.server.mcpserver.utilities.func_metadata import ArgModelBase, FuncMetadata
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS
from msgspec import Struct
from pydantic import BaseModel, Field, create_model

from db.errors import StoreUnavailable
from gateway.errors import (
    BadInput,
    ToolError,
    store_notice,
)
from gateway.ports.action import Output
from gateway.ports.memory import Caller
from memory.mcp.tool_definition import AnyTool, McpCall, acting, with_nulls, without_titles

WINDOW_SECONDS: Final = 600
LABEL: Final = b"parley mcp confirmation 1"
CODE_DIGITS: Final = 16


class Confirmed(Struct, frozen=True):
    """The person agreed."""


class CodeRequired(Struct, frozen=True):
    """The client cannot ask the person: the question, and the code of a second call."""

    question: str
    code: str


def decide_by_code(
    key: bytes, caller: Caller, tool: str, arguments: Mapping[str, object], question: str
) -> Confirmed | CodeRequired:
    """Return the decision about a call from a client that cannot show a question. `key` is the
    program's secret."""
    given = str(arguments.get("confirm", ""))
    params = {name: value for name, value in arguments.items() if name != "confirm"}
    window = _window(caller.at)
    codes = [_code(key, caller, tool, params, question, each) for each in (window, window - 1)]
    if any(hmac.compare_digest(given.encode(), code.encode()) for code in codes):
        return Confirmed()
    return CodeRequired(question, codes[0])


def _window(at: datetime) -> int:
    return int(at.timestamp()) // WINDOW_SECONDS


def _code(
    key: bytes,
    caller: Caller,
    tool: str,
    params: Mapping[str, object],
    question: str,
    window: int,
) -> str:
    principal = caller.principal
    parts = [tool, principal.tenant, str(principal.person), params, question, window]
    text = json.dumps(parts, sort_keys=True)
    derived = hmac.new(key, LABEL, hashlib.sha256).digest()
    return hmac.new(derived, text.encode(), hashlib.sha256).hexdigest()[:CODE_DIGITS]


CALL_SECONDS: Final = 30.0
CHECK_FIRST: Final = (
    "If this tool changes something, check whether it did before you try again. If it stays so, an "
    "operator finds the cause with `parley doctor`."
)
TOO_SLOW: Final = (
    "This took longer than 30 seconds and was stopped. If this tool changes something, check "
    "whether it did before you try again."
)
DECLINED: Final = "The person did not confirm it. Nothing was changed. Do not ask them again."
PERSON_CONFIRMS: Final = (
    "Nothing was changed: the person has to confirm this, and this client cannot ask them. An "
    "agent does not confirm for its person."
)
ASK_FIRST: Final = (
    "Nothing was changed yet. Show the question to the person. If they agree, call the tool again "
    "with the same arguments and this code as `confirm`."
)

log = structlog.get_logger(__name__)

OpenCall = Callable[[Context[Any, Any]], Awaitable[McpCall]]
"""Returns the call of a request. Raises `BadInput` if it is refused."""


class ConfirmationForm(BaseModel):
    """The form that the client shows."""

    confirm: bool = Field(description="Yes, do it.")


def sdk_tool(definition: AnyTool, open_call: OpenCall) -> Tool:
    """Return the SDK's tool of a definition."""
    fields = list(definition.arguments.model_fields)
    run = _runner(definition, open_call)
    annotations: dict[str, Any] = dict.fromkeys(fields, Any) | {"ctx": Context}
    if definition.question is not None:
        resolver = _resolver(definition, open_call)
        _sign(resolver, dict(annotations))
        annotations["decision"] = Annotated[ElicitationResult[Any], Resolve(resolver)]
    _sign(run, annotations)
    tool = Tool.from_function(
        run,
        definition.name,
        definition.title,
        definition.description,
        annotations=mcp_types.ToolAnnotations(
            title=definition.title,
            read_only_hint=definition.reads_only,
            destructive_hint=definition.destructive,
            idempotent_hint=definition.idempotent,
            open_world_hint=False,
        ),
        structured_output=False,
    )
    arguments = create_model(definition.name, __base__=(definition.arguments, ArgModelBase))
    schema = without_titles(definition.result.model_json_schema())
    return tool.model_copy(
        update={
            "parameters": with_nulls(without_titles(arguments.model_json_schema())),
            "fn_metadata": FuncMetadata(
                arg_model=arguments, output_model=definition.result, output_schema=schema
            ),
        }
    )


def failed(text: str) -> mcp_types.CallToolResult:
    """Return an error that the model reads."""
    return mcp_types.CallToolResult(
        content=[mcp_types.TextContent(type="text", text=text)], is_error=True
    )


def succeeded(result: Output) -> mcp_types.CallToolResult:
    """Return a result, structured and as the same JSON text."""
    content = result.model_dump(mode="json", exclude_none=True)
    text = json.dumps(content, ensure_ascii=False, separators=(",", ":"))
    return mcp_types.CallToolResult(
        content=[mcp_types.TextContent(type="text", text=text)], structured_content=content
    )


def unavailable(error: StoreUnavailable) -> str:
    """Return the text while a store does not answer."""
    return f"{store_notice(error).english} {CHECK_FIRST}"


async def answered(
    name: str, work: Callable[[], Awaitable[mcp_types.CallToolResult]]
) -> mcp_types.CallToolResult:
    """Run a tool within its time; return its failure as text with the next step."""
    try:
        async with asyncio.timeout(CALL_SECONDS):
            return await work()
    except (BadInput, ToolError) as error:
        return failed(str(error))
    except StoreUnavailable as error:
        log.warning("mcp_without_store", tool=name, store=error.store, error=str(error))
        return failed(unavailable(error))
    except TimeoutError:
        log.warning("mcp_tool_too_slow", tool=name)
        return failed(TOO_SLOW)


def _runner(
    definition: AnyTool, open_call: OpenCall
) -> Callable[..., Awaitable[mcp_types.CallToolResult]]:
    async def run(
        ctx: Context[Any, Any], decision: object = None, **arguments: Any
    ) -> mcp_types.CallToolResult:
        async def work() -> mcp_types.CallToolResult:
            if definition.question is not None:
                code = _needed_code(decision)
                if code is not None:
                    return succeeded(
                        definition.result.model_validate(
                            {
                                "success": False,
                                "status": "confirmation_required",
                                "next": f"{code.question} {ASK_FIRST}",
                                "confirm": code.code,
                            }
                        )
                    )
            given = definition.arguments.model_validate(arguments)
            call = await _opened(definition, open_call, ctx, given)
            return succeeded(await definition.run(call, given))

        return await answered(definition.name, work)

    return run


async def _opened(
    definition: AnyTool, open_call: OpenCall, ctx: Context[Any, Any], given: Any
) -> McpCall:
    """Return the call of the person, or of the agent that the token or the arguments name."""
    named = getattr(given, definition.agent) if definition.agent else ""
    return await acting(await open_call(ctx), named, definition.needed)


def _needed_code(decision: object) -> CodeRequired | None:
    """Return the code that is still needed, None after a confirmation. Raises `ToolError` for
    anything else than a confirmation."""
    data = decision.data if isinstance(decision, AcceptedElicitation) else None
    if isinstance(data, Exception):
        raise data
    if isinstance(data, CodeRequired):
        return data
    if isinstance(data, Confirmed) or (isinstance(data, ConfirmationForm) and data.confirm):
        return None
    raise ToolError(DECLINED)


def _resolver(definition: AnyTool, open_call: OpenCall) -> Callable[..., Awaitable[object]]:
    """Return the function that asks the person, through the client where it can show a question."""

    async def confirm(ctx: Context[Any, Any], **arguments: Any) -> object:
        assert definition.question is not None  # noqa: S101 - only such tools have a resolver
        try:
            given = definition.arguments.model_validate(arguments)
            call = await _opened(definition, open_call, ctx, given)
            async with asyncio.timeout(CALL_SECONDS):
                question = await definition.question(call, given)
        except (BadInput, ToolError, StoreUnavailable, TimeoutError) as error:
            return error
        if can_ask(ctx):
            return Elicit(question, ConfirmationForm)
        if call.caller.agent:
            return ToolError(PERSON_CONFIRMS)
        key = call.services.key()
        given_fields = given.model_dump(mode="json")
        return decide_by_code(key, call.caller, definition.name, given_fields, question)

    confirm.__qualname__ = f"confirm_{definition.name}"
    return confirm


def can_ask(ctx: Context[Any, Any]) -> bool:
    """True if the client shows questions to the person, over this connection."""
    capabilities = ctx.client_capabilities
    elicitation = None if capabilities is None else capabilities.elicitation
    if elicitation is None or (elicitation.form is None and elicitation.url is not None):
        return False
    return ctx.protocol_version not in HANDSHAKE_PROTOCOL_VERSIONS or ctx.session.can_send_request


def _sign(function: Callable[..., Any], annotations: dict[str, Any]) -> None:
    """Give a function the signature that the SDK reads."""
    parameters = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, annotation=annotation)
        for name, annotation in annotations.items()
    ]
    function.__annotations__ = annotations
    function.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined] # a dynamic attribute of functions

"""Tests of a model and of an MCP server before they are used, and the restart of this process."""

import asyncio
from datetime import timedelta
from ipaddress import ip_address
from typing import Annotated, Final, Literal
from urllib.parse import urlsplit

from pydantic import Field, SecretStr, StringConstraints, ValidationError

from gateway.errors import BadInput, NotFound
from gateway.people import Role
from gateway.ports.action import Input, Nothing
from gateway.ports.rights import in_person
from gateway.text import joined, text, verbatim
from gateway.turn.external_mcp_server import probe
from parley.config import SettingsError
from parley.config.sections import ModelChoiceSection
from parley.console import words
from parley.console.route import AnyRoute, ConsoleRoute, Done
from parley.console.services import ConsoleServices
from parley.console.viewer import Viewer
from parley.console.views.configuration.page import (
    PATH,
    TEMPLATE,
    ConfigurationOut,
    check_governs,
    shown,
)
from parley.console.views.health import FindingOut
from parley.doctor.machine import Finding
from parley.doctor.models import check_model
from parley.doctor.services import tool_server_finding
from parley.http.api.errors import CallRefused
from parley.wiring.policies import mcp_servers_of

EVERY: Final = timedelta(seconds=5)
"""The time between two tests: each sends a request to a service."""
TOO_SOON: Final = text(
    "Another test ran less than five seconds ago. Wait a moment, and test again."
)
NO_SERVER: Final = text("The configuration has no MCP server with this name.")
NEEDS_KEY: Final = text(
    "The configured key is sent to the configured service only. Type the key of this service to "
    "test it."
)
LINK_LOCAL: Final = text(
    "This address is a link-local one, where clouds give out the credentials of a machine. No "
    "model is tested there."
)
NO_RESTART: Final = text(
    "This process cannot restart itself. Restart it the way you started it, for example with "
    "systemd or Docker."
)
NO_MODEL: Final = text("This model cannot be used: {problems}")
NOT_VALID: Final = text(
    "The program would not start with the current configuration, so it was not restarted: "
    "{problems}"
)

Text = Annotated[str, StringConstraints(max_length=200, strip_whitespace=True)]


class ModelTestForm(Input):
    """The model to test. Without `api_key` the configured key is used, for the configured service
    alone. `present`: the model in force, whatever the other fields say. Nothing is stored."""

    provider: Literal["anthropic", "openai"] = "anthropic"
    name: Text = ""
    base_url: Annotated[str, StringConstraints(max_length=500, strip_whitespace=True)] = ""
    api_key: Annotated[SecretStr, Field(max_length=500)] = SecretStr("")
    present: Literal["", "yes"] = ""


class ServerTestForm(Input):
    """The name of an MCP server of the configuration."""

    name: Annotated[str, StringConstraints(min_length=1, max_length=60)]


async def test_model(
    viewer: Viewer, services: ConsoleServices, params: ModelTestForm
) -> ConfigurationOut:
    """Ask a model for an answer of one word, and show the result."""
    await _check_test(viewer, services)
    choice = _choice(services, params)
    if not params.present:
        await _check_address(params.base_url)
    finding = await check_model(choice)
    return await shown(viewer, services, page="model", tested=(_out(finding),))


def _choice(services: ConsoleServices, params: ModelTestForm) -> ModelChoiceSection:
    """Return the model to test. Raises `BadInput`. A typed address never gets the configured
    key."""
    present = services.configuration.settings.model
    if params.present:
        return present
    typed = params.api_key.get_secret_value().strip()
    own = (params.provider, params.base_url) == (present.provider, present.base_url or "")
    if not typed and own:
        return present.model_copy(update={"name": params.name or present.name})
    if not typed and not params.base_url:
        raise BadInput(NEEDS_KEY)
    fields = {
        "provider": params.provider,
        "name": params.name,
        "base_url": params.base_url or None,
        "api_key": SecretStr(typed) if typed else None,
    }
    try:
        return ModelChoiceSection.model_validate(fields)
    except ValidationError as error:
        problems = (one["msg"].removeprefix("Value error, ") for one in error.errors())
        raise BadInput(NO_MODEL.of(problems=verbatim(", ".join(problems)))) from None


async def _check_address(url: str) -> None:
    """Raise `BadInput` for a typed address of the link-local networks, also by name. A test of a
    name that is not found says so itself."""
    try:
        host = urlsplit(url).hostname
        found = await asyncio.get_running_loop().getaddrinfo(host, None) if host else []
    except (ValueError, OSError):
        return
    addresses = (ip_address(str(one[4][0]).partition("%")[0]) for one in found)
    if any((getattr(one, "ipv4_mapped", None) or one).is_link_local for one in addresses):
        raise BadInput(LINK_LOCAL)


async def test_server(
    viewer: Viewer, services: ConsoleServices, params: ServerTestForm
) -> ConfigurationOut:
    """Connect to an MCP server, and list its tools."""
    await check_governs(viewer, services, Role.OWNER)
    found = [one for one in mcp_servers_of(services.settings) if one.name == params.name]
    if not found:
        raise NotFound(NO_SERVER)
    await _check_test(viewer, services)
    finding = tool_server_finding(params.name, await probe(found[0]))
    return await shown(viewer, services, page="tools", tested=(_out(finding),))


async def restart(viewer: Viewer, services: ConsoleServices, _params: Nothing) -> Done:
    """Start this process anew. Raises `CallRefused` where the configuration is not valid, or the
    process cannot do it."""
    await check_governs(viewer, services, Role.OWNER)
    if services.restart is None:
        raise CallRefused("not_possible", NO_RESTART)
    try:
        await services.restart.check()
    except SettingsError as error:
        problems = joined((one.whole for one in error.problems[:5]), " ")
        raise BadInput(NOT_VALID.of(problems=problems)) from None
    await services.audit.console("restarted", viewer.tenant, viewer.person)
    services.restart.request()
    return Done()


async def _check_test(viewer: Viewer, services: ConsoleServices) -> None:
    """Raise `CallRefused` for others than owners, and soon after another test."""
    await check_governs(viewer, services, Role.OWNER)
    if not await services.storage.hot.buckets.claim("console:test", EVERY):
        raise CallRefused("too_soon", TOO_SOON)
    await services.audit.console("configuration_tested", viewer.tenant, viewer.person)


def _out(one: Finding) -> FindingOut:
    return FindingOut(
        status=one.status, name=words.part(one.name), detail=one.said, advice=one.step
    )


ROUTES: Final[tuple[AnyRoute, ...]] = (
    ConsoleRoute(
        name="test_model",
        method="POST",
        path=f"{PATH}/test-model",
        allowed=in_person(Role.OWNER),
        summary="Ask a model for an answer of one word",
        run=test_model,
        template=TEMPLATE,
        example={"provider": "openai", "name": "none"},
    ),
    ConsoleRoute(
        name="test_tool_server",
        method="POST",
        path=f"{PATH}/test-server",
        allowed=in_person(Role.OWNER),
        summary="Connect to an MCP server of the configuration, and list its tools",
        run=test_server,
        template=TEMPLATE,
        example={"name": "none"},
    ),
    ConsoleRoute(
        name="restart_program",
        method="POST",
        path=f"{PATH}/restart",
        allowed=in_person(Role.OWNER),
        summary="Start this process anew, so that it reads the configuration again",
        run=restart,
        done=text("The program restarts. Load this page again in a few seconds."),
        then=PATH,
    ),
)

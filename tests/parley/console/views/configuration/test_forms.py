"""Pages of the configuration with one save, tests of models and servers, and the restart."""

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from gateway.immutable import replace
from parley.app import App
from parley.config import Problem, Settings, SettingsError
from parley.config.overrides import CHANGEABLE
from parley.console.views.configuration.forms import FORMS, keys_of
from parley.runtime.restart import Restart
from tests.parley.console.kit import OPERATOR, OWNER, Console, console_in, console_settings
from tests.parley.console.views.configuration.kit import listed
from tests.parley.http.api.kit import ApiResponse, Program
from tests.support.for_each import for_each
from tests.support.program import running_app
from tests.support.pseudo_language import PseudoLanguages

KEY = "sk-configured-0123456789"


async def save(console: Console, page: str, based_on: int = 0, **texts: str) -> ApiResponse:
    """Save fields of a page."""
    body = {
        "page": page,
        "based_on": based_on,
        "keys": [key.replace("__", ".") for key in texts],
        "values": list(texts.values()),
    }
    return await console.signed_in(OWNER)("POST", "/console/configuration/save", body)


async def test_a_page_is_saved_as_one_version(either_console: Console) -> None:
    texts = {"limits__user_per_minute": "7", "budgets__user_per_day": "1.5"}
    saved = await save(either_console, "limits", 0, **texts, limits__channel_per_minute="20")
    assert (saved.status, saved.json["version"], saved.json["overridden"]) == (200, 1, 2)
    policies = either_console.app.services.policies
    assert (policies.limits.user_per_minute, policies.budgets.user_per_day) == (7, 1.5)
    again = await save(either_console, "limits", 1, **texts)
    assert (again.json["version"], "Nothing was changed" in again.json["said"]) == (1, True)
    late = await save(either_console, "limits", 0, **texts)
    assert (late.status, late.code) == (409, "conflict")
    undone = await (await either_console.visitor(OWNER)).post(
        "/configuration/undo", {"based_on": "1"}
    )
    assert undone.status == 200
    assert either_console.app.services.policies.budgets.user_per_day is None


async def test_nothing_of_a_page_with_an_error_is_saved_and_each_error_is_at_its_field(
    console: Console,
) -> None:
    oona = await console.visitor(OWNER)
    page = await oona.post(
        "/configuration/save",
        {
            "page": "access",
            "based_on": "0",
            "keys": "access.owners",
            "values": "<b>web:oona</b>",
        },
    )
    assert page.status == 409  # nobody takes their own access away
    assert "&lt;b&gt;web:oona&lt;/b&gt;" in page.text
    refused = await save(console, "limits", limits__user_per_minute="-1", budgets__user_share="4")
    assert (refused.status, refused.code) == (422, "refused")
    assert "limits.user_per_minute" in refused.json["error"]["message"]
    assert "budgets.user_share" in refused.json["error"]["message"]
    assert console.app.configuration.number == 0


async def test_the_problem_of_a_field_is_a_sentence_of_the_catalogues(console: Console) -> None:
    oona, policies = await console.visitor(OWNER), console.app.policies
    policies.value = replace(policies.value, languages=PseudoLanguages())
    form = {"page": "limits", "based_on": "0", "keys": "limits.user_per_minute", "values": "-1"}
    page = await oona.post("/configuration/save", form)
    assert "⟦should be at least" in page.text
    change = {"key": "limits.user_per_minute", "value": "-1", "based_on": "0"}
    assert "⟦should be at least" in (await oona.post("/configuration/change", change)).text


async def test_a_page_changes_its_own_keys_only_and_owners_alone_change_it(
    console: Console,
) -> None:
    for page, key in (
        ("limits", "access__owners"),
        ("model", "model__api_key"),
        ("assistant", "server__token"),
    ):
        refused = await save(console, page, 0, **{key: "x"})
        assert (refused.status, refused.code) == (422, "bad_key")
    body = {"page": "limits", "based_on": 0, "keys": ["limits.user_per_minute"], "values": []}
    answer = await console.signed_in(OWNER)("POST", "/console/configuration/save", body)
    assert answer.status != 200
    olga = console.signed_in(OPERATOR)
    assert (await olga("POST", "/console/configuration/save", body)).status == 403
    for path in ("test-model", "test-server", "restart"):
        posted = await (await console.visitor(OPERATOR)).post(
            f"/configuration/{path}", {"name": "x"}
        )
        assert posted.status == 403
    page_of_operator = await (await console.visitor(OPERATOR)).get("/configuration?page=limits")
    assert page_of_operator.status == 200
    assert 'name="values"' not in page_of_operator.text


def test_every_field_of_a_form_is_changeable_while_the_program_runs() -> None:
    changeable = {f"{section}.{key}" for section, keys in CHANGEABLE.items() for key in keys}
    fields = {key for page in FORMS for key in keys_of(page)}
    assert changeable - fields == {"languages.places"}  # a table
    assert fields <= changeable


async def test_another_name_and_model_hold_at_once(console: Console) -> None:
    assert (await save(console, "assistant", assistant__name="Ada")).status == 200
    assert console.app.services.assistant.name == "Ada"
    page = await (await console.visitor("ada")).get("/overview")
    assert "<title>Overview · Ada</title>" in page.text
    spoken = await save(console, "assistant", 1, languages__default="de")
    assert (spoken.status, spoken.json["version"]) == (200, 2), spoken.json
    long = await save(console, "assistant", 2, assistant__name="x" * 81)
    assert (long.status, console.app.services.assistant.name) == (422, "Ada")
    assert (await listed(console)).groups[0].fields[0].text == "Ada"


class Service:
    """An OpenAI-compatible server that notes the keys that it is sent."""

    def __init__(self) -> None:
        self.keys: list[str] = []
        self.models: list[str] = []

    async def answer(self, request: web.Request) -> web.StreamResponse:
        """Answer one word, and refuse the key "wrong"."""
        self.keys.append(request.headers.get("Authorization", ""))
        asked = await request.json()
        self.models.append(asked["model"])
        if self.keys[-1].endswith("wrong"):
            return web.json_response({"error": {"message": "bad key"}}, status=401)
        piece: dict[str, Any] = {"id": "1", "object": "chat.completion.chunk", "model": "m"}
        choice = {"index": 0, "delta": {"content": "Hi"}, "finish_reason": "stop"}
        usage = {"prompt_tokens": 5, "completion_tokens": 1, "total_tokens": 6}
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        for one in ({**piece, "choices": [choice]}, {**piece, "choices": [], "usage": usage}):
            await response.write(f"data: {json.dumps(one)}\n\n".encode())
        await response.write(b"data: [DONE]\n\n")
        return response


@pytest.fixture
async def service() -> AsyncIterator[tuple[Service, str]]:
    noted, application = Service(), web.Application()
    application.router.add_post("/{path:.*}", noted.answer)
    async with TestServer(application) as server:
        yield noted, str(server.make_url("/v1"))


async def tested(console: Console, **fields: str) -> ApiResponse:
    """Test a model, as soon as the next test is possible."""
    body = {"provider": "openai", **fields}
    client = console.signed_in(OWNER)
    for _ in range(60):
        answer = await client("POST", "/console/configuration/test-model", body)
        if answer.status == 200 or answer.code != "too_soon":
            return answer
        await asyncio.sleep(0.2)
    raise AssertionError("no test was possible")


async def test_a_model_and_a_key_are_tested_and_nothing_is_stored(
    tmp_path: Path, service: tuple[Service, str]
) -> None:
    noted, address = service
    model = {"provider": "openai", "name": "m", "base_url": address, "api_key": KEY}
    async with console_in(console_settings(tmp_path, model=model)) as console:
        page = await (await console.visitor(OWNER)).get("/configuration?page=model")
        assert KEY not in page.text
        good = await tested(console, base_url=address, name="other")
        assert good.json["tested"][0]["status"] == "ok", good.json
        assert (noted.keys[-1], noted.models[-1]) == (f"Bearer {KEY}", "other")
        bad = await tested(console, base_url=address, name="m", api_key="wrong")
        assert bad.json["tested"][0]["status"] == "broken"
        assert noted.keys[-1] == "Bearer wrong"
        assert "wrong" not in json.dumps(bad.json)
        assert console.app.configuration.number == 0


async def test_the_configured_key_is_sent_to_no_other_address(
    tmp_path: Path, service: tuple[Service, str]
) -> None:
    noted, address = service
    model = {"provider": "openai", "name": "m", "api_key": KEY}
    async with console_in(console_settings(tmp_path, model=model)) as console:
        await tested(console, base_url=address, name="m")
        assert noted.keys
        assert not any(KEY in key for key in noted.keys)
        other = await tested(console, provider="anthropic", name="m")
        assert other.status == 422
        assert "Type the key" in other.json["error"]["message"]


@for_each(
    "address",
    [
        "http://169.254.169.254/v1",
        "http://[fe80::1]/v1",
        "http://[::ffff:169.254.169.254]/",
        "http://2852039166/",
    ],
)
async def test_no_test_asks_for_the_credentials_of_the_machine(
    tmp_path: Path, address: str
) -> None:
    async with console_in(console_settings(tmp_path)) as console:
        refused = await tested(console, base_url=address, name="m", api_key="k")
        assert refused.status == 422
        assert "link-local" in refused.json["error"]["message"]


async def test_a_test_follows_no_redirect(tmp_path: Path, service: tuple[Service, str]) -> None:
    noted, address = service

    async def elsewhere(_: web.Request) -> web.StreamResponse:
        raise web.HTTPTemporaryRedirect(f"{address}/chat/completions")

    application = web.Application()
    application.router.add_post("/{path:.*}", elsewhere)
    async with TestServer(application) as server, console_in(console_settings(tmp_path)) as console:
        for provider in ("openai", "anthropic"):
            fields = {"provider": provider, "base_url": str(server.make_url("/v1"))}
            answer = await tested(console, name="m", api_key=KEY, **fields)
            assert answer.json["tested"][0]["status"] == "broken", answer.json
        assert noted.keys == []


async def test_owners_alone_test_and_once_in_five_seconds(
    tmp_path: Path, service: tuple[Service, str]
) -> None:
    noted, address = service
    servers = {"servers": {"gone": {"command": "no-such-program"}}}
    async with console_in(console_settings(tmp_path, mcp=servers)) as console:
        fields = {"provider": "openai", "base_url": address, "name": "m", "api_key": "k"}
        for other in ("olga", "ada"):
            client = console.signed_in(other)
            for test in ("test-model", "test-server"):
                body = fields if test == "test-model" else {"name": "gone"}
                refused = await client("POST", f"/console/configuration/{test}", body)
                assert refused.status == 403, (other, test)
        assert noted.keys == []
        client = console.signed_in(OWNER)
        assert (await client("POST", "/console/configuration/test-model", fields)).status == 200
        for test, body in (("test-model", fields), ("test-server", {"name": "gone"})):
            assert (await client("POST", f"/console/configuration/{test}", body)).code == "too_soon"
        assert len(noted.keys) == 1


async def test_a_tool_server_is_tested(tmp_path: Path) -> None:
    servers = {"servers": {"gone": {"command": "no-such-program"}}}
    async with console_in(console_settings(tmp_path, mcp=servers)) as console:
        oona = await console.visitor(OWNER)
        page = await oona.post("/configuration/test-server", {"name": "gone"})
        assert page.status == 200
        assert "the command was not found" in page.text
        assert (await oona.post("/configuration/test-server", {"name": "other"})).status == 404


async def test_the_program_restarts_with_a_valid_configuration_only(console: Console) -> None:
    oona = await console.visitor(OWNER)
    assert "Restart now" not in (await oona.get("/configuration")).text
    assert (await oona.post("/configuration/restart")).status == 409


async def test_a_restart_checks_the_configuration_first(tmp_path: Path) -> None:
    settings, broken = console_settings(tmp_path), [True]

    def load() -> Settings:
        if broken[0]:
            raise SettingsError([Problem("server.port", "should be a number.")])
        return settings

    restart, stopping = Restart(load), asyncio.Event()
    restart.attach(stopping)
    async with (
        running_app(App(settings, restart=restart), drain=0) as app,
        aiohttp.ClientSession() as http,
    ):
        oona = await Console(Program(app, http, settings)).visitor(OWNER)
        assert "Restart now" in (await oona.get("/configuration")).text
        refused = await oona.post("/configuration/restart")
        assert refused.status == 422
        assert "server.port" in refused.text
        assert not stopping.is_set()
        broken[0] = False
        assert (await oona.post("/configuration/restart")).status == 303
        assert stopping.is_set()

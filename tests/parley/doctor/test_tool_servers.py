"""MCP servers and rules for their tools, as `parley doctor` and `parley check-config` see them."""

import asyncio
import re
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest
import yaml

from gateway.platforms import discover
from parley.config import from_mapping
from parley.doctor.startup import startup_problems
from tests.gateway.turn.test_mcp import PROGRAM, WebServer
from tests.parley.cli.kit import parley
from tests.support.ports import free_port

NEAR = {"command": sys.executable, "args": [str(PROGRAM), "stdio"]}


@pytest.fixture
def web(tmp_path: Path) -> Iterator[WebServer]:
    server = WebServer(tmp_path / "port")
    server.start()
    yield server
    server.stop()


def write(folder: Path, **sections: object) -> None:
    (folder / "config").mkdir(exist_ok=True)
    (folder / "config" / "parley.yaml").write_text(yaml.safe_dump(sections))


async def test_each_server_is_contacted(tmp_path: Path, web: WebServer) -> None:
    silent = {"command": sys.executable, "args": ["-c", "print('hello')"]}
    servers = {
        "near": NEAR,
        "far": {"url": web.url, "headers": {"X-Key": "sesame"}},
        "locked": {"url": web.url, "headers": {"X-Key": "wrong-key"}},
        "away": {"url": f"http://127.0.0.1:{free_port()}/mcp"},
        "gone": {"command": "no-such-mcp-server"},
        "odd": silent,
    }
    write(tmp_path, mcp={"servers": servers}, server={"port": 0})
    ended = await parley("doctor", cwd=tmp_path)
    for name in ("near", "far"):
        assert re.search(rf"ok +tools: {name}: 10 tools, answers in [0-9]+\.[0-9] s", ended.out)
    for name, problem in {
        "locked": "it answers with HTTP 401",
        "away": "its address does not answer",
        "gone": "the command was not found",
        "odd": "it ended, or is not an MCP server",
    }.items():
        assert f"BROKEN  tools: {name}: {problem}\n" in ended.out, ended.out
        assert f"Correct mcp.servers.{name}" in ended.out
    assert "wrong-key" not in ended.out
    assert ended.status == 1


async def test_a_rule_for_a_missing_tool_is_a_problem(tmp_path: Path) -> None:
    rules = {"near__wirte_note": {"role": "operator"}, "near__add": {"role": "guest"}}
    write(tmp_path, mcp={"servers": {"near": NEAR}}, tools=rules, server={"port": 0})
    ended = await parley("doctor", cwd=tmp_path)
    assert "BROKEN  tools.near__wirte_note: near has no such tool" in ended.out
    assert 'Did you mean "near__write_note"?' in ended.out
    assert "tools.near__add" not in ended.out
    assert ended.status == 1


@pytest.mark.parametrize(
    ("rule", "advice"),
    [
        ("nera", 'Did you mean "near"?'),
        ("nera__add", 'Did you mean "near__add"?'),
        ("memory_stor", 'Did you mean "memory_store"?'),
        ("weather", "Name a server of mcp.servers, or one of its tools as SERVER__TOOL"),
        ("near__", "Did you mean"),
    ],
)
async def test_every_command_refuses_a_rule_without_a_target(
    tmp_path: Path, rule: str, advice: str
) -> None:
    """A configured restriction without effect would be worse than none."""
    write(tmp_path, mcp={"servers": {"near": NEAR}}, tools={rule: {"role": "operator"}})
    ended = await asyncio.gather(
        parley("run", cwd=tmp_path), parley("check-config", cwd=tmp_path),
        parley("doctor", cwd=tmp_path),
    )  # fmt: skip
    assert [end.status for end in ended] == [3, 3, 1]
    for end in ended:
        assert f"tools.{rule}" in end.out + end.err
        assert advice in end.out + end.err


async def test_rules_for_built_in_tools_are_accepted(tmp_path: Path) -> None:
    write(tmp_path, tools={"memory_store": {"role": "operator"}, "set_task": {"role": "operator"}})
    ended = await parley("check-config", cwd=tmp_path)
    assert ended.status == 0, ended.err


@pytest.mark.parametrize("name", ["a__b", "a" * 25, "a-_-b__c"])
async def test_a_server_name_that_run_refuses_is_refused_by_doctor(
    tmp_path: Path, name: str
) -> None:
    page = {"web": {"enabled": True}}
    write(tmp_path, mcp={"servers": {name: NEAR}}, server={"port": 0}, platforms=page)
    ended = await asyncio.gather(
        parley("run", cwd=tmp_path), parley("check-config", cwd=tmp_path),
        parley("doctor", cwd=tmp_path),
    )  # fmt: skip
    assert [end.status for end in ended] == [3, 3, 1]
    for end in ended:
        assert f"mcp.servers.{name}" in end.out + end.err


@pytest.mark.parametrize(
    ("missing", "section"),
    [
        ("mcp", {"mcp": {"servers": {"near": NEAR}}}),
        (
            "openai",
            {"memory": {"embedding_provider": "openai", "embedding": {"api_key": "k"}}},
        ),
    ],
)
async def test_a_missing_library_is_reported(
    missing: str, section: dict[str, object], monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = from_mapping({"database": {"url": "memory://"}, **section})
    assert await startup_problems(settings, discover()) == []

    def without(name: str, package: str | None = None) -> object:
        return None if name == missing else find_spec(name, package)

    monkeypatch.setattr("importlib.util.find_spec", without)
    (problem,) = await startup_problems(settings, discover())
    assert f"the library {missing}," in str(problem)
    assert "pip install" in str(problem)


async def test_a_model_that_is_never_used_is_reported() -> None:
    """A budget is set and its price is unknown."""
    model = {"provider": "openai", "name": "own-model", "base_url": "http://127.0.0.1:9/v1"}
    whole = {"database": {"url": "memory://"}, "model": model, "budgets": {"user_per_day": 1}}
    (problem,) = await startup_problems(from_mapping(whole), discover())
    assert problem.path == "budgets.prices"
    assert "own-model" in problem.text


async def test_invalid_credentials_cause_no_traceback() -> None:
    """An error of a platform's library is a finding: `check-config` makes no connection."""
    platforms: dict[str, dict[str, object]] = {
        "discord": {"token": "x"},
        "slack": {"bot_token": "x", "app_token": "x"},
        "telegram": {"bot_token": "x"},
        "whatsapp": {
            "access_token": "x",
            "phone_number_id": "1",
            "app_secret": "x",
            "verify_token": "x",
        },
    }
    settings = from_mapping({"database": {"url": "memory://"}, "platforms": platforms})
    for problem in await startup_problems(settings, discover()):
        assert problem.path.startswith("platforms.")
        assert problem.advice or problem.text


async def test_an_adapter_that_fails_to_load_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    """`run` would find it when it connects."""
    settings = from_mapping(
        {"database": {"url": "memory://"}, "platforms": {"telegram": {"bot_token": "1:a"}}}
    )
    assert await startup_problems(settings, discover()) == []
    monkeypatch.setitem(sys.modules, "telegram", None)
    for name in [one for one in sys.modules if one.startswith(("adapters.telegram.", "telegram."))]:
        if not name.endswith("manifest"):
            monkeypatch.delitem(sys.modules, name)
    (problem,) = await startup_problems(settings, discover())
    assert problem.path == "platforms.telegram"
    assert "could not be loaded" in problem.text

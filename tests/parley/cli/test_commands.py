"""The small commands: help, check-config, render, manifest; and how errors look."""

import json
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

from gateway.render import render
from tests.parley.cli.kit import ROOT, Ended, parley

MARKDOWN = "# Plan\n\n**First** this, then `that`.\n\n| a | b |\n|---|---|\n| 1 | 2 |\n"


def clean(ended: Ended) -> bool:
    """No error has a traceback."""
    return "Traceback" not in ended.out + ended.err


async def test_help_names_every_command(tmp_path: Path) -> None:
    ended = await parley("--help", cwd=tmp_path)
    assert ended.status == 0
    for command in ("run", "init", "doctor", "check-config", "why", "render", "manifest"):
        assert f"  {command} " in ended.out
    assert "..." not in ended.out.partition("Start:")[2]


async def test_the_version_is_printed(tmp_path: Path) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    ended = await parley("--version", cwd=tmp_path)
    assert (ended.status, ended.out) == (0, f"parley {project['version']}\n")


def test_help_loads_neither_settings_nor_platforms() -> None:
    code = (
        "import sys; sys.argv = ['parley', '--help']\n"
        "from parley.cli.main import app\n"
        "try: app()\nexcept SystemExit: pass\n"
        "heavy = {'pydantic', 'yaml', 'aiohttp', 'httpx2', 'rich', 'discord', 'anthropic'}\n"
        "sys.exit(str(heavy & set(sys.modules)) if heavy & set(sys.modules) else 0)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (run.returncode, run.stderr) == (0, "")


@pytest.mark.parametrize(
    ("arguments", "status", "said"),
    [
        (("nonsense",), 2, "No such command"),
        (("run", "--role", "poet"), 2, "'--role': 'poet' is not one of"),
        (("manifest", "discord"), 2, "only slack"),
        (("manifest", "slack", "--url", "http://x"), 1, "https address"),
        (("render", "-p", "slak", "x.md"), 1, 'Did you mean "slack"?'),
        (("render", "-p", "slack", "missing.md"), 1, "cannot be read: No such file"),
        (("render", "-p", "slack", "."), 1, "cannot be read: Is a directory"),
        (("check-config", "-c", "missing.yaml"), 3, "does not exist"),
        (("check-config", "-c", "wrong.yaml"), 3, 'Did you mean "limits"?'),
        (("run", "-c", "wrong.yaml"), 3, 'Did you mean "limits"?'),
        (("why", "1", "-c", "wrong.yaml"), 3, 'Did you mean "limits"?'),
        (("why", "1"), 1, "There is no database"),
    ],
)
async def test_an_error_is_one_message_and_an_exit_status(
    tmp_path: Path, arguments: tuple[str, ...], status: int, said: str
) -> None:
    (tmp_path / "wrong.yaml").write_text("limit: {}\n")
    ended = await parley(*arguments, cwd=tmp_path)
    assert (ended.status, ended.out) == (status, "")
    assert said in ended.err
    assert clean(ended)


async def test_check_config_lists_the_enabled_parts_and_no_secret(tmp_path: Path) -> None:
    (tmp_path / "config").mkdir()
    (tmp_path / "config" / "parley.yaml").write_text(
        "platforms: {telegram: {bot_token: '${TOKEN}', accounts: {sales: {bot_token: hush}}}}\n"
        "mcp: {servers: {files: {command: mcp-files}}}\n"
    )
    ended = await parley(
        "check-config", cwd=tmp_path, env={"TOKEN": "hush", "ANTHROPIC_API_KEY": "hush"}
    )
    assert (ended.status, ended.err) == (0, "")
    assert ended.out.startswith("config/parley.yaml is valid.")
    assert "model      anthropic\n" in ended.out
    assert "platforms  telegram, telegram.accounts.sales\n" in ended.out
    assert "tools      files\n" in ended.out
    assert "hush" not in ended.out


async def test_the_path_of_the_configuration_can_be_a_variable(tmp_path: Path) -> None:
    (tmp_path / "own.yaml").write_text("assistant: {name: Ada}\n")
    ended = await parley("check-config", cwd=tmp_path, env={"PARLEY_CONFIG": "own.yaml"})
    assert "assistant  Ada\n" in ended.out


async def test_render_prints_exactly_the_sent_text(tmp_path: Path) -> None:
    (tmp_path / "plan.md").write_text(MARKDOWN)
    slack = await parley("render", "--platform", "slack", "plan.md", cwd=tmp_path)
    assert json.loads(slack.out) == render(MARKDOWN, "slack")[0].payload
    telegram = await parley("render", "--platform", "telegram", "plan.md", cwd=tmp_path)
    assert telegram.out == f"{render(MARKDOWN, 'telegram')[0].payload}\n"
    piped = await parley("render", "-p", "plain", "-", cwd=tmp_path, answers=MARKDOWN)
    assert piped.out == f"{render(MARKDOWN, 'plain')[0].payload}\n"


async def test_render_counts_the_messages_of_a_long_text(tmp_path: Path) -> None:
    (tmp_path / "long.md").write_text("word " * 1_000)
    ended = await parley("render", "-p", "discord", "long.md", cwd=tmp_path)
    assert "--- message 3 of 3" in ended.err
    assert ended.out.split() == ["word"] * 1_000


async def test_render_refuses_a_file_that_is_not_text(tmp_path: Path) -> None:
    (tmp_path / "binary.md").write_bytes(b"\xff\xfe")
    (tmp_path / "huge.md").write_bytes(b"a" * (1024 * 1024 + 1))
    assert "not UTF-8" in (await parley("render", "-p", "web", "binary.md", cwd=tmp_path)).err
    assert "larger than 1 MiB" in (await parley("render", "-p", "web", "huge.md", cwd=tmp_path)).err


async def test_the_slack_manifest_is_printed_for_pasting(tmp_path: Path) -> None:
    socket = yaml.safe_load((await parley("manifest", "slack", cwd=tmp_path)).out)
    assert socket["settings"]["socket_mode_enabled"] is True
    url = "https://chat.example.org/webhook/slack"
    http = await parley("manifest", "slack", "--name", "Ada", "--url", url, cwd=tmp_path)
    named = yaml.safe_load(http.out)
    assert named["display_information"]["name"] == "Ada"
    assert named["settings"]["event_subscriptions"]["request_url"] == url

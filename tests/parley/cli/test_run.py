"""`parley run`: ready lines, a real answer, and a clean end on SIGTERM."""

import asyncio
import json
import os
import signal
import socket
from pathlib import Path

import aiohttp
import pytest
import yaml

from parley.python_environment import install_command
from simulators.telegram import TelegramSimulator
from simulators.whatsapp import WhatsAppSimulator
from tests.parley.cli.init.kit import at_terminal
from tests.parley.cli.kit import (
    PROGRAM,
    ROOT,
    environment,
    parley,
    parley_alone,
    read_until,
    started,
    started_alone,
)
from tests.support.patience import PATIENCE


async def test_run_reports_ready_answers_and_ends_on_sigterm(tmp_path: Path) -> None:
    telegram = TelegramSimulator()
    await telegram.start()
    config = tmp_path / "parley.yaml"
    config.write_text(
        yaml.safe_dump(
            {
                "platforms": {"telegram": telegram.settings()},
                "server": {"port": 0},
                "webhooks": {"port": 0},
            }
        )
    )
    async with started_alone("run", "--config", str(config), cwd=tmp_path) as process:
        seen = await read_until(process.stdout, "ready gateway")
        assert seen == ["ready telegram", "ready gateway"]
        ada = telegram.person("Ada")
        room = telegram.direct(ada)
        await telegram.say(ada, room, "hello")
        await telegram.wait_for(room, lambda shown: any(message.by_bot for message in shown))
        process.send_signal(signal.SIGTERM)
        async with asyncio.timeout(PATIENCE):
            out, err = await process.communicate()
    await telegram.stop()
    assert process.returncode == 0, err.decode()
    assert out.decode().startswith("console http://127.0.0.1:")
    assert (out.decode().count("\n"), "#" in out.decode()) == (1, False)
    assert "Traceback" not in err.decode()
    assert (tmp_path / "data" / "parley.db").exists()


async def test_run_keeps_the_login_link_out_of_files(tmp_path: Path) -> None:
    config = {
        "platforms": {"web": {"enabled": True}},
        "server": {"port": 0, "token": "a-token-of-decent-length"},
    }
    (tmp_path / "parley.yaml").write_text(yaml.safe_dump(config))
    async with (
        started("run", "--config", "parley.yaml", cwd=tmp_path) as process,
        aiohttp.ClientSession(cookie_jar=aiohttp.CookieJar(unsafe=True)) as browser,
    ):
        seen = await read_until(process.stdout, "ready gateway")
        (page,) = (line.removeprefix("open ") for line in seen if line.startswith("open "))
        assert page.endswith("/chat/")
        async with browser.get(page) as refused:
            assert refused.status == 401


async def test_a_platform_that_cannot_connect_is_reported_and_others_continue(
    tmp_path: Path,
) -> None:
    telegram, whatsapp = TelegramSimulator(), WhatsAppSimulator()
    await telegram.start()
    await whatsapp.start()
    wrong = {**telegram.settings(), "bot_token": "7000000009:wrong-wrong-wrong-wrong-wrong"}
    (tmp_path / "config").mkdir()
    (tmp_path / "config" / "parley.yaml").write_text(
        yaml.safe_dump(
            {
                "platforms": {"telegram": wrong, "whatsapp": whatsapp.settings()},
                "server": {"port": 0},
                "webhooks": {"port": 0},
            }
        )
    )
    async with started("run", cwd=tmp_path) as process:
        seen = await read_until(process.stdout, "ready gateway")
        process.send_signal(signal.SIGTERM)
        async with asyncio.timeout(PATIENCE):
            _, err = await process.communicate()
    await telegram.stop()
    await whatsapp.stop()
    assert seen == ["ready whatsapp", "ready gateway"]
    assert "telegram is not connected" in err.decode()
    assert "wrong-wrong" not in err.decode()
    assert process.returncode == 0


async def test_a_used_port_is_one_clear_message(tmp_path: Path) -> None:
    server = await asyncio.start_server(lambda *_: None, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    config = tmp_path / "parley.yaml"
    page = {"web": {"enabled": True}}
    config.write_text(yaml.safe_dump({"server": {"port": port}, "platforms": page}))
    ended = await parley("run", "-c", "parley.yaml", cwd=tmp_path)
    server.close()
    await server.wait_closed()
    assert ended.status == 1
    assert str(port) in ended.err
    assert "Traceback" not in ended.err


async def test_without_a_platform_run_reports_it_and_exits_with_3(tmp_path: Path) -> None:
    alone = await parley("run", cwd=tmp_path)
    assert (alone.status, alone.out) == (3, "")
    assert "platforms (there is no config/parley.yaml here): no platform is set up" in alone.err
    assert "Run `parley init`." in alone.err
    assert not (tmp_path / "data").exists()
    (tmp_path / "own.yaml").write_text("platforms: {web: {enabled: false}}")
    off = await parley("run", "-c", "own.yaml", cwd=tmp_path)
    assert off.status == 3
    assert "platforms (own.yaml): no platform is set up" in off.err


async def test_a_missing_library_is_named_with_its_command_before_anything_connects(
    tmp_path: Path,
) -> None:
    telegram = TelegramSimulator()
    await telegram.start()
    config = {
        "platforms": {"telegram": telegram.settings()},
        "memory": {"embedding_provider": "openai", "embedding": {"api_key": "k"}},
    }
    (tmp_path / "parley.yaml").write_text(yaml.safe_dump(config))
    ended = await parley_alone(
        *("run", "--config", "parley.yaml"), cwd=tmp_path, env=without_library(tmp_path, "openai")
    )
    await telegram.stop()
    assert ended.status == 3
    assert (
        "memory.embedding_provider: needs the library openai, which is not installed." in ended.err
    )
    assert f"Run: {install_command('openai')}" in ended.err
    assert "Traceback" not in ended.err
    assert (ended.out, list(telegram.calls)) == ("", [])
    assert not (tmp_path / "data").exists()


async def test_a_command_names_a_missing_library_with_its_command_as_well(tmp_path: Path) -> None:
    ended = await parley_alone(
        *("memory", "export", "f", "--format", "parquet", "--person", "telegram:main:1"),
        cwd=tmp_path,
        env=without_library(tmp_path, "pyarrow"),
    )
    assert ended.status == 3
    assert ended.err.strip() == (
        "--format parquet: needs the library pyarrow, which is not installed. Run: "
        + install_command("parquet")
    )


def without_library(folder: Path, name: str) -> dict[str, str]:
    """An environment in which a library is not found."""
    (folder / "sitecustomize.py").write_text(
        "import sys\n"
        "class Absent:\n"
        "    @staticmethod\n"
        "    def find_spec(name, path=None, target=None):\n"
        f"        if name.partition('.')[0] == {name!r}:\n"
        "            raise ModuleNotFoundError(name)\n"
        "sys.meta_path.insert(0, Absent)\n"
    )
    return {"PYTHONPATH": f"{folder}{os.pathsep}{ROOT}"}


WEB = {"platforms": {"web": {"enabled": True}}, "server": {"port": 0}, "webhooks": {"port": 0}}


async def signed_in(page: str, secret: str) -> tuple[int, str]:
    """The status of the sign-in with a link's secret, and where it leads."""
    form = {"link": secret, "zone": ""}
    async with (
        aiohttp.ClientSession() as http,
        http.post(page, data=form, allow_redirects=False) as answer,
    ):
        return answer.status, answer.headers.get("Location", "")


async def fetched(url: str) -> tuple[str, str]:
    """The path to which an address leads a browser that is not signed in, and the page there."""
    async with aiohttp.ClientSession() as http, http.get(url) as answer:
        return answer.url.path, await answer.text()


async def test_a_terminal_gets_a_link_that_signs_an_owner_in_to_the_console(tmp_path: Path) -> None:
    (tmp_path / "parley.yaml").write_text(yaml.safe_dump(WEB))
    with at_terminal("run", "--config", "parley.yaml", cwd=tmp_path) as person:
        shown = await asyncio.to_thread(person.until, "prints another one.")
        link = shown.partition("The console: ")[2].split()[0]
        page, _, secret = link.partition("#")
        assert page.endswith("/console/sign-in")
        answer, landed = await signed_in(page, secret)
        assert (answer, landed) == (303, "/console/overview")
        landed, text = await fetched(page.removesuffix("console/sign-in"))
        assert landed == "/console/overview"
        assert "You are not signed in" in text
        assert "parley console link --operator" in text
        os.kill(person.pid, signal.SIGTERM)
        assert await asyncio.to_thread(person.end) == 0


@pytest.mark.parametrize("log_format", ["auto", "json"])
async def test_output_and_log_in_one_file_are_json_alone(tmp_path: Path, log_format: str) -> None:
    config = {**WEB, "observe": {"log_format": log_format}}
    (tmp_path / "parley.yaml").write_text(yaml.safe_dump(config))
    program = [*PROGRAM, "run", "--config", "parley.yaml"]
    log = tmp_path / "log"
    with log.open("wb") as file:
        process = await asyncio.create_subprocess_exec(
            *program, cwd=tmp_path, env=environment(None), stdout=file, stderr=file
        )
    try:
        async with asyncio.timeout(PATIENCE):
            while '"console"' not in log.read_text("utf-8"):
                await asyncio.sleep(0.05)
        process.send_signal(signal.SIGTERM)
        assert await process.wait() == 0
    finally:
        if process.returncode is None:
            process.kill()
    events = [json.loads(line) for line in log.read_text("utf-8").splitlines()]
    assert {"ready", "page", "console"} <= {event["event"] for event in events}
    assert "sign-in#" not in log.read_text("utf-8")


async def test_an_error_at_the_start_is_json_where_the_log_is(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        config = {**WEB, "server": {"port": taken.getsockname()[1]}}
        (tmp_path / "parley.yaml").write_text(yaml.safe_dump(config))
        process = await asyncio.create_subprocess_exec(
            *PROGRAM, "run", "--config", "parley.yaml", cwd=tmp_path, env=environment(None),
            stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT,
        )  # fmt: skip
        async with asyncio.timeout(PATIENCE):
            out, _ = await process.communicate()
    assert process.returncode == 1
    events = [json.loads(line) for line in out.splitlines()]
    assert "server.port" in events[-1]["problem"]

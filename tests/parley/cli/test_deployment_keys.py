"""`parley keys` and `parley page`: commands for a deployment in containers."""

import stat
from pathlib import Path
from urllib.parse import urlsplit

import aiohttp
import yaml

from tests.parley.cli.kit import parley, read_until, started
from tests.support.ports import free_port

OPEN = {"PARLEY_SERVER__HOST": "0.0.0.0"}


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


async def test_keys_are_created_once_and_both_files_have_the_password(tmp_path: Path) -> None:
    env = {**OPEN, "PARLEY_SERVER__KEY_FOLDER": str(tmp_path / "keys")}
    first = await parley("keys", "--postgres", cwd=tmp_path, env=env)
    assert (first.status, first.out) == (0, f"The keys are in {tmp_path / 'keys'}.\n")
    files = {path.name: path.read_text() for path in (tmp_path / "keys").iterdir()}
    assert sorted(files) == [
        *("audit.key", "postgres.password", "postgres.pgpass", "server.token", "token.key"),
    ]
    password = files["postgres.password"].strip()
    assert len(password) == 64
    assert files["postgres.pgpass"] == f"*:*:*:*:{password}\n"
    assert mode(tmp_path / "keys" / "postgres.pgpass") == 0o600
    assert mode(tmp_path / "keys" / "postgres.password") == 0o640
    assert (await parley("keys", "--postgres", cwd=tmp_path, env=env)).status == 0
    assert {path.name: path.read_text() for path in (tmp_path / "keys").iterdir()} == files


async def test_without_a_folder_keys_names_the_setting(tmp_path: Path) -> None:
    ended = await parley("keys", cwd=tmp_path)
    assert ended.status == 3
    assert "server.key_folder" in ended.err
    assert list(tmp_path.iterdir()) == []


async def test_page_prints_a_new_link_to_a_program_that_made_its_own_token(tmp_path: Path) -> None:
    config = {
        "platforms": {"web": {"enabled": True}},
        "server": {"port": free_port(), "host": "0.0.0.0", "key_folder": str(tmp_path / "keys")},
    }
    (tmp_path / "parley.yaml").write_text(yaml.safe_dump(config))
    arguments = ("--config", "parley.yaml")
    async with (
        started("run", *arguments, cwd=tmp_path) as process,
        aiohttp.ClientSession(cookie_jar=aiohttp.CookieJar(unsafe=True)) as browser,
    ):
        await read_until(process.stdout, "ready gateway")
        ended = await parley("page", *arguments, cwd=tmp_path)
        assert (ended.status, ended.err) == (0, "")
        link = ended.out.strip()
        address, _, code = link.partition("#")
        assert urlsplit(address).hostname == "127.0.0.1"
        page = address.replace("/log-in", "/chat/")
        async with browser.get(page) as refused:
            assert refused.status == 401
        async with browser.post(page.replace("/chat/", "/page-links")) as refused:
            assert refused.status == 401
        async with browser.post(address, data={"code": code}) as entered:
            assert (entered.status, entered.url.path) == (200, "/chat/")


async def test_page_reports_a_program_that_does_not_run(tmp_path: Path) -> None:
    env = {"PARLEY_SERVER__PORT": str(free_port())}
    ended = await parley("page", cwd=tmp_path, env=env)
    assert ended.status == 1
    assert "No Parley answers on 127.0.0.1:" in ended.err
    assert "parley run" in ended.err

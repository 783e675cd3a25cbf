"""The folder of keys: made at the first start, and shared by all processes of a deployment."""

import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from gateway.errors import ConfigurationError
from parley.config import Settings, SettingsError, from_mapping
from parley.security.keys import audit_key, create_keys, server_token, token_key

FILES = ["audit.key", "server.token", "token.key"]
START = """
import sys
from parley.config import from_mapping
from parley.security.keys import audit_key, create_keys, server_token, token_key
settings = from_mapping({"server": {"host": "0.0.0.0", "key_folder": sys.argv[1]},
                         "database": {"url": "postgresql://h/db"}})
sys.stdin.readline()
create_keys(settings)
print(audit_key(settings).hex(), token_key(settings).current().hex(), server_token(settings))
"""


def deployment(folder: Path, **server: object) -> Settings:
    section = {"host": "0.0.0.0", "key_folder": str(folder / "keys"), **server}
    return from_mapping({"server": section, "database": {"url": "postgresql://h/db"}})


def started_at_once(folder: Path, processes: int) -> Iterator[str]:
    """The keys that each of these processes has; they pass the same barrier before they start."""
    command = [sys.executable, "-c", START, str(folder)]
    running = [
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for _ in range(processes)
    ]
    for process in running:
        assert process.stdin is not None
        process.stdin.write("\n")
        process.stdin.flush()
    for process in running:
        out, _ = process.communicate(timeout=60)
        assert process.returncode == 0
        yield out


def test_processes_that_start_at_once_have_the_same_keys(tmp_path: Path) -> None:
    (keys,) = set(started_at_once(tmp_path / "keys", 3))
    assert [len(key) for key in keys.split()] == [64, 64, 64]
    assert len(set(keys.split())) == 3
    assert sorted(file.name for file in (tmp_path / "keys").iterdir()) == FILES


def test_a_second_start_changes_nothing_and_the_keys_are_private(tmp_path: Path) -> None:
    settings = deployment(tmp_path)
    create_keys(settings)
    first = audit_key(settings), token_key(settings).current(), server_token(settings)
    create_keys(settings)
    assert (audit_key(settings), token_key(settings).current(), server_token(settings)) == first
    modes = {stat.S_IMODE(file.stat().st_mode) for file in (tmp_path / "keys").iterdir()}
    assert modes == {0o600}


def test_configured_keys_need_no_files(tmp_path: Path) -> None:
    settings = from_mapping(
        {
            "server": {
                "host": "0.0.0.0",
                "key_folder": str(tmp_path / "keys"),
                "token": "t" * 24,
                "token_key": "k" * 32,
            },
            "memory": {"audit_key": "a" * 32},
        }
    )
    create_keys(settings)
    assert server_token(settings) == "t" * 24
    assert list(tmp_path.iterdir()) == []


def test_a_listener_on_loopback_needs_no_token(tmp_path: Path) -> None:
    settings = deployment(tmp_path, host="127.0.0.1")
    create_keys(settings)
    assert server_token(settings, create=True) == ""
    assert not (tmp_path / "keys" / "server.token").exists()


def test_without_the_setting_a_start_creates_nothing(tmp_path: Path) -> None:
    create_keys(from_mapping({"database": {"url": f"sqlite:///{tmp_path}/parley.db"}}))
    assert list(tmp_path.iterdir()) == []


def test_an_open_listener_without_token_and_folder_is_refused() -> None:
    with pytest.raises(SettingsError, match="needs token"):
        from_mapping({"server": {"host": "0.0.0.0"}})


@pytest.mark.parametrize("content", ["", "short", "not hexadecimal " * 4])
def test_a_damaged_token_file_admits_nobody(tmp_path: Path, content: str) -> None:
    settings = deployment(tmp_path)
    create_keys(settings)
    (tmp_path / "keys" / "server.token").write_text(content)
    with pytest.raises(ConfigurationError, match=r"server\.token"):
        server_token(settings)

"""The key of tokens: one for all processes, private, replaced immediately."""

import os
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from gateway.errors import ConfigurationError
from parley.config import from_mapping
from parley.security.keys import TokenKey, read_or_create_key, token_key


def key_in(folder: Path) -> TokenKey:
    return token_key(from_mapping({"database": {"url": f"sqlite:///{folder}/deep/parley.db"}}))


def test_a_key_is_created_on_demand(tmp_path: Path) -> None:
    key = key_in(tmp_path)
    assert key.current() == b""
    assert list(tmp_path.iterdir()) == []
    made = key.get_or_create()
    assert len(made) == 32
    assert key.current() == key.get_or_create() == key_in(tmp_path).current() == made


def test_the_file_of_the_key_is_private(tmp_path: Path) -> None:
    key = key_in(tmp_path)
    key.get_or_create()
    key.revoke_all()
    (file,) = (tmp_path / "deep").iterdir()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_a_new_key_applies_immediately_also_in_a_running_process(tmp_path: Path) -> None:
    running, other = key_in(tmp_path), key_in(tmp_path)
    old = running.get_or_create()
    assert running.current() == old
    other.revoke_all()
    assert running.current() == other.current() != old


def test_concurrent_creators_get_the_same_key(tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        keys = set(pool.map(lambda _: read_or_create_key(tmp_path / "some.key"), range(64)))
    assert len(keys) == 1
    assert [file.name for file in tmp_path.iterdir()] == ["some.key"]


@pytest.mark.parametrize("text", ["", "00", "not a key", "ü"])
def test_an_invalid_key_admits_nothing(tmp_path: Path, text: str) -> None:
    key = key_in(tmp_path)
    key.get_or_create()
    assert key.file is not None
    key.file.write_text(text, "utf-8")
    os.utime(key.file, ns=(1, 1))
    assert key.current() == b""
    with pytest.raises(ConfigurationError, match=r"token\.key"):
        key.get_or_create()


def test_the_configured_key_cannot_be_replaced() -> None:
    key = token_key(from_mapping({"server": {"token_key": "k" * 32}}))
    assert key.current() == key.get_or_create() == b"k" * 32
    with pytest.raises(ConfigurationError, match=r"server\.token_key"):
        key.revoke_all()


def test_without_a_file_and_a_setting_the_advice_is_shown() -> None:
    key = token_key(from_mapping({"database": {"url": "memory://"}}))
    assert key.current() == b""
    for attempt in (key.get_or_create, key.revoke_all):
        with pytest.raises(ConfigurationError, match=r"Set server\.token_key"):
            attempt()

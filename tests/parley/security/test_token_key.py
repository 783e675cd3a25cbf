"""The key of tokens: one for all processes, readable by nobody else, replaced at once."""

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


def test_there_is_none_before_one_is_asked_for(tmp_path: Path) -> None:
    key = key_in(tmp_path)
    assert key.current() == b""
    assert list(tmp_path.iterdir()) == []
    made = key.get_or_create()
    assert len(made) == 32
    assert key.current() == key.get_or_create() == key_in(tmp_path).current() == made


def test_nobody_else_can_read_its_file(tmp_path: Path) -> None:
    key = key_in(tmp_path)
    key.get_or_create()
    key.revoke_all()
    (file,) = (tmp_path / "deep").iterdir()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_a_new_one_holds_at_once_also_in_a_process_that_runs(tmp_path: Path) -> None:
    running, other = key_in(tmp_path), key_in(tmp_path)
    old = running.get_or_create()
    assert running.current() == old
    other.revoke_all()
    assert running.current() == other.current() != old


def test_of_many_that_make_it_at_once_all_have_the_same(tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        keys = set(pool.map(lambda _: read_or_create_key(tmp_path / "some.key"), range(64)))
    assert len(keys) == 1
    assert [file.name for file in tmp_path.iterdir()] == ["some.key"]


@pytest.mark.parametrize("text", ["", "00", "not a key", "ü"])
def test_what_is_no_key_opens_nothing(tmp_path: Path, text: str) -> None:
    key = key_in(tmp_path)
    key.get_or_create()
    assert key.file is not None
    key.file.write_text(text, "utf-8")
    os.utime(key.file, ns=(1, 1))
    assert key.current() == b""
    with pytest.raises(ConfigurationError, match=r"token\.key"):
        key.get_or_create()


def test_the_one_of_the_configuration_is_not_ours_to_change() -> None:
    key = token_key(from_mapping({"server": {"token_key": "k" * 32}}))
    assert key.current() == key.get_or_create() == b"k" * 32
    with pytest.raises(ConfigurationError, match=r"server\.token_key"):
        key.revoke_all()


def test_without_a_file_and_a_setting_it_is_said_what_to_do() -> None:
    key = token_key(from_mapping({"database": {"url": "memory://"}}))
    assert key.current() == b""
    for attempt in (key.get_or_create, key.revoke_all):
        with pytest.raises(ConfigurationError, match=r"Set server\.token_key"):
            attempt()

"""The origin of the key of the audit."""

from pathlib import Path

import pytest

from gateway.errors import ConfigurationError
from parley.config import from_mapping
from parley.security.keys import audit_key


def at(folder: Path, **memory: object) -> bytes:
    url = f"sqlite:///{folder}/parley.db"
    return audit_key(from_mapping({"database": {"url": url}, "memory": memory}))


def test_a_key_is_created_once_with_private_permissions(tmp_path: Path) -> None:
    key = at(tmp_path)
    assert len(key) == 32
    assert at(tmp_path) == key
    assert (tmp_path / "audit.key").stat().st_mode & 0o777 == 0o600


def test_the_configured_key_has_precedence(tmp_path: Path) -> None:
    key = "k" * 40
    assert at(tmp_path, audit_key=key) == key.encode()
    assert not (tmp_path / "audit.key").exists()


@pytest.mark.parametrize("content", ["", "abcd", "not hexadecimal"])
def test_a_damaged_file_is_not_a_key(tmp_path: Path, content: str) -> None:
    (tmp_path / "audit.key").write_text(content)
    with pytest.raises(ConfigurationError, match=r"audit\.key"):
        at(tmp_path)


def test_without_a_folder_there_is_no_key() -> None:
    assert audit_key(from_mapping({"database": {"url": "postgresql://h/db"}})) == b""

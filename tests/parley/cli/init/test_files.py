"""The files of `parley init`: readable for those who need them, never half written."""

import stat
from datetime import UTC, datetime
from pathlib import Path

import pytest
from dotenv import dotenv_values

from gateway.errors import BadInput, ConfigurationError
from gateway.platforms import discover
from parley.cli.init.files import Answers, assigned, keep_copy, read, secrets_path, write
from parley.config.settings import settings_model

NOW = datetime(2026, 11, 23, tzinfo=UTC)
PLAIN, ODD = "7000000001:AA-bb_CC", 'it\'s a "token" #with $HOME \\ and ünïcode'


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_other_users_read_the_configuration_and_not_the_secrets(tmp_path: Path) -> None:
    config = tmp_path / "config" / "parley.yaml"
    written = write(config, Answers({"assistant": {"name": "Ada"}}), {"TOKEN": PLAIN})
    secrets = tmp_path / "config" / ".env"
    assert written == [config, secrets] == [config, secrets_path(config)]
    assert (mode(config), mode(config.parent), mode(secrets)) == (0o644, 0o755, 0o600)
    assert PLAIN not in config.read_text()


def test_a_plain_secret_has_no_quotes_and_a_special_one_is_quoted(tmp_path: Path) -> None:
    write(tmp_path / "own.yaml", Answers(), {"TOKEN": PLAIN, "ODD": ODD})
    assert f"TOKEN={PLAIN}\n" in (tmp_path / ".env").read_text("utf-8")
    assert dotenv_values(tmp_path / ".env", interpolate=False) == {"TOKEN": PLAIN, "ODD": ODD}


def test_other_lines_of_the_secrets_stay(tmp_path: Path) -> None:
    secrets = tmp_path / ".env"
    secrets.write_text("# mine\nOTHER='it stays'\nTOKEN=old\nexport LAST=1")
    secrets.chmod(0o644)
    write(tmp_path / "parley.yaml", Answers(), {"TOKEN": PLAIN, "NEW": "x"})
    text = "# mine\nOTHER='it stays'\nTOKEN=7000000001:AA-bb_CC\nexport LAST=1\nNEW=x\n"
    assert secrets.read_text() == text
    assert mode(secrets) == 0o600


def test_a_copy_keeps_each_earlier_file(tmp_path: Path) -> None:
    config = tmp_path / "parley.yaml"
    assert keep_copy(config, NOW) is None
    for number in range(3):
        config.write_text(f"# {number}\n")
        keep_copy(config, NOW)
    copies = sorted(path.name for path in tmp_path.glob("parley.yaml.*"))
    assert copies == ["parley.yaml.2026-11-23", "parley.yaml.2026-11-23.2",
                      "parley.yaml.2026-11-23.3"]  # fmt: skip
    assert (tmp_path / copies[0]).read_text() == "# 0\n"


def test_a_failed_write_leaves_the_old_file_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = tmp_path / "parley.yaml"
    config.write_text("old")

    def broken(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", broken)
    with pytest.raises(ConfigurationError, match="No space left on device"):
        write(config, Answers({"a": 1}), {})
    assert [path.name for path in tmp_path.iterdir()] == ["parley.yaml"]
    assert config.read_text() == "old"


def test_existing_values_and_secrets_are_read(tmp_path: Path) -> None:
    config = tmp_path / "config" / "parley.yaml"
    write(config, Answers({"assistant": {"name": "Ada"}}), {"TOKEN": PLAIN})
    answers = read(config)
    assert (answers.values, answers.secrets) == ({"assistant": {"name": "Ada"}}, {"TOKEN": PLAIN})
    answers.merge({"assistant": {"persona": "kind"}, "limits": {"user_per_minute": 3}})
    assert answers.values == {
        "assistant": {"name": "Ada", "persona": "kind"},
        "limits": {"user_per_minute": 3},
    }


def test_a_secret_on_the_command_line_is_refused() -> None:
    model = settings_model(discover().manifests)
    for path in ("platforms.telegram.bot_token", "model.api_key", "server.token"):
        with pytest.raises(BadInput, match="use --secrets-stdin"):
            assigned([f"{path}=abc"], model)
    assert assigned(["model.api_key=${KEY}", "limits.user_per_minute=3"], model) == {
        "model": {"api_key": "${KEY}"},
        "limits": {"user_per_minute": 3},
    }

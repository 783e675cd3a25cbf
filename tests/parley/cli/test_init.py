"""`parley init`: asked or not, it writes a configuration that loads, and secrets apart from it."""

import stat
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from dotenv import dotenv_values

from parley.config import load
from simulators.base import PlatformSimulator
from simulators.discord import DiscordSimulator
from simulators.slack import SlackSimulator
from simulators.telegram import TelegramSimulator
from simulators.whatsapp import WhatsAppSimulator
from tests.parley.cli.kit import parley, parley_alone

PLATFORMS: dict[str, Callable[[], PlatformSimulator]] = {
    "discord": DiscordSimulator,
    "slack": SlackSimulator,
    "telegram": TelegramSimulator,
    "whatsapp": WhatsAppSimulator,
}
SECRET = {
    "token",
    "bot_token",
    "app_token",
    "signing_secret",
    "access_token",
    "app_secret",
    "verify_token",
}


def pointed_at(simulator: PlatformSimulator) -> tuple[dict[str, str], list[str]]:
    """Credentials as variables, everything else as --set."""
    env, assign = {}, []
    for key, value in simulator.settings().items():
        if key in SECRET or key in {"application_id", "phone_number_id"}:
            env[f"{simulator.platform}_{key}".upper()] = str(value)
        else:
            assign += ["--set", f"platforms.{simulator.platform}.{key}={value}"]
    return env, assign


@pytest.mark.parametrize("name", list(PLATFORMS))
async def test_init_without_questions_uses_credentials_from_the_environment(
    tmp_path: Path, name: str
) -> None:
    simulator = PLATFORMS[name]()
    await simulator.start()
    env, assign = pointed_at(simulator)
    ended = await parley_alone("init", "--yes", *assign, cwd=tmp_path, env=env)
    await simulator.stop()
    assert (ended.status, ended.err) == (0, "")
    assert "BROKEN" not in ended.out
    assert "Asking the platform ..." in ended.out
    config, secrets = tmp_path / "config" / "parley.yaml", tmp_path / "config" / ".env"
    (account,) = load(config, {}).accounts()
    assert account.platform == name
    assert stat.S_IMODE(secrets.stat().st_mode) == 0o600
    for key, value in simulator.settings().items():
        if key in SECRET:
            assert str(value) not in config.read_text() + ended.out


async def test_init_without_questions_and_credentials_names_the_variables(
    tmp_path: Path,
) -> None:
    ended = await parley("init", "--yes", cwd=tmp_path)
    assert "No platform is set up: none of DISCORD_TOKEN, SLACK_BOT_TOKEN," in ended.out
    assert ended.status == 0


async def test_a_wrong_credential_is_written_and_reported_as_wrong(tmp_path: Path) -> None:
    simulator = TelegramSimulator()
    await simulator.start()
    _, assign = pointed_at(simulator)
    env = {"TELEGRAM_BOT_TOKEN": "7000000009:wrong-wrong-wrong-wrong-wrong-wrong"}
    ended = await parley("init", "--yes", *assign, cwd=tmp_path, env=env)
    await simulator.stop()
    assert ended.status == 1
    assert "BROKEN  bot token" in ended.out
    assert (tmp_path / "config" / "parley.yaml").exists()


async def test_the_questions_produce_a_working_configuration(tmp_path: Path) -> None:
    simulator = TelegramSimulator()
    await simulator.start()
    _, assign = pointed_at(simulator)
    token = str(simulator.settings()["bot_token"])
    answers = [
        "n",  # Discord
        "n",  # Slack
        "y",  # Telegram
        "n",  # WhatsApp
        "7000000009:wrong-wrong-wrong-wrong-wrong-wrong",
        "n",  # keep it as it is?
        "y",  # try again?
        token,
        "Ada",  # the assistant's name
        "sk-ant-hush",  # the model's key
    ]
    ended = await parley("init", *assign, cwd=tmp_path, answers="\n".join(answers) + "\n")
    await simulator.stop()
    assert ended.status == 0, ended.out + ended.err
    assert "open a chat with @BotFather and send /newbot." in ended.out
    assert "BROKEN  bot token" in ended.out
    assert "Remaining steps:" in ended.out
    settings = load(tmp_path / "config" / "parley.yaml", {})
    assert settings.assistant.name == "Ada"
    assert settings.model.provider == "anthropic"
    assert [a.platform for a in settings.accounts()] == ["telegram"]
    written = yaml.safe_load((tmp_path / "config" / "parley.yaml").read_text())
    assert written["platforms"]["telegram"]["bot_token"] == "${TELEGRAM_BOT_TOKEN}"
    assert written["model"]["api_key"] == "${ANTHROPIC_API_KEY}"


async def test_a_missing_verify_token_is_generated(tmp_path: Path) -> None:
    answers = ["EAA-token", "123456789", "secret-of-the-app", "", "Ada", ""]
    ended = await parley(
        "init",
        "--platform",
        "whatsapp",
        "--no-check",
        cwd=tmp_path,
        answers="\n".join(answers) + "\n",
    )
    assert ended.status == 0, ended.out + ended.err
    secrets = dotenv_values(tmp_path / "config" / ".env")
    assert len(secrets["WHATSAPP_VERIFY_TOKEN"] or "") >= 32
    assert load(tmp_path / "config" / "parley.yaml", {}).accounts()


async def test_an_existing_file_is_not_overwritten_without_a_question(tmp_path: Path) -> None:
    config = tmp_path / "config" / "parley.yaml"
    config.parent.mkdir()
    config.write_text("assistant: {name: Old}\n")
    refused = await parley("init", "--yes", cwd=tmp_path)
    assert (refused.status, "--force replaces it" in refused.err) == (1, True)
    declined = await parley("init", cwd=tmp_path, answers="n\n")
    assert declined.status == 1
    assert config.read_text() == "assistant: {name: Old}\n"
    forced = await parley("init", "--yes", "--force", "--set", "assistant.name=New", cwd=tmp_path)
    assert forced.status == 0
    assert load(config, {}).assistant.name == "New"


async def test_other_lines_of_an_existing_env_file_are_kept(tmp_path: Path) -> None:
    secrets = tmp_path / "config" / ".env"
    secrets.parent.mkdir()
    secrets.write_text("OTHER='it stays'\nTELEGRAM_BOT_TOKEN=old\n")
    secrets.chmod(0o644)
    env = {"TELEGRAM_BOT_TOKEN": '1:it\'s a "token" #with $HOME'}
    ended = await parley("init", "--yes", "--no-check", cwd=tmp_path, env=env)
    assert ended.status == 0, ended.err
    values = dotenv_values(secrets, interpolate=False)
    assert values == {"OTHER": "it stays", **env}
    assert stat.S_IMODE(secrets.stat().st_mode) == 0o600


@pytest.mark.parametrize(
    ("arguments", "status", "said"),
    [
        (("--platform", "telegramm"), 3, 'Did you mean "telegram"?'),
        (("--set", "assistant.name"), 3, "write KEY=VALUE"),
        (("--set", "assistant.nam=Ada"), 3, 'Did you mean "name"?'),
        (("--set", "assistant=Ada", "--set", "assistant.name=Ada"), 3, "is a section"),
        (("--set", "assistant.name=[a"), 3, "is not valid YAML"),
        (("--platform", "telegram"), 1, ""),
    ],
)
async def test_an_invalid_answer_is_refused_and_not_written(
    tmp_path: Path, arguments: tuple[str, ...], status: int, said: str
) -> None:
    ended = await parley("init", "--yes", *arguments, cwd=tmp_path)
    assert ended.status == status
    assert said in ended.err
    assert "Traceback" not in ended.err
    assert not (tmp_path / "config").exists()
    if status == 1:
        assert "What to do" not in ended.err
        assert "Set TELEGRAM_BOT_TOKEN." in ended.out


async def test_the_local_page_can_be_enabled(tmp_path: Path) -> None:
    ended = await parley("init", "--yes", "--no-check", "--platform", "web", cwd=tmp_path)
    assert ended.status == 0
    assert [a.platform for a in load(tmp_path / "config" / "parley.yaml", {}).accounts()] == ["web"]

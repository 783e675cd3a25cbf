"""`parley init`: asked or not, it writes a configuration that loads, and secrets apart from it."""

import stat
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from dotenv import dotenv_values

from parley.config import load
from simulators.anthropic import AnthropicSimulator
from simulators.base import PlatformSimulator
from simulators.discord import DiscordSimulator
from simulators.openai.server import OpenAISimulator
from simulators.slack import SlackSimulator
from simulators.telegram import TelegramSimulator
from simulators.whatsapp import WhatsAppSimulator
from tests.parley.cli.init.kit import SECRET, pointed_at
from tests.parley.cli.kit import parley

PLATFORMS: dict[str, Callable[[], PlatformSimulator]] = {
    "discord": DiscordSimulator,
    "slack": SlackSimulator,
    "telegram": TelegramSimulator,
    "whatsapp": WhatsAppSimulator,
}
TELEGRAM_TOKEN = "7000000009:a-token-of-the-right-form-but-unknown"
WEB = ("init", "--platform", "web", "--provider", "offline", "--no-start")
LATER = "\n" * 6


def config_in(folder: Path) -> Path:
    return folder / "config" / "parley.yaml"


@pytest.mark.parametrize("name", list(PLATFORMS))
async def test_init_without_questions_uses_credentials_from_the_environment(
    tmp_path: Path, name: str
) -> None:
    simulator = PLATFORMS[name]()
    await simulator.start()
    env, assign = pointed_at(simulator)
    ended = await parley("init", "--yes", *assign, cwd=tmp_path, env=env)
    await simulator.stop()
    assert (ended.status, ended.err) == (0, ""), ended.out
    assert "BROKEN" not in ended.out
    config, secrets = config_in(tmp_path), tmp_path / "config" / ".env"
    (account,) = load(config, {}).accounts()
    assert account.platform == name
    assert stat.S_IMODE(secrets.stat().st_mode) == 0o600
    assert stat.S_IMODE(config.stat().st_mode) == 0o644
    for key, value in simulator.settings().items():
        if key in SECRET:
            assert str(value) not in config.read_text() + ended.out


async def test_init_without_questions_and_credentials_names_the_variables(tmp_path: Path) -> None:
    ended = await parley("init", "--yes", cwd=tmp_path)
    assert "No platform is set up: none of TELEGRAM_BOT_TOKEN," in ended.out
    assert ended.status == 0


@pytest.mark.parametrize(
    ("provider", "missing"),
    [
        ("anthropic", "ANTHROPIC_API_KEY"),
        ("openai", "OPENAI_API_KEY"),
        ("openrouter", "OPENROUTER_API_KEY"),
        ("other", "--base-url"),
    ],
)
async def test_without_questions_a_missing_key_or_address_of_the_model_is_named(
    tmp_path: Path, provider: str, missing: str
) -> None:
    arguments = ("init", "--yes", "--no-start", "--platform", "web", "--provider", provider)
    ended = await parley(*arguments, cwd=tmp_path)
    assert (ended.status, ended.err) == (1, "")
    assert missing in ended.out
    assert "set up a model" in ended.out.partition("Still to do")[2]


async def test_credentials_come_from_standard_input_as_well(tmp_path: Path) -> None:
    arguments = ("init", "--yes", "--no-check", "--secrets-stdin", "--platform", "telegram")
    lines = f"TELEGRAM_BOT_TOKEN='{TELEGRAM_TOKEN}'\nANTHROPIC_API_KEY=sk-ant-0123456789abc\n"
    ended = await parley(*arguments, cwd=tmp_path, answers=lines)
    assert ended.status == 0, ended.out + ended.err
    assert dotenv_values(tmp_path / "config" / ".env")["TELEGRAM_BOT_TOKEN"] == TELEGRAM_TOKEN
    assert load(config_in(tmp_path), {}).model.provider == "anthropic"


async def test_a_credential_that_the_platform_refuses_is_stored_and_reported(
    tmp_path: Path,
) -> None:
    simulator = TelegramSimulator()
    await simulator.start()
    _, assign = pointed_at(simulator)
    env = {"TELEGRAM_BOT_TOKEN": TELEGRAM_TOKEN}
    ended = await parley("init", "--yes", *assign, cwd=tmp_path, env=env)
    await simulator.stop()
    assert ended.status == 1
    assert "BROKEN  bot token: Telegram does not know the bot token." in ended.out
    assert config_in(tmp_path).exists()


async def test_a_credential_of_another_kind_is_not_written(tmp_path: Path) -> None:
    env = {"TELEGRAM_BOT_TOKEN": "xoxb-123456789-abcdefgh"}
    arguments = ("init", "--yes", "--platform", "telegram")
    ended = await parley(*arguments, cwd=tmp_path, env=env)
    assert ended.status == 1
    text = " ".join(ended.out.split())
    assert "This is not a Telegram bot token" in text
    assert "It looks like a Slack bot token (xoxb-…)." in text
    assert "No file is written." in ended.out
    assert not (tmp_path / "config").exists()


async def test_the_questions_lead_to_a_configuration_that_works(tmp_path: Path) -> None:
    simulator, model = TelegramSimulator(), AnthropicSimulator()
    await simulator.start()
    await model.start()
    _, assign = pointed_at(simulator)
    token = str(simulator.settings()["bot_token"])
    answers = [
        "telegram",
        "xoxb-123456789-abcdefgh",  # of another kind
        TELEGRAM_TOKEN,  # unknown to the platform
        token,
        "1",  # Anthropic
        "wrong-key",
        model.api_key,
        "7.50",
        "n",  # memory
        "Ada, helps our workshop",
    ]
    url = ("--base-url", model.base_url, "--who", "approved", "--no-start")
    typed = "\n".join(answers) + "\n"
    ended = await parley("init", *assign, *url, cwd=tmp_path, answers=typed)
    await simulator.stop()
    await model.stop()
    assert ended.status == 0, ended.out + ended.err
    text = " ".join(ended.out.split())
    assert "open a chat with @BotFather and send /newbot." in text
    assert "It looks like a Slack bot token" in text
    assert "BROKEN bot token: Telegram does not know the bot token." in text
    assert "BROKEN the key is refused (HTTP 401)" in text
    settings = load(config_in(tmp_path), {})
    assert (settings.assistant.name, settings.assistant.persona) == ("Ada", "helps our workshop")
    assert settings.model.provider == "anthropic"
    assert settings.budgets.workspace_per_month == 7.5
    assert settings.memory.enabled is False
    assert [a.platform for a in settings.accounts()] == ["telegram"]
    written = yaml.safe_load(config_in(tmp_path).read_text())
    assert written["platforms"]["telegram"]["bot_token"] == "${TELEGRAM_BOT_TOKEN}"
    assert written["model"]["api_key"] == "${ANTHROPIC_API_KEY}"


async def test_a_self_hosted_server_is_asked_for_its_models(tmp_path: Path) -> None:
    server = OpenAISimulator(api_key="", models=("llama3.2", "qwen3"))
    await server.start()
    arguments = ("init", "--platform", "web", "--provider", "ollama", "--no-start")
    url = ("--base-url", server.base_url.removesuffix("/v1"))
    ended = await parley(*arguments, *url, cwd=tmp_path, answers="mistral\n2\n" + LATER)
    await server.stop()
    assert ended.status == 0, ended.out + ended.err
    assert "1  llama3.2" in ended.out
    assert "The server has no such model." in ended.out
    assert "Budget: not needed, because" in ended.out
    model = load(config_in(tmp_path), {}).model
    assert (model.provider, model.name, model.base_url) == ("openai", "qwen3", server.base_url)
    assert model.window == 8_192


async def test_a_server_that_does_not_run_is_reported_with_the_command_that_starts_it(
    tmp_path: Path,
) -> None:
    arguments = ("init", "--platform", "web", "--provider", "ollama", "--no-start")
    url = ("--base-url", "http://127.0.0.1:9")
    typed = "skip\nno model\n" + LATER
    ended = await parley(*arguments, *url, cwd=tmp_path, answers=typed)
    assert ended.status == 0, ended.out + ended.err
    assert "Nothing answers at http://127.0.0.1:9/v1" in ended.out
    assert "Start it with `ollama serve`" in ended.out
    assert load(config_in(tmp_path), {}).model.provider == "offline"


async def test_a_verify_token_is_generated(tmp_path: Path) -> None:
    answers = ["EAA" + "x" * 40, "0" * 32, "123456789012"]
    arguments = ("init", "--platform", "whatsapp", "--provider", "offline", "--no-check")
    typed = "\n".join(answers) + LATER
    ended = await parley(*arguments, "--no-start", cwd=tmp_path, answers=typed)
    assert ended.status == 0, ended.out + ended.err
    assert len(dotenv_values(tmp_path / "config" / ".env")["WHATSAPP_VERIFY_TOKEN"] or "") >= 32
    assert load(config_in(tmp_path), {}).accounts()


async def test_an_existing_configuration_is_continued_and_copied(tmp_path: Path) -> None:
    first = await parley(*WEB, "--yes", "--set", "limits.user_per_minute=3", cwd=tmp_path)
    assert first.status == 0, first.err
    old = config_in(tmp_path).read_text()
    again = await parley("init", "--no-start", cwd=tmp_path, answers="\n\n" + LATER)
    assert again.status == 0, again.out + again.err
    assert "The previous file is kept as config/parley.yaml." in " ".join(again.out.split())
    settings = load(config_in(tmp_path), {})
    assert settings.limits.user_per_minute == 3
    assert [a.platform for a in settings.accounts()] == ["web"]
    (copy,) = config_in(tmp_path).parent.glob("parley.yaml.*")
    assert copy.read_text() == old
    fresh = await parley(*WEB, "--yes", "--fresh", cwd=tmp_path)
    assert fresh.status == 0, fresh.err
    assert load(config_in(tmp_path), {}).limits.user_per_minute == 5


async def test_a_platform_that_is_not_chosen_any_more_is_switched_off(tmp_path: Path) -> None:
    env = {"TELEGRAM_BOT_TOKEN": TELEGRAM_TOKEN}
    arguments = ("init", "--no-check", "--provider", "offline")
    first = await parley(*arguments, "--yes", "--platform", "telegram", cwd=tmp_path, env=env)
    assert first.status == 0, first.out + first.err
    again = await parley(*arguments, "--no-start", cwd=tmp_path, answers="web\n" + LATER)
    assert again.status == 0, again.out + again.err
    assert "Telegram is switched off." in again.out
    assert [a.platform for a in load(config_in(tmp_path), {}).accounts()] == ["web"]
    assert dotenv_values(tmp_path / "config" / ".env")["TELEGRAM_BOT_TOKEN"] == TELEGRAM_TOKEN


async def test_a_variable_of_the_shell_that_hides_the_new_secret_is_named(tmp_path: Path) -> None:
    env = {"TELEGRAM_BOT_TOKEN": TELEGRAM_TOKEN}
    new = TELEGRAM_TOKEN.replace("unknown", "another")
    arguments = ("init", "--platform", "telegram", "--provider", "offline", "--no-check")
    typed = f"n\n{new}\n{LATER}"
    ended = await parley(*arguments, "--no-start", cwd=tmp_path, env=env, answers=typed)
    assert ended.status == 0, ended.out + ended.err
    assert "Unset TELEGRAM_BOT_TOKEN in your shell" in " ".join(ended.out.split())
    assert dotenv_values(tmp_path / "config" / ".env")["TELEGRAM_BOT_TOKEN"] == new


async def test_a_credential_that_was_lost_is_asked_for_again(tmp_path: Path) -> None:
    config_in(tmp_path).parent.mkdir()
    config_in(tmp_path).write_text("platforms: {telegram: {bot_token: '${GONE}'}}\n")
    arguments = ("init", "--no-start", "--no-check", "--provider", "offline")
    typed = f"telegram\n{TELEGRAM_TOKEN}\n{LATER}"
    ended = await parley(*arguments, cwd=tmp_path, answers=typed)
    assert ended.status == 0, ended.out + ended.err
    assert "platforms.telegram.bot_token refers to a variable that is not set." in ended.out
    assert [a.platform for a in load(config_in(tmp_path), {}).accounts()] == ["telegram"]


async def test_a_file_with_a_mistake_is_refused_before_the_first_question(tmp_path: Path) -> None:
    config_in(tmp_path).parent.mkdir()
    config_in(tmp_path).write_text("assistant: {nam: Ada}\n")
    ended = await parley("init", cwd=tmp_path, answers=LATER)
    assert ended.status == 3
    assert "Platforms [1]" not in ended.out
    assert 'Did you mean "name"?' in ended.err
    assert "or begin without its values with --fresh" in ended.err
    assert config_in(tmp_path).read_text() == "assistant: {nam: Ada}\n"


async def test_answers_before_the_end_of_the_input_are_stored(tmp_path: Path) -> None:
    ended = await parley("init", cwd=tmp_path, answers="web\nno model\n")
    assert ended.status == 1
    assert "The input ended before this question was answered. Stopped." in ended.err
    assert "Kept in config/parley.yaml: Web page, model" in ended.err
    assert "memory, assistant. `parley init` continues." in ended.err
    assert [a.platform for a in load(config_in(tmp_path), {}).accounts()] == ["web"]


async def test_no_input_at_all_names_the_options(tmp_path: Path) -> None:
    ended = await parley("init", cwd=tmp_path, answers="")
    assert ended.status == 1
    assert "The questions need a terminal. Without one, use --yes" in ended.err
    assert "Nothing was written." in ended.err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "status", "said"),
    [
        (("--platform", "telegramm"), 3, 'Did you mean "telegram"?'),
        (("--set", "assistant.name"), 3, "write KEY=VALUE"),
        (("--set", "assistant.nam=Ada"), 3, 'Did you mean "name"?'),
        (("--set", "assistant=Ada", "--set", "assistant.name=Ada"), 3, "is a section"),
        (("--set", "assistant.name=[a"), 3, "is not valid YAML"),
        (("--set", "platforms.telegram.bot_token=1:a"), 1, "use --secrets-stdin"),
        (("--provider", "clippy"), 3, "write one of anthropic, openai"),
        (("--platform", "web", "--who", "nobody"), 3, "write one of me, approved, everybody"),
        (("--name", "x" * 100), 3, "A name has 1 to 80 characters"),
        (("--platform", "telegram"), 1, ""),
    ],
)
async def test_values_that_cannot_be_used_are_refused_and_not_written(
    tmp_path: Path, arguments: tuple[str, ...], status: int, said: str
) -> None:
    ended = await parley("init", "--yes", *arguments, cwd=tmp_path)
    assert ended.status == status, ended.out + ended.err
    assert said in ended.err
    assert "Traceback" not in ended.err
    assert not (tmp_path / "config").exists()
    if not said:
        assert "Set TELEGRAM_BOT_TOKEN." in ended.out

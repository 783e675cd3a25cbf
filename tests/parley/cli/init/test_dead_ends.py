"""`parley init` where a service refuses a model, does not answer, or is set by the environment:
there is a way on."""

from pathlib import Path

import pytest
from dotenv import dotenv_values

from parley.config import load
from simulators.anthropic import AnthropicSimulator
from simulators.openai.server import OpenAISimulator
from simulators.telegram import TelegramSimulator
from simulators.whatsapp import WhatsAppSimulator
from tests.parley.cli.kit import parley

NOWHERE = "http://127.0.0.1:9"
KEY = "sk-ant-api03-0123456789abcdef"
WEB = (
    *("init", "--platform", "web", "--no-start", "--who", "approved", "--budget", "none"),
    *("--no-memory", "--name", "Ada"),
)


def model_in(folder: Path) -> tuple[str, str, str]:
    """Provider and name of the stored model, and its key."""
    model = load(folder / "config" / "parley.yaml", {}).model
    key = model.api_key.get_secret_value() if model.api_key else ""
    return model.provider, model.name, key


async def test_a_model_that_does_not_exist_is_chosen_again_with_the_same_key(
    tmp_path: Path,
) -> None:
    model = AnthropicSimulator(api_key=KEY)
    await model.start()
    url = ("--base-url", model.base_url, "--provider", "anthropic", "--model", "claude-typo")
    ended = await parley(*WEB, *url, cwd=tmp_path, answers=f"{KEY}\nsonnet\n")
    await model.stop()
    assert ended.status == 0, ended.out + ended.err
    assert "the model claude-typo does not exist" in " ".join(ended.out.split())
    assert "claude-sonnet-5-5" in ended.out
    assert ended.out.count("API key (stored as") == 1
    assert model_in(tmp_path) == ("anthropic", "claude-sonnet-5-5", KEY)


async def test_the_question_for_another_name_can_be_left(tmp_path: Path) -> None:
    model = AnthropicSimulator(api_key=KEY)
    await model.start()
    url = ("--base-url", model.base_url, "--provider", "anthropic", "--model", "claude-typo")
    ended = await parley(*WEB, *url, cwd=tmp_path, answers=f"{KEY}\nskip\nno model\n")
    await model.stop()
    assert ended.status == 0, ended.out + ended.err
    assert load(tmp_path / "config" / "parley.yaml", {}).model.provider == "offline"


@pytest.mark.parametrize("asks", [True, False], ids=["with questions", "without questions"])
async def test_a_key_is_stored_for_later_while_the_service_is_unreachable(
    tmp_path: Path, asks: bool
) -> None:
    url = ("--base-url", NOWHERE, "--provider", "anthropic")
    env = {"ANTHROPIC_API_KEY": KEY}
    arguments = (*WEB, *url) if asks else (*WEB, *url, "--yes")
    ended = await parley(*arguments, cwd=tmp_path, env=env, answers="\nkeep\n" if asks else "")
    assert ended.status == 1, ended.out + ended.err
    assert ended.out.count("is not reachable") == (2 if asks else 1)
    assert "`parley doctor` asks it again." in ended.out.partition("Still to do")[2]
    assert dotenv_values(tmp_path / "config" / ".env")["ANTHROPIC_API_KEY"] == KEY
    assert model_in(tmp_path)[0] == "anthropic"


async def test_the_values_of_another_server_are_stored_for_later_as_well(tmp_path: Path) -> None:
    url = ("--base-url", NOWHERE, "--provider", "ollama")
    ended = await parley(*WEB, *url, cwd=tmp_path, answers="keep\nllama3.2\n")
    assert ended.status == 1, ended.out + ended.err
    assert model_in(tmp_path)[:2] == ("openai", "llama3.2")


async def test_a_server_without_a_model_names_every_way_on(tmp_path: Path) -> None:
    server = OpenAISimulator(api_key="k", models=())
    await server.start()
    url = ("--base-url", server.base_url, "--provider", "other")
    typed = "skip\noffline\n"
    ended = await parley(*WEB, *url, cwd=tmp_path, env={"MODEL_API_KEY": "k"}, answers=typed)
    await server.stop()
    assert ended.status == 0, ended.out + ended.err
    assert "keep to store the values for later" in " ".join(ended.out.split())


async def test_the_checks_use_the_settings_of_the_environment(tmp_path: Path) -> None:
    telegram, model = TelegramSimulator(), AnthropicSimulator(api_key=KEY)
    await telegram.start()
    await model.start()
    values = telegram.settings()
    env = {
        "TELEGRAM_BOT_TOKEN": str(values["bot_token"]),
        "PARLEY_PLATFORMS__TELEGRAM__BASE_URL": str(values["base_url"]),
        "ANTHROPIC_API_KEY": KEY,
        "PARLEY_MODEL__BASE_URL": model.base_url,
    }
    ended = await parley("init", "--yes", "--platform", "telegram", cwd=tmp_path, env=env)
    await telegram.stop()
    await model.stop()
    assert ended.status == 0, ended.out + ended.err
    assert "PARLEY_PLATFORMS__TELEGRAM__BASE_URL is set" in ended.out
    assert "127.0.0.1" not in (tmp_path / "config" / "parley.yaml").read_text()


async def test_the_lists_of_a_platform_use_the_settings_of_the_environment(tmp_path: Path) -> None:
    whatsapp = WhatsAppSimulator()
    await whatsapp.start()
    values = whatsapp.settings()
    credentials = ("access_token", "app_secret")
    env = {f"WHATSAPP_{key}".upper(): str(values[key]) for key in credentials}
    env["PARLEY_PLATFORMS__WHATSAPP__BASE_URL"] = str(values["base_url"])
    ended = await parley("init", "--yes", "--platform", "whatsapp", cwd=tmp_path, env=env)
    await whatsapp.stop()
    assert ended.status == 0, ended.out + ended.err
    written = (tmp_path / "config" / "parley.yaml").read_text()
    assert str(values["phone_number_id"]) in written


@pytest.mark.parametrize(("answer", "stored"), [("keep", True), ("skip", False)])
async def test_a_platform_that_is_unreachable_is_kept_for_later_or_left_out(
    tmp_path: Path, answer: str, stored: bool
) -> None:
    telegram = TelegramSimulator()
    token = str(telegram.settings()["bot_token"])
    address = ("--set", f"platforms.telegram.base_url={NOWHERE}")
    arguments = ("init", "--platform", "telegram", *address, "--provider", "offline", "--no-start")
    typed = f"{token}\n\n{answer}\n" + "\n" * 5
    ended = await parley(*arguments, "--no-memory", cwd=tmp_path, answers=typed)
    assert ended.status == 1, ended.out + ended.err
    assert ended.out.count("Press Enter to check again") == 2
    kept = dotenv_values(tmp_path / "config" / ".env").get("TELEGRAM_BOT_TOKEN")
    assert (kept == token) is stored

"""Settings refuse invalid values and name missing ones."""

from typing import Any

import pytest
from pydantic import ValidationError

from adapters.telegram.manifest import MANIFEST, TelegramSettings


def test_an_empty_section_is_off() -> None:
    settings = TelegramSettings()
    assert not settings.configured()
    assert settings.missing() == ()
    assert MANIFEST.load == "adapters.telegram.connection:TelegramAdapter"


def test_polling_needs_a_token_only() -> None:
    assert TelegramSettings.model_validate({"bot_token": "1:x"}).configured()


def test_a_webhook_needs_an_address_and_a_secret() -> None:
    settings = TelegramSettings.model_validate({"bot_token": "1:x", "mode": "webhook"})
    assert settings.missing() == ("webhook_url", "webhook_secret")
    full = {"bot_token": "1:x", "mode": "webhook", "webhook_url": "https://a.example"}
    assert TelegramSettings.model_validate({**full, "webhook_secret": "s"}).configured()


def test_an_address_without_a_token_is_incomplete() -> None:
    settings = TelegramSettings.model_validate({"webhook_url": "https://a.example"})
    assert settings.missing() == ("bot_token",)


@pytest.mark.parametrize(
    "section",
    [
        {"bot_tokn": "x"},
        {"mode": "carrier pigeon"},
        {"webhook_url": "http://a.example"},
        {"webhook_secret": "no spaces"},
        {"base_url": "api.telegram.org"},
    ],
)
def test_invalid_values_are_refused(section: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        TelegramSettings.model_validate(section)


def test_secrets_are_hidden() -> None:
    settings = TelegramSettings.model_validate(
        {"bot_token": "1:hidden", "webhook_secret": "veiled"}
    )
    assert "hidden" not in repr(settings)
    assert "veiled" not in repr(settings)


def test_a_base_address_is_normalised() -> None:
    settings = TelegramSettings.model_validate({"base_url": "http://127.0.0.1:8081/bot/"})
    assert settings.base_url == "http://127.0.0.1:8081"

"""Settings report problems before a connection is opened."""

import pytest
from pydantic import ValidationError

from adapters.whatsapp.connection import WhatsAppAdapter
from adapters.whatsapp.manifest import MANIFEST, WhatsAppSettings
from tests.support.for_each import for_each

COMPLETE = {
    "access_token": "t",
    "phone_number_id": 106540352242922,
    "app_secret": "s",
    "verify_token": "v",
}


def test_the_manifest_names_an_existing_class() -> None:
    module, _, name = MANIFEST.load.partition(":")
    assert (WhatsAppAdapter.__module__, WhatsAppAdapter.__name__) == (module, name)
    assert MANIFEST.dedupe_for.days == 7


def test_without_credentials_it_is_off_and_with_all_it_is_on() -> None:
    assert not WhatsAppSettings().configured()
    assert WhatsAppSettings().missing() == ()
    assert WhatsAppSettings.model_validate(COMPLETE).configured()


def test_incomplete_credentials_name_the_missing_ones() -> None:
    half = WhatsAppSettings.model_validate({"access_token": "t"})
    assert half.missing() == ("phone_number_id", "app_secret", "verify_token")


def test_secrets_are_hidden() -> None:
    shown = repr(WhatsAppSettings.model_validate({**COMPLETE, "access_token": "hunter2"}))
    assert "hunter2" not in shown


@for_each(
    "wrong",
    [
        {"phone_number_id": "+49 155 1234567"},
        {"base_url": "http://graph.facebook.com"},
        {"base_url": "ftp://localhost"},
        {"api_version": "25"},
        {"template": {"name": "Not A Name"}},
        {"template": {"name": "x", "parameter": "1", "parameters": {"1": "a", "2": "{text}"}}},
        {"template": {"name": "x", "parameters": {"1": "hello"}}},
        {"template": {"name": "x", "parameters": {"1": "{text}", "2": "{text}"}}},
        {"template": {"name": "x", "parameters": {"1": "{text}", "3": "a"}}},
        {"template": {"name": "x", "parameters": {"1": "{text}", "who": "a"}}},
        {"template": {"name": "x", "parameters": {"1": "{text}", "2": "{name}"}}},
        {"template": {"name": "x", "parameters": {"1": "{text}", "2": "  "}}},
        {"template": {"name": "x", "parameters": {"1": "{text}", "2": ""}}},
        {"template": {"name": "x", "parameters": {"Who": "{text}"}}},
        {"template": {"name": "x", "parameters": {str(n): "{text}" for n in range(1, 12)}}},
        {"template": {"name": "x", "body": "Hello {{1}}, {{2}}"}},
        {"template": {"name": "x", "body": "Hello {{1}}", "parameters": {"who": "{text}"}}},
        {"template": {"name": "x", "body": "w" * 200 + "{{1}}"}},
        {"tempalte": {}},
    ],
)
def test_a_wrong_value_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        WhatsAppSettings.model_validate({**COMPLETE, **wrong})


@pytest.mark.parametrize(
    ("short", "language"),
    [("follow_up", "en_US"), ("follow_up/de", "de"), ({"name": "follow_up"}, "en_US")],
)
def test_a_template_can_be_given_as_one_word(short: object, language: str) -> None:
    template = WhatsAppSettings.model_validate({"template": short}).template
    assert template is not None
    assert (template.name, template.language) == ("follow_up", language)


def test_a_template_with_a_wrong_number_of_variables_is_refused_with_both_numbers() -> None:
    expected = {"name": "x", "body": "Hello {{1}}, {{2}}", "parameters": {"1": "{text}"}}
    with pytest.raises(ValidationError, match=r"2 variables in its body \(1, 2\), and 1 values"):
        WhatsAppSettings.model_validate({"template": expected})

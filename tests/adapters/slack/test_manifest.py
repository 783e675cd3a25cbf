"""Settings, the app manifest to paste, and the small pure parts."""

from typing import Any

import pytest
import yaml
from pydantic import ValidationError

from adapters.slack.app_manifest import EVENTS, SCOPES, app_manifest
from adapters.slack.client import is_slack, proxy_for
from adapters.slack.connection import SlackAdapter
from adapters.slack.emoji import character, name_of
from adapters.slack.manifest import MANIFEST, SlackSettings
from adapters.slack.send import compose
from gateway.commands.catalogue import REGISTERED
from gateway.errors import FormatRejected
from gateway.message import Button, Part
from gateway.ports import CommandSpec
from gateway.ports.rights import IN_CHAT


def settings(**values: Any) -> SlackSettings:
    return SlackSettings.model_validate(values)


class TestSettings:
    def test_an_empty_section_is_off_and_valid(self) -> None:
        assert not settings().configured()
        assert settings().missing() == ()

    def test_each_mode_needs_its_credentials(self) -> None:
        assert settings(bot_token="b", app_token="a").configured()
        assert settings(bot_token="b", signing_secret="s", mode="http").configured()
        assert settings(bot_token="b").missing() == ("app_token",)
        assert settings(bot_token="b", mode="http").missing() == ("signing_secret",)
        assert settings(signing_secret="s").missing() == ("bot_token", "app_token")

    @pytest.mark.parametrize(
        "wrong",
        [{"mode": "rtm"}, {"token": "x"}, {"base_url": "slack.com"}, {"base_url": "ftp://x"}],
    )
    def test_invalid_values_are_refused(self, wrong: dict[str, str]) -> None:
        with pytest.raises(ValidationError):
            settings(**wrong)

    def test_the_manifest_names_an_existing_class(self) -> None:
        module, _, name = MANIFEST.load.partition(":")
        assert (SlackAdapter.__module__, SlackAdapter.__name__) == (module, name)


class TestAppManifest:
    def test_socket_mode_needs_no_public_address(self) -> None:
        made = yaml.safe_load(app_manifest("Parley", commands=REGISTERED))
        assert made["settings"]["socket_mode_enabled"] is True
        assert "request_url" not in made["settings"]["event_subscriptions"]
        assert set(made["oauth_config"]["scopes"]["bot"]) == set(SCOPES)
        assert made["settings"]["event_subscriptions"]["bot_events"] == list(EVENTS)
        commands = [c["command"] for c in made["features"]["slash_commands"]]
        assert commands == [
            *("/ask", "/context", "/clear", "/task", "/language", "/timezone", "/quiet", "/stop")
        ]

    def test_the_app_manifest_contains_the_address_of_http_mode_everywhere(self) -> None:
        url = "https://chat.example.org/webhook/slack"
        made = yaml.safe_load(app_manifest("Parley", "http", url, REGISTERED))
        assert made["settings"]["socket_mode_enabled"] is False
        assert made["settings"]["event_subscriptions"]["request_url"] == url
        assert made["settings"]["interactivity"]["request_url"] == url
        assert {c["url"] for c in made["features"]["slash_commands"]} == {url}

    @pytest.mark.parametrize("url", ["", "http://chat.example.org/webhook/slack"])
    def test_http_mode_requires_https(self, url: str) -> None:
        with pytest.raises(ValueError, match="https"):
            app_manifest("Parley", "http", url, REGISTERED)

    def test_the_name_and_the_commands_are_configurable(self) -> None:
        made = yaml.safe_load(
            app_manifest("x" * 50, commands=(CommandSpec("hi", "Greet", allowed=IN_CHAT),))
        )
        assert len(made["display_information"]["name"]) == 35
        assert [c["command"] for c in made["features"]["slash_commands"]] == ["/hi"]


class TestComposing:
    def test_markup_is_sent_unchanged(self) -> None:
        assert compose(Part("*bold* &amp; <https://x|y>", "bold & y"))["text"] == (
            "*bold* &amp; <https://x|y>"
        )

    def test_blocks_have_their_text_as_fallback(self) -> None:
        blocks = [{"type": "divider"}]
        body = compose(Part({"blocks": blocks}, "a < b"))
        assert body == {"blocks": blocks, "text": "a &lt; b"}

    def test_the_rendered_part_is_not_modified(self) -> None:
        payload: dict[str, object] = {"blocks": [{"type": "divider"}]}
        compose(Part(payload, "x"), [Button("a", "b")])
        assert payload == {"blocks": [{"type": "divider"}]}

    def test_buttons_without_space_require_plain_text(self) -> None:
        part = Part({"blocks": [{"type": "divider"}] * 50}, "x")
        with pytest.raises(FormatRejected):
            compose(part, [Button("a", "b")])

    def test_labels_are_shortened_with_a_mark(self) -> None:
        body = compose(Part("x", "x"), [Button("l" * 100, "v"), Button(" ", "v2")])
        blocks = body["blocks"]
        assert isinstance(blocks, list)
        labels = [e["text"]["text"] for e in blocks[-1]["elements"]]
        assert labels == ["l" * 74 + "…", "v2"]


class TestAddresses:
    HOME = "https://slack.com/api/"

    @pytest.mark.parametrize(
        ("url", "base", "trusted"),
        [
            ("https://files.slack.com/a", HOME, True),
            ("https://slack.com/a", HOME, True),
            ("https://hooks.slack-gov.com/a", HOME, True),
            ("http://files.slack.com/a", HOME, False),
            ("https://evilslack.com/a", HOME, False),
            ("https://slack.com.evil.org/a", HOME, False),
            ("https://evil.org/slack.com", HOME, False),
            ("https://user@evil.org", HOME, False),
            ("http://127.0.0.1:8000/x", "http://127.0.0.1:8000/api/", True),
            ("http://127.0.0.1:8001/x", "http://127.0.0.1:8000/api/", False),
            ("file:///etc/passwd", HOME, False),
            ("", HOME, False),
        ],
    )
    def test_only_hosts_of_slack_receive_the_token(
        self, url: str, base: str, trusted: bool
    ) -> None:
        assert is_slack(url, base) is trusted

    @pytest.mark.parametrize(
        ("url", "used"),
        [(HOME, True), ("http://127.0.0.1:1/", False), ("http://localhost/", False)],
    )
    def test_loopback_uses_no_proxy(self, url: str, used: bool) -> None:
        proxy = "http://proxy.example.org:3128"
        assert proxy_for(url, proxy) == (proxy if used else None)
        assert proxy_for(url, None) is None


class TestEmoji:
    def test_an_emoji_is_converted_to_its_name_and_back(self) -> None:
        for emoji in ("👍", "❤️", "✅", "🤖"):
            assert character(name_of(emoji)) == emoji
        assert name_of("❤") == "heart"
        assert name_of(":custom:") == "custom"
        assert name_of("🦖") == ""

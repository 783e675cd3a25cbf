"""One use of each place that compiles a pattern while the program runs."""

import importlib
from datetime import UTC, datetime
from typing import Final

LIBRARIES: Final = (
    "anthropic",
    "discord.ext.commands",
    "html.parser",
    "mcp.client.session",
    "mcp.client.streamable_http",
    "openai",
    "slack_bolt.async_app",
    "slack_sdk.web.async_client",
    "telegram.ext",
)
"""Libraries that the program imports when it needs them, as far as they are installed."""


def use_everything() -> None:
    """Compile what is compiled at first use."""
    for library in LIBRARIES:
        try:
            importlib.import_module(library)
        except ModuleNotFoundError:
            continue
    _stream_filters()
    _offline_model()
    _settings()
    _markdown()


def _stream_filters() -> None:
    patterns = importlib.import_module("safety.patterns")
    shapes = (
        patterns.Pattern(patterns.literal("key-") + patterns.some("[a-z]", 4, 40), "key-"),
        patterns.Pattern(
            patterns.some("[0-9]", 2, 9) + patterns.literal("x"), "x", ignore_case=True
        ),
    )
    patterns.AnyOf(shapes).may_begin("key-ab")
    assert all(shape.beginning and shape.in_one_word for shape in shapes)
    assert shapes[0].find("key-abcdef")
    secrets = importlib.import_module("safety.secret_detection.detect")
    secrets.redact_secrets(
        "our password is correcthorse, 1234567890abcdefABCDEF and my pin: 123456"
    )


def _offline_model() -> None:
    facts = importlib.import_module("gateway.llm.offline_tools")
    facts.answer_about_person("what is my name?", ["my name is B", "call me C"])
    facts.answer_about_person("where do I live?", ["I live in Bern"])
    importlib.import_module("gateway.llm.offline_tools")._kind("I prefer tea")
    importlib.import_module("memory.commands.command_set").kind_of("we decided so")
    dates = importlib.import_module("memory.recall.query")
    dates.dates_in("last week, 2026-01-01")
    now = datetime(2026, 1, 1, tzinfo=UTC)
    importlib.import_module("memory.recall.time_span").parse_time("on 3.5.2026", ("de",), now, UTC)


def _settings() -> None:
    explain = importlib.import_module("parley.config.explain")
    model = importlib.import_module("parley.config.settings").Settings
    explainer = explain.Explainer(model, {"unknown": "some-hidden-text"}, {}, ())
    explainer._hidden("not some-hidden-text", ("unknown",))


def _markdown() -> None:
    render = importlib.import_module("gateway.render").render
    for platform in ("discord", "slack", "telegram", "whatsapp", "web"):
        render(
            "# A\n\n- [x] b\n\n```py\nc\n```\n\n|a|b|\n|-|-|\n|c|d|\n\n> [f](https://e.org) **g**",
            platform,
        )

"""What the demo configures, and that it leaves nothing behind."""

import tempfile
from pathlib import Path

import pytest

from parley.demo.running import demo_settings, model_label, running


def test_without_a_key_no_model_is_called() -> None:
    settings = demo_settings({}, 0, Path("folder"), {"OPENAI_API_KEY": "sk-other"})
    assert settings.model.provider == "offline"
    assert "no key" in model_label(settings)


def test_with_anthropics_key_its_model_answers() -> None:
    settings = demo_settings({}, 0, Path("folder"), {"ANTHROPIC_API_KEY": "sk-ant-1"})
    assert settings.model.provider == "anthropic"
    assert model_label(settings).startswith("anthropic")
    assert "sk-ant-1" not in repr(settings)


def test_nothing_listens_beyond_this_machine() -> None:
    settings = demo_settings({}, 0, Path("folder"), {})
    assert (settings.server.host, settings.webhooks.host) == ("127.0.0.1", "127.0.0.1")


async def test_it_stops_whole_and_leaves_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    for _ in range(2):
        async with running(0, {}) as demo:
            assert demo.problems == {}
            assert demo.world.platforms == ["discord", "slack", "telegram", "whatsapp"]
            assert list(tmp_path.iterdir())
        assert list(tmp_path.iterdir()) == []

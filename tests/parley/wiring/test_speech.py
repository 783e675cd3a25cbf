"""The configuration of voice becomes what recognises and speaks; nothing by default."""

import subprocess
import sys
from pathlib import Path

import pytest

from gateway.ports.clock import SystemClock
from gateway.ports.speech import Speech
from gateway.speech.endpoint import EndpointRecogniser, EndpointSpeaker
from gateway.speech.local import FILES, LocalRecogniser
from parley.config import SettingsError, from_mapping
from parley.wiring.speech import hearing_folder, speech_of


def made(**voice: object) -> Speech:
    return speech_of(from_mapping({"voice": voice}), SystemClock())


def test_by_default_nothing_listens_or_speaks_and_no_library_is_loaded() -> None:
    speech = made()
    assert (speech.recogniser, speech.speaker) == (None, None)
    code = (
        "import sys, gateway.turn.pipeline, parley.wiring.speech;"
        "heavy = {'faster_whisper', 'av', 'numpy', 'ctranslate2', 'gateway.speech.endpoint',"
        " 'gateway.speech.local'} & set(sys.modules); sys.exit(str(heavy) if heavy else 0)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize(
    ("address", "price", "micros"),
    [
        ("https://api.openai.com/v1", None, 6_000),
        ("http://127.0.0.1:8000/v1", None, 0),
        ("http://127.0.0.1:8000/v1", 0.01, 10_000),
    ],
)
def test_a_service_has_its_price(address: str, price: float | None, micros: int) -> None:
    speech = made(recogniser="endpoint", base_url=address, price_per_minute=price)
    assert isinstance(speech.recogniser, EndpointRecogniser)
    assert speech.micros_per_minute == micros


def test_a_service_without_an_address_is_refused() -> None:
    with pytest.raises(SettingsError, match="needs base_url"):
        made(recogniser="endpoint")


def test_a_model_of_this_machine_needs_its_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gateway.speech.local.LIBRARIES", ("json",))
    settings = from_mapping({"voice": {"recogniser": "local", "model": str(tmp_path)}})
    assert hearing_folder(settings) == tmp_path
    assert speech_of(settings, SystemClock()).recogniser is None
    for name in FILES:
        (tmp_path / name).write_bytes(b"x")
    assert isinstance(speech_of(settings, SystemClock()).recogniser, LocalRecogniser)


def test_a_speaker_needs_an_address_alone() -> None:
    speech = made(speech={"base_url": "http://127.0.0.1:8000/v1", "voices": {"de": "anna"}})
    assert isinstance(speech.speaker, EndpointSpeaker)
    assert speech.micros_per_thousand == 15_000

"""Findings of `parley doctor` about documents and voice."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from gateway.speech.local import FILES
from parley.config import from_mapping
from parley.doctor.files_and_voice import documents, files_and_voice, voice
from parley.doctor.machine import Finding
from parley.python_environment import LIBRARIES, install_advice
from simulators.openai import OpenAISimulator
from tests.support.ports import free_port


@pytest.fixture
async def openai() -> AsyncIterator[OpenAISimulator]:
    server = OpenAISimulator(models=("whisper-1", "tts-1"), api_key="right")
    await server.start()
    yield server
    await server.stop()


@pytest.fixture
def without(monkeypatch: pytest.MonkeyPatch) -> None:
    """No library of an extra is installed."""
    modules = {name: tuple(f"no_{one}" for one in some) for name, some in LIBRARIES.items()}
    monkeypatch.setattr("parley.python_environment.LIBRARIES", modules)
    monkeypatch.setattr(
        "parley.doctor.files_and_voice.FORMATS", {"no_openpyxl": "XLSX", "no_pypdfium2": "PDF"}
    )


async def heard_by(**section: object) -> list[Finding]:
    return await voice(from_mapping({"voice": section}))


def test_installed_libraries_of_documents_are_in_order() -> None:
    (finding,) = documents(from_mapping({}))
    assert (finding.status, finding.detail) == ("ok", "all formats can be read")


@pytest.mark.usefixtures("without")
def test_missing_libraries_of_documents_are_named_with_what_they_read() -> None:
    (finding,) = documents(from_mapping({}))
    assert finding.status == "note"
    assert finding.detail == "XLSX, PDF files cannot be read without no_openpyxl, no_pypdfium2"
    assert finding.advice == install_advice("documents")
    assert documents(from_mapping({"documents": {"enabled": False}})) == []


async def test_what_is_switched_off_is_not_checked() -> None:
    assert [one.name for one in await files_and_voice(from_mapping({}))] == ["documents"]


@pytest.mark.usefixtures("without")
async def test_missing_libraries_of_voice_are_named() -> None:
    (finding,) = await heard_by(recogniser="local")
    assert (finding.status, finding.name) == ("broken", "voice")
    assert "needs the libraries no_faster_whisper" in finding.detail
    assert finding.advice == install_advice("voice")


async def test_the_model_on_this_machine_is_looked_for(tmp_path: Path) -> None:
    settings = from_mapping(
        {"voice": {"recogniser": "local"}, "memory": {"models_folder": str(tmp_path)}}
    )
    (finding,) = await voice(settings)
    assert (finding.status, finding.name) == ("broken", "voice.model")
    assert "has no model.bin" in finding.detail
    assert finding.advice == "Run: parley models pull faster-whisper-base"
    (finding,) = await heard_by(recogniser="local", model=str(tmp_path))
    assert finding.advice == "Correct this setting."
    for name in FILES:
        (tmp_path / name).touch()
    (finding,) = await heard_by(recogniser="local", model=str(tmp_path))
    assert (finding.status, finding.detail) == ("ok", f"{tmp_path} is installed")


async def test_a_service_is_asked_for_its_models_and_hears_nothing(openai: OpenAISimulator) -> None:
    service = {"base_url": openai.base_url, "api_key": "right"}
    heard, spoken = await heard_by(recogniser="endpoint", **service, speech=service)
    assert (heard.status, heard.name) == ("ok", "voice")
    assert f"{openai.base_url} answers, in " in heard.detail
    assert (spoken.status, spoken.name) == ("ok", "voice.speech")
    assert list(openai.speech.requests) == []


@pytest.mark.parametrize(
    ("changed", "status", "name", "detail", "advice"),
    [
        ({"api_key": "old"}, "broken", "voice.api_key", "the key is refused (HTTP 401)", "Correct"),
        ({"model": "gone"}, "note", "voice.model", "lacks gone", "It has: tts-1, whisper-1."),
    ],
)
async def test_what_a_service_refuses_is_named(
    openai: OpenAISimulator,
    changed: dict[str, str],
    status: str,
    name: str,
    detail: str,
    advice: str,
) -> None:
    service = {"base_url": openai.base_url, "api_key": "right", **changed}
    (finding,) = await heard_by(recogniser="endpoint", **service)
    assert (finding.status, finding.name) == (status, name)
    assert detail in finding.detail
    assert finding.advice.startswith(advice)
    assert "old" not in finding.detail


async def test_a_service_without_a_list_is_no_problem() -> None:
    server = OpenAISimulator(lists_models=False)
    await server.start()
    try:
        (finding,) = await heard_by(recogniser="endpoint", base_url=server.base_url)
    finally:
        await server.stop()
    assert finding.status == "ok"
    assert "does not list its models (HTTP 404)" in finding.detail


async def test_a_service_that_is_not_there_is_a_problem() -> None:
    address = f"http://127.0.0.1:{free_port()}/v1"
    (finding,) = await heard_by(recogniser="endpoint", base_url=address)
    assert finding.status == "broken"
    assert f"{address} is not reachable" in finding.detail
    assert "voice.base_url" in finding.advice

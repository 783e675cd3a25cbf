"""Checks of what reads documents and recognises and makes speech: libraries, the model on this
machine, and the services, which are asked for their list of models. No recording is sent."""

import asyncio
from typing import Final

from gateway.errors import LibraryMissing
from gateway.ports.clock import SystemClock
from gateway.ports.speech import SpeechError
from gateway.text import text, verbatim
from memory.embeddings.catalogue import HEARING
from parley.config import Settings
from parley.doctor.machine import CORRECT, HAS, Finding, named
from parley.doctor.models import KEY_REFUSED, NO_ANSWER, UNREACHABLE
from parley.python_environment import install_advice, missing
from parley.wiring.speech import DEFAULT_MODEL, hearing_folder, hearing_problem
from safety.http.shown_address import shown_address

FORMATS: Final = {"openpyxl": "XLSX", "pypdfium2": "PDF"}
"""The format that each library of the extra `documents` reads."""
ALL_READ: Final = text("all formats can be read")
NOT_READ: Final = text("{formats} files cannot be read without {libraries}")
NOT_HEARD: Final = text("voice messages are not listened to: {problem}")
ANSWERS: Final = text("{server} answers, in {seconds} s")
UNLISTED: Final = text(
    "{server} answers, but does not list its models ({status}): the key and the name {model} are "
    "not checked"
)
NOT_LISTED: Final = text("{server} answers, but its list of models lacks {model}")
CHECK: Final = text("Check {key}, the network and the log of the service.")
NO_LIST: Final = frozenset({403, 404, 405, 501})
"""Statuses of a service that has no list, or does not show it to a key with few rights."""


async def files_and_voice(settings: Settings) -> list[Finding]:
    """The findings about documents and voice, as far as they are switched on."""
    return [*documents(settings), *await voice(settings)]


def documents(settings: Settings) -> list[Finding]:
    """A note about the libraries of documents that are missing; nothing is imported."""
    if not settings.documents.enabled:
        return []
    absent = missing("documents")
    if not absent:
        return [Finding("ok", "documents", ALL_READ)]
    formats = verbatim(", ".join(FORMATS[library] for library in absent))
    said = NOT_READ.of(formats=formats, libraries=verbatim(", ".join(absent)))
    return [Finding("note", "documents", said, verbatim(install_advice("documents")))]


async def voice(settings: Settings) -> list[Finding]:
    """The findings about recognising and making speech; the services are asked side by side."""
    section = settings.voice
    own = local_voice(settings) if section.recogniser == "local" else []
    services = []
    if section.recogniser == "endpoint" and section.base_url:
        key = section.api_key.get_secret_value() if section.api_key else ""
        services.append(("voice", section.base_url, key, section.model or DEFAULT_MODEL))
    if section.speech.base_url:
        speech = section.speech
        key = speech.api_key.get_secret_value() if speech.api_key else ""
        services.append(("voice.speech", speech.base_url or "", key, speech.model))
    return [*own, *await asyncio.gather(*(_service(*service) for service in services))]


def local_voice(settings: Settings) -> list[Finding]:
    """A finding for each missing part of recognising on this machine: the libraries, the model."""
    findings = []
    if absent := missing("voice"):
        needs = LibraryMissing("voice", absent, "voice").problem.rstrip(".")
        said = NOT_HEARD.of(problem=verbatim(needs))
        findings.append(Finding("broken", "voice", said, verbatim(install_advice("voice"))))
    elif problem := hearing_problem(settings):
        advice = (
            CORRECT if settings.voice.model else verbatim(f"Run: parley models pull {HEARING.name}")
        )
        said = NOT_HEARD.of(problem=verbatim(problem))
        findings.append(Finding("broken", "voice.model", said, advice))
    if findings:
        return findings
    model = verbatim(str(hearing_folder(settings)) if settings.voice.model else HEARING.name)
    return [Finding("ok", "voice", text("{model} is installed", model=model))]


async def _service(section: str, address: str, key: str, model: str) -> Finding:
    from gateway.speech.endpoint import listed_models  # noqa: PLC0415 - only where configured

    server, clock = verbatim(shown_address(address)), SystemClock()
    check = CHECK.of(key=verbatim(f"{section}.base_url"))
    began = clock.monotonic()
    try:
        listed = await listed_models(address, key)
    except SpeechError as error:
        said = UNREACHABLE.of(server=server, status=verbatim(str(error)))
        return Finding("broken", section, said, check)
    status = verbatim(f"HTTP {listed.status}")
    if listed.status == 401:
        return Finding("broken", f"{section}.api_key", KEY_REFUSED.of(status=status), CORRECT)
    if listed.status in NO_LIST or (listed.status == 200 and not listed.names):
        said = UNLISTED.of(server=server, status=status, model=verbatim(model))
        return Finding("ok", section, said)
    if listed.status != 200:
        return Finding("broken", section, NO_ANSWER.of(model=server, status=status), check)
    if model not in listed.names:
        said = NOT_LISTED.of(server=server, model=verbatim(model))
        advice = HAS.of(tools=verbatim(named(sorted(listed.names))))
        return Finding("note", f"{section}.model", said, advice)
    seconds = verbatim(f"{clock.monotonic() - began:.1f}")
    return Finding("ok", section, ANSWERS.of(server=server, seconds=seconds))

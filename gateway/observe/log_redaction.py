"""Redaction of log lines. Text of people, platforms and libraries is left out; of an exception its
type and its place in the code remain."""

import logging
import sys
import traceback
from collections.abc import Callable, Iterable, MutableMapping
from itertools import islice
from pathlib import PurePath
from types import TracebackType
from typing import Any, Final, TypeAlias

from db.errors import StoreUnavailable
from gateway.errors import ConfigurationError, StartError
from safety.secret_detection.detect import find_secrets
from safety.secret_detection.kinds import Level

OURS: Final = ("db", "gateway", "adapters", "memory", "parley", "safety")
"""Packages whose log messages contain only codes and ids."""
OPERATOR_ERRORS: Final = (StartError, ConfigurationError, StoreUnavailable)
"""Errors with messages for the operator. Only their first line is logged: a database quotes rows in
the lines below."""
REDACTED: Final = "[SECRET_REDACTED]"
MAX_FRAMES: Final = 15
MAX_CAUSES: Final = 5
MAX_VALUE: Final = 2_000
MIN_SECRET: Final = 6
"""Characters: anything shorter occurs in ordinary words."""
EventDict: TypeAlias = MutableMapping[str, Any]


def is_ours(logger: str) -> bool:
    """Return True for a standard-library logger of this program."""
    return logger.partition(".")[0] in OURS


def error_text(error: BaseException) -> str:
    """Return an exception as it may be logged: foreign ones quote their input."""
    name = type(error).__name__
    if not isinstance(error, OPERATOR_ERRORS):
        return name
    first, _, _ = str(error).partition("\n")
    return f"{name}: {first}"


def failure(error: BaseException) -> str:
    """Return an exception and its causes, each with its place in the code, innermost frame last."""
    chain: list[str] = []
    current: BaseException | None = error
    while current is not None and len(chain) < MAX_CAUSES:
        chain.append("\n".join((error_text(current), *frames_of(current.__traceback__))))
        current = current.__cause__ or (
            None if current.__suppress_context__ else current.__context__
        )
    return "\ncaused by ".join(chain)


def frames_of(trace: TracebackType | None) -> Iterable[str]:
    """Return the last frames of a traceback, without source lines and values."""
    frames = list(traceback.walk_tb(trace))[-MAX_FRAMES:]
    for frame, line in frames:
        file = "/".join(PurePath(frame.f_code.co_filename).parts[-3:])
        yield f"  {file}:{line} {frame.f_code.co_name}"


def render_failure(_logger: object, _method: str, line: EventDict) -> EventDict:
    """Replace `exc_info` by `exception`, and exceptions among the values by their text."""
    info = line.pop("exc_info", None)
    error = _current(info)
    if error is not None:
        line["exception"] = failure(error)
    for name, value in line.items():
        if isinstance(value, BaseException):
            line[name] = error_text(value)
    return line


def redact_library_message(_logger: object, _method: str, line: EventDict) -> EventDict:
    """Replace the message of a library by its logger and place; it may quote people."""
    record = line.get("_record")
    if isinstance(record, logging.LogRecord) and not is_ours(record.name):
        line["event"] = "library_log"
        line["logger"] = record.name
        line["where"] = f"{record.module}.{record.funcName}:{record.lineno}"
        line.pop("stack_info", None)
    return line


def redactor(secrets: Iterable[str]) -> Callable[[object, str, EventDict], EventDict]:
    """Return a processor that removes these texts, and everything that looks like a credential."""
    known = tuple(sorted({s for s in secrets if len(s) >= MIN_SECRET}, key=len, reverse=True))

    def redact(_logger: object, _method: str, line: EventDict) -> EventDict:
        for name, value in line.items():
            if isinstance(value, str):
                line[name] = redacted(value, known)
            elif not isinstance(value, int | float | bool | None | logging.LogRecord):
                line[name] = redacted(str(value), known)
        return line

    return redact


def redacted(text: str, known: Iterable[str] = ()) -> str:
    """Return `text`, shortened, without the known secrets and without credentials."""
    for secret in known:
        text = text.replace(secret, REDACTED)
    if len(text) > MAX_VALUE:
        text = text[:MAX_VALUE] + "…"
    for finding in reversed(find_secrets(text)):
        if finding.kind.level is not Level.POSSIBLE:
            text = text[: finding.start] + REDACTED + text[finding.end :]
    return text


def _current(info: object) -> BaseException | None:
    if isinstance(info, BaseException):
        return info
    if isinstance(info, tuple):
        return next((part for part in islice(info, 3) if isinstance(part, BaseException)), None)
    if info:
        return sys.exc_info()[1]
    return None

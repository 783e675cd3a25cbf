"""Structured logs: one line per event with ids and reasons, never content, secrets or locals.

Text of people, platforms and libraries is left out; of an exception its type and its place in the
code remain."""

import contextlib
import io
import logging
import sys
import traceback
from collections.abc import Callable, Iterable
from itertools import islice
from pathlib import PurePath
from types import TracebackType
from typing import Final, Literal, TextIO, cast

import structlog
from structlog.stdlib import ProcessorFormatter
from structlog.typing import EventDict, Processor

from db.errors import StoreUnavailable
from gateway.errors import ConfigurationError, StartError
from gateway.observe.correlation import add_turn_id

LogFormat = Literal["auto", "text", "json"]
"""`auto` is "text" on a terminal, otherwise "json"."""

NOISY = ("httpx", "httpcore", "httpx2", "aiohttp")
"""Libraries whose warnings repeat our own events."""
AUDIT: Final = "audit"
"""The event of every audit line."""

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


class LogHandler(logging.StreamHandler[TextIO]):
    """Writes the records of the standard library's loggers, of this program and of libraries."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Drop messages of libraries below WARNING, whatever their level is set to."""
        return is_ours(record.name) or record.levelno >= logging.WARNING


class _TolerantStream(io.TextIOBase):
    """A stream that never fails: a log line that cannot be written, as on a full disk, must not end
    the work it describes. The standard library's handlers ignore such errors by themselves."""

    def __init__(self, out: TextIO) -> None:
        self._out = out

    def write(self, text: str) -> int:
        with contextlib.suppress(OSError):
            self._out.write(text)
        return len(text)

    def flush(self) -> None:
        with contextlib.suppress(OSError):
            self._out.flush()


def configure_logs(
    log_format: LogFormat = "text",
    level: int = logging.INFO,
    *,
    secrets: Iterable[str] = (),
    stream: TextIO | None = None,
    audited: bool = True,
) -> None:
    """Write every log line to `stream`, by default standard error. `secrets` are values that must
    not appear; text that looks like a credential never does. Audit lines are written at every
    `level`, unless `audited` is false. Replaces an earlier configuration."""
    out = stream or sys.stderr
    meanings: list[Processor] = [
        *(() if audited else (_without_audit,)),
        structlog.contextvars.merge_contextvars,
        add_turn_id,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        render_failure,
    ]
    output: list[Processor] = [redactor(secrets), _renderer(log_format, out)]
    structlog.configure(
        processors=[*meanings, *output],
        wrapper_class=structlog.make_filtering_bound_logger(level),
        logger_factory=structlog.PrintLoggerFactory(cast("TextIO", _TolerantStream(out))),
        cache_logger_on_first_use=False,
    )
    handler = LogHandler(out)
    handler.setFormatter(
        ProcessorFormatter(
            foreign_pre_chain=[*meanings, redact_library_message],
            processors=[ProcessorFormatter.remove_processors_meta, *output],
        )
    )
    root = logging.getLogger()
    for earlier in [h for h in root.handlers if isinstance(h, LogHandler)]:
        root.removeHandler(earlier)
    root.addHandler(handler)
    root.setLevel(max(level, logging.WARNING))
    for name in OURS:
        logging.getLogger(name).setLevel(level)
    errors_only(NOISY)


def errors_only(loggers: Iterable[str]) -> None:
    """Omit the messages of these libraries below an error."""
    for name in loggers:
        logging.getLogger(name).setLevel(logging.ERROR)


def _without_audit(_logger: object, _method: str, event: EventDict) -> EventDict:
    if event.get("event") == AUDIT:
        raise structlog.DropEvent
    return event


def _renderer(log_format: LogFormat, out: TextIO) -> Processor:
    if log_format == "json" or (log_format == "auto" and not out.isatty()):
        return structlog.processors.JSONRenderer()
    return structlog.dev.ConsoleRenderer(colors=out.isatty(), pad_event_to=0)


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
    # Imported here: its patterns take half of the start of a command, and most write no log.
    from safety.http.shown_address import with_shown_addresses  # noqa: PLC0415 - slow to import
    from safety.secret_detection.detect import redact_and_cut  # noqa: PLC0415 - slow to import

    text = with_shown_addresses(text)
    short = redact_and_cut(text, MAX_VALUE)
    return f"{short}…" if len(text) > MAX_VALUE else short


def _current(info: object) -> BaseException | None:
    if isinstance(info, BaseException):
        return info
    if isinstance(info, tuple):
        return next((part for part in islice(info, 3) if isinstance(part, BaseException)), None)
    if info:
        return sys.exc_info()[1]
    return None

"""Structured logs: one line per event with ids and reasons, never content, secrets or locals."""

import contextlib
import io
import logging
import sys
from collections.abc import Iterable
from typing import Final, Literal, TextIO, cast

import structlog
from structlog.stdlib import ProcessorFormatter
from structlog.typing import EventDict, Processor

from gateway.observe.correlation import add_turn_id
from gateway.observe.log_redaction import (
    OURS,
    is_ours,
    redact_library_message,
    redactor,
    render_failure,
)

LogFormat = Literal["auto", "text", "json"]
"""`auto` is "text" on a terminal, otherwise "json"."""

NOISY = ("httpx", "httpcore", "httpx2", "aiohttp")
"""Libraries whose warnings repeat our own events."""
AUDIT: Final = "audit"
"""The event of every audit line."""


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

"""Structured logs: a line per event, ids and reasons in it, never content, secrets or locals."""

import contextlib
import io
import logging
import sys
from collections.abc import Iterable
from typing import Final, Literal, TextIO, cast

import structlog
from structlog.stdlib import ProcessorFormatter
from structlog.typing import EventDict, Processor

from gateway.observe.correlation import add_exchange
from gateway.observe.log_redaction import OURS, is_ours, redactor, render_failure, withhold_foreign

LogFormat = Literal["text", "json"]

NOISY = ("httpx", "httpcore", "httpx2", "aiohttp")
"""Libraries whose warnings say nothing that our own events do not."""
AUDIT: Final = "audit"
"""The event of every line of the audit."""


class LogHandler(logging.StreamHandler[TextIO]):
    """Writes the records of the standard library's loggers, ours and those of libraries."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Whatever level a library's logger was set to, its chatter stays out."""
        return is_ours(record.name) or record.levelno >= logging.WARNING


class _Forgiving(io.TextIOBase):
    """A stream that never fails: a line that cannot be written, as on a full disk, must not end
    the work that it is about. The handlers of the standard library forgive by themselves."""

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
    """Send every log line to `stream`, standard error if none is given. `secrets` are the values
    that must not appear; what looks like a credential never does. Lines of the audit come at every
    `level`, unless `audited` is false. Replaces an earlier set-up."""
    out = stream or sys.stderr
    meanings: list[Processor] = [
        *(() if audited else (_without_audit,)),
        structlog.contextvars.merge_contextvars,
        add_exchange,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        render_failure,
    ]
    output: list[Processor] = [redactor(secrets), _renderer(log_format, out)]
    structlog.configure(
        processors=[*meanings, *output],
        wrapper_class=structlog.make_filtering_bound_logger(level),
        logger_factory=structlog.PrintLoggerFactory(cast("TextIO", _Forgiving(out))),
        cache_logger_on_first_use=False,
    )
    handler = LogHandler(out)
    handler.setFormatter(
        ProcessorFormatter(
            foreign_pre_chain=[*meanings, withhold_foreign],
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
    """Leave out what these libraries say below an error."""
    for name in loggers:
        logging.getLogger(name).setLevel(logging.ERROR)


def _without_audit(_logger: object, _method: str, event: EventDict) -> EventDict:
    if event.get("event") == AUDIT:
        raise structlog.DropEvent
    return event


def _renderer(log_format: LogFormat, out: TextIO) -> Processor:
    if log_format == "json":
        return structlog.processors.JSONRenderer()
    return structlog.dev.ConsoleRenderer(colors=out.isatty(), pad_event_to=0)

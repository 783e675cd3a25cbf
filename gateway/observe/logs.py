"""Structured logs: one line per event, ids and reasons in them, never content, secrets or locals."""

import logging
import sys
from typing import Literal

import structlog

LogFormat = Literal["text", "json"]

NOISY = ("httpx", "httpcore", "httpx2", "discord", "slack_bolt", "slack_sdk", "telegram", "aiohttp")
"""Libraries whose own lines say nothing that our events do not, or carry addresses with tokens."""


def configure_logs(log_format: LogFormat = "text", level: int = logging.INFO) -> None:
    """Send every log line to standard error. Tracebacks carry no local variables: those hold what
    people wrote."""
    renderer: structlog.typing.Processor
    if log_format == "json":
        renderer = structlog.processors.JSONRenderer()
        traceback: structlog.typing.Processor = structlog.processors.ExceptionRenderer(
            structlog.tracebacks.ExceptionDictTransformer(show_locals=False)
        )
    else:
        renderer = structlog.dev.ConsoleRenderer(
            colors=sys.stderr.isatty(), exception_formatter=structlog.dev.plain_traceback
        )
        traceback = structlog.processors.StackInfoRenderer()
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            traceback,
            renderer,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(level),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
        cache_logger_on_first_use=False,
    )
    logging.basicConfig(stream=sys.stderr, level=level, format="%(levelname)s %(name)s %(message)s")
    for name in NOISY:
        logging.getLogger(name).setLevel(max(level, logging.ERROR))

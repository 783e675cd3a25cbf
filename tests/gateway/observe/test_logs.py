"""The contents of log lines, and the texts that they never contain."""

import asyncio
import contextlib
import io
import json
import logging
from collections.abc import Iterator

import pytest
import structlog

from db.errors import StoreUnavailable
from gateway.errors import ConfigurationError, Permanent, StartError
from gateway.message import turn_id_of
from gateway.observe.correlation import correlated, correlation_id
from gateway.observe.logs import (
    MAX_VALUE,
    REDACTED,
    LogFormat,
    configure_logs,
    error_text,
    failure,
    redacted,
)

TOKEN = "7000000001:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw1"
WORDS = "canary-in-the-mine"


class Lines:
    """The log lines since the setup."""

    def __init__(self, log_format: LogFormat, level: int) -> None:
        self.out = io.StringIO()
        configure_logs(log_format, level, secrets=["hunter2-hunter2", "abc"], stream=self.out)

    @property
    def text(self) -> str:
        return self.out.getvalue()

    @property
    def records(self) -> list[dict[str, object]]:
        return [json.loads(line) for line in self.text.splitlines()]


@pytest.fixture
def json_lines() -> Iterator[Lines]:
    yield Lines("json", logging.DEBUG)
    configure_logs(level=logging.WARNING)


@pytest.fixture(params=["text", "json"])
def lines(request: pytest.FixtureRequest) -> Iterator[Lines]:
    yield Lines(request.param, logging.DEBUG)
    configure_logs(level=logging.WARNING)


def test_a_line_is_one_object_with_level_time_and_values(json_lines: Lines) -> None:
    structlog.get_logger("gateway.test").warning("dead_letter", platform="slack", keys=2)
    (record,) = json_lines.records
    assert record.pop("timestamp")
    assert record == {"event": "dead_letter", "level": "warning", "platform": "slack", "keys": 2}


class Terminal(io.StringIO):
    """A stream that is a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(("out", "is_json"), [(Terminal(), False), (io.StringIO(), True)])
def test_the_format_follows_the_stream_if_none_is_chosen(out: io.StringIO, is_json: bool) -> None:
    configure_logs("auto", stream=out)
    structlog.get_logger("gateway.test").info("dead_letter")
    configure_logs(level=logging.WARNING)
    assert out.getvalue().startswith("{") is is_json
    assert "dead_letter" in out.getvalue()


def test_lines_of_the_standard_library_have_the_same_format(json_lines: Lines) -> None:
    with correlated("0123456789abcdef"):
        logging.getLogger("adapters.telegram.polling").warning("polling failed (%s)", "TimedOut")
    (record,) = json_lines.records
    assert record["event"] == "polling failed (TimedOut)"
    assert (record["level"], record["turn"]) == ("warning", "0123456789abcdef")


def test_only_the_place_of_a_line_of_a_library_is_logged(lines: Lines) -> None:
    logging.getLogger("slack_sdk.socket_mode").error("Failed on %s", WORDS)
    logging.getLogger("some.plugin").warning(f"message {WORDS}")
    assert WORDS not in lines.text
    assert lines.text.count("library_log") == 2
    assert "slack_sdk.socket_mode" in lines.text
    assert "test_logs.test_only_the_place_of_a_line_of_a_library_is_logged" in lines.text


def test_info_lines_of_libraries_are_omitted_at_every_level(lines: Lines) -> None:
    for name in ("asyncio", "discord.gateway", "telegram.ext", "mcp.client", "urllib3"):
        logger = logging.getLogger(name)
        before, logger.level = logger.level, logging.DEBUG
        logger.debug("received %s", WORDS)
        logger.info("received %s", WORDS)
        logger.setLevel(before)
    assert lines.text == ""


@pytest.mark.parametrize("level", [logging.INFO, logging.WARNING, logging.ERROR])
def test_lines_below_the_level_are_not_written(level: int) -> None:
    lines = Lines("json", level)
    for name in ("debug", "info", "warning", "error"):
        getattr(structlog.get_logger("gateway"), name)("ours", at=name)
        getattr(logging.getLogger("parley.http"), name)("standard")
    expected = [
        n
        for n in ("info", "warning", "error")
        if logging.getLevelNamesMapping()[n.upper()] >= level
    ]
    assert [r["level"] for r in lines.records] == [n for n in expected for _ in range(2)]
    configure_logs(level=logging.WARNING)


def test_an_exception_is_logged_with_type_and_place_and_without_its_message(lines: Lines) -> None:
    log = structlog.get_logger("gateway.test")
    try:
        try:
            int(WORDS)
        except ValueError as error:
            raise Permanent(f"Bad Request: {WORDS}") from error
    except Permanent as error:
        log.exception("send_failed", error=error)
        logging.getLogger("gateway.x").exception("also")
        logging.getLogger("discord.client").exception(WORDS)
    assert WORDS not in lines.text
    assert lines.text.count("caused by ValueError") == 3
    assert "observe/test_logs.py" in lines.text
    assert "Permanent" in lines.text


def test_messages_for_the_operator_are_logged() -> None:
    assert error_text(StartError("Discord refused the token.", "Reset it.")) == (
        "StartError: Discord refused the token. Reset it."
    )
    assert error_text(ConfigurationError("limits: no")) == "ConfigurationError: limits: no"
    full = StoreUnavailable(f"database or disk is full\nDETAIL: row contains {WORDS}")
    assert error_text(full) == "StoreUnavailable: database or disk is full"
    assert error_text(KeyError(WORDS)) == "KeyError"


def test_a_chain_of_exceptions_is_limited() -> None:
    error: Exception = ValueError("innermost")
    for _ in range(50):
        outer = RuntimeError("outer")
        outer.__cause__ = error
        error = outer
    assert failure(error).count("caused by") < 10


@pytest.mark.parametrize(
    ("secret", "instead"),
    [
        ("hunter2-hunter2", REDACTED),
        (TOKEN, REDACTED),
        ("sk-ant-api03-" + "x" * 40, REDACTED),
        ("postgresql://a:swordfish@db/x", "@db"),
    ],
)
def test_secrets_are_removed_at_any_place(lines: Lines, secret: str, instead: str) -> None:
    log = structlog.get_logger("gateway.test")
    log.error("failed", url=f"https://api.test/bot{secret}/x", problem=StartError(f"not {secret}."))
    logging.getLogger("gateway.test").error("failed at %s", f"https://api.test/{secret}")
    log.error("listed", values=[secret], nested={"token": secret})
    for part in (secret, "swordfish", TOKEN[-20:]):
        assert part not in lines.text
    assert instead in lines.text


def test_a_short_secret_does_not_break_other_words(json_lines: Lines) -> None:
    structlog.get_logger("gateway").info("abcdef")
    assert json_lines.records[0]["event"] == "abcdef"


def test_values_have_a_size_limit() -> None:
    assert len(redacted("x " * 1_000_000)) == MAX_VALUE + 1


async def test_tasks_keep_the_correlation_id_of_their_message(json_lines: Lines) -> None:
    log = structlog.get_logger("gateway.test")

    async def work() -> None:
        await asyncio.sleep(0)
        log.info("inside")

    with correlated("aaaa"):
        task = asyncio.create_task(work())
    with correlated("bbbb"):
        await task
        log.info("outside")
    log.info("none")
    assert [r.get("turn") for r in json_lines.records] == ["aaaa", "bbbb", None]


def test_the_correlation_id_follows_from_the_event_and_reveals_nothing() -> None:
    first = correlation_id("telegram:main:message:12345")
    assert first == correlation_id("telegram:main:message:12345")
    assert first != correlation_id("telegram:main:message:12346")
    assert len(first) == 16
    assert "12345" not in first
    assert turn_id_of(f"{first}:3") == first


def test_configuring_logs_again_replaces_the_earlier_configuration() -> None:
    first, second = Lines("json", logging.INFO), Lines("json", logging.INFO)
    logging.getLogger("gateway").warning("once")
    assert (len(first.records), len(second.records)) == (0, 1)
    configure_logs(level=logging.WARNING)


def test_a_full_disk_does_not_raise_when_logging() -> None:
    full = open("/dev/full", "w", buffering=1)  # noqa: SIM115 - closing it fails as well
    configure_logs("json", logging.INFO, stream=full)
    try:
        structlog.get_logger(__name__).warning("work_postponed", seconds=1.0)
    finally:
        configure_logs(level=logging.WARNING)
        with contextlib.suppress(OSError):
            full.close()

"""What all tests share."""

import logging

import pytest

from gateway.observe.logs import configure_logs


@pytest.fixture(scope="session", autouse=True)
def quiet_logs() -> None:
    """Warnings and errors only; pytest shows them where a test fails."""
    configure_logs(level=logging.WARNING)

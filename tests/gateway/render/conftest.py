"""A renderer that fails shows here as a failure, not as plain text."""

import functools
from collections.abc import Iterator
from typing import Any

import pytest

from gateway import render
from gateway.markdown.parse import parse


class _Strict:
    def error(self, event: str, **details: Any) -> None:
        raise AssertionError(f"{event}: {details}")


@pytest.fixture(scope="module", autouse=True)
def strict_renderers(request: pytest.FixtureRequest) -> Iterator[None]:
    """For every test but those of the fallback itself."""
    with pytest.MonkeyPatch.context() as patch:
        if not request.module.__name__.endswith("test_render"):
            patch.setattr(render, "log", _Strict())
        yield


@pytest.fixture(scope="module")
def parsed_once() -> Iterator[None]:
    """A text that is rendered for several platforms is parsed for the first of them."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setattr("gateway.render.parse", functools.lru_cache(maxsize=8)(parse))
        yield

"""A renderer that fails shows here as a failure, not as plain text."""

from collections.abc import Iterator
from typing import Any

import pytest

from gateway import render


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

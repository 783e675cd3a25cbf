"""A store that is unavailable for its first calls."""

from typing import Any

import pytest

from db.errors import StoreUnavailable


def fail_first(monkeypatch: pytest.MonkeyPatch, store: type, method: str, times: int = 1) -> None:
    """Let the first `times` calls of an asynchronous method raise `StoreUnavailable`."""
    works, left = getattr(store, method), [StoreUnavailable("away")] * times

    async def failing(*args: Any, **options: Any) -> Any:
        if left:
            raise left.pop()
        return await works(*args, **options)

    monkeypatch.setattr(store, method, failing)

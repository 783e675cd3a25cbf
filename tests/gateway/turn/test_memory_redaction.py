"""The stored text of a turn is redacted once, a long one outside the event loop."""

import threading
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any, cast

import pytest

from gateway.authorship import Material
from gateway.immutable import replace
from gateway.policy import history_redaction as policy
from gateway.policy.history_redaction import RecentSecrets
from gateway.turn import memory
from gateway.turn.memory import (
    DIRECT,
    kept_answer,
    kept_material,
    kept_of,
    redact_aside,
)
from gateway.turn.services import Services
from gateway.turn.turn_context import Asked, Asker, StoredTexts, TurnContext, WrittenAnswer
from tests.support.messages import AT, message

SECRET = "my password is Xy12zz89x. "


class Seen:
    """A turn, as far as redaction reads it, and the threads in which its texts were read."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, size: int) -> None:
        self.threads: list[bool] = []
        for name in ("redact_for_history", "redact_messages"):
            monkeypatch.setattr(memory, name, self._noted(getattr(policy, name)))
        text = (SECRET + "x " * size)[:size]
        shown = replace(message(text), id="m1", material=(Material("forwarded", text + "!"),))
        state = SimpleNamespace(
            key="conversation",
            asked=Asked((), (shown,), (text,)),
            asker=Asker(person="ada"),
            generation=SimpleNamespace(catchup=None),
            answer=WrittenAnswer(text + "?"),
            stored=StoredTexts(),
        )
        self.turn = cast("TurnContext", state)
        clock = SimpleNamespace(now=lambda: AT)
        result: Any = SimpleNamespace(recent_secrets=RecentSecrets(), clock=clock)
        self.services = cast("Services", result)

    def _noted(self, function: Any) -> Any:
        def noted(*given: Any) -> Any:
            self.threads.append(threading.current_thread() is threading.main_thread())
            return function(*given)

        return noted

    def kept(self) -> Sequence[str]:
        """The three texts as they are kept."""
        (message,) = kept_of(self.turn, self.services).texts
        (piece,) = kept_material(self.turn, self.turn.asked.material)
        return message, piece.text, kept_answer(self.turn, self.services)


@pytest.mark.parametrize(("size", "in_main"), [(100, True), (DIRECT + 1, False)])
async def test_long_texts_are_redacted_once_in_a_thread(
    monkeypatch: pytest.MonkeyPatch, size: int, *, in_main: bool
) -> None:
    seen = Seen(monkeypatch, size)
    await redact_aside(seen.turn, seen.services)
    await redact_aside(seen.turn, seen.services)
    kept = seen.kept()
    assert all(text.startswith("my password is [SECRET_REDACTED]") for text in kept)
    assert seen.threads == [in_main] * 3


def test_an_answer_is_searched_once(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = Seen(monkeypatch, 100)
    kept = [kept_answer(seen.turn, seen.services) for _ in range(3)]
    assert len(set(kept)) == 1
    assert "Xy12zz89x" not in kept[0]
    assert len(seen.threads) == 1

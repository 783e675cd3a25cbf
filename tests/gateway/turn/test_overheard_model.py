"""What a model's service reads in the web is noted before anything else sees the answer."""

from collections.abc import AsyncIterator, Sequence

from gateway.authorship import MAX_PIECES, Material
from gateway.ports import ModelEvent, ModelFinished, ModelRequest, TextDelta, Usage, WebText
from gateway.ports.memory import NoMemory
from gateway.turn.tools import OverheardModel
from tests.gateway.llm.asking import assistant, question


class Searching:
    name = "stub"

    def __init__(self, *web: WebText) -> None:
        self._web = web

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        yield TextDelta("At nine.")
        yield ModelFinished(assistant("At nine."), "end", Usage(), "m", web=self._web)

    async def close(self) -> None: ...


class Noting(NoMemory):
    def __init__(self) -> None:
        self.noted: list[Material] = []

    def reads(self, material: Sequence[Material]) -> None:
        self.noted.extend(material)


async def test_the_text_is_noted_as_text_of_the_web_before_the_answer_is_used() -> None:
    memory = Noting()
    found = (WebText("web_search", "Ferry times"), WebText("web_fetch", "It leaves at nine."))

    async for event in OverheardModel(Searching(*found), memory).stream(question("When?")):
        if isinstance(event, ModelFinished):
            assert memory.noted == [
                Material("web", "Ferry times", "web_search"),
                Material("web", "It leaves at nine.", "web_fetch"),
            ]
    assert memory.noted


async def test_the_noted_text_is_bounded() -> None:
    memory = Noting()
    pages = (WebText("web_fetch", "x" * 50_000) for _ in range(3 * MAX_PIECES))

    async for _ in OverheardModel(Searching(*pages), memory).stream(question("When?")):
        pass

    assert sum(len(piece.text) for piece in memory.noted) <= 50_000

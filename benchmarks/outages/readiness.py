"""Records the answers of `/readyz` of a process over time."""

import asyncio
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import httpx2

LOOK_SECONDS: Final = 0.1
ANSWER_SECONDS: Final = 2.0


@dataclass(frozen=True, slots=True)
class Said:
    """One answer, at a moment of `time.monotonic()`. Without `parts` there was none."""

    at: float
    ready: bool
    parts: Mapping[str, str]

    @property
    def unavailable(self) -> set[str]:
        """The stores that are said to be away."""
        return {name for name, state in self.parts.items() if state == "unavailable"}


@dataclass
class Readiness:
    """Asks one process again and again."""

    url: str
    answers: list[Said] = field(default_factory=list)

    async def run(self) -> None:
        """Until cancelled."""
        async with httpx2.AsyncClient(trust_env=False, timeout=ANSWER_SECONDS) as client:
            while True:
                self.answers.append(await self._ask(client))
                await asyncio.sleep(LOOK_SECONDS)

    async def _ask(self, client: httpx2.AsyncClient) -> Said:
        try:
            answer = await client.get(self.url)
            status = answer.json()
        except (httpx2.HTTPError, ValueError):
            return Said(time.monotonic(), ready=False, parts={})
        return Said(time.monotonic(), answer.status_code == 200, status.get("parts", {}))


@dataclass(frozen=True, slots=True)
class Told:
    """The report of a process about an outage. Seconds until it said so after the beginning, and
    until it was ready after the end; None where it never did. `wrongly` has what it said that was
    not so."""

    noticed: float | None
    recovered: float | None
    wrongly: tuple[str, ...]


def readiness_of(answers: Sequence[Said], parts: Sequence[str], began: float, ended: float) -> Told:
    """Return the answers of a process about an outage of `parts` between two moments."""
    during = [one for one in answers if began <= one.at < ended]
    after = [one for one in answers if one.at >= ended]
    named = [one.at for one in during if set(parts) <= one.unavailable]
    ready_again = next((one.at for one in after if one.ready), None)
    wrongly = []
    if any(one.ready for one in during if named and one.at > named[0]):
        wrongly.append("ready during the outage")
    if any(not one.parts for one in answers):
        wrongly.append("no answer")
    if not any(one.ready for one in answers if one.at < began):
        wrongly.append("not ready before the outage")
    if any(one.unavailable - set(parts) for one in answers):
        wrongly.append("another store was blamed")
    return Told(
        named[0] - began if named else None,
        None if ready_again is None else ready_again - ended,
        tuple(wrongly),
    )

"""Synchronises a project: fetches its figures, compares them with earlier ones, writes its
HEARTBEAT."""

import asyncio
import json
from collections.abc import Mapping
from datetime import datetime, timedelta
from hashlib import blake2b
from typing import Final

from gateway.ports import AdapterState, Clock
from memory.brain.documents import Brain
from memory.brain.figure_sources import SECONDS, SourceFailed
from memory.brain.heartbeat import Sample, narrative, read_figures
from memory.ports.brain import FigureSource

COMPARED_DAYS: Final = 7
"""Days of samples; figures are compared with the oldest, and each day stores its first."""
KEEP_PROBLEM: Final = timedelta(days=30)
MAX_PROBLEM: Final = 300
MAX_KEPT: Final = 4_000
"""Characters of a stored sample: the limit of `AdapterState`."""


class SiteSync:
    """Writes HEARTBEATs. `state` stores figures for comparison and the last error of a sync."""

    def __init__(self, brain: Brain, state: AdapterState, clock: Clock) -> None:
        self._brain = brain
        self._state = state
        self._clock = clock

    async def sync_site(self, tenant: str, project: str, source: FigureSource) -> str:
        """Fetch the figures, write the HEARTBEAT and return its text.

        Raises `SourceFailed`; the present HEARTBEAT then stays unchanged, with its
        `last_synced_at`.
        """
        key = _key(tenant, project)
        try:
            sample = read_figures(await _fetched(source), self._clock.now())
        except (SourceFailed, ValueError) as error:
            await self._state.put(f"{key}:problem", str(error)[:MAX_PROBLEM], KEEP_PROBLEM)
            raise SourceFailed(str(error)) from error
        text = narrative(sample, await self._before(key, sample))
        await self._brain.set_heartbeat(tenant, project, text, sample.at)
        await self._state.put(f"{key}:problem", "", KEEP_PROBLEM)
        return text

    async def problem(self, tenant: str, project: str) -> str:
        """Return the error of the last sync, empty if it succeeded."""
        return await self._state.get(f"{_key(tenant, project)}:problem") or ""

    async def is_fresh(self, tenant: str, project: str, within: timedelta) -> bool:
        """True if any process synchronised the project within this time."""
        synced = await self._brain.synced_at(tenant, project)
        return synced is not None and self._clock.now() - synced < within

    async def _before(self, key: str, sample: Sample) -> Sample | None:
        """Return the sample to compare with; the first of each day is kept."""
        today = _day(key, sample.at)
        first = await self._state.get(today)
        if not first:
            await self._state.put(today, _kept(sample), timedelta(days=COMPARED_DAYS + 1))
        for days in range(COMPARED_DAYS, 0, -1):
            older = await self._state.get(_day(key, sample.at - timedelta(days=days)))
            if older:
                return _read(older)
        return _read(first) if first else None


async def _fetched(source: FigureSource) -> Mapping[str, object]:
    try:
        async with asyncio.timeout(2 * SECONDS):
            return await source.figures()
    except TimeoutError:
        raise SourceFailed(f"no figures within {2 * SECONDS:g} seconds") from None
    except SourceFailed:
        raise
    except Exception as error:
        raise SourceFailed(f"the source failed with {type(error).__name__}") from error


def _key(tenant: str, project: str) -> str:
    """Return a key of fixed length for names of any length."""
    encoded = json.dumps([tenant, project]).encode()
    return blake2b(encoded, digest_size=16, person=b"parley figures").hexdigest()


def _day(key: str, at: datetime) -> str:
    return f"{key}:{at.date().isoformat()}"


def _kept(sample: Sample) -> str:
    """Return a sample as JSON, without the last figures if it is too long."""
    for most in range(len(sample.figures), 0, -1):
        encoded = json.dumps([sample.at.isoformat(), sample.figures[:most]], ensure_ascii=False)
        if len(encoded) <= MAX_KEPT:
            return encoded
    return ""


def _read(kept: str) -> Sample | None:
    """Read a sample that `_kept` wrote; None for another format."""
    try:
        at, figures = json.loads(kept)
        return Sample(datetime.fromisoformat(at), tuple((name, value) for name, value in figures))
    except (ValueError, TypeError):
        return None

"""Calibrations of the token estimate, by model."""

import json
import math
from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import asdict
from datetime import timedelta
from typing import Any, Final

import structlog

from db.errors import StoreUnavailable
from gateway.llm.calibration import EXACT, LEAST_RATIO, MOST_CONSTANT, MOST_RATIO, Calibration
from gateway.ports import AdapterState

MAX_MODELS: Final = 100
MAX_NAME: Final = 200
"""Characters of a model's name that is stored."""
KEPT: Final = timedelta(days=90)
"""How long the calibration of an unused model is kept."""
_FIGURES: Final = len(EXACT.covariance)
log = structlog.get_logger(__name__)


class TokenCalibrations:
    """Keeps two calibrations per model: the latest, and the stable one for assembling prompts.

    The stable one changes after 1, 2, 4, 8 … samples: if it changed with every answer, the same
    text could be cut elsewhere in the next prompt, and the service's cache would not match.
    """

    def __init__(self) -> None:
        self._latest: OrderedDict[str, Calibration] = OrderedDict()
        self._steady: dict[str, Calibration] = {}

    def latest(self, model: str) -> Calibration:
        """Return the latest calibration, for the final check before a prompt is sent."""
        return self._latest.get(model, EXACT)

    def steady(self, model: str) -> Calibration:
        """Return the stable calibration, for texts that should be cut the same way next time."""
        return self._steady.get(model, EXACT)

    def learn(self, model: str, calibration: Calibration) -> None:
        """Store the calibration of a turn, unless one with more samples is known."""
        before = self._latest.get(model, EXACT).samples
        if calibration.samples < before:
            return
        self._latest[model] = calibration
        self._latest.move_to_end(model)
        if calibration.samples.bit_length() > before.bit_length() or model not in self._steady:
            self._steady[model] = calibration
        while len(self._latest) > MAX_MODELS:
            forgotten, _ = self._latest.popitem(last=False)
            self._steady.pop(forgotten, None)


class PersistentCalibrations:
    """Stores calibrations for the next start: a few hundred bytes per model.

    `models` are the configured ones. Each of several processes adds its more certain figures; two
    concurrent writers repeat the write some minutes later.
    """

    def __init__(
        self, known: TokenCalibrations, state: AdapterState, models: Iterable[str]
    ) -> None:
        self._known = known
        self._state = state
        self._models = sorted({m for m in models if 0 < len(m) <= MAX_NAME})[:MAX_MODELS]
        self._written: dict[str, Calibration] = {}
        self._texts: dict[str, str] = {}

    async def load(self) -> None:
        """Load the calibrations of an earlier run. Unreadable ones are learned again."""
        try:
            for model in self._models:
                text = await self._state.get(model)
                calibration = read(text) if text is not None else None
                if text is not None and calibration is not None:
                    self._known.learn(model, calibration)
                    self._written[model], self._texts[model] = calibration, text
        except StoreUnavailable as error:
            log.warning("calibration_not_loaded", error=str(error))

    async def save(self) -> int:
        """Write the changed calibrations; return 0, because no work is left."""
        try:
            for model in self._models:
                latest = self._known.latest(model)
                if latest != self._written.get(model, EXACT):
                    text = written(await self._with_others(model, latest))
                    await self._state.put(model, text, KEPT)
                    self._written[model], self._texts[model] = latest, text
        except StoreUnavailable as error:
            log.warning("calibration_not_saved", error=str(error))
        return 0

    async def _with_others(self, model: str, latest: Calibration) -> Calibration:
        """Merge the calibrations that another process wrote meanwhile."""
        text = await self._state.get(model)
        if text is None or text == self._texts.get(model):
            return latest
        others = read(text)
        return latest if others is None else latest.beside(others)


def written(calibration: Calibration) -> str:
    """Return a state as JSON, below 1,000 characters."""
    return json.dumps(asdict(calibration), separators=(",", ":"))


def read(text: str) -> Calibration | None:
    """Return the state of a JSON text; None for an invalid one."""
    try:
        fields: Any = json.loads(text)
        covariance = tuple(tuple(map(float, row)) for row in fields.pop("covariance"))
        samples = fields.pop("samples")
        calibration = Calibration(**fields, covariance=covariance, samples=samples)
        ratios = (calibration.latin, calibration.two, calibration.three, calibration.four)
        sound = (
            all(LEAST_RATIO <= ratio <= MOST_RATIO for ratio in ratios)
            and 0 <= calibration.constant <= MOST_CONSTANT
            and isinstance(samples, int)
            and samples >= 0
            and [len(row) for row in covariance] == [_FIGURES] * _FIGURES
            and all(math.isfinite(value) for row in covariance for value in row)
            and all(covariance[place][place] > 0 for place in range(_FIGURES))
        )
    except (ValueError, TypeError, AttributeError, KeyError):
        return None
    return calibration if sound else None

"""Calibration of the token estimate for a model, learned from the counts of its service.

Each script has a ratio of its own, because tokenizers differ most in scripts other than Latin; a
constant covers what the service adds to every prompt. A sample only gives the tokens of a whole
prompt, so the error is distributed by the uncertainty of each figure and by its share of the
prompt: a Kalman filter.
"""

import json
import math
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from datetime import timedelta
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import asdict

from db.errors import StoreUnavailable
from gateway.ports import AdapterState

LEAST_RATIO: Final = 0.5
MOST_RATIO: Final = 3.0
MOST_CONSTANT: Final = 2_000.0
SMALLEST: Final = 50
"""The smallest prompt that is a useful sample, in tokens."""
NOISE: Final = 0.01
"""The random error of a count: the mix of words differs between prompts."""
ALWAYS: Final = 32
"""The number of samples that are all used; afterwards one in this many is."""
AGEING: Final = 1.1
"""The added uncertainty of another process's figures each time they are merged."""
_UNSURE: Final = (0.2**2, 0.3**2, 0.3**2, 0.5**2, 300.0**2)
"""Initial variances of the four ratios and the constant."""
_DRIFT: Final = tuple(variance / 1_000 for variance in _UNSURE)
"""The growth of each variance per sample, so that learning never stops."""


def _independent(variances: Sequence[float]) -> tuple[tuple[float, ...], ...]:
    """Return the covariance of independent figures."""
    return tuple(
        tuple(variance if row == column else 0.0 for column in range(len(variances)))
        for row, variance in enumerate(variances)
    )


_FIRST: Final = _independent(_UNSURE)
Scripts = tuple[float, float, float, float]
"""Estimated tokens by script: Latin letters with digits and signs; scripts of two bytes
(Cyrillic, Greek, Arabic, Hebrew); of three (Chinese, Japanese, Korean, India's); of four
(emoji)."""


class Calibration(Struct, frozen=True):
    """The ratio of counted to estimated tokens, by script. `constant` is in tokens per prompt.
    `counts_tools` is false for a model whose prompt has no tools, although they are sent."""

    latin: float = 1.0
    two: float = 1.0
    three: float = 1.0
    four: float = 1.0
    constant: float = 0.0
    covariance: tuple[tuple[float, ...], ...] = _FIRST
    samples: int = 0
    counts_tools: bool = True

    @property
    def figures(self) -> tuple[float, float, float, float, float]:
        """The four ratios and the constant."""
        return self.latin, self.two, self.three, self.four, self.constant

    @property
    def learns(self) -> bool:
        """True if the next sample is used."""
        return self.samples < ALWAYS or self.samples % ALWAYS == 0

    def passed_over(self) -> "Calibration":
        """Return the calibration after a sample that is not used."""
        known = self.latin, self.two, self.three, self.four, self.constant, self.covariance
        return Calibration(*known, self.samples + 1, self.counts_tools)

    def predict(self, scripts: Scripts, frames: int) -> float:
        """Return the tokens of a prompt: its text by script, and `frames`, the overhead."""
        latin, two, three, four = scripts
        text = latin * self.latin + two * self.two + three * self.three + four * self.four
        return text + frames + self.constant

    def beside(self, other: "Calibration") -> "Calibration":
        """Merge the calibration of another process: each figure from the more certain one.

        The other one was written earlier and counts as older, so that an outdated figure cannot
        persist.
        """
        unsure = [row[place] for place, row in enumerate(self.covariance)]
        older = [row[place] * AGEING for place, row in enumerate(other.covariance)]
        better = [that < this for this, that in zip(unsure, older, strict=True)]
        if not any(better):
            return self
        latin, two, three, four, constant = (
            there if take else here
            for here, there, take in zip(self.figures, other.figures, better, strict=True)
        )
        covariance = _independent(list(map(min, unsure, older)))
        samples = max(self.samples, other.samples)
        tools = self.counts_tools
        return Calibration(latin, two, three, four, constant, covariance, samples, tools)

    def observe(self, scripts: Scripts, frames: int, counted: int) -> "Calibration":
        """Learn from one prompt. The ratios stay within 0.5 to 3."""
        if sum(scripts) + frames < SMALLEST or counted <= 0:
            return self
        explained = (*scripts, 1.0)
        spread = [
            sum(each * x for each, x in zip(row, explained, strict=True)) for row in self.covariance
        ]
        whole = sum(each * x for each, x in zip(spread, explained, strict=True))
        whole += (NOISE * counted) ** 2 + 1.0
        error = counted - self.predict(scripts, frames)
        steps = [each / whole * error for each in spread]
        return Calibration(
            _ratio(self.latin + steps[0]),
            _ratio(self.two + steps[1]),
            _ratio(self.three + steps[2]),
            _ratio(self.four + steps[3]),
            min(MOST_CONSTANT, max(0.0, self.constant + steps[4])),
            _narrowed(self.covariance, spread, whole),
            self.samples + 1,
            self.counts_tools,
        )


def _narrowed(
    covariance: Sequence[Sequence[float]], spread: Sequence[float], whole: float
) -> tuple[tuple[float, ...], ...]:
    """Return the uncertainty after a sample, slightly increased for the elapsed time."""
    return tuple(
        tuple(
            max(_DRIFT[row], value - spread[row] * spread[column] / whole) + _DRIFT[row]
            if row == column
            else value - spread[row] * spread[column] / whole
            for column, value in enumerate(values)
        )
        for row, values in enumerate(covariance)
    )


def _ratio(value: float) -> float:
    return min(MOST_RATIO, max(LEAST_RATIO, value))


EXACT: Final = Calibration()


MAX_MODELS: Final = 100
MAX_NAME: Final = 200
"""Characters of a model's name that is stored."""
KEPT: Final = timedelta(days=90)
"""The time for which the calibration of an unused model is kept."""
_FIGURES: Final = len(EXACT.covariance)


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

    `models` returns the configured ones. Each of several processes adds its more certain figures;
    two concurrent writers repeat the write some minutes later.
    """

    def __init__(
        self, known: TokenCalibrations, state: AdapterState, models: Callable[[], Iterable[str]]
    ) -> None:
        self._known = known
        self._state = state
        self._models = models
        self._written: dict[str, Calibration] = {}
        self._texts: dict[str, str] = {}

    async def load(self) -> None:
        """Load the calibrations of an earlier run. Unreadable ones are learned again."""
        try:
            for model in self._kept():
                text = await self._state.get(model)
                calibration = read(text) if text is not None else None
                if text is not None and calibration is not None:
                    self._known.learn(model, calibration)
                    self._written[model], self._texts[model] = calibration, text
        except StoreUnavailable as error:
            _warn("calibration_not_loaded", error)

    async def save(self) -> int:
        """Write the changed calibrations; return 0, because no work is left."""
        try:
            for model in self._kept():
                latest = self._known.latest(model)
                if latest != self._written.get(model, EXACT):
                    text = written(await self._with_others(model, latest))
                    await self._state.put(model, text, KEPT)
                    self._written[model], self._texts[model] = latest, text
        except StoreUnavailable as error:
            _warn("calibration_not_saved", error)
        return 0

    def _kept(self) -> list[str]:
        return sorted({m for m in self._models() if 0 < len(m) <= MAX_NAME})[:MAX_MODELS]

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
            and isinstance(fields.get("counts_tools", True), bool)
            and [len(row) for row in covariance] == [_FIGURES] * _FIGURES
            and all(math.isfinite(value) for row in covariance for value in row)
            and all(covariance[place][place] > 0 for place in range(_FIGURES))
        )
    except (ValueError, TypeError, AttributeError, KeyError):
        return None
    return calibration if sound else None


def _warn(event: str, error: StoreUnavailable) -> None:
    import structlog  # noqa: PLC0415 - slow to load, and the configuration needs only the estimates

    structlog.get_logger(__name__).warning(event, error=str(error))

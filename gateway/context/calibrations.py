"""What was learned about counting tokens, by model, for as long as the program runs."""

from collections import OrderedDict
from typing import Final

from gateway.turn.calibration import EXACT, Calibration

MAX_MODELS: Final = 100


class Calibrations:
    """Keeps two states of each model: the latest, and the one that prompts are assembled with.

    The second changes after 1, 2, 4, 8 … samples: were it to change with every answer, the same
    text could be cut elsewhere in the next prompt, and nothing behind it would be read from the
    service's cache.
    """

    def __init__(self) -> None:
        self._latest: OrderedDict[str, Calibration] = OrderedDict()
        self._steady: dict[str, Calibration] = {}

    def latest(self, model: str) -> Calibration:
        """With everything that was learned, for a last check before a prompt is sent."""
        return self._latest.get(model, EXACT)

    def steady(self, model: str) -> Calibration:
        """What texts are measured with that should be cut alike in the next prompt."""
        return self._steady.get(model, EXACT)

    def learn(self, model: str, calibration: Calibration) -> None:
        """Take over what a turn came to."""
        before = self._latest.get(model, EXACT).samples
        self._latest[model] = calibration
        self._latest.move_to_end(model)
        if calibration.samples.bit_length() > before.bit_length() or model not in self._steady:
            self._steady[model] = calibration
        while len(self._latest) > MAX_MODELS:
            forgotten, _ = self._latest.popitem(last=False)
            self._steady.pop(forgotten, None)

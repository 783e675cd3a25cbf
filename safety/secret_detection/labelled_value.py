"""A value behind its label, and the connection between them."""

from enum import Enum
from typing import NamedTuple

from safety.secret_detection.label_words import Class


class LabelForm(Enum):
    """The connection from a label to its value, the clearest first."""

    SIGN = "sign"
    LINK = "link"
    CALL = "call"
    CELL = "cell"
    LINE = "line"
    BESIDE = "beside"
    BEFORE = "before"


class LabelledValue(NamedTuple):
    """A value at `begin` to `end` of `text` after the label `word` at `start`. `rest` is the rest
    of the label's name, `fillers` the words between the name and the value."""

    text: str
    kind: Class
    word: str
    start: int
    rest: str
    how: LabelForm
    begin: int
    end: int
    quoted: bool
    fillers: tuple[str, ...] = ()

    @property
    def value(self) -> str:
        """Return the value, without punctuation after a bare one."""
        return self.text[self.begin : self.end]

"""The problems of a configuration: all of them at once, each with its place and advice."""

import difflib
from collections.abc import Collection, Iterable
from typing import Final, TypeAlias

from msgspec import Struct

from gateway.errors import ConfigurationError
from gateway.text import NO_TEXT, Text, Unconverted, as_text, joined, text, verbatim

Path: TypeAlias = tuple[str | int, ...]
MAX_SHOWN = 50
DID_YOU_MEAN: Final = text('Did you mean "{name}"?')
# Translators: it stands alone at a field, or after the name of a key and a colon.
MISSING: Final = text("is missing.")
KNOWN: Final = text("Known here: {names}.")


class Problem(Struct, frozen=True):
    """One problem. `origin` is a file with its line, or a variable; never a value. `value` is the
    value of an override without secrets, empty for a problem of the file or the environment."""

    path: str
    """The keys, joined by points; empty: the problem has no place."""
    said: Unconverted
    """The sentence after the place."""
    step: Unconverted = ""
    """The next step; empty for none."""
    origin: str = ""
    value: str = ""

    @property
    def text(self) -> str:
        """The sentence after the place, in English."""
        return str(self.said)

    @property
    def advice(self) -> str:
        """The next step in English."""
        return str(self.step)

    @property
    def at_place(self) -> Text:
        """The sentence and the next step, for a page that names the place itself."""
        return joined((one for one in (as_text(self.said), as_text(self.step)) if one), " ")

    @property
    def whole(self) -> Text:
        """The problem with its place, in the language of its reader."""
        if not self.place:
            return self.at_place
        return joined((verbatim(f"{self.place}: "), self.at_place))

    @property
    def place(self) -> str:
        """The path with its value, if that may be shown, and its origin."""
        place = f"{self.path} = {self.value}" if self.value else self.path
        return f"{place} ({self.origin})" if self.origin else place

    def __str__(self) -> str:
        line = f"{self.place}: {self.text}" if self.place else self.text
        return f"{line} {self.advice}".rstrip()


class SettingsError(ConfigurationError):
    """The configuration cannot be used; `problems` holds every reason."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(problems)
        shown = [f"  {n}. {p}" for n, p in enumerate(self.problems[:MAX_SHOWN], 1)]
        if len(self.problems) > MAX_SHOWN:
            shown.append(f"  and {len(self.problems) - MAX_SHOWN} more")
        count = len(self.problems)
        title = (
            "The configuration has a problem"
            if count == 1
            else (f"The configuration has {count} problems")
        )
        super().__init__("\n".join([f"{title}:", *shown]))


def dotted(path: Path) -> str:
    """The path in the form of the documentation: `model.fallbacks[0].name`."""
    text = ""
    for step in path:
        if isinstance(step, int):
            text += f"[{step}]"
        else:
            text += f".{step}" if text else step
    return text


def closest(wrong: str, known: Iterable[str]) -> str:
    """The most similar known name; empty when none is similar."""
    by_lower = {name.lower(): name for name in known}
    close = difflib.get_close_matches(wrong.lower(), by_lower, n=1, cutoff=0.6)
    return by_lower[close[0]] if close else ""


def suggestion(wrong: str, known: Collection[str]) -> Text:
    """A sentence with the most similar name, or with all names when none is similar."""
    close = closest(wrong, known)
    if close:
        return DID_YOU_MEAN.of(name=verbatim(close))
    return KNOWN.of(names=verbatim(", ".join(sorted(known)))) if known else NO_TEXT

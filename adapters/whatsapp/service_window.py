"""The customer service window: 24 hours after a person's message anything may be sent to them. An
answer outside of it is a message template with its variables and values.

Source: Meta, "Customer service windows". The time of the message counts, not that of the webhook,
which may come hours later.
"""

import re
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Annotated, Final, Self

from pydantic import BaseModel, BeforeValidator, Field, StringConstraints, model_validator

from gateway.ports import AdapterState, Clock

WINDOW: Final = timedelta(hours=24)
MARGIN: Final = timedelta(minutes=5)
"""The time for which a message may wait to be sent: Meta takes one after the window has closed, and
reports later that it does not deliver it."""
REFUSED: Final = "template_refused"
TRY_AGAIN: Final = timedelta(hours=1)
"""The time after which a refused template is used again."""
REFUSED_FOR: Final = timedelta(hours=1)
MAX_REFUSED: Final = 20
MAX_STATE: Final = 4_000
"""Messages to one person that Meta did not deliver, and the characters of their ids."""


def is_open(wrote_at: datetime, now: datetime) -> bool:
    """True when a person who wrote at `wrote_at` may get any message at `now`."""
    return now - wrote_at < WINDOW


class ServiceWindows:
    """The time of each person's last message, kept in the adapter's state for 24 hours."""

    def __init__(self, state: AdapterState, clock: Clock) -> None:
        self._state = state
        self._clock = clock

    async def open(self, key: str, at: datetime) -> None:
        """Open the window of a person who wrote at `at`, for 24 hours from then."""
        now = self._clock.now()
        at = min(at, now)
        before = await self._wrote_at(key)
        if is_open(at, now) and (before is None or before < at):
            await self._state.put(f"window:{key}", at.isoformat(), at + WINDOW - now)

    async def close(self, key: str, at: datetime) -> None:
        """Close the window, as Meta reported at `at`; a later message keeps it open."""
        before = await self._wrote_at(key)
        if before is not None and before <= at:
            await self._state.put(f"window:{key}", "", WINDOW)

    async def is_open_for(self, key: str, ahead: timedelta = timedelta(0)) -> bool | None:
        """True when anything may be sent to this person, `ahead` from now; None if their last
        message is unknown: it was more than 24 hours ago, or the state was lost."""
        if await self._state.get(f"window:{key}") is None:
            return None
        at = await self._wrote_at(key)
        return at is not None and is_open(at, self._clock.now() + ahead)

    async def note_refused_template(self) -> None:
        """Record that Meta refused the template."""
        await self._state.put(REFUSED, "1", TRY_AGAIN)

    async def template_refused(self) -> bool:
        """True when Meta refused the template within the last hour."""
        return await self._state.get(REFUSED) is not None

    async def note_refused(self, key: str, message_id: str) -> None:
        """Record a message that Meta took and does not deliver before this person writes."""
        known = [each for each in await self.refused(key) if each != message_id]
        kept = [*known, message_id][-MAX_REFUSED:]
        while len(written := " ".join(kept)) > MAX_STATE:
            kept = kept[1:]
        await self._state.put(f"refused:{key}", written, REFUSED_FOR)

    async def refused(self, key: str) -> tuple[str, ...]:
        """The ids of such messages of the last hour, oldest first."""
        return tuple((await self._state.get(f"refused:{key}") or "").split())

    async def _wrote_at(self, key: str) -> datetime | None:
        kept = await self._state.get(f"window:{key}")
        try:
            return datetime.fromisoformat(kept) if kept else None
        except ValueError:
            return None


MAX_BODY: Final = 1024
"""Characters of a template's body with its parameters (Meta, "Message templates")."""
MAX_PARAMETERS: Final = 10
MAX_VALUE: Final = 300
TEXT: Final = "text"
PLACES: Final = (TEXT, "assistant", "date")
"""Placeholders of a value: the answer, the assistant's name, the day (UTC, 2026-11-22)."""

_PLACE: Final = re.compile(r"\{([^{}]*)\}")
_VARIABLE: Final = re.compile(r"\{\{([a-z0-9_]{1,60})\}\}")
_NAME: Final = re.compile(r"[a-z0-9_]{1,60}")

Value = Annotated[str, StringConstraints(min_length=1, max_length=MAX_VALUE)]


def _keys_as_text(value: object) -> object:
    # YAML reads the key `1` as a number.
    return {str(key): each for key, each in value.items()} if isinstance(value, Mapping) else value


class WhatsAppTemplate(BaseModel, extra="forbid", frozen=True):
    """An approved template. One of its variables receives the answer's text, the others fixed
    values."""

    name: str = Field(pattern=r"^[a-z0-9_]{1,512}$")
    """Name of the template in WhatsApp Manager > Message templates."""
    language: str = Field(default="en_US", pattern=r"^[a-zA-Z_]{2,12}$")
    """Language of the approved template."""
    parameter: str = Field(default="1", pattern=r"^[a-z0-9_]{1,60}$")
    """The variable that receives the answer: `1` for `{{1}}`, otherwise its name. Enough if the
    body has no other variable."""
    parameters: Annotated[dict[str, Value], BeforeValidator(_keys_as_text)] = Field(
        default={}, max_length=MAX_PARAMETERS
    )
    """Values of several variables, by number from 1, or by name. `{text}` is the answer, in
    exactly one of them; `{assistant}` the assistant's name, `{date}` the day."""
    body: str = Field(default="", max_length=MAX_BODY)
    """The approved body, `Hello {{1}}, …`; if set, its variables and its length are compared with
    the other keys."""
    max_chars: int = Field(default=900, ge=1, le=MAX_BODY)
    """Maximum length of the answer in the template; 1,024 with the template's own text."""

    @model_validator(mode="after")
    def _fits(self) -> Self:
        chosen = self.parameters and "parameter" in self.model_fields_set
        if chosen and f"{{{TEXT}}}" not in self.parameters.get(self.parameter, ""):
            raise ValueError(f"has the parameter {self.parameter}, which is not the answer's")
        values = self.values
        _check_names(values)
        _check_values(values)
        if self.body:
            _check_body(self.body, values, self.max_chars)
        return self

    @property
    def values(self) -> Mapping[str, str]:
        """The value of each variable, in WhatsApp's order."""
        chosen = self.parameters or {self.parameter: f"{{{TEXT}}}"}
        named = not all(name.isdigit() for name in chosen)
        return chosen if named else dict(sorted(chosen.items(), key=lambda each: int(each[0])))


def filled(template: WhatsAppTemplate, facts: Mapping[str, str]) -> list[dict[str, object]]:
    """The parameters of the body in the Cloud API's form; `facts` has a value for each of `PLACES`.
    Line breaks and tabs become spaces: no parameter may contain them (error 132018)."""
    parameters: list[dict[str, object]] = []
    for name, value in template.values.items():
        words = _PLACE.sub(lambda place: facts[place[1]], value).split()
        parameter: dict[str, object] = {"type": "text", "text": " ".join(words)}
        if not name.isdigit():
            parameter["parameter_name"] = name
        parameters.append(parameter)
    return parameters


def _check_names(values: Mapping[str, str]) -> None:
    numbers = sorted(int(name) for name in values if name.isascii() and name.isdigit())
    if numbers and len(numbers) < len(values):
        raise ValueError("has variables with numbers and with names; a template has one kind")
    if numbers and numbers != list(range(1, len(values) + 1)):
        raise ValueError(f"has the variables {numbers}; they are counted from 1, without a gap")
    for name in values:
        if not _NAME.fullmatch(name):
            raise ValueError(f"has the variable {name[:60]!r}; a name has a-z, 0-9 and _ only")


def _check_values(values: Mapping[str, str]) -> None:
    places = [place for value in values.values() for place in _PLACE.findall(value)]
    strange = sorted(set(places) - set(PLACES))
    if strange:
        known = ", ".join(f"{{{place}}}" for place in PLACES)
        raise ValueError(f"knows no {{{strange[0][:40]}}}; there are {known}")
    if places.count(TEXT) != 1:
        raise ValueError(f"needs {{{TEXT}}} in exactly one variable, where the answer goes")
    for name, value in values.items():
        if not value.strip():
            raise ValueError(
                f"has no value for the variable {name}; WhatsApp accepts no empty value"
            )


def _check_body(body: str, values: Mapping[str, str], max_chars: int) -> None:
    variables = list(dict.fromkeys(_VARIABLE.findall(body)))
    if set(variables) != set(values):
        raise ValueError(
            f"has {len(variables)} variables in its body ({', '.join(variables) or 'none'}), and "
            f"{len(values)} values ({', '.join(values)})"
        )
    fixed = "".join(_PLACE.sub("", value) for value in values.values())
    own = len(_VARIABLE.sub("", body)) + len(fixed)
    if own + max_chars > MAX_BODY:
        raise ValueError(
            f"has {own} characters of its own, which leaves {MAX_BODY - own} of {MAX_BODY} for the "
            f"answer, fewer than max_chars ({max_chars})"
        )

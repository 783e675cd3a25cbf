"""The time zones of people: names of the IANA database, and cities by which people know them."""

import os
import re
import unicodedata
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from functools import cache, lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError, available_timezones

from msgspec import json
from pydantic import AfterValidator, Field, StringConstraints

from gateway.message import MAX_ZONE, Place
from gateway.policy.access import named_channel
from gateway.settings import Id, Section

UTC: Final = "UTC"
MAX_NAME: Final = MAX_ZONE
"""Characters of the name of a zone."""
MAX_SUGGESTED: Final = 5
SIMILAR: Final = 0.75
"""The least likeness of a name that is suggested for another one."""
_NAME: Final = re.compile(r"[A-Za-z][A-Za-z0-9_+-]*(?:/[A-Za-z0-9_+-]+){0,2}")
_CLOCK: Final = Path("/etc/localtime")
_OF_PROGRAMS: Final = ("Etc/", "SystemV/", "posix/", "right/")
"""Zones that people do not live in."""


class ZoneUnknown(ValueError):
    """There is no zone of this name; `similar` are names of others, the likeliest first."""

    def __init__(self, name: str) -> None:
        self.similar = similar(name)
        hint = f" Did you mean {self.similar[0]}?" if self.similar else ""
        super().__init__(f"There is no time zone {name[:MAX_NAME]!r}.{hint}")


def _known(name: str) -> str:
    if name and zone_named(name) is None:
        raise ZoneUnknown(name)
    return name


ZoneName = Annotated[str, StringConstraints(max_length=MAX_NAME), AfterValidator(_known)]
"""The name of a time zone, such as Europe/Zurich."""


class TimePolicy(Section):
    """The section `time` of the configuration."""

    zone: ZoneName = ""
    """The time zone of people and places for which nothing else is known, such as Europe/Zurich. If
    this is not set: the zone of the machine, or UTC where it has no name."""
    places: Annotated[dict[Id, ZoneName], Field(max_length=10_000)] = Field(default={})
    """The time zone of a workspace or channel, by its id (`slack:T0123: Europe/Zurich`)."""

    @property
    def default(self) -> str:
        """The name of the zone of the installation."""
        return self.zone or system_zone()


def first_zone(*names: str) -> ZoneInfo:
    """Return the zone of the first name that is one; UTC if none is."""
    return next((zone for zone in map(zone_named, names) if zone is not None), ZoneInfo(UTC))


def place_zone(policy: TimePolicy, place: Place) -> str:
    """Return the name of the zone that is set for a channel, or for its workspace; "" for none."""
    if not policy.places:
        return ""
    return (
        named_channel(policy.places, place.platform, place.channel_ids)
        or named_channel(policy.places, place.platform, (place.workspace_id,))
        or ""
    )


@lru_cache(2_000)
def zone_named(name: str) -> ZoneInfo | None:
    """Return the zone of a name of the IANA database, None for every other text."""
    if len(name) > MAX_NAME or _NAME.fullmatch(name) is None:
        return None
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return None


@cache
def system_zone() -> str:
    """Return the name of the machine's zone, UTC where it has none."""
    named = os.environ.get("TZ", "").lstrip(":")
    if zone_named(named) is not None:
        return named
    _, found, linked = str(_CLOCK.resolve()).partition("zoneinfo/")
    usable = found and not linked.startswith(_OF_PROGRAMS) and zone_named(linked) is not None
    return linked if usable else UTC


def meant(typed: str) -> Sequence[str]:
    """Return the zones of a name or a city as a person types it, in any of Parley's languages; most
    often one, none for an unknown text. The first call takes a tenth of a second."""
    wanted = _folded(typed)
    return _by_name().get(wanted, ()) if wanted else ()


def similar(typed: str) -> Sequence[str]:
    """Return the zones whose names or cities are like a text, at most 5, the likeliest first."""
    wanted = _folded(typed)
    close = get_close_matches(wanted, _by_name(), MAX_SUGGESTED, SIMILAR) if wanted else []
    found = (zone for name in close for zone in _by_name()[name])
    return tuple(dict.fromkeys(found))[:MAX_SUGGESTED]


def city_of(zone: str) -> str:
    """Return the English name of a zone's city: "Buenos Aires"."""
    return zone.rpartition("/")[2].replace("_", " ")


def _folded(text: str) -> str:
    parts = unicodedata.normalize("NFKD", text[:MAX_NAME].casefold().replace("_", " "))
    letters = "".join(one for one in parts if not unicodedata.combining(one))
    return " ".join(letters.replace("ı", "i").split())


@cache
def _by_name() -> Mapping[str, Sequence[str]]:
    """The zones by every name and city, folded."""
    source = files("gateway").joinpath("zone_cities.json").read_bytes()
    cities = json.decode(source, type=dict[str, list[str]])
    found: dict[str, list[str]] = {}
    for zone in sorted(available_timezones()):
        if zone.startswith(_OF_PROGRAMS):
            continue
        own = [zone, *cities.get(zone, ())]
        if zone in cities:
            own.append(city_of(zone))
        for name in dict.fromkeys(map(_folded, own)):
            found.setdefault(name, []).append(zone)
    return found

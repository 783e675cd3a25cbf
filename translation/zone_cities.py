"""The cities of time zones in every language, made of the CLDR data of Babel."""

import json
from pathlib import Path
from typing import Final

from babel import Locale

from translation.languages import LANGUAGES

CITIES: Final = Path(__file__).parents[1] / "gateway/zone_cities.json"
_AREAS: Final = (
    *("Africa/", "America/", "Antarctica/", "Arctic/", "Asia/", "Atlantic/", "Australia/"),
    *("Europe/", "Indian/", "Pacific/"),
)


def table() -> dict[str, list[str]]:
    """Return the names of the city of each zone, beside the one that its name has."""
    cities: dict[str, dict[str, None]] = {}
    for language in ("en", *LANGUAGES):
        for zone, names in Locale.parse(language).time_zones.items():
            if zone.startswith(_AREAS) and names.get("city"):
                cities.setdefault(zone, {})[names["city"]] = None
    return {zone: sorted(cities[zone]) for zone in sorted(cities)}


def written() -> str:
    """Return the table as the text of its file."""
    return json.dumps(table(), ensure_ascii=False, indent=1) + "\n"

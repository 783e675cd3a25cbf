"""Write the catalogues and the tables of formats and of names anew: `python -m translation`."""

from translation import time_names, zone_cities
from translation.catalogues import files
from translation.formats import TABLE, written

if __name__ == "__main__":
    for path, text in {
        **files(),
        TABLE: written(),
        time_names.NAMES: time_names.written(),
        zone_cities.CITIES: zone_cities.written(),
    }.items():
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")

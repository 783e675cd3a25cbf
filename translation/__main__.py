"""Write the catalogues and the table of formats anew: `python -m translation`."""

from translation.catalogues import files
from translation.formats import TABLE, written

if __name__ == "__main__":
    for path, text in {**files(), TABLE: written()}.items():
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")

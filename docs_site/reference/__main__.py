"""Write the pages that the program makes itself: `python -m docs_site.reference`."""

import sys

from docs_site.reference.pages import ROOT, pages


def main() -> None:
    """Write every page into docs/."""
    for place, text in pages().items():
        (ROOT / place).parent.mkdir(parents=True, exist_ok=True)
        (ROOT / place).write_text(text, "utf-8")
        sys.stdout.write(f"{place}\n")


if __name__ == "__main__":
    main()

"""The browser and the system of a session in words, from the identification that the browser sends.
Everybody can send any identification, so it only helps a person to recognise their sessions."""

from typing import Final

from gateway.text import Text, text, verbatim

MOST: Final = 1_000
"""Characters of an identification that are looked at."""
BROWSERS: Final = (
    ("Edg", "Edge"),
    ("OPR/", "Opera"),
    ("Vivaldi/", "Vivaldi"),
    ("SamsungBrowser/", "Samsung Internet"),
    ("Firefox/", "Firefox"),
    ("FxiOS/", "Firefox"),
    ("Chromium/", "Chromium"),
    ("CriOS/", "Chrome"),
    ("Chrome/", "Chrome"),
    ("Safari/", "Safari"),
)
"""Marks and names; the first mark decides, as most browsers also name those that they resemble."""
SYSTEMS: Final = (
    ("iPhone", "iPhone"),
    ("iPad", "iPad"),
    ("Android", "Android"),
    ("Windows", "Windows"),
    ("CrOS", "ChromeOS"),
    ("Mac OS X", "macOS"),
    ("Linux", "Linux"),
)
BOTH: Final = text("{browser} on {system}")
UNKNOWN: Final = text("another browser")


def browser_of(identification: str) -> Text:
    """Return the browser and the system that an identification names."""
    looked = identification[:MOST].replace("HeadlessChrome", "Chrome")
    browser = next((name for mark, name in BROWSERS if mark in looked), "")
    system = next((name for mark, name in SYSTEMS if mark in looked), "")
    if browser and system:
        return BOTH.of(browser=verbatim(browser), system=verbatim(system))
    return verbatim(browser or system) if browser or system else UNKNOWN

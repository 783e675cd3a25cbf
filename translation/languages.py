"""The languages in which Parley speaks."""

from typing import Final

from babel.messages.plurals import get_plural

LANGUAGES: Final = (
    *("de", "fr", "es", "pt", "it", "pl", "tr", "ru", "uk", "ar", "hi", "ja", "ko"),
    *("zh_Hans", "zh_Hant"),
)
"""The languages of the catalogues, beside English."""


def plural_header(language: str) -> str:
    """Return the header `Plural-Forms` of a language."""
    return str(get_plural(language))

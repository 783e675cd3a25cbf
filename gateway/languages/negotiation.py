"""Which of the offered languages fits the one that a platform tells."""

from collections.abc import Collection
from typing import Final

MAX_TAG: Final = 35
"""Characters of a language tag: the length that BCP 47 asks programs to hold."""
_TRADITIONAL: Final = frozenset({"tw", "hk", "mo", "hant"})


def language_of_reader(
    chosen: str, told: str, place: str, default: str, offered: Collection[str]
) -> str:
    """Return the language for a reader: the first offered one of what they chose, what their
    platform tells and what their place has, otherwise the installation's."""
    found = (fitting(one, offered) for one in (chosen, told, place))
    return next(filter(None, found), default)


def fitting(tag: str, offered: Collection[str]) -> str:
    """Return the offered language for a tag such as "de-AT", "pt_BR" or "zh-Hant-HK", or ""."""
    if len(tag) > MAX_TAG:
        return ""
    main, *further = tag.replace("_", "-").casefold().split("-")
    by_name = {language.casefold(): language for language in offered}
    if main == "zh":
        script = "hant" if _TRADITIONAL.intersection(further) else "hans"
        return by_name.get(f"zh_{script}", "")
    return by_name.get("_".join((main, *further))) or by_name.get(main, "")

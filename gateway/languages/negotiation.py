"""Which of the offered languages fits the one that a platform tells."""

import re
from collections.abc import Collection, Sequence
from typing import Final

MAX_TAG: Final = 35
"""Characters of a language tag: the length that BCP 47 asks programs to hold."""
MAX_HEADER: Final = 500
"""Characters of a header `Accept-Language` that are read."""
_TAG: Final = re.compile(rf"[A-Za-z0-9-]{{2,{MAX_TAG}}}")
_WEIGHT: Final = re.compile(r"[01](\.[0-9]{0,3})?")
_TRADITIONAL: Final = frozenset({"tw", "hk", "mo", "hant"})


def language_of_reader(
    chosen: str, told: str, place: str, default: str, offered: Collection[str]
) -> str:
    """Return the language for a reader: the first offered one of what they chose, what their
    platform tells and what their place has, otherwise the installation's."""
    found = (fitting(one, offered) for one in (chosen, told, place))
    return next(filter(None, found), default)


def liked_by(header: str) -> Sequence[str]:
    """Return the languages of a header `Accept-Language`, the best liked first."""
    liked: list[tuple[float, str]] = []
    for one in header[:MAX_HEADER].split(","):
        tag, _, weight = one.partition(";q=")
        found = _WEIGHT.fullmatch(weight.strip() or "1")
        if found and float(found[0]) > 0 and _TAG.fullmatch(tag.strip()):
            liked.append((float(found[0]), tag.strip()))
    return tuple(tag for _, tag in sorted(liked, key=lambda one: -one[0]))


def fitting(tag: str, offered: Collection[str]) -> str:
    """Return the offered language for a tag such as "de-AT", "pt_BR" or "zh-Hant-HK", or ""."""
    if len(tag) > MAX_TAG:
        return ""
    main, *further = tag.replace("_", "-").casefold().split("-")
    by_name = {language.casefold(): language for language in offered}
    if exact := by_name.get("_".join((main, *further))):
        return exact
    if main == "zh":
        script = "hant" if _TRADITIONAL.intersection(further) else "hans"
        return by_name.get(f"zh_{script}", "")
    return by_name.get(main, "")

"""Decides whether a labelled text can be the secret, by the class of secret and the kind of label.

Pure decisions over short texts: a value has at most 400 characters.
"""

import re
from typing import Final

from safety.secret_detection.label_words import (
    GENERIC_KEYS,
    NAMED_BY,
    NO_SECRETS,
    NO_VALUES,
    OWNERS,
    TECHNICAL,
    VENDOR_NAMES,
    Class,
    expression_of,
)
from safety.secret_detection.plausibility import (
    is_placeholder,
    is_uuid,
    letters_by_chance,
    looks_like_password,
    looks_random,
    may_be_a_word,
)
from safety.secret_detection.short_values import ends_statement, is_stated
from safety.secret_detection.value_spans import LabelForm, LabelledValue

SHORTEST_KEY: Final = 12
"""Minimum characters of a labelled key."""


_DIGIT: Final = re.compile(r"\d")
_MADE: Final = re.compile(r"[\dA-Z]")
NEVER: Final = re.compile(
    r"(?:https?|ftp)://|www\.|[\w.+-]{1,64}@[\w-]{1,63}\.[\w.-]{2,63}\Z|\d{4}-\d\d-\d\d|"
    r"\d{1,2}:\d\d|0[xX][0-9a-fA-F]{40}\Z|\[SECRET|[%$@]\(|\$\w(?![^\W\d]*\d\w*[!#%*^~])|\{\{|<|&\w{2,8};|"
    r"\d{1,3}(?:-(?:[a-z]{3,12})|(?:px|em|rem|ms|kb|mb|gb|bit|bits|st|nd|rd|th|x|d|h|s))\Z|"
    r"1password\Z|[\w.-]{1,60}\.(?:py|js|ts|go|java|rb|txt|json|ya?ml|md|html?|php|css|conf|env|log)\Z|"
    r"(?:[a-z]\.){2,5}",
    re.IGNORECASE,
)
"""Addresses, dates, templates, file names, measures."""
_NAME_BEFORE: Final = 40
_ASSIGNED: Final = frozenset({LabelForm.SIGN, LabelForm.CALL})
_CLEAR: Final = frozenset({LabelForm.SIGN, LabelForm.LINK, LabelForm.CALL, LabelForm.CELL})
_NAMED: Final = NAMED_BY
_VENDORS: Final = expression_of(VENDOR_NAMES)
_SOFT_SIGNS: Final = frozenset("-'’./_:+&@,;*~–—")
_OF_FOR_PINS: Final = """
    card sim door gate my phone safe bank code alarm
"""
_FOR_PINS: Final = frozenset(_OF_FOR_PINS.split())
_USED: Final = ("use", "my", "our", "with")
_TEST_NAME: Final = re.compile(r"[a-z]+(?:_[a-z0-9]+)+")
_LETTERS: Final = re.compile(r"[^\W_]*")
_SHORTEST_PIN: Final = 4
_LONGEST_PIN: Final = 8
_SHORTEST_CVV: Final = 3
_MIN_STRONG: Final = 6
_MIN_PASSWORD: Final = 4
_MIN_NUMBER: Final = 8
_MAX_NUMBER: Final = 40
_MIN_LONE_NUMBER: Final = 10
_MIN_NUMBER_BESIDE: Final = 12
_MIN_DISTINCT: Final = 4
_OF_AMOUNTS: Final = """
    supply price amount balance cap total value worth
"""
_AMOUNTS: Final = NO_VALUES | frozenset(_OF_AMOUNTS.split())
_OF_TOKENS: Final = """
    トークン 令牌 토큰 密钥 密鑰 金鑰 秘钥 シークレット 시크릿
"""
_TOKENS: Final = frozenset(_OF_TOKENS.split())
"""Labels of scripts without spaces that are not everyday words."""
_HARDWARE: Final = re.compile(
    r"(?i)connector|gpio|header\b|pinout|arduino|socket|raspberry|\besp\d|solder|voltage"
)
_HARDWARE_NEAR: Final = 40
_EVERYDAY: Final = frozenset({"secret", "credential", "geheimnis", "секретн", "sekret"})
"""Labels that are words of every day besides."""
_TEMPLATE: Final = re.compile(r"\{[a-z_][\w.]+\}|\$\{\w+\}")
_LONG: Final = 20
_MEDIUM: Final = 16
_SHORT_SECRET: Final = 8


def is_secret(candidate: LabelledValue) -> bool:
    """Return True if the value is a secret of its label, and not talk about it."""
    value = candidate.value
    if NEVER.match(value) or (candidate.how is LabelForm.CELL and _is_path(candidate)):
        return False
    if candidate.kind is Class.PIN:
        return _is_pin(candidate, value)
    decide = _is_password if candidate.kind is Class.PASSWORD else _is_key
    if not decide(candidate, value) and not (ends_statement(candidate) and _is_stated(candidate)):
        return False
    return candidate.how is not LabelForm.SIGN or not _is_type(candidate)


def _is_stated(candidate: LabelledValue) -> bool:
    named = candidate.kind is not Class.PASSWORD and (
        _name_before(candidate).endswith(_NAMED) or candidate.word in _TOKENS
    )
    return is_stated(candidate, owned=_is_owned(candidate), named=named)


def _is_path(candidate: LabelledValue) -> bool:
    """`cat /etc/passwd|base64`: a file, whose name is the word, and a program that reads it."""
    return candidate.text[max(0, candidate.start - 1) : candidate.start] == "/"


def last_part(name: str) -> str:
    """Return the last word of a name, in small letters: "length" of `_min_length` and of
    `MinLength`."""
    name = name.rstrip("_.- \"'")
    backwards = _LETTERS.match(name[::-1])
    last = name[len(name) - (backwards.end() if backwards is not None else 0) :]
    if not last.isupper() and not last.islower():
        capital = next((i for i in range(len(last) - 1, -1, -1) if last[i].isupper()), 0)
        last = last[capital:]
    return last.lower()


def _letters(value: str) -> str:
    """Return the value without marks and signs of scripts other than ASCII: they are part of
    words."""
    if value.isascii():
        return value
    return "".join(char for char in value if char.isascii() or char.isalnum())


def is_strong(value: str) -> bool:
    """Return True for a password that needs no sign before it: letters with digits or rare
    signs."""
    value = _letters(value)
    if len(value) < _MIN_STRONG or not looks_like_password(value):
        return False
    if not any(map(str.isalpha, value)) or TECHNICAL.fullmatch(value.lower().rstrip(".,:;!?)")):
        return False
    inner = value.strip(".,!?:;'\"")
    signs = [char for char in inner if not char.isalnum()]
    if any(map(str.isdigit, inner)) or any(char not in _SOFT_SIGNS for char in signs):
        return True
    return not signs and len(inner) > _SHORT_SECRET


def _is_password(candidate: LabelledValue, value: str) -> bool:
    value = _letters(value)
    if len(value) < _MIN_PASSWORD or (candidate.word in value.lower() and not _DIGIT.search(value)):
        return False
    if value.isalpha() and (value.islower() or value.isupper() or value.istitle()):
        return _is_plain_word(candidate, value) or _is_no_word(value)
    if candidate.word == "pass" and not candidate.quoted and _TEST_NAME.fullmatch(value):
        return False
    if value[0] in "%#@" and candidate.how is LabelForm.SIGN and value[-1] != value[0]:
        return is_strong(value[1:])
    if is_placeholder(value):
        return False
    if TECHNICAL.fullmatch(value.lower()) and candidate.how is not LabelForm.SIGN:
        return False
    if value.isdigit():
        clear = candidate.how in _CLEAR and not candidate.fillers
        return len(value) >= (_MIN_PASSWORD if clear else _MIN_STRONG)
    if candidate.how in {LabelForm.BESIDE, LabelForm.BEFORE, LabelForm.LINE}:
        return is_strong(value)
    if candidate.fillers:
        return is_strong(value)
    return looks_like_password(value) or (value.isalpha() and _is_plain_word(candidate, value))


def _is_no_word(value: str) -> bool:
    return len(value) >= _LONG and letters_by_chance(value)


def _is_plain_word(candidate: LabelledValue, value: str) -> bool:
    """Return True for a plain word that is a password: quoted after a name, or at the end of a
    statement."""
    if candidate.how not in {LabelForm.SIGN, LabelForm.LINK} or value.isupper():
        return False
    if candidate.quoted:
        return not candidate.fillers and may_be_a_word(value, candidate.word)
    ahead = candidate.text[candidate.end : candidate.end + 1]
    at_end = ahead in {"", "\n", "\r"} or (
        ahead in ".!" and candidate.text[candidate.end + 1 : candidate.end + 2] in {"", "\n", " "}
    )
    if not at_end or (candidate.word == "clave" and _name_before(candidate).endswith("palabra")):
        return False
    stated_by_owner = (candidate.how is LabelForm.SIGN and not candidate.fillers) or _is_owned(
        candidate
    )
    return stated_by_owner and may_be_a_word(value, candidate.word)


def _is_owned(candidate: LabelledValue) -> bool:
    before = candidate.text[max(0, candidate.start - 24) : candidate.start].lower().split()
    return (
        bool(before)
        and not before[-1].endswith(("your", "ihr", "votre", "su"))
        and any(word in _MINE for word in before[-2:])
    )


_OF_MINE: Final = """
    my our mein meine unser unsere mon ma notre mi nuestra minha nossa mijn onze mio mia мой
    наш мій moje mitt min moja
"""
_MINE: Final = frozenset(_OF_MINE.split())


def _is_key(candidate: LabelledValue, value: str) -> bool:
    if len(value) < SHORTEST_KEY and not value.isdigit():
        return _is_word_for_secret(candidate, value)
    if _TEMPLATE.search(value):
        return False
    random = looks_random(value, SHORTEST_KEY)
    if not (random or _MADE.search(value)):
        return _is_word_for_secret(candidate, value)
    if not (random or candidate.quoted or value.isdigit() or is_uuid(value)):
        return False  # before the name is looked at, which takes longer
    name = _name_before(candidate)
    if "arn:" in name or (_last_word_before(candidate) in NO_SECRETS and not _is_clear(candidate)):
        return False
    generic = _is_generic(candidate)
    named = (
        name.endswith(_NAMED)
        or _has_vendor(candidate)
        or (not generic and _ends_a_name(candidate))
        or _is_parameter(candidate)
    )
    if is_uuid(value):
        return named or _labels_ids(candidate)
    if value.isdigit():
        says_so = named or not generic or candidate.word in _TOKENS
        return says_so and _is_number_for_key(candidate, value, named=named)
    return _is_random_key(candidate, value, random=random, named=named)


def _is_random_key(candidate: LabelledValue, value: str, *, random: bool, named: bool) -> bool:
    """Return True for a text that is long enough for what its label says."""
    generic = _is_generic(candidate)
    if generic and not named and candidate.how not in _CLEAR:
        used = (
            candidate.word == "key"
            and _name_before(candidate).endswith(_USED)
            and candidate.how is LabelForm.BESIDE
        )
        fits = random and len(value) >= _LONG and _is_mixed(value)
        return fits and (used or not _is_hex(value))
    if candidate.how is LabelForm.BESIDE:
        return random and len(value) >= (_MEDIUM if named else _LONG)
    if generic and not named:
        return random and len(value) >= (_LONG if candidate.how is LabelForm.SIGN else _MEDIUM)
    stated = candidate.quoted or (named and candidate.how is LabelForm.SIGN)
    if _is_hex(value) and len(value) < _LONG and (generic or not stated):
        return False
    joined = candidate.text[candidate.start - 1 : candidate.start] in {"_", "-", "."}
    short = named or joined or (candidate.quoted and " " not in value)
    fits = random and len(value) >= (SHORTEST_KEY if short else _MEDIUM)
    return fits or _is_word_for_secret(candidate, value)


def _last_word_before(candidate: LabelledValue) -> str:
    return last_part(candidate.text[max(0, candidate.start - _NAME_BEFORE) : candidate.start])


def _is_clear(candidate: LabelledValue) -> bool:
    """ "secret" says of any thing that it is one: `provisionDeviceSecret`, `HOST_SECRET`."""
    return candidate.word == "secret" and _ends_a_name(candidate)


def _is_number_for_key(candidate: LabelledValue, value: str, *, named: bool) -> bool:
    """Return True for digits that are a key: under a name that says so, or after "token" or
    "secret" if they are too many for a count of tokens and not a round number."""
    if candidate.rest.strip("_.-") or len(value) > _MAX_NUMBER:
        return False
    if named and candidate.how in _CLEAR and len(value) >= _MIN_NUMBER:
        return True
    if len(set(value)) < _MIN_DISTINCT or not _AMOUNTS.isdisjoint(candidate.fillers):
        return False
    if candidate.how in _CLEAR:
        return len(value) >= _MIN_LONE_NUMBER
    least = _MIN_LONE_NUMBER if named else _MIN_NUMBER_BESIDE
    return candidate.how is LabelForm.BESIDE and not candidate.fillers and len(value) >= least


def _is_word_for_secret(candidate: LabelledValue, value: str) -> bool:
    """`secret = "hunter2!x"`: what a person made up, under a name that says secret."""
    if not (candidate.quoted and candidate.how in _ASSIGNED and len(value) >= _SHORT_SECRET):
        return False
    if _is_generic(candidate) and not _name_before(candidate).endswith(_NAMED):
        return False
    return " " not in value and is_strong(value)


def _is_pin(candidate: LabelledValue, value: str) -> bool:
    least = _SHORTEST_CVV if candidate.word[:3] in {"cvv", "cvc", "cv2"} else _SHORTEST_PIN
    ahead = candidate.text[candidate.end : candidate.end + 2]
    if not value.isdigit() or not least <= len(value) <= _LONGEST_PIN:
        return False
    if (
        (ahead[:1].isalnum() and ahead.isascii())
        or ahead[:1] in {"_", "-", "/"}
        or (ahead[:1] in ".," and ahead[1:].isdigit())
    ):
        return False
    near = candidate.text[max(0, candidate.start - _HARDWARE_NEAR) : candidate.end + _HARDWARE_NEAR]
    if candidate.rest.strip(".-_") or _HARDWARE.search(near):
        return False
    if candidate.how is LabelForm.CELL:
        return not candidate.fillers
    if candidate.how in {LabelForm.SIGN, LabelForm.LINK, LabelForm.CALL}:
        return all(
            filler in OWNERS or len(filler) <= _SHORTEST_CVV for filler in candidate.fillers
        ) or (candidate.how is LabelForm.LINK)
    if candidate.how is not LabelForm.BESIDE:
        return False
    before = candidate.text[max(0, candidate.start - 24) : candidate.start].lower().split()
    return (
        not candidate.word.isascii()
        or least == _SHORTEST_CVV
        or (" " in candidate.word and candidate.word != "pin code")
        or (bool(before) and (before[-1] in _FOR_PINS or before[-1] in OWNERS - {"the", "a"}))
    )


def _is_generic(candidate: LabelledValue) -> bool:
    """`key` alone, which is an everyday word, in any language."""
    return candidate.word in GENERIC_KEYS


def _is_type(candidate: LabelledValue) -> bool:
    """`AWS::ApiGateway::ApiKey`: the name of a type, whose value is none of it."""
    return "::" in candidate.text[max(0, candidate.start - _NAME_BEFORE) : candidate.start]


def _labels_ids(candidate: LabelledValue) -> bool:
    """Return True for a label that gives even an id away: "token", and "secret" with a quoted
    value."""
    if candidate.how is LabelForm.BEFORE or _is_generic(candidate):
        return False
    return candidate.word not in _EVERYDAY or (candidate.quoted and candidate.how in _ASSIGNED)


def _is_parameter(candidate: LabelledValue) -> bool:
    """`?key=…` and `&key=…`: in an address no program counts or sorts by it."""
    text, start = candidate.text, candidate.start
    return text[start - 1 : start] in {"?", "&"} and text[candidate.begin - 1] == "="


def _ends_a_name(candidate: LabelledValue) -> bool:
    """Return True if the word is the last of a compound name, as in `SNYK_TOKEN` and
    `snykToken`."""
    before = candidate.text[max(0, candidate.start - 2) : candidate.start]
    if before[-1:] in {"_", "-", "."}:
        return before[:1].isalnum()
    return candidate.text[candidate.start].isupper() and before[-1:].islower()


def _name_before(candidate: LabelledValue) -> str:
    """The part of the name before the word, in small letters: `my_api_` of `my_apiKey`."""
    before = candidate.text[max(0, candidate.start - _NAME_BEFORE) : candidate.start].lower()
    stripped = before.rstrip(" _.-\"'")
    if len(before) - len(stripped) > 1:
        return "" if before.endswith("  ") or "\n" in before[len(stripped) :] else stripped
    return stripped


def _has_vendor(candidate: LabelledValue) -> bool:
    before = candidate.text[max(0, candidate.start - _NAME_BEFORE) : candidate.start].lower()
    return _VENDORS.search(before) is not None


def _is_mixed(value: str) -> bool:
    return sum(map(str.isdigit, value)) >= 2 and any(map(str.isalpha, value))


def _is_hex(value: str) -> bool:
    return set(value.lower()) <= set("0123456789abcdef")

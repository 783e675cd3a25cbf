"""The layouts of a value after its label: signs, calls, tables, sentences."""

import re
from typing import Final

from safety.secret_detection.value_rules import LabelForm

TAIL: Final = re.compile(
    "(?P<rest>[\\w.\\-\u0300-\u036f\u064b-\u065f\u0900-\u0dff]{0,40})(?:\\[[^\\]\\s\"']{0,20}\\])?"
    "(?P<closed>[\\\\\"'`*)\\]»”]{0,4})"
)
"""The rest of a name, an index, and what closes it."""
_TYPE: Final = (
    r"(?:&?(?:'static\s)?(?:str|string|String|text|bytes|char|any|Any|SecretStr|NSString)"
    r"(?:\s?\|\s?(?:None|null|undefined))?|Optional\[str\])(?:\s?\*)?"
)
TYPED: Final = re.compile(rf"\s?:\s?{_TYPE}\s?=(?!=)|\s{_TYPE}\s?=(?!=)")
SIGN: Final = re.compile(
    r"\s{0,4}(?::=|\?=|=>|->|→|<-|[!=]==?|\|\|=|=|:|：|＝|>|—|–|(?<=\s)-(?=\s))"
)
PAIR: Final = re.compile(r"\s{0,2}[,(]\s{0,10}(?=[@\"']|[rbufL]#?[\"'])")
_BAR: Final = re.compile(r"[ \t]{0,4}\|[ \t]{0,4}")
_NAMED: Final = re.compile(
    r",?\s{0,20}\\?[\"']?value\\?[\"']?\s{0,4}[:=]|</(?:key|name)>\s{0,20}<(?:string|value)>"
)
_LINE: Final = re.compile(r"[ \t]{0,4}\r?\n")
QUOTED_NEXT: Final = re.compile(r"[ \t]{1,2}(?=@?[\"'`„“«‘「『])")
TOKEN: Final = re.compile(
    r"[ \t\u00a0]{1,4}(?P<word>(?:[^\s\"'`«»“”„‘’「」『』:：=()<>|,;،。，]|"
    r"(?<=\w)['’](?=\w)){1,120})"
)
LAYOUTS: Final = (
    (PAIR, LabelForm.CALL),
    (_NAMED, LabelForm.SIGN),
    (_BAR, LabelForm.CELL),
    (_LINE, LabelForm.LINE),
    (QUOTED_NEXT, LabelForm.CALL),
)
LAYOUT_AHEAD: Final = re.compile(r"[^\S\n]{0,10}(?:[\n,(|@\"'`„“«‘「『\\]|value|</)|[^\S\n]{11}")
"""Begins all of them."""
LOOSE: Final = frozenset({_LINE, QUOTED_NEXT})

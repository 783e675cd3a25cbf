"""Words that say how a question is asked, not what about, in languages other than English.

The stores leave out English ones. Which language a question is in is told by these very words: it
is the one that has most of them.
"""

from collections.abc import Sequence
from typing import Final

_GERMAN: Final = """
aber als am an auch auf aus bei beim bin bis bitte da damit dann das dass dem den denn der des
die dies diese dieser dir doch du ein eine einem einen einer er es für gab gibt haben habe hast
hat hatte hatten ich ihm ihn ihr im in ist ja kann kannst können könnte man mein meine mich mir
mit muss nach nicht noch nur ob oder sein sich sie sind so soll sollen über um und uns unser vom
von vor wann war waren warum was weil welche welchem welchen welcher welches wenn wer wem wen
wessen werden wie wieso wird wir wo woher wohin wurde zu zum zur
"""
_FRENCH: Final = """
a ai as au aux avec c ce ces cette combien comment d dans de des du elle en est et était il ils
j je l la le les leur lui m ma mais me mes moi mon n ne nos notre nous on ont ou où par pas pour
pourquoi qu quand que quel quelle quelles quels qui quoi s sa se ses son sont sur t ta te tes
ton tu un une vos votre vous y
"""
_SPANISH: Final = """
a al como cómo con cual cuál cuando cuándo cuanto cuánto de del donde dónde e el ella en era es
esa ese esta está este fue ha hay la las le les lo los me mi mis muy no nos o para pero por
porque qué que quien quién se ser si sin sobre son su sus te tu tus un una y ya yo
"""
_ENGLISH: Final = """
a about am an and are as at be by did do does for from had has have he her his how i in is it me
my of on or our she that the their they this to was we were what when where which who why will
with you your
"""
_OTHERS: Final = tuple(frozenset(text.split()) for text in (_GERMAN, _FRENCH, _SPANISH))
_OURS: Final = frozenset(_ENGLISH.split())
FUNCTION_WORDS: Final = _OURS.union(*_OTHERS)
"""Those of all these languages."""


def telling(words: Sequence[str]) -> tuple[str, ...]:
    """A question's words without the function words of its language; all where only such are
    there, or where it is English."""
    asked = set(words)
    best = max(_OTHERS, key=lambda language: len(asked & language))
    if len(asked & best) <= len(asked & _OURS):
        return tuple(words)
    return tuple(word for word in words if word not in best) or tuple(words)

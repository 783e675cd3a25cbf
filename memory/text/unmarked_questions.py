"""Questions without a question mark: "am i allergic to nuts" states nothing.

Decided by the words with which a question begins or ends, in twenty languages. A statement that is
taken for a question is asked about; a question in a language that is missing here is stored as it
was written.
"""

from typing import Final

from memory.text.courtesies import words_of

_AUXILIARY: Final = frozenset(
    """
    am is are was were do does did can could will would should shall have has had may might
    isn aren wasn weren don doesn didn couldn won wouldn shouldn haven hasn hadn
    isnt arent wasnt werent dont doesnt didnt couldnt wont wouldnt shouldnt havent hasnt
    """.split()  # noqa: SIM905 - reads better
)
_SUBJECT: Final = frozenset("i you he she it we they there anybody anyone somebody".split())  # noqa: SIM905 - reads better
_OWNER: Final = frozenset("my our his her their".split())  # noqa: SIM905 - reads better
_TO_BE: Final = frozenset("am is are was were does did isn isnt aren arent".split())  # noqa: SIM905 - reads better
_ASKING: Final = frozenset("what whats who whos whom whose which when where why how".split())  # noqa: SIM905 - reads better
_VERB_FIRST: Final = frozenset(
    """
    bin bist ist sind war waren hab habe hast hat hatte haben kann kannst können darf dürfen soll
    sollte sollen muss muß müssen mag magst werde wird werden wurde weißt weisst
    """.split()  # noqa: SIM905 - reads better
)
_PRONOUN: Final = frozenset("ich du er sie es wir ihr mein meine meiner".split())  # noqa: SIM905 - reads better
_BEGINNINGS: Final = (
    "any idea", "i wonder if", "i wonder whether", "wonder if",
    "weißt du", "weisst du", "was ist", "was sind", "wer ist", "wo ist", "wie heißt",
    "wie heisst", "wie viel", "wie viele", "wann ist", "warum ist",
    "est ce", "suis je", "ai je", "dois je", "puis je", "vais je", "qu est ce", "quel est",
    "quelle est", "c est quoi", "où est", "qui est",
    "cuál es", "cuáles son", "qué es", "quién es", "dónde está", "cuándo es", "cómo se",
    "qual è", "chi è", "dov è", "cos è", "quando è", "come si chiama",
    "qual é", "quem é", "onde está", "quando é", "será que",
    "ben ik", "heb ik", "kan ik", "mag ik", "moet ik", "wat is", "wie is", "waar is",
    "är jag", "har jag", "kan jag", "vad är", "vem är", "er jeg", "har jeg", "hvad er", "hva er",
    "olenko", "onko", "czy", "zda", "разве", "что такое", "кто такой", "чи",
    "هل", "أليس", "آیا", "क्या", "apakah", "có phải", "האם", "μήπως", "oare",
)  # fmt: skip
_WITHIN: Final = ("ли", "mı", "mü", "mıyım", "miyim", "muyum", "müyüm")
"""Particles that make a question of the words before them."""
_AT_THE_END: Final = ("mi", "mu")
_TURKISH: Final = frozenset("ığş")
_ENDINGS: Final = (
    "ですか", "ますか", "ましたか", "でしょうか", "ませんか", "のか", "吗", "嗎", "呢",
    "나요", "까요", "니까", "인가요", "ไหม", "มั้ย", "หรือเปล่า", "หรือไม่", "phải không",
)  # fmt: skip
_ENDS_OF_SENTENCE: Final = " \n\t.!…。！।\"'”’»)]」』）"


def asks_unmarked(text: str) -> bool:
    """True for a sentence that begins or ends as only questions do."""
    plain = text.strip().strip(_ENDS_OF_SENTENCE)
    if plain.startswith("¿") or plain.endswith(_ENDINGS):
        return True
    words = words_of(plain)
    joined = f"{' '.join(words)} "
    if any(joined.startswith(f"{beginning} ") for beginning in _BEGINNINGS):
        return True
    if len(words) > 1 and words[-1] in _AT_THE_END and not _TURKISH.isdisjoint(joined):
        return True
    return any(word in _WITHIN for word in words[1:]) or _inverted(words)


def _inverted(words: list[str]) -> bool:
    """True where the verb comes before its subject, or behind a question word."""
    if len(words) < 2:
        return False
    first, second = words[0], words[1]
    if first in _AUXILIARY:
        skip = 2 if second == "t" and len(words) > 2 else 1
        return words[skip] in _SUBJECT or (first in _TO_BE and words[skip] in _OWNER)
    if first in _ASKING:
        return second in _AUXILIARY or first in ("whats", "whos")
    return first in _VERB_FIRST and second in _PRONOUN

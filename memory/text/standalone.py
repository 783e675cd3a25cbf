"""Decides if a sentence states something without the sentences before it.

"Yes, that one", "genau das", "はい" and "in Bern" do not: their meaning stands in another message.
The lists hold frequent words of twenty languages; a word that is missing from them makes a sentence
count as a statement, and what is stored then is still the person's own sentence.

A question without a question mark ("am i allergic to nuts") states nothing either. It is recognised
by its first or last words. A statement that is taken for a question is asked about.
"""

import re
import unicodedata
from typing import Final

from memory.text.courtesies import CONSENT, words_of
from memory.text.function_words import FUNCTION_WORDS, STOP_WORDS

_UNSPACED: Final = re.compile(
    r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff]"
)
_NAME: Final = re.compile(r"(?<=[a-z,] )[A-Z][a-z]{0,9}\b")
"""A word with a capital in the middle of a sentence: "Go" in "We use Go"."""
_UNSPACED_SCRIPTS: Final = (
    "CJK",
    "HIRAGANA",
    "KATAKANA",
    "HANGUL",
    "THAI",
    "LAO",
    "KHMER",
    "MYANMAR",
)
_UNSPACED_STATEMENT: Final = 5
"""Letters from which a run of Chinese, Japanese, Thai ... counts as a sentence."""

_POINTS: Final = frozenset(
    """
    that this it those these them they he she him her there
    das dies dieses dieser diese jenes es ihn ihm dort dahin davon damit
    ça cela ceci celui celle elle lui
    eso esto ese esa esos esas ello él ella
    quello questa questo quella ciò
    isso isto aquilo ele ela
    dat dit deze hij zij
    to tamten tamta
    bu şu
    это этот эта эти тот он она оно они его её ее их там
    це той він вона воно вони
    هذا هذه ذلك تلك هو هي این آن او
    यह वह ये वे इसे उसे
    itu ini dia
    đó này kia nó
    그거 그것 이거 이것
    """.split()  # noqa: SIM905 - reads better
)
"""Words that refer to an earlier text, none of which is also an article."""
_SPEAKER: Final = frozenset(
    """
    i im my me we our us mine myself
    ich bin mein meine meinen meiner mir mich wir unser unsere uns
    j je suis mon ma mes moi nous notre nos
    yo soy tengo mi mis me nosotros somos nuestro nuestra
    io sono ho mio mia noi siamo nostro nostra
    eu sou tenho meu minha nós somos nosso nossa
    ik ben mijn wij onze jag är min mitt vi jeg er jestem mam ja moja mój ben benim biz
    я мой моя моё мне меня у мы наш мені мене мій
    أنا انا لي نحن من मैं मेरा मेरी मुझे हम aku saya kami tôi mình em anh chị
    저는 나는 제 내 우리
    """.split()  # noqa: SIM905 - reads better
)
"""Words for the speaker: "I", "my", "we"."""
_UNSPACED_SPEAKER: Final = ("我", "私", "僕", "俺", "わたし", "ぼく", "ฉัน", "ผม", "ดิฉัน")
_BOUND: Final = frozenset(
    """
    ve ll re s t d m want like take will would do did does use go works work fine
    will möchte nehme nimm mache geht prends veux quiero voglio quero wil chcę
    istiyorum хочу funktioniert
    """.split()  # noqa: SIM905 - reads better
)
"""Words that refer to a thing that was named before: "take it"."""
_UNSPACED_AGREES: Final = frozenset(
    (
        "はい", "いいえ", "うん", "ううん", "そう", "そうです", "そうですね", "それ", "それです",
        "それで", "それでお願いします", "お願いします", "これ", "これです", "了解", "了解です",
        "ありがとう", "ありがとうございます", "大丈夫", "大丈夫です", "いいです", "いいね",
        "いいよ", "そうしてください", "その通りです", "それでいいです", "是的那个",
        "对就是这个", "就是这个", "就是那个", "我要这个", "我要那个",
        "我选这个", "我同意", "我知道", "我知道了", "没有问题",
        "ใช่ครับ", "ใช่ค่ะ", "ไม่ใช่", "อันนั้น", "อันนี้", "อันนี้ครับ", "อันนี้ค่ะ",
    )
)  # fmt: skip
_EMPTY: Final = CONSENT | _POINTS | _SPEAKER | _BOUND | FUNCTION_WORDS | STOP_WORDS


def stands_alone(sentence: str) -> bool:
    """Return True if the sentence states a fact by itself.

    At least two of its words carry content, or one beside a word for the speaker ("I'm vegetarian")
    and none that refers back ("I love it").
    """
    words = words_of(sentence)
    names = sum(1 for name in _NAME.findall(sentence) if name.casefold() in _BOUND)
    if _UNSPACED.search(sentence) is not None:
        return _unspaced_stands(words)
    telling = names + sum(1 for word in words if word not in _EMPTY)
    if telling != 1:
        return telling > 1
    return any(word in _SPEAKER for word in words) and not any(word in _POINTS for word in words)


def is_unspaced(letter: str) -> bool:
    """True for a letter that is a syllable or a word, or of a script without spaces."""
    return unicodedata.name(letter, "").startswith(_UNSPACED_SCRIPTS)


def telling_words(sentence: str) -> list[str]:
    """The words of a sentence that carry its subject."""
    return [word for word in words_of(sentence) if word not in _EMPTY]


def _unspaced_stands(words: list[str]) -> bool:
    runs = [word for word in words if word not in _UNSPACED_AGREES]
    letters = "".join(runs)
    if "".join(words) in _UNSPACED_AGREES or not letters:
        return False
    return len(letters) >= _UNSPACED_STATEMENT or any(who in letters for who in _UNSPACED_SPEAKER)


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
    """True where the verb comes before its subject, or after a question word."""
    if len(words) < 2:
        return False
    first, second = words[0], words[1]
    if first in _AUXILIARY:
        skip = 2 if second == "t" and len(words) > 2 else 1
        return words[skip] in _SUBJECT or (first in _TO_BE and words[skip] in _OWNER)
    if first in _ASKING:
        return second in _AUXILIARY or first in ("whats", "whos")
    return first in _VERB_FIRST and second in _PRONOUN

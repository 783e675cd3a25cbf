"""Removes turns that only repeat the question or another result.

A turn repeats if nearly none of its words is new: "What do you know about tea?" and "I will
remember that." say nothing about tea. A statement never does, even in the words of the question: it
answers "Do I like tea?". The turns stay stored.

Turns that repeat the question, and answers that say only that nothing is known, match a question
best but say nothing, so they are not recalled, and lend no score to other turns except the answer
to an earlier question.
"""

import re
from collections.abc import Sequence
from typing import Final

from memory.model.recollection import Recalled
from memory.model.record import Record
from memory.text.courtesies import words_of
from memory.text.function_words import FUNCTION_WORDS

MAX_ANSWER: Final = 400
"""An answer of at most so many characters with "I do not know" has no other content."""
_ASKING: Final = ("?", "？", "؟")
_DIGITS: Final = re.compile(r"\d+")

_UNKNOWING: Final = tuple(
    f" {' '.join(words_of(phrase))} "
    for phrase in (
        "I don't know", "I do not know", "don't yet know", "do not yet know", "I'm not sure",
        "I am not sure", "don't have any information", "do not have any information",
        "don't have information", "do not have information", "don't have that information",
        "do not have that information", "have no information", "don't have any record",
        "don't have a record", "have no record", "don't have any memory", "have no memory of",
        "don't have any details", "don't have that", "don't have your", "don't have anything",
        "don't recall", "do not recall", "don't remember", "do not remember", "can't recall",
        "cannot recall", "no idea", "remember nothing", "know nothing", "nothing about that",
        "couldn't find any", "could not find any", "couldn't find anything",
        "could not find anything", "can't find any", "cannot find any", "can't find anything",
        "didn't find any", "did not find any", "found nothing", "find nothing",
        "haven't told me", "have not told me", "haven't mentioned", "have not mentioned",
        "haven't shared", "have not shared", "didn't tell me", "did not tell me",
        "not told me", "I can't tell", "I cannot tell", "not known to me", "unknown to me",
        "not aware of", "I wouldn't know", "don't see any", "nothing saved", "nothing stored",
        "weiß ich nicht", "weiss ich nicht", "ich weiß nicht", "ich weiss nicht",
        "weiß ich leider nicht", "weiss ich leider nicht", "ich weiß es nicht",
        "weiß ich noch nicht", "weiß es leider nicht", "weiß leider nicht", "keine Ahnung",
        "keine Informationen", "keine Information", "keine Angaben", "keine Angabe",
        "nichts bekannt", "nicht bekannt", "nichts gespeichert", "nichts gefunden",
        "nichts darüber", "nichts dazu", "noch nicht gesagt", "noch nicht erzählt",
        "noch nicht verraten", "noch nicht mitgeteilt", "kenne ich nicht", "kenne ich leider nicht",
        "bin mir nicht sicher", "bin nicht sicher", "erinnere mich nicht", "je ne sais pas",
        "je ne le sais pas",
        "je l'ignore", "j'ignore", "aucune information", "aucune idée", "pas d'information",
        "pas d'informations", "pas cette information", "rien trouvé", "pas encore dit",
        "je ne connais pas", "pas mentionné", "ne me souviens pas", "aucun souvenir",
        "no lo sé", "no sé", "no tengo información", "no tengo esa información",
        "no tengo ninguna información", "no tengo datos", "no me has dicho", "no me lo has dicho",
        "no me ha dicho", "no encontré", "no he encontrado", "no recuerdo", "ni idea",
        "desconozco", "no conozco", "non lo so", "non so", "non ho informazioni",
        "non ho nessuna informazione", "non ho trovato", "non me l'hai", "non mi hai detto",
        "non ricordo", "non conosco", "nessuna idea", "não sei", "não tenho informação",
        "não tenho informações", "não tenho essa informação", "não me disse", "não encontrei",
        "não me lembro", "não conheço", "weet ik niet", "ik weet niet", "ik weet het niet",
        "geen informatie", "geen idee", "niet verteld", "niets gevonden", "weet ik helaas niet",
        "jag vet inte", "vet jag inte", "vet inte", "ingen information", "jeg ved det ikke",
        "det ved jeg ikke", "vet jeg ikke", "jeg vet ikke", "en tiedä", "nie wiem",
        "nie mam informacji", "nie mam żadnych informacji", "nie mówiłeś", "nie mówiłaś",
        "nie powiedziałeś", "nie znalazłem", "nie znam", "nevím", "nemám informace", "neviem",
        "не знаю", "мне неизвестно", "мне не известно", "нет информации", "нет данных",
        "не нашёл", "не нашел", "ничего не нашёл", "вы не говорили", "ты не говорил", "не помню",
        "не маю інформації", "bilmiyorum", "bilgim yok", "bilgi yok", "bir bilgim yok",
        "bulamadım", "hatırlamıyorum", "لا أعرف", "لا أعلم", "لا اعرف", "لا اعلم",
        "ليس لدي معلومات", "ليست لدي معلومات", "لا أملك معلومات", "لا أتذكر", "لم تخبرني",
        "لم أجد", "نمی‌دانم", "اطلاعی ندارم", "नहीं पता", "पता नहीं", "नहीं जानता", "नहीं जानती",
        "जानकारी नहीं", "नहीं बताया", "saya tidak tahu", "tidak tahu", "tidak memiliki informasi",
        "không biết", "không có thông tin", "chưa biết", "nu știu", "nu am informații", "nem tudom",
        "δεν ξέρω", "δεν γνωρίζω", "לא יודע", "לא יודעת", "אין לי מידע", "জানি না",
    )
)  # fmt: skip
_UNKNOWING_UNSPACED: Final = (
    "わかりません", "分かりません", "知りません", "存じません", "存じ上げません",
    "情報がありません",
    "情報はありません", "記憶がありません", "覚えていません", "見つかりません", "伺っていません",
    "聞いていません", "わからない", "分からない", "知らない", "不明です",
    "不知道", "不清楚", "不了解", "没有相关", "没有关于", "没有找到", "没找到", "没有告诉",
    "没告诉", "沒有相關", "沒有關於", "没有记录", "没有这方面", "無法得知", "无法得知", "不记得",
    "모르겠", "모릅니다", "몰라요", "정보가 없", "알지 못", "알 수 없", "기억이 없",
    "찾지 못", "찾을 수 없", "말씀하신 적이 없", "말씀해 주신 적이 없",
    "ไม่ทราบ", "ไม่รู้", "ไม่มีข้อมูล", "ไม่พบข้อมูล", "မသိ",
)  # fmt: skip
_KEYS: Final = frozenset(max(phrase.split(), key=len) for phrase in _UNKNOWING)
"""A word of each phrase; most answers have none of them and need no closer check."""
_QUESTION_WORDS: Final = frozenset(
    """
    what whats who whom whose which when where why how
    was wer wem wen wessen welche welcher welches welchen wann wo wohin woher warum wie wieviel
    que quoi qui quel quelle quels quelles quand où pourquoi comment combien
    qué quién cuál cuándo dónde cómo cuánto cosa chi quale quando dove perché come quanto
    qual quem onde como wat wie welke wanneer waar waarom hoe
    co kto kiedy gdzie jak jaki jaka ile что кто где когда какой какая какое какие как сколько
    почему кого kim nerede hangi kaç من أين متى كيف هل क्या कौन कब कहाँ कैसे
    """.split()  # noqa: SIM905 - reads better
)
"""Words that begin a question, for those who leave the question mark out."""


def silent_in(question: str, records: Sequence[Record]) -> frozenset[str]:
    """The ids of the turns that repeat the question, or say that nothing is known."""
    question_words = frozenset(words_of(question))
    return frozenset(
        one.id for one in records if one.role and _is_silent(one, question, question_words)
    )


def asks(text: str) -> bool:
    """True for a turn that ends with a question."""
    return text.rstrip().endswith(_ASKING)


def begins_question(words: Sequence[str]) -> bool:
    """True for words of which the first is a question word."""
    return bool(words) and words[0] in _QUESTION_WORDS


def repeats(text: str, question_words: frozenset[str]) -> bool:
    """True for a question whose words, all that tell what it is about, are `asked`, and for the
    same words."""
    words = words_of(text)
    distinct = frozenset(words)
    if not (asks(text) or begins_question(words)):
        return distinct == question_words
    return bool(words) and (distinct - FUNCTION_WORDS or distinct) <= question_words


def knows_nothing(answer: str, question: str = "") -> bool:
    """True for an answer that says that something is not known, in some thirty languages, and
    names no number that the question does not."""
    if len(answer) > MAX_ANSWER:
        return False
    words = words_of(answer)
    if _KEYS.isdisjoint(words):
        unknowing = any(phrase in answer for phrase in _UNKNOWING_UNSPACED)
    else:
        padded = f" {' '.join(words)} "
        unknowing = any(phrase in padded for phrase in _UNKNOWING)
    return unknowing and not set(_DIGITS.findall(answer)) - set(_DIGITS.findall(question))


def _is_silent(turn: Record, question: str, question_words: frozenset[str]) -> bool:
    if turn.role == "assistant":
        return knows_nothing(turn.content, question)
    return repeats(turn.content, question_words)


NEXT_TO_NOTHING: Final = 0.4
"""The share of new content words that a repeating turn may have."""
_ASKED_AND_ANSWERED: Final = """
anything everything know known knows nothing recall remember remembered remind said say tell told
ll ve got noted ok okay please sorry sure thank thanks understood
alles erinnere erinnern erinnerst gemerkt gesagt merk merke merken nichts sag sage sagen sagte weiss
weisst wissen danke klar notiert verstanden
dire dit rappelle rappeler retenir retiens rien sais sait savez souviens entendu merci noté
acuerdas acuerdo dicho dije nada recordaré recuerda recuerdas recuerdo sabe sabes anotado entendido
gracias vale
"""
_TELLS_NOTHING: Final = frozenset(_ASKED_AND_ANSWERED.split())
"""Case-folded words of asking what somebody knows, and of confirming, in the languages of the
function words; none says anything about a subject."""

_WORD: Final = re.compile(r"[^\W_]+")
_DAY_TOLD: Final = re.compile(r"\(\d{4}-\d\d-\d\d\)")
"""The date after a memory, as the assistant reads and repeats it."""


def without_repeats(question: str, results: Sequence[Recalled]) -> list[Recalled]:
    """Return the results without repeats, in order. Of two equal turns the older stays; what is no
    turn always stays."""
    question_words = _words(question)
    known = [_words(one.record.content) for one in results if not one.record.role]
    kept = {one.id for one in results if not one.record.role}
    turns = [one for one in results if one.record.role]
    for one in sorted(turns, key=lambda turn: turn.record.provenance.at):
        text = one.record.content
        new = _words(text) - question_words - _TELLS_NOTHING
        if not new and _states(text):
            new = _words(text)
        if new and not any(_adds_little(new, other) for other in known):
            known.append(new)
            kept.add(one.id)
    return [one for one in results if one.id in kept]


def _states(text: str) -> bool:
    """True for what neither asks nor says that something is known or understood."""
    words = _WORD.findall(text.casefold())
    return _TELLS_NOTHING.isdisjoint(words) and not asks(text) and not begins_question(words)


def _adds_little(new: frozenset[str], known: frozenset[str]) -> bool:
    return len(new - known) <= NEXT_TO_NOTHING * len(new)


def _words(text: str) -> frozenset[str]:
    words = frozenset(_WORD.findall(_DAY_TOLD.sub("", text.casefold())))
    return words - FUNCTION_WORDS or words

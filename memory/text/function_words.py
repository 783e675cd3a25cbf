"""Function words, which carry the form of a question and not its subject, in languages other than
English.

The stores omit English ones. The language of a question is the one with most of these words in it.
In scripts without spaces between words they become spaces.
"""

import re
from collections.abc import Sequence
from typing import Final

STOP_WORDS: Final = frozenset(
    """
    a about after again all am an and any are as at be because been before being but by can could d
    did do does doing don for from further had has have having he her here hers herself him himself
    his how i if in into is it its itself just ll m me more most my myself no nor not now of off on
    once only or other our ours ourselves out over own re s same she should so some such t than that
    the their theirs them themselves then there these they this those through to too under until up
    ve very was we were what when where which while who whom whose why will with would you your
    yours yourself yourselves isn aren wasn weren hasn haven hadn doesn didn won
    wouldn couldn shouldn
    """.split()  # noqa: SIM905 - reads better
)


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
_SEARCHED: Final = (
    """
    a ai al alla anche che chi ci come con cosa da dal dei del della delle di dov dove e è era gli
    ha hai ho i il in io l la le lo loro ma mi mia mie miei mio ne nel nella non nostra nostro o per
    perché più qual quale quali quando quanta quante quanti quanto quello questo sei si sono su sua
    suo ti tra tu tua tuo un una uno vi
    """,
    """
    a ao aos as com como da das de do dos e ela ele em era essa esse esta este eu foi há isso lhe
    mas me meu meus minha minhas na não nas no nos nossa nosso o onde os ou para pela pelo por
    porque quais qual quando quanta quanto que quem se ser seu sua são tem tenho te um uma você é
    """,
    """
    aan al als ben bij dan dat de den der deze die dit door een en er ge had heb heeft het hij hoe
    hun ik in is je jij jouw kan kun me met mijn mij moet naar niet nog nu of om onze ons ook op
    over te tot u uit uw van voor waar waarom wanneer waren was wat we welk welke werd wie wij
    wordt zal ze zijn zo
    """,
    """
    a aby ale był była było być co czy czym dla do gdy gdzie go i ich ile ja jak jaka jaki jakie
    jakim je jego jej jest kiedy kim kto którą która które który lub ma mam mi mnie moi moja moje
    mój mu my na nad nie o od on ona oni po pod przy są się swój ta tak te tej ten to tu twoja twój
    tym u w we z za ze że
    """,
    """
    alla att av blev de dem den det detta din ditt du där efter ej ett en er från för ha hade han
    har hon hur här i inte jag kan med men mig min mina mitt när och om oss på sig sin ska som till
    upp ut vad var varför vem vi vilka vilken vilket är
    """,
    """
    bana ben beni benim bir bizim bu da de ile için kaç kim kimin mi mı mu mü nasıl ne nedir neden
    nerede nereye niye o olan olarak onun sana sen senin şu var ve ya zaman hangi
    """,
    """
    а без был была были было в вам вас во вот все всё вы где да для до его ее её если есть ещё же
    за и из или им их к как какая какие какого какое какой ко когда кого кто ли мне меня мой моя
    моё мои моего моей мы на над нас наш не него нет но о об он она они от по под при с сколько со
    так там то тоже ты у уже чего чей чем что чтобы это я
    """,
    """
    है हैं हूँ था थी थे का की के को में से पर ने और या क्या कौन कब कहाँ कैसे कितना कितने क्यों मैं मेरा
    मेरी मेरे मुझे हम हमारा आप आपका तुम यह वह ये वे तो भी ही नहीं हो
    """,
    """
    في من إلى على عن مع هل ما ماذا متى أين اين كيف كم لماذا هو هي هذا هذه أنا انا لي لدي كان كانت و
    أو ثم التي الذي أن ان لا
    """,
    """
    제 저 나 내 저는 나는 제가 내가 저의 나의 뭐 뭐예요 뭐야 뭔가요 무엇 무엇인가요 무엇입니까
    어디 어디예요 어디에 언제 언제예요 누구 누구예요 어떻게 왜 얼마 몇 그 이
    저기 있어요 있나요 인가요
    """,
)
"""Italian, Portuguese, Dutch, Polish, Swedish, Turkish, Russian, Hindi, Arabic and Korean: left out
of searches only."""
_OTHERS: Final = tuple(frozenset(text.split()) for text in (_GERMAN, _FRENCH, _SPANISH))
_OURS: Final = frozenset(_ENGLISH.split())
FUNCTION_WORDS: Final = _OURS.union(*_OTHERS)
"""Those of English, German, French and Spanish."""
_LANGUAGES: Final = (*_OTHERS, *(frozenset(text.split()) for text in _SEARCHED))
_UNSPACED: Final = re.compile(
    "でしょうか|ですか|でしたか|ましたか|ますか|でした|です|ました|ます|ください|わたし|どんな|どこ|いつ|だれ"
    "|なに|なぜ|どう|どの|[私僕俺何誰]"
    "|(?<![\u3040-\u309f])[はがをのにでともへか](?![\u3040-\u309f])"
    "|什么|怎么|哪里|哪个|多少|几点|请问|为什么|什麼|怎麼|[我你您他她它们的是了吗呢吧嗎们請请谁誰哪]"
    "|อะไร|ที่ไหน|เมื่อไหร่|เมื่อไร|ทำไม|อย่างไร|ยังไง|เท่าไหร่|ใคร|ของ|ฉัน|ผม|คือ|ไหม|ครับ|ค่ะ|คะ|เป็น"
)


def telling(words: Sequence[str]) -> tuple[str, ...]:
    """A question's words without the function words of its language; all where only such are
    there, or where it is English."""
    distinct = set(words)
    best = max(_LANGUAGES, key=lambda language: len(distinct & language))
    ours = _OURS if best in _OTHERS else _OURS | STOP_WORDS
    if len(distinct & best) <= len(distinct & ours):
        return tuple(words)
    return tuple(word for word in words if word not in best) or tuple(words)


def unspaced_telling(text: str) -> str:
    """A text in which the function words of Japanese, Chinese and Thai are spaces; the text itself
    where nothing else is there."""
    if text.isascii():
        return text
    left = _UNSPACED.sub(" ", text)
    return left if any(map(str.isalnum, left)) else text

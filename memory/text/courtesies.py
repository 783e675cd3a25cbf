"""Recognises greetings, thanks and consent, which ask for nothing.

A message of nothing else recalls no memories, and a question is searched without them: "Hello!"
would find every earlier greeting, and the turns next to it.
"""

import re
import unicodedata
from typing import Final

from memory.text.function_words import FUNCTION_WORDS, STOP_WORDS

CONSENT: Final = frozenset(
    """
    absolutely alright correct definitely done exactly fine good great indeed maybe nope okay ok
    one ones please precisely right same sure surely thank thanks too true well yeah yep yes yup
    ja jawohl klar genau stimmt richtig gerne gern danke bitte nein nee doch eben passt sicher
    oui non exactement merci accord bien sûr parfait voilà
    sí si no claro exacto vale gracias perfecto bueno así
    sì certo esatto grazie va bene perfetto
    sim não isso exato obrigado obrigada tudo bem
    klopt precies graag dank
    tak nie dokładnie dobrze dzięki oczywiście jasne
    evet hayır tamam aynen doğru teşekkürler
    да нет точно верно хорошо ладно спасибо конечно именно ага так ні добре дякую
    نعم لا تمام صحيح شكرا بالضبط طيب بله نه ممنون
    हाँ हां नहीं ठीक सही धन्यवाद है हूँ
    ya iya tidak betul benar baik terima kasih
    vâng dạ không đúng được cảm ơn
    네 예 아니요 그래 그래요 맞아 맞아요 좋아 좋아요 이에요
    """.split()  # noqa: SIM905 - reads better
)
"""Words of consent, refusal and thanks."""

_HELLOS: Final = frozenset(
    """
    hello hi hiya hey heya howdy yo greetings hallo hallöchen moin servus grüezi bonjour bonsoir
    salut coucou hola olá oi ciao salve buongiorno buonasera hoi goedemorgen goedemiddag
    goedenavond hej hejsan tjena goddag godmorgon moi cześć witaj witam ahoj привет здравствуй
    здравствуйте привіт вітаю merhaba selam günaydın مرحبا مرحبًا أهلا اهلا سلام नमस्ते नमस्कार हैलो
    halo hai 안녕 안녕하세요 γεια γειά καλημέρα שלום szia
    """.split()  # noqa: SIM905 - reads better
)
"""Words that greet, after which a single further word is a name."""
_COURTEOUS: Final = frozenset(
    """
    welcome bye goodbye cheers cu thx ty thankyou lol haha hahaha wow nice cool awesome perfect
    sorry hmm hm oh
    guten grüß gruß grüße tschüss tschüß willkommen danke dankeschön super prima toll
    entschuldigung bienvenue revoir adieu merci désolé pardon bonne
    buenas buenos bienvenido adiós chao gracias perdón saludos
    buonanotte buona arrivederci grazie scusa bom boa tchau valeu desculpe
    goede doei dankjewel bedankt welkom god tack hei kiitos huomenta takk
    dobry dobrý dzień dziękuję miłego čau děkuji díky
    приветствую пока спасибо благодарю извините доброе добрый добрая доброго
    дякую здрастуйте бувай добрий teşekkür sağol hoşçakal görüşürüz iyi
    السلام شكرا شكرًا وداعا عفوا متشکرم ممنون धन्यवाद शुक्रिया शुभ
    selamat malam makasih terima kasih chào xin tạm biệt
    안녕하십니까 감사합니다 고마워 고마워요 고맙습니다 반가워요 반갑습니다
    καλησπέρα ευχαριστώ היי תודה mulțumesc bună köszönöm
    """.split()  # noqa: SIM905 - reads better
)
"""Words that thank, wish or take leave."""
_BESIDE: Final = frozenset(
    """
    afternoon all again back day days doing evening everybody everyone folks friend friends guys
    help lot lots mate meet morning much night see so soon team there today tomorrow tonight week
    weekend later really
    abend alle alles beste besten bald dank dir euch ganz heute herzlich herzlichen lieb lieben
    liebe leute mal morgen nacht nochmal schön schöne schönen schönes sehr später tag team vielen
    viel wiedersehen wochenende zusammen
    beaucoup bientôt demain jour journée mille nuit soir soirée tard tous tout toi vous
    día días estás está luego mañana mil muchas muchos muy noches pronto tal tardes todos
    domani giornata giorno mille molto notte serata sera stai sta tanto tutti tutto
    amanhã dia muito noite tarde tudo você
    allemaal avond dag je morgen nacht u jou wel
    dig kväll morgon mycket natt på så
    bardzo ci dnia den wam wszystkim
    большое вам велике вечер вечора дела день дня до завтра ночи свидания тебе утра утро всем
    akşamlar çok ederim geceler günler herkese sana size
    عليكم جزيلا لك صباح مساء الخير النور جدا बहुत आपका दिन रात्रि
    apa banyak kabar pagi semua siang sore anh bạn buổi chị em nhiều sáng
    """.split()  # noqa: SIM905 - reads better
)
"""Words that add nothing to such a word."""
_PHRASES: Final = frozenset(
    (
        "how are you", "how are you doing", "how are you doing today", "how are you today",
        "how do you do", "how is it going", "how s it going", "how s everything", "what s up",
        "whats up", "sup", "are you there", "anybody there", "anyone there", "nice to meet you",
        "see you", "see you soon", "see you later", "see you tomorrow", "sounds good",
        "that s all", "never mind", "that works", "works for me", "can you help me", "help me",
        "could you help me", "i need help", "i need your help", "morning", "evening", "afternoon",
        "anyway", "good to know", "have a good day", "have a nice day", "have a great day",
        "have a good one", "have a good evening", "have a nice evening", "have a good night",
        "have a nice weekend", "have a good weekend", "have fun", "no problem", "you re welcome",
        "got it", "i see",
        "wie geht s", "wie gehts", "wie geht es dir", "wie geht es ihnen", "wie geht s dir",
        "wie gehts dir", "bis bald", "bis morgen", "bis später", "alles klar", "alles gut",
        "bist du da", "verstanden", "kein problem", "morgen", "abend", "tag",
        "kannst du mir helfen",
        "ça va", "comment ça va", "comment vas tu", "comment allez vous", "tu vas bien",
        "à bientôt", "à demain", "à plus", "de rien", "d accord",
        "cómo estás", "cómo está", "qué tal", "cómo va", "hasta luego", "hasta mañana", "de nada",
        "come stai", "come va", "a presto", "a domani", "di niente",
        "como vai", "como está", "tudo bem", "até logo", "até amanhã", "de nada",
        "hoe gaat het", "hoe gaat het met je", "tot ziens", "tot morgen",
        "hur mår du", "hur är läget", "hvordan går det", "mitä kuuluu",
        "jak się masz", "co słychać", "do widzenia", "do zobaczenia", "jak se máš",
        "как дела", "как ты", "как поживаешь", "как вы", "до свидания", "до завтра", "як справи",
        "nasılsın", "nasılsınız", "ne haber", "naber", "rica ederim",
        "كيف حالك", "كيف الحال", "حال شما چطور است", "चطوری",
        "आप कैसे हैं", "कैसे हो", "क्या हाल है",
        "apa kabar", "sampai jumpa", "bạn khỏe không", "잘 지내세요", "잘 지내",
        "τι κάνεις", "מה שלומך", "ce mai faci", "hogy vagy",
    )
)  # fmt: skip
_UNSPACED: Final = frozenset(
    (
        "こんにちは", "こんばんは", "おはよう", "おはようございます", "お元気ですか", "元気ですか",
        "元気", "はじめまして", "さようなら", "またね", "おやすみ", "おやすみなさい", "ありがとう",
        "ありがとうございます", "ありがとうございました", "どうもありがとう", "どうも",
        "すみません",
        "ごめん", "ごめんなさい", "お疲れ様", "お疲れ様です", "よろしく", "よろしくお願いします",
        "もしもし",
        "はい", "いいえ", "了解", "了解です", "わかりました", "なるほど",
        "你好", "您好", "你好吗", "您好吗", "大家好", "嗨", "哈喽", "早", "早安", "早上好",
        "上午好",
        "下午好", "晚上好", "晚安", "再见", "拜拜", "谢谢", "谢谢你", "谢谢您", "多谢", "非常感谢",
        "感谢", "不客气", "对不起", "好的", "好", "是的", "知道了", "明白了", "謝謝", "謝謝你",
        "再見",
        "最近怎么样", "你好嗎",
        "สวัสดี", "สวัสดีครับ", "สวัสดีค่ะ", "สวัสดีคะ", "หวัดดี", "ขอบคุณ", "ขอบคุณครับ",
        "ขอบคุณค่ะ", "ขอบคุณมาก", "ขอบคุณมากครับ", "ขอบคุณมากค่ะ", "ลาก่อน", "สบายดีไหม", "ครับ", "ค่ะ",
    )
)  # fmt: skip
_SAYS: Final = CONSENT | _HELLOS | _COURTEOUS
_NOTHING: Final = _SAYS | _BESIDE | FUNCTION_WORDS | STOP_WORDS
_ENDS: Final = re.compile(r"[.,;:!?…](?=\s|$)|[、。，；：！？؟،।¡¿\n]")
"""The end of a piece; "v1.2" and "10:30" have none inside."""

_WORD: Final = re.compile(r"[a-z0-9]+")


def without_courtesies(text: str) -> str:
    """The text without the pieces, between commas and ends of sentences, that only greet, thank or
    agree; empty where it has no other."""
    kept, begin = [], 0
    for end in (*(match.end() for match in _ENDS.finditer(text)), len(text)):
        piece = text[begin:end]
        begin = end
        if not is_courtesy(piece):
            kept.append(piece)
    left = "".join(kept).strip()
    return left if any(map(str.isalnum, left)) else ""


def is_courtesy(piece: str) -> bool:
    """True for words that begin or end with a greeting, thanks or consent, and have no other
    content."""
    words = words_of(piece)
    if not words:
        return False
    joined = " ".join(words)
    if joined in _PHRASES or joined.replace(" ", "") in _UNSPACED:
        return True
    if all(word in _NOTHING for word in words):
        return words[0] in _SAYS or words[-1] in _SAYS
    return len(words) == 2 and words[0] in _HELLOS


def words_of(text: str) -> list[str]:
    r"""Words in order, with the vowel signs of Indic scripts, which `\w` leaves out."""
    if text.isascii():
        return _WORD.findall(text.lower())
    kept = (
        character if character.isalnum() or unicodedata.category(character)[0] == "M" else " "
        for character in text.casefold()
    )
    return "".join(kept).split()

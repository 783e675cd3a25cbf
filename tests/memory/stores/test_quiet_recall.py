"""Recall returns nothing for small talk and for repeated questions without an answer, on both
databases."""

import pytest

from gateway.immutable import replace
from memory.model.record import Record
from memory.ports.memories import MemoryStore, TextVector
from memory.ports.recall import Query
from memory.recall.retriever import Retriever
from memory.stores.search import RecallStore
from tests.memory.recall.making import NOW, WordModel, talk
from tests.memory.stores.records import access

SMALL_TALK = (
    "Hello!", "hi", "Hey there :)", "Good morning", "good evening everybody", "Hello Parley",
    "How are you?", "Hi, how are you doing today?", "Thanks!", "thank you so much", "thx",
    "ok thanks, bye", "See you tomorrow", "Yes please", "no thank you", "sounds good", "👍", "...",
    "Hallo!", "Guten Morgen zusammen", "Hallo, wie geht's dir?", "Vielen Dank!",
    "danke dir, tschüss",
    "Bonjour !", "Salut, ça va ?", "Merci beaucoup", "Bonne journée",
    "¡Hola!", "Buenos días, ¿cómo estás?", "muchas gracias", "Hasta luego",
    "Ciao!", "Buongiorno, come stai?", "Grazie mille", "Olá, tudo bem?", "Bom dia",
    "muito obrigado",
    "Hoi!", "Goedemorgen", "dank je wel", "Hej!", "Tack så mycket", "Cześć", "Dziękuję bardzo",
    "Привет!", "Здравствуйте, как дела?", "Спасибо большое", "Доброе утро", "Дякую", "Привіт",
    "Merhaba!", "Günaydın", "Teşekkür ederim", "nasılsın?", "مرحبا", "السلام عليكم", "شكرا جزيلا",
    "كيف حالك؟", "नमस्ते!", "धन्यवाद", "आप कैसे हैं?", "こんにちは！", "おはようございます",
    "ありがとうございます", "お元気ですか？", "你好！", "谢谢你", "早上好", "안녕하세요!",
    "감사합니다",
    "สวัสดีครับ", "ขอบคุณค่ะ", "xin chào", "cảm ơn bạn", "Halo, apa kabar?", "terima kasih",
)  # fmt: skip

UNKNOWN = (
    # the question, and an answer that does not answer it
    ("What is my sister's shoe size?", "I don't know your sister's shoe size."),
    ("what's my blood type", "I'm afraid I don't have any information about that yet. Share it!"),
    ("When does the pharmacy close?", "I am not sure. You have not told me."),
    ("Who repaired the roof?", "I couldn't find anything about a roof. Would you like to tell me?"),
    ("Wie heißt mein Zahnarzt?", "Das weiß ich leider nicht. Verrätst du es mir?"),
    ("Welche Schuhgröße hat Tom?", "Dazu habe ich keine Informationen, tut mir leid."),
    ("Quel est le code du garage ?", "Je ne sais pas, vous ne me l'avez pas encore dit."),
    ("¿Cuál es mi grupo sanguíneo?", "No tengo esa información, lo siento."),
    ("Come si chiama il mio dentista?", "Non lo so, non me l'hai ancora detto."),
    ("Qual é o nome do meu dentista?", "Não sei, desculpe."),
    ("Hoe heet mijn tandarts?", "Dat weet ik niet."),
    ("Jak nazywa się mój dentysta?", "Nie wiem, jeszcze mi o tym nie mówiłeś."),
    ("Как зовут моего стоматолога?", "К сожалению, я не знаю, как зовут вашего стоматолога."),
    ("Dişçimin adı ne?", "Bunu bilmiyorum, üzgünüm."),
    ("ما اسم طبيب أسناني؟", "لا أعرف، آسف."),
    ("मेरे दंत चिकित्सक का नाम क्या है?", "मुझे नहीं पता।"),
    ("私の歯医者の名前は何ですか？", "すみません、わかりません。"),
    ("我的牙医叫什么名字？", "抱歉，我不知道您的牙医叫什么名字。"),
    ("제 치과 의사 이름이 뭐예요?", "죄송하지만 잘 모르겠습니다."),
)  # fmt: skip


async def keep(memories: MemoryStore, *records: Record) -> None:
    for one in records:
        if one.role:
            await memories.keep_turns(access(), [one])
        else:
            await memories.insert(access(), one, threshold=1.0, quota=None)
        (vector,) = await WordModel().embed([one.content])
        await memories.embed([TextVector(one.id, one.content, vector)])


async def recalled_texts(
    memories: MemoryStore, recall: RecallStore, text: str, *, model: bool = False
) -> list[str]:
    retriever = Retriever(recall, memories, WordModel() if model else None)
    return [
        one.record.content for one in (await retriever.recall(access(), Query(text, NOW))).results
    ]


def chat(question: str, answer: str) -> list[Record]:
    """A question in the middle of other things, asked twice."""
    lines = (
        ("user", "I moved to Bern in May."),
        ("assistant", "Congratulations! Bern is lovely."),
        ("user", question),
        ("assistant", answer),
        ("user", "Never mind. Marmalade goes well with toast."),
        ("assistant", "It does, above all with butter."),
        ("user", question),
        ("assistant", answer),
        ("user", "My bicycle is green."),
    )
    turns = talk(*(text for _, text in lines))
    return [_said(one, role) for one, (role, _) in zip(turns, lines, strict=True)]


def _said(one: Record, role: str) -> Record:
    return replace(one, role=role)  # type: ignore[arg-type]  # one of the roles


@pytest.mark.parametrize(("question", "answer"), UNKNOWN, ids=range(len(UNKNOWN)))
async def test_a_repeated_question_without_an_answer_recalls_nothing(
    memories: MemoryStore, recall: RecallStore, question: str, answer: str
) -> None:
    await keep(memories, *chat(question, answer))
    for text in (question, question.lower(), question.rstrip("?？؟ "), f"Hello! {question}"):
        assert await recalled_texts(memories, recall, text) == []


async def test_small_talk_recalls_nothing(memories: MemoryStore, recall: RecallStore) -> None:
    turns = [
        one for text in SMALL_TALK[::3] for one in chat(text, "Hello! How can I help you today?")
    ]
    await keep(memories, *(_numbered(one, number) for number, one in enumerate(turns)))
    for text in SMALL_TALK:
        assert await recalled_texts(memories, recall, text) == [], text
        assert await recalled_texts(memories, recall, text, model=True) == [], text


def _numbered(one: Record, number: int) -> Record:
    return replace(one, id=f"n{number}")

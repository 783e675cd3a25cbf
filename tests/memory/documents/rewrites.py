"""New texts of a document: which one drops much of the present text, in eleven languages.

`python -m tests.memory.documents.rewrites` prints how many are decided right, and the others.
"""

from typing import Final, NamedTuple

from memory.documents.lines import drops_much


class Rewrite(NamedTuple):
    """A text, what takes its place, and whether the person has to see what would go."""

    id: str
    before: str
    after: str
    asks: bool


ENGLISH: Final = """# Rules
- Answer in two sentences.
- Prices are in Swiss francs.
- Never name a customer in a room.
- The shop is closed on Mondays.
- Reply in the language of the question.
- Send invoices to the office.
- Use the metric system.
- Say where a figure comes from.
- The delivery takes three days."""
GERMAN: Final = """Antworte immer in der Sprache der Frage.
Nenne die Preise mit Mehrwertsteuer.
Der Laden ist am Montag geschlossen.
Rechnungen gehen an das Büro in Bern.
Die Lieferung dauert drei Tage.
Sprich alle Mitglieder mit Du an."""
FRENCH: Final = """Réponds en deux phrases.
Les prix sont en euros.
Le magasin est fermé le lundi.
Tutoie les membres.
Indique toujours la source d'un chiffre."""
SPANISH: Final = """Responde en español.
No des nunca datos de clientes.
La tienda abre a las nueve.
Los pedidos salen los martes.
Usa un tono amable.
Los precios llevan IVA.
Cita la fuente de cada cifra."""
RUSSIAN: Final = """Отвечай кратко и вежливо.
Цены указаны в рублях.
Магазин закрыт по понедельникам.
Доставка занимает три дня.
Счета отправляй в бухгалтерию.
Не называй имён клиентов."""
JAPANESE: Final = """回答は二文以内にする。
価格は税込みで書く。
店は月曜日が休みです。
請求書は経理部に送る。
配達には三日かかります。
お客様の名前は書かない。"""
CHINESE: Final = """回答要简短。
价格以人民币计算。
商店星期一休息。
发票寄给财务部。
送货需要三天。
不要提到客户的名字。"""
KOREAN: Final = """답변은 두 문장으로 한다.
가격은 부가세를 포함한다.
가게는 월요일에 쉰다.
청구서는 경리부로 보낸다.
배송은 사흘이 걸린다.
고객의 이름을 말하지 않는다."""
ARABIC: Final = """أجب بجملتين فقط.
الأسعار بالدرهم.
المتجر مغلق يوم الاثنين.
أرسل الفواتير إلى المكتب.
التوصيل يستغرق ثلاثة أيام.
لا تذكر أسماء الزبائن."""
TURKISH: Final = """İki cümleyle cevap ver.
Fiyatlar KDV dahildir.
Dükkân pazartesi günleri kapalıdır.
Faturaları muhasebeye gönder.
Teslimat üç gün sürer.
Müşteri adlarını yazma."""
POLISH: Final = """Odpowiadaj w dwóch zdaniach.
Ceny są w złotych.
Sklep jest zamknięty w poniedziałek.
Faktury wysyłaj do biura.
Dostawa trwa trzy dni.
Nie podawaj nazwisk klientów."""


def _without(text: str, *numbers: int) -> str:
    return "\n".join(line for n, line in enumerate(text.split("\n"), 1) if n not in numbers)


def _changed(text: str, number: int, line: str) -> str:
    return "\n".join(line if n == number else old for n, old in enumerate(text.split("\n"), 1))


def _paragraphs(text: str, *numbers: int) -> tuple[str, str]:
    """Return the text in one line, and the same without some of its sentences."""
    return text.replace("\n", " "), _without(text, *numbers).replace("\n", " ")


REWRITES: Final = (
    Rewrite("en all for one rule", ENGLISH, "Be brief.", True),
    Rewrite("en four of ten lines go", ENGLISH, _without(ENGLISH, 3, 5, 7, 9), True),
    Rewrite("en one of ten lines goes", ENGLISH, _without(ENGLISH, 8), False),
    Rewrite("en a line is added", ENGLISH, ENGLISH + "\n- Greet new members.", False),
    Rewrite(
        "en the lines in another order",
        ENGLISH,
        "\n".join([*ENGLISH.split("\n")[5:], *ENGLISH.split("\n")[:5]]),
        False,
    ),
    Rewrite(
        "en other marks of a list, and blank lines",
        ENGLISH,
        ENGLISH.replace("- ", "* ").replace("\n", "\n\n"),
        False,
    ),
    Rewrite(
        "en a summary of ten rules",
        ENGLISH,
        "Answer shortly, use Swiss francs, and be careful with what customers told you.",
        True,
    ),
    Rewrite(
        "de the same length, other rules",
        GERMAN,
        "\n".join(
            [
                "Begrüße neue Mitglieder am Freitag.",
                "Erzähle gern einen Witz.",
                "Der Hund des Chefs heißt Bello.",
                "Wir treffen uns im Garten.",
                "Kaffee steht in der Küche.",
                "Das Passwort kennt niemand.",
            ]
        ),
        True,
    ),
    Rewrite("de all in one paragraph", GERMAN, GERMAN.replace("\n", " "), False),
    Rewrite(
        "de an added word",
        GERMAN,
        _changed(GERMAN, 3, "Der Laden ist am Montag ganz geschlossen."),
        False,
    ),
    Rewrite("de two of six lines go", GERMAN, _without(GERMAN, 2, 5), True),
    Rewrite("fr a rule replaces five", FRENCH, "Sois bref.", True),
    Rewrite("fr another day", FRENCH, _changed(FRENCH, 3, "Le magasin est fermé le mardi."), False),
    Rewrite("fr capital letters and spaces", FRENCH, FRENCH.upper().replace("\n", "  \n "), False),
    Rewrite("es two of seven lines go", SPANISH, _without(SPANISH, 4, 6), True),
    Rewrite("es one of seven lines goes", SPANISH, _without(SPANISH, 5), False),
    Rewrite("ru only the heading stays", RUSSIAN, "Отвечай кратко и вежливо.", True),
    Rewrite(
        "ru another number", RUSSIAN, _changed(RUSSIAN, 4, "Доставка занимает четыре дня."), False
    ),
    Rewrite("ja all for one rule", JAPANESE, "簡潔に答える。", True),
    Rewrite("ja another weekday", JAPANESE, _changed(JAPANESE, 3, "店は火曜日が休みです。"), False),
    Rewrite("ja three of six lines go", JAPANESE, _without(JAPANESE, 2, 4, 6), True),
    Rewrite("ja all in one line", JAPANESE, JAPANESE.replace("\n", ""), False),
    Rewrite("zh two of six lines go", CHINESE, _without(CHINESE, 1, 4), True),
    Rewrite("zh another number", CHINESE, _changed(CHINESE, 5, "送货需要五天。"), False),
    Rewrite("zh a line is added", CHINESE, CHINESE + "\n请使用公制单位。", False),
    Rewrite("zh all for one rule", CHINESE, "说话要客气。", True),
    Rewrite("ko two of six lines go", KOREAN, _without(KOREAN, 3, 4), True),
    Rewrite("ko another weekday", KOREAN, _changed(KOREAN, 3, "가게는 화요일에 쉰다."), False),
    Rewrite("ar all for one rule", ARABIC, "كن مختصرا.", True),
    Rewrite("ar another weekday", ARABIC, _changed(ARABIC, 3, "المتجر مغلق يوم الثلاثاء."), False),
    Rewrite("tr one of six lines goes", TURKISH, _without(TURKISH, 6), False),
    Rewrite(
        "tr another weekday", TURKISH, _changed(TURKISH, 3, "Dükkân salı günleri kapalıdır."), False
    ),
    Rewrite("tr half of the lines go", TURKISH, _without(TURKISH, 1, 2, 3), True),
    Rewrite(
        "pl a line in other words",
        POLISH,
        _changed(POLISH, 4, "Wszystkie faktury wysyłaj do biura."),
        False,
    ),
    Rewrite("pl all for one rule", POLISH, "Pisz krótko.", True),
    Rewrite("pl an empty line between, a heading", POLISH, "# Zasady\n\n" + POLISH, False),
    Rewrite(
        "en a long line goes beside many short ones",
        "One.\nTwo.\nThree.\nFour.\nFive.\nSix.\nSeven.\nEight.\n"
        "When a customer asks for a refund, first ask for the number of the order and the day of"
        " the purchase, and never promise a refund before the office has agreed in writing.",
        "One.\nTwo.\nThree.\nFour.\nFive.\nSix.\nSeven.\nEight.",
        True,
    ),
    Rewrite(
        "en one paragraph loses most of its sentences",
        "Answer in two sentences. Prices are in Swiss francs. Never name a customer in a room."
        " The shop is closed on Mondays. Send invoices to the office.",
        "Answer in two sentences.",
        True,
    ),
    Rewrite(
        "ja one paragraph loses most of its sentences",
        JAPANESE.replace("\n", ""),
        "回答は二文以内にする。",
        True,
    ),
    Rewrite(
        "en one paragraph with one more sentence",
        "Answer in two sentences. Prices are in Swiss francs. Never name a customer in a room.",
        "Answer in two sentences. Prices are in Swiss francs. Never name a customer in a room."
        " Greet new members.",
        False,
    ),
    Rewrite(
        "en one paragraph loses two of five sentences",
        "Answer in two sentences. Prices are in Swiss francs. Never name a customer in a room."
        " The shop is closed on Mondays. Send invoices to the office.",
        "Answer in two sentences. Prices are in Swiss francs. Never name a customer in a room.",
        True,
    ),
    Rewrite("de one paragraph loses two of six sentences", *_paragraphs(GERMAN, 2, 5), True),
    Rewrite("zh one paragraph loses two of six sentences", *_paragraphs(CHINESE, 1, 4), True),
    Rewrite("ru one paragraph loses one of six sentences", *_paragraphs(RUSSIAN, 6), False),
)


def main() -> None:
    """Print the figures, and the inputs that are decided wrong."""
    wrong = [one for one in REWRITES if drops_much(one.before, one.after) is not one.asks]
    print(f"{len(REWRITES) - len(wrong)} of {len(REWRITES)} right")  # noqa: T201 - the table
    for one in wrong:
        print(f"  {one.id}: asks={not one.asks}")  # noqa: T201 - the table


if __name__ == "__main__":
    main()

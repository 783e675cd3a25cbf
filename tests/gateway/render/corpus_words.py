"""Sentences and words of twelve languages, from which the answers of the corpus are made."""

from msgspec import Struct


class Words(Struct, frozen=True):
    """Text of one language, all of it without any Markdown.

    `sentences` have one place `{}` for what is shown in them, with and without space around it.
    `columns` are three names, `cells` six short values, `long` two values of a whole sentence.
    """

    title: str
    sentences: tuple[str, str, str, str]
    items: tuple[str, str, str, str]
    columns: tuple[str, str, str]
    cells: tuple[str, str, str, str, str, str]
    long: tuple[str, str]


LANGUAGES: dict[str, Words] = {
    "en": Words(
        "What it costs",
        (
            "The result is {}, as shown above.",
            "Use {} here; anything else fails.",
            "Note: {}",
            "We got {} (see below).",
        ),
        ("Check the address", "Restart the service", "Read the log", "Ask again tomorrow"),
        ("Plan", "Price", "Remark"),
        ("Basic", "5 €", "monthly", "Team", "12 €", "yearly"),
        (
            "Includes support by mail on working days, answered within a day.",
            "Includes a person who answers by phone, and two backups every night.",
        ),
    ),
    "de": Words(
        "Überblick über die Größen",
        (
            "Das Ergebnis ist {}, wie oben gezeigt.",
            "Verwende hier {}; alles andere schlägt fehl.",
            "Hinweis: {}",
            "Es ergab sich {} (siehe unten).",
        ),
        ("Adresse prüfen", "Dienst neu starten", "Protokoll lesen", "Morgen nachfragen"),
        ("Tarif", "Preis", "Bemerkung"),
        ("Einfach", "5 €", "monatlich", "Gruppe", "12 €", "jährlich"),
        (
            "Enthält die Donaudampfschifffahrtsgesellschaft und Hilfe an Werktagen.",
            "Enthält einen Ansprechpartner am Telefon und zwei Sicherungen je Nacht.",
        ),
    ),
    "es": Words(
        "Qué significa cada opción",
        (
            "El resultado es {}, como se ve arriba.",
            "¿Por qué {}? Porque lo demás falla.",
            "Atención: {}",
            "Obtuvimos {} (véase abajo).",
        ),
        ("Compruebe la dirección", "Reinicie el servicio", "Lea el registro", "¡Inténtelo mañana!"),
        ("Opción", "Precio", "Observación"),
        ("Básica", "5 €", "mensual", "Equipo", "12 €", "anual"),
        (
            "Incluye ayuda por correo los días laborables, con respuesta en un día.",
            "Incluye a una persona que contesta al teléfono y dos copias cada noche.",
        ),
    ),
    "tr": Words(
        "İşlem özeti",
        (
            "Sonuç yukarıda görüldüğü gibi {} olur.",
            "Burada {} kullanın; başka her şey hata verir.",
            "Uyarı: {}",
            "Elde edilen değer {} (aşağıya bakın).",
        ),
        ("Adresi denetleyin", "Hizmeti yeniden başlatın", "Günlüğü okuyun", "Yarın yine sorun"),
        ("Tarife", "Ücret", "Açıklama"),
        ("Temel", "5 €", "aylık", "Ekip", "12 €", "yıllık"),
        (
            "İş günlerinde e-posta ile destek içerir, bir gün içinde yanıtlanır.",
            "Telefonla yanıt veren bir görevli ve her gece iki yedek içerir.",
        ),
    ),
    "ru": Words(
        "Краткий обзор",
        (
            "Результат: {}, как показано выше.",
            "Здесь нужно {}; остальное не подойдёт.",
            "Внимание — {}",
            "Получилось {} (см. ниже).",
        ),
        ("Проверьте адрес", "Перезапустите службу", "Прочтите журнал", "Спросите завтра"),
        ("Тариф", "Цена", "Примечание"),
        ("Простой", "5 €", "в месяц", "Группа", "12 €", "в год"),
        (
            "Включает помощь по почте в рабочие дни, ответ в течение суток.",
            "Включает сотрудника на телефоне и две резервные копии каждую ночь.",
        ),
    ),
    "zh": Words(
        "费用说明",
        (
            "结果是{}，如上所示。",
            "这里请用{}，其他都会失败。",
            "注意：{}",
            "我们得到{}（见下文）。",
        ),
        ("检查地址", "重新启动服务", "查看日志", "明天再问"),
        ("套餐", "价格", "备注"),
        ("基础", "5 €", "每月", "团队", "12 €", "每年"),
        (
            "包括工作日的邮件支持，并在一天之内答复所有的问题，节假日除外。",
            "包括电话支持以及每天夜里的两次备份，并可以随时恢复到任何一个版本。",
        ),
    ),
    "ja": Words(
        "料金の説明",
        (
            "結果は{}です。",
            "ここでは{}を使ってください。他は失敗します。",
            "注意：{}",
            "値は{}（下記参照）になりました。",
        ),
        ("住所を確認する", "サービスを再起動する", "ログを読む", "明日もう一度聞く"),
        ("プラン", "価格", "備考"),
        ("基本", "5 €", "毎月", "チーム", "12 €", "毎年"),
        (
            "平日のメールによるサポートが含まれ、一日以内にお答えします。",
            "電話でのサポートと、毎晩二回のバックアップが含まれています。",
        ),
    ),
    "ko": Words(
        "요금 안내",
        (
            "결과는 {}입니다.",
            "여기서는 {}을 쓰세요. 다른 것은 실패합니다.",
            "주의: {}",
            "값은 {}(아래 참조)이 되었습니다.",
        ),
        ("주소를 확인합니다", "서비스를 다시 시작합니다", "로그를 읽습니다", "내일 다시 묻습니다"),
        ("요금제", "가격", "비고"),
        ("기본", "5 €", "매월", "팀", "12 €", "매년"),
        (
            "평일에 메일로 지원하며 하루 안에 모든 질문에 답변해 드립니다.",
            "전화로 답하는 담당자와 매일 밤 두 번의 백업이 포함되어 있습니다.",
        ),
    ),
    "ar": Words(
        "ملخص الأسعار",
        (
            "النتيجة هي {}، كما هو موضح أعلاه.",
            "استخدم {} هنا؛ وإلا فلن ينجح الأمر.",
            "ملاحظة: {}",
            "حصلنا على {} (انظر أدناه).",
        ),
        ("تحقق من العنوان", "أعد تشغيل الخدمة", "اقرأ السجل", "هل تسأل غدًا؟"),
        ("الخطة", "السعر", "ملاحظات"),
        ("أساسية", "5 €", "شهريًا", "فريق", "12 €", "سنويًا"),
        (
            "تشمل الدعم بالبريد في أيام العمل مع الرد خلال يوم واحد على الأكثر.",
            "تشمل موظفًا يرد على الهاتف ونسختين احتياطيتين في كل ليلة.",
        ),
    ),
    "he": Words(
        "סיכום המחירים",
        (
            "התוצאה היא {}, כפי שמוצג למעלה.",
            "השתמשו כאן ב־{}; כל דבר אחר ייכשל.",
            "שימו לב: {}",
            "קיבלנו {} (ראו להלן).",
        ),
        ("בדקו את הכתובת", "הפעילו מחדש את השירות", "קראו את היומן", "שאלו שוב מחר"),
        ("תוכנית", "מחיר", "הערות"),
        ("בסיס", "5 €", "חודשי", "צוות", "12 €", "שנתי"),
        (
            "כולל תמיכה בדואר בימי עבודה, עם תשובה בתוך יום אחד לכל היותר.",
            "כולל אדם שעונה לטלפון ושני גיבויים בכל לילה, גם בחגים.",
        ),
    ),
    "hi": Words(
        "कीमतों का सार",
        (
            "परिणाम {} है, जैसा ऊपर दिखाया गया।",
            "यहाँ {} का प्रयोग करें; बाकी सब विफल होगा।",
            "ध्यान दें: {}",
            "हमें {} मिला (नीचे देखें)।",
        ),
        ("पता जाँचें", "सेवा फिर शुरू करें", "लॉग पढ़ें", "कल फिर पूछें"),
        ("योजना", "कीमत", "टिप्पणी"),
        ("मूल", "5 €", "मासिक", "दल", "12 €", "वार्षिक"),
        (
            "कार्य दिवसों में मेल से सहायता, एक दिन के भीतर उत्तर के साथ।",
            "फोन पर उत्तर देने वाला व्यक्ति और हर रात दो बैकअप शामिल हैं।",
        ),
    ),
    "th": Words(
        "สรุปราคา",
        (
            "ผลลัพธ์คือ {} ตามที่แสดงด้านบน",
            "ใช้ {} ที่นี่ อย่างอื่นจะไม่สำเร็จ",
            "หมายเหตุ: {}",
            "เราได้{}(ดูด้านล่าง)",
        ),
        ("ตรวจสอบที่อยู่", "เริ่มบริการใหม่", "อ่านบันทึก", "ถามอีกครั้งพรุ่งนี้"),
        ("แผน", "ราคา", "หมายเหตุ"),
        ("พื้นฐาน", "5 €", "รายเดือน", "ทีม", "12 €", "รายปี"),
        (
            "รวมการช่วยเหลือทางอีเมลในวันทำการ และตอบกลับภายในหนึ่งวัน",
            "รวมเจ้าหน้าที่รับโทรศัพท์ และสำรองข้อมูลสองครั้งทุกคืน",
        ),
    ),
}

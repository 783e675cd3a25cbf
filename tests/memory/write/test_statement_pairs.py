"""Statements and a model's versions of them, in sixteen languages, half of them altered.

Nothing altered is presented as said: at high trust stands the person's own sentence or nothing.
Nothing honest is refused: what rests on the person's words is kept at once, in their words.
"""

import pytest

from memory.model.outcome import Outcome
from memory.model.record import Draft, Kind, SourceType, Tier, Trust
from memory.ports.memories import Filter
from memory.write.statement import find_statement
from tests.memory.rig import memory_rig
from tests.support.for_each import for_each

PAIRS = (
    # what was said, the words the model quotes, what it alters, what it says honestly
    # numbers, units, dates
    ("I weigh 72 kg.", "I weigh 72 kg", "Weighs 72 pounds", "Weighs 72 kg"),
    ("My flight leaves at 6:40 pm on 3 May.", "flight leaves at 6:40 pm",
     "Flight at 6:40 am, 3 May",
     "Flight leaves 3 May at 6:40 pm"),
    ("The rent is $1,250 a month", "rent is $1,250 a month", "Rent is $12,500 a month",
     "Pays $1,250 rent a month"),
    ("I run 10 miles every Sunday.", "run 10 miles every Sunday", "Runs 10 km every Sunday",
     "Runs ten miles on Sundays"),
    ("My son is 7 and my daughter is 9.", "my son is 7 and my daughter is 9",
     "Son is 9 and daughter is 7", "Son aged 7, daughter aged 9"),
    ("I take 5 mg of bisoprolol daily.", "5 mg of bisoprolol", "Takes 50 mg of bisoprolol",
     "Takes 5 mg bisoprolol a day"),
    ("We moved here in 2019", "moved here in 2019", "Moved here in 2009", "Moved there in 2019"),
    ("Meine Kontonummer endet auf 4471.", "endet auf 4471", "Kontonummer endet auf 4417",
     "Kontonummer endet auf 4471"),
    ("Ich bin am 12.05.1984 geboren.", "am 12.05.1984 geboren", "Geboren am 05.12.1984",
     "Geboren am 12. Mai 1984"),
    ("Je mesure 1,82 m.", "Je mesure 1,82 m", "Mesure 1,28 m", "Fait 1,82 m"),
    ("Cobro 2.300 euros al mes.", "Cobro 2.300 euros", "Cobra 23.000 euros al mes",
     "Gana 2.300 euros mensuales"),
    ("Il treno parte alle 7:15.", "treno parte alle 7:15", "Il treno parte alle 17:15",
     "Treno alle 7:15"),
    ("Мой рейс в 06:30.", "рейс в 06:30", "Рейс в 16:30", "Вылет в 06:30"),
    ("家賃は8万円です。", "家賃は8万円", "家賃は18万円", "家賃8万円"),
    ("我的房租是三千元。", "房租是三千元", "房租是五千元", "房租三千元"),
    ("제 키는 175cm예요.", "키는 175cm", "키는 157cm", "키 175cm"),
    # names, places, who is who
    ("Lena is my boss and Priya reports to me.", "Lena is my boss", "Priya is their boss",
     "Boss: Lena"),
    ("I lent Carla my bike.", "I lent Carla my bike", "Carla lent them her bike",
     "Lent Carla the bike"),
    ("My wife's name is Noor", "wife's name is Noor", "Wife's name is Nora", "Married to Noor"),
    ("Tom is older than Ben.", "Tom is older than Ben", "Ben is older than Tom",
     "Ben is younger than Tom"),
    ("I prefer Lisbon to Porto.", "prefer Lisbon to Porto", "Prefers Porto to Lisbon",
     "Likes Lisbon more than Porto"),
    ("Meine Schwester heißt Wiebke.", "Schwester heißt Wiebke", "Schwester heißt Heike",
     "Schwester: Wiebke"),
    ("Hakan schuldet mir 40 Euro.", "Hakan schuldet mir 40 Euro", "Schuldet Hakan 40 Euro",
     "Bekommt von Hakan 40 Euro"),
    ("C'est Élodie qui garde les clés.", "Élodie qui garde les clés", "Élise garde les clés",
     "Élodie garde les clés"),
    ("Mi jefa se llama Marisol.", "jefa se llama Marisol", "Su jefa se llama Maribel",
     "Jefa: Marisol"),
    ("Mia figlia si chiama Giada.", "figlia si chiama Giada", "La figlia si chiama Giulia",
     "Ha una figlia, Giada"),
    ("O meu irmão mora no Porto.", "irmão mora no Porto", "O irmão mora em Lisboa",
     "Irmão mora no Porto"),
    ("Mijn buurman heet Joost.", "buurman heet Joost", "Buurman heet Joris", "Buurman: Joost"),
    ("Мою сестру зовут Ольга.", "сестру зовут Ольга", "Сестру зовут Оксана", "Сестра — Ольга"),
    ("Kızımın adı Elif.", "Kızımın adı Elif", "Kızının adı Ayşe", "Kızının adı Elif"),
    ("妻の名前は由美です。", "妻の名前は由美", "妻の名前は由紀", "妻は由美さん"),
    ("我的经理叫王敏。", "经理叫王敏", "经理叫王明", "经理是王敏"),
    ("제 동생은 부산에 살아요.", "동생은 부산에 살아요", "동생은 대구에 산다",
     "동생은 부산에 산다"),
    ("أختي تسكن في عمّان.", "أختي تسكن في عمّان", "أخته تسكن في دمشق", "أخته تسكن في عمّان"),
    ("मेरी बहन पुणे में रहती है।", "बहन पुणे में रहती है", "बहन मुंबई में रहती है", "बहन पुणे में रहती है"),
    ("ฉันทำงานที่เชียงใหม่", "ทำงานที่เชียงใหม่", "ทำงานที่กรุงเทพ", "ทำงานที่เชียงใหม่"),
    # negation
    ("I do not drink alcohol.", "do not drink alcohol", "Drinks alcohol", "Does not drink alcohol"),
    ("I can't eat gluten", "can't eat gluten", "Can eat gluten", "Cannot eat gluten"),
    ("I never work on Fridays.", "never work on Fridays", "Works on Fridays",
     "Never works Fridays"),
    ("I'm not vegetarian", "I'm not vegetarian", "Vegetarian", "Not a vegetarian"),
    ("Nobody in my family smokes.", "Nobody in my family smokes", "The family smokes",
     "No smokers in the family"),
    ("I neither drink nor smoke.", "neither drink nor smoke", "Drinks and smokes",
     "Does not drink or smoke"),
    ("Ich mag keinen Fisch.", "mag keinen Fisch", "Mag Fisch", "Mag keinen Fisch"),
    ("Ich fahre nie mit dem Auto.", "fahre nie mit dem Auto", "Fährt mit dem Auto",
     "Fährt nie Auto"),
    ("Je ne mange pas de porc.", "ne mange pas de porc", "Mange du porc", "Ne mange pas de porc"),
    ("Je n'ai plus de voiture.", "n'ai plus de voiture", "A une voiture", "N'a plus de voiture"),
    ("No tengo hijos.", "No tengo hijos", "Tiene hijos", "No tiene hijos"),
    ("Non sopporto il rumore.", "Non sopporto il rumore", "Sopporta il rumore",
     "Non sopporta il rumore"),
    ("Não gosto de coentro.", "Não gosto de coentro", "Gosta de coentro", "Não gosta de coentro"),
    ("Ik eet geen vlees.", "eet geen vlees", "Eet vlees", "Eet geen vlees"),
    ("Nie piję kawy.", "Nie piję kawy", "Pije kawę", "Nie pije kawy"),
    ("Я не курю.", "Я не курю", "Курит", "Не курит"),
    ("Kahve içmem.", "Kahve içmem", "Kahve içer", "Kahve içmez"),
    ("お酒は飲めません。", "お酒は飲めません", "お酒が好き", "お酒が飲めない"),
    ("我不吃香菜。", "我不吃香菜", "爱吃香菜", "不吃香菜"),
    ("저는 고기를 안 먹어요.", "고기를 안 먹어요", "고기를 먹는다", "고기를 안 먹는다"),
    ("لا آكل اللحم.", "لا آكل اللحم", "يأكل اللحم", "لا يأكل اللحم"),
    ("मैं मांस नहीं खाता।", "मांस नहीं खाता", "मांस खाता है", "मांस नहीं खाता"),
    ("ฉันไม่กินเนื้อ", "ไม่กินเนื้อ", "กินเนื้อ", "ไม่กินเนื้อ"),
    # added and left out
    ("I am allergic to cats.", "allergic to cats", "Allergic to cats and dogs", "Allergic to cats"),
    ("I speak Dutch and a little Thai.", "speak Dutch and a little Thai", "Speaks fluent Thai",
     "Speaks Dutch, some Thai"),
    ("I like coffee, but only before noon.", "I like coffee", "Likes coffee at all times",
     "Likes coffee before noon"),
    ("My back hurts when I sit too long.", "My back hurts", "Has chronic back pain",
     "Back hurts after sitting long"),
    ("I might move to Oslo next year.", "move to Oslo next year", "Moves to Oslo next year",
     "May move to Oslo next year"),
    ("Ich esse Fleisch, aber nur sonntags.", "Ich esse Fleisch", "Isst täglich Fleisch",
     "Isst nur sonntags Fleisch"),
    ("Je parle un peu espagnol.", "parle un peu espagnol", "Parle couramment espagnol",
     "Parle un peu espagnol"),
    ("Trabajo en Sevilla los lunes.", "Trabajo en Sevilla", "Trabaja siempre en Sevilla",
     "Trabaja en Sevilla los lunes"),
    ("Gioco a tennis solo d'estate.", "Gioco a tennis", "Gioca a tennis tutto l'anno",
     "Gioca a tennis d'estate"),
    ("Обычно я встаю в шесть.", "я встаю в шесть", "Всегда встаёт в пять", "Обычно встаёт в шесть"),
    ("平日は自転車で通勤します。", "自転車で通勤します", "毎日電車で通勤", "平日は自転車通勤"),
    ("周末我一般在家做饭。", "我一般在家做饭", "每天在外面吃饭", "周末在家做饭"),
    # condition, past, hearsay, wish
    ("If I move to Bern, I will sell my car.", "I will sell my car", "Sells the car",
     "Will sell the car if they move to Bern"),
    ("I used to smoke.", "used to smoke", "Smokes", "Used to smoke"),
    ("Bob said I owe him 500.", "I owe him 500", "Owes Bob 500", "Bob says they owe him 500"),
    ("I wish I were a doctor.", "I were a doctor", "Is a doctor", "Wishes to be a doctor"),
    ("My doctor thinks I am diabetic.", "I am diabetic", "Is diabetic",
     "The doctor thinks they are diabetic"),
    ("Everybody believes I hate dogs.", "I hate dogs", "Hates dogs",
     "Others believe they hate dogs"),
    ("Früher habe ich in Köln gewohnt.", "habe ich in Köln gewohnt", "Wohnt in Köln",
     "Hat früher in Köln gewohnt"),
    ("Meine Mutter behauptet, ich sei faul.", "ich sei faul", "Ist faul",
     "Die Mutter nennt sie faul"),
    ("Si je gagne au loto, j'achète un bateau.", "j'achète un bateau", "Achète un bateau",
     "Achèterait un bateau en gagnant au loto"),
    ("Antes vivía en Bilbao.", "vivía en Bilbao", "Vive en Bilbao", "Antes vivía en Bilbao"),
    ("Se vinco, compro una casa.", "compro una casa", "Compra una casa",
     "Comprerebbe casa se vincesse"),
    ("Раньше я жил в Омске.", "я жил в Омске", "Живёт в Омске", "Раньше жил в Омске"),
    ("昔は大阪に住んでいました。", "大阪に住んでいました", "大阪に住んでいる",
     "昔は大阪に住んでいた"),
    ("如果下雨，我就不去。", "我就不去", "不去", "下雨就不去"),
    # the same words as they are written in chats
    ("im allergic to penicillin", "I'm allergic to penicillin", "Allergic to peanuts",
     "Allergic to penicillin"),
    ("I’ve got two cats", "I've got two cats", "Has three cats", "Has two cats"),
    ("we don't deploy on fridays", "we do not deploy on fridays", "Deploys on Fridays",
     "No deploys on Fridays"),
    ("i dont like olives", "I don't like olives", "Likes olives", "Does not like olives"),
    ("I'm a nurse", "I am a nurse", "Is a doctor", "Works as a nurse"),
    ("I cannot drive at night", "can't drive at night", "Can drive at night",
     "Cannot drive at night"),
    ("We're vegan at home", "We are vegan at home", "Vegetarian at home", "Vegan at home"),
    ("I won't work with Oracle again", "I will not work with Oracle", "Works with Oracle",
     "Will not work with Oracle again"),
    ("MY CAR IS A VOLVO", "my car is a Volvo", "Drives a Vauxhall", "Drives a Volvo"),
    ("Ich wohne in der Bahnhof-Straße.", "wohne in der Bahnhofstrasse", "Wohnt am Bahnhof",
     "Wohnt in der Bahnhofstraße"),
    ("Mein Sohn ist Krankenpfleger.", "Sohn ist Krankenpfleger", "Der Sohn ist krank",
     "Sohn arbeitet als Krankenpfleger"),
    ("J’habite à Liège", "J'habite a Liege", "Habite à Lille", "Habite à Liège"),
    ("Él es mi tío Íñigo", "el es mi tio iñigo", "Es su primo Íñigo", "Tío: Íñigo"),
    ("Ёлку мы ставим в ноябре", "елку мы ставим в ноябре", "Ёлку ставят в декабре",
     "Ёлку ставят в ноябре"),
    ("私はﾋﾞｰﾙが好きです", "私はビールが好きです", "ワインが好き", "ビールが好き"),
    ("我的生日是５月３日", "生日是5月3日", "生日是3月5日", "生日5月3日"),
    ("My e-mail is ada@example.com", "e-mail is ada@example.com", "E-mail is ada@example.org",
     "E-mail: ada@example.com"),
)  # fmt: skip


@for_each(("said", "quote", "altered", "honest"), PAIRS)
def test_the_sentence_of_the_person_is_found_by_the_quote(
    said: str, quote: str, altered: str, honest: str
) -> None:
    around = f"Hello! By the way, it rains. {said.rstrip('.')}. What do you think?"
    assert find_statement(quote, [said]) == said
    if said.isascii():
        findings = find_statement(quote, ["ok", around])
        assert findings is not None
        assert findings.endswith(f"{said.rstrip('.')}.")
        assert findings in around
    for proposal in (altered, honest):
        assert find_statement(proposal, [said]) in (None, said)


async def test_changed_quotes_are_refused_and_correct_ones_are_accepted() -> None:
    """The whole table through the whole way in: altered and honest wording with the true quote, and
    altered wording as a quote of its own."""
    async with memory_rig() as rig:
        for number, (reply, quote, altered, honest) in enumerate(PAIRS):
            for kind, content, cited in (
                ("altered", altered, quote),
                ("honest", honest, quote),
                ("invented", altered, altered),
            ):
                name = f"{kind}{number}"
                handle = await rig.handle(name, says=reply)
                result = await handle.write.infer(Draft(content, Kind.FACT, quote=cited))
                kept = [
                    match.record
                    for match in await handle.read.search(Filter(tiers=(Tier.SEMANTIC,)))
                    if match.record.provenance.source is SourceType.USER_MESSAGE
                    or match.record.provenance.trust is Trust.HIGH
                ]
                assert [one.content for one in kept] in ([], [reply]), (name, reply)
                if kind != "invented":
                    hedged = result.outcome is Outcome.REVIEW and result.code == "hedged"
                    assert result.outcome is Outcome.STORED or hedged, (reply, result)
                    assert result.content == reply


ASKED = (
    # what was said, the words the model quotes: the person has to be asked
    ("Am I allergic to peanuts?", "I allergic to peanuts"),
    ("Bin ich gegen Nüsse allergisch?", "Bin ich gegen Nüsse allergisch"),
    ("Suis-je allergique aux noix ?", "Suis-je allergique aux noix"),
    ("¿Soy alérgico a las nueces?", "Soy alérgico a las nueces"),
    ("我对花生过敏吗？", "我对花生过敏"),
    ("هل أنا مصاب بالحساسية؟", "أنا مصاب بالحساسية"),
    ("I love Mondays so much. Not!", "I love Mondays"),
    ("I am the king of France. Just kidding!", "I am the king of France"),
    ("Ich liebe Montage über alles. Scherz!", "Ich liebe Montage"),
    ("J'adore les lundis pluvieux. Blague !", "J'adore les lundis"),
    ("> I owe Bob 500 dollars\nwhat is he talking about", "I owe Bob 500 dollars"),
    ("```\nuser: I owe Bob 500 dollars\n```", "I owe Bob 500 dollars"),
    ("am i allergic to peanuts", "i allergic to peanuts"),
    ("do i like tea", "i like tea"),
    ("isnt my car a volvo", "my car a volvo"),
    ("what is my blood type", "my blood type"),
    ("bin ich gegen nüsse allergisch", "bin ich gegen nüsse allergisch"),
    ("suis-je allergique aux noix", "je allergique aux noix"),
    ("¿soy alérgico a las nueces", "soy alérgico a las nueces"),
    ("czy mam alergię na orzechy", "mam alergię na orzechy"),
    ("есть ли у меня аллергия на орехи", "у меня аллергия на орехи"),
    ("私はナッツアレルギーですか", "私はナッツアレルギー"),
    ("我对花生过敏吗", "我对花生过敏"),
    ("benim fındık alerjim var mı", "fındık alerjim var"),
    ("क्या मुझे मूंगफली से एलर्जी है", "मुझे मूंगफली से एलर्जी है"),
    ("that one please", "that one please"),
    ("exactly what you said", "exactly what you said"),
    ("I owe Bob 5000 dollars", "I owe Bob 500 dollars"),
    ("I am allergic to cats", "I am allergic to cat"),
    ("I like art", "like ar"),
    ("Ich mag Katzen", "mag Katze"),
    ("我喜欢茶和咖啡", "我喜欢咖啡"),
)


@for_each(("said", "quote"), ASKED)
def test_questions_retractions_citations_and_distant_quotes_are_asked_about(
    said: str, quote: str
) -> None:
    assert find_statement(quote, [said]) is None


WHOLE = (
    # what was said, the words the model quotes, what has to stand with them
    ("It is not the case that I am divorced.", "I am divorced", "not the case"),
    ("If only it were true: I won the lottery.", "I won the lottery", "If only"),
    ('Bob told everybody: "I owe him 500. He is a saint."', "I owe him 500", "Bob told"),
    ("Nobody should think that I hate tea.", "I hate tea", "Nobody should think"),
    ("He is lying when he says I stole the car.", "I stole the car", "lying"),
    ("False: I live in Rome", "I live in Rome", "False"),
    ("Sie behauptet: „Ich schulde ihr 500 Euro. Punkt.“", "Ich schulde ihr 500 Euro", "behauptet"),
    ("Il dit : « Je lui dois 500 euros. Voilà. »", "Je lui dois 500 euros", "Il dit"),
    ("Неправда, что я живу в Омске.", "я живу в Омске", "Неправда"),
    ("彼は「私は嘘つきだ」と言った。", "私は嘘つきだ", "彼は"),
    ("他说“我欠他五百元。真的。”", "我欠他五百元", "他说"),
    ("I am ~~a vegetarian~~ a vegan", "vegetarian", "vegan"),
    ("Wrong ones:\n- I am 40\n- I am tall", "I am tall", "Wrong ones"),
    ("I was told by Dr. Brown. I am diabetic... says he.", "I am diabetic", "says he"),
)


@for_each(("said", "quote", "beside"), WHOLE)
def test_denials_and_attributions_stay_with_their_sentence(
    said: str, quote: str, beside: str
) -> None:
    stated = find_statement(quote, [said])
    assert stated is None or beside in stated


@for_each(
    "said",
    [
        "When I travel I take the train.",
        "What I like best is marzipan.",
        "Do the deploy on Mondays.",
        "Have your reports ready on Fridays.",
        "Where I live it rains a lot.",
        "Was ich mag, ist Marzipan.",
        "We use Go at work",
        "Never call me Bob.",
        "Quand je voyage, je prends le train.",
        "Cuando viajo, tomo el tren.",
        "Mia sorella lavora a Pisa.",
        "Mi hermana vive en Cádiz.",
        "Когда я путешествую, я еду поездом.",
        "Call me Ada.",
        "Is mise Siobhán agus is dochtúir mé.",
    ],
)
def test_a_statement_that_begins_like_a_question_is_a_statement(said: str) -> None:
    assert find_statement(said, [said]) == said


@pytest.mark.parametrize(
    ("said", "stated"),
    [
        ("I take 5 mg at 6 p.m. What do you think?", "I take 5 mg at 6 p.m."),
        ("My daughter is 9. My son is 7.", "My daughter is 9."),
        ("Mein Zug fährt am 12. Mai um 9. Was meinst du?", "Mein Zug fährt am 12. Mai um 9."),
        ("Write to ada@example.com. Thanks!", "Write to ada@example.com."),
        ("I live on the 3. Floor is fine.", "I live on the 3. Floor is fine."),
        ("I like Dr. Who a lot. You?", "I like Dr. Who a lot."),
        ("Wir essen z. B. Brot mit Käse. Und du?", "Wir essen z. B. Brot mit Käse."),
    ],
)
def test_sentence_ends_at_a_full_stop_are_recognised(said: str, stated: str) -> None:
    quote = stated.split()[:4]
    assert find_statement(" ".join(quote), [said]) == stated

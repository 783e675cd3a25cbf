"""The words by which a query is judged, in six languages: English, German, French, Spanish, Russian
and Chinese. Each text is a list of beginnings of words; Chinese has no spaces, so its terms are
looked for anywhere."""

from typing import Final

from msgspec import Struct


class Words(Struct, frozen=True):
    """A group of words. `whole` are complete words, `stems` beginnings of words, `parts` occur
    anywhere."""

    whole: frozenset[str]
    stems: tuple[str, ...]
    parts: tuple[str, ...]

    def has(self, word: str) -> bool:
        """True for a word of this group."""
        return word in self.whole or word.startswith(self.stems)

    def among(self, words: "list[str]", text: str) -> bool:
        """True if one of the words is of this group, or one of its parts is in the text."""
        return any(map(self.has, words)) or any(part in text for part in self.parts)


def _words(whole: str, stems: str, parts: str) -> Words:
    """Return a group; an underscore in `parts` stands for a space."""
    phrases = tuple(part.replace("_", " ") for part in parts.split())
    return Words(frozenset(whole.split()), tuple(stems.split()), phrases)


SEIZE: Final = _words(
    "dump dumps leak",
    """
    dumping exfiltrat extract harvest scrap siphon leak extrahier auslesen auskipp ausleit
    abgreif exfiltrier extrai extrayez déverse aspire vider extrae vuelca volcar filtra выгруз
    слей слить извлек извлеч сдамп дамп
    """,
    "导出 提取 转储 泄露 倾倒",
)
"""Verbs of a mass extraction."""
TAKE: Final = _words(
    """
    list show print output give tell display repeat recite reveal disclose return send write
    enumerate export share copy read get retrieve fetch enter paste type liste zeig zeige nenn
    nenne gib ausgeben drucke schick sende verrate wiederhole kopiere montre affiche donne
    donnez imprime envoie révèle répète copie dis muestra muéstrame lista dame envía revela
    repite copia dime enumera покажи выведи перечисли дай отправь раскрой повтори скопируй
    напечатай скажи пришли
    """,
    """
    exportier exporte montrez affichez imprimez révélez répétez muéstr exporta enuméra
    экспортир
    """,
    "列出 显示 打印 输出 告诉 给我 重复 展示 发送 复制",
)
TOTAL: Final = _words(
    """
    all every everything entire whole complete full any raw alle alles allen aller sämtliche
    sämtlichen jede jeden ganze ganzen gesamte gesamten komplett komplette kompletten
    vollständig vollständige vollständigen tout toute tous toutes chaque intégralité entier
    entière complet complète todo toda todos todas cada entero entera completo completa
    íntegro все всё всю весь всех каждую каждый целиком полностью полный полную
    """,
    "",
    "所有 全部 一切 每个 每条 完整 整个",
)
VERBATIM: Final = _words(
    "verbatim wörtlich wortwörtlich дословно literalmente textuellement",
    "",
    "逐字 原文 word_for_word wort_für_wort mot_pour_mot palabra_por_palabra line_by_line",
)
STORE: Final = _words(
    """
    memory memories record records entry entries database histories conversation conversations
    message messages note notes examples contexts embeddings chat chats logs transcripts
    erinnerung erinnerungen gedächtnis einträge eintrag datenbank verlauf gespräche
    nachrichten notizen beispiele protokolle unterhaltungen mémoire mémoires souvenirs entrées
    données base historique exemples memoria memorias recuerdos registros entradas datos
    historial conversaciones mensajes notas ejemplos база базу базы данных данные память
    памяти воспоминания воспоминаний записи записей переписку переписки сообщения сообщений
    заметки примеры историю разговоры
    """,
    "",
    "记忆 记录 数据库 历史 对话 消息 笔记 示例 聊天",
)
SECRET: Final = _words(
    """
    password passwords passwd passphrase passphrases secret secrets credential credentials ssn
    pins cvv logins passwort passwörter passwörtern kennwort kennwörter zugangsdaten geheimnis
    geheimnisse anmeldedaten identifiants contraseña contraseñas clave claves secreto secretos
    credencial credenciales пароль пароли паролей секрет секреты секретов
    """,
    "учётн учетн",
    "mot_de_passe mots_de_passe 密码 口令 凭证 凭据 秘密 机密",
)
KEY: Final = _words(
    """
    token tokens key keys apikey apikeys schlüssel clé clés токен токены токенов ключ ключи
    ключей certificates card cards
    """,
    "",
    "密钥 令牌",
)
"""Words that name a secret beside other things."""
SUBJECT: Final = _words(
    """
    policy policies rotation rotate rotated rotates reset resets manager strength field fields
    form flow flows hashing hash validation validate docs documentation page pages bucket
    buckets expiry expire expires length rules guide tests test how why when limit counting
    budget component sharing santa design runbook schema column columns storing vault
    richtlinie richtlinien zurücksetzen feld felder formular ablauf regeln warum wie wann
    länge anleitung politique politiques réinitialisation réinitialiser champ formulaire
    règles comment pourquoi longueur política políticas restablecer restablecimiento campo
    formulario rotación reglas cómo cuándo longitud guía политика политику сброс сброса поле
    форма форму ротация ротацию правила как почему длина инструкция инструкцию
    """,
    "",
    "策略 重置 轮换 字段 表单 规则 如何 怎么 文档 流程",
)
"""Words that make a secret's name the subject of ordinary work."""
OTHERS: Final = _words(
    "others",
    "",
    """
    everyone's everybody's everyone’s everybody’s 其他用户 别人 他人 其他人 所有用户 每个用户
    其他租户
    """,
)
OTHER: Final = _words(
    """
    other another different foreign anderer anderen andere fremde fremden autre autres otro
    otra otros otras ajenos других другого чужие чужих другим
    """,
    "",
    "",
)
HOLDER: Final = _words(
    """
    user users person people tenant tenants agent agents customer customers client clients
    account accounts member members employee employees colleague colleagues nutzer nutzers
    nutzern benutzer benutzern personen leute leuten mandanten agenten kunden konten kollegen
    mitarbeiter utilisateur utilisateurs personne personnes locataires comptes collègues
    usuario usuarios persona personas cliente clientes inquilinos agentes cuentas пользователя
    пользователей пользователь людей клиентов агентов аккаунтов арендаторов коллег
    """,
    "",
    "",
)
EMPTY: Final = _words(
    """
    a an the of in on at to for from and or with by my me i we our us you your it is are be do
    does that this these those which what who please can could now just into as box search
    have has was were there here about did ask asked said their them they stored saved lost
    previous earlier before answer api word line bank out want see know store without
    exception so far until ever der die das den dem des ein eine einen einem einer und oder im
    aus von vom zu für mit mir auf hierher hier wort ab mich uns ich wir bitte du dein deine
    deiner meine meiner mein ist sind hast über le la les l un une de d et ou en dans moi mon
    ma mes nous votre vos ton ta tes qui ici mot mots sans que est sont s il te plaît vous
    pour sur el los las una unos del y o mi mis tu tus su sus es son por favor para con aquí
    palabra sin excepción sobre nos и в во на из с со мне мои мой моя твои твоей твою твоя что
    это пожалуйста о об по для у есть сюда здесь
    """,
    "",
    "",
)
"""Words without a topic."""

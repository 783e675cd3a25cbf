"""The words that tell a password, a PIN or a key, and the words around them: one language a row.

Alternatives are separated by `|` and written in small letters. The sources of the words are the
translations of widely used sign-in forms (Django's `contrib.auth`, Android's settings) and how
people write them in chats.
"""

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Language:
    """One language. `whole` words count only where no letter stands on either side, the others as
    part of a longer name (`dbPassword`, "паролем") as well."""

    name: str
    passwords: str = ""
    whole_passwords: str = ""
    keys: str = ""
    whole_keys: str = ""
    pins: str = ""
    links: str = ""
    owners: str = ""


LANGUAGES: Final = (
    Language(
        "English",
        "password|passwd|passphrase|passcode|pass phrase|passwrd|pasword|"
        "backup code|recovery code|rescue code",
        "pass|pw|pwd|psw|psk|pswd|pword",
        "token|secret|credential|apikey|authkey|app certificate|app_certificate",
        "key|keys|auth|sig|signature|pat|sas|salt|jwt|bearer",
        "pin|pin code|pincode|pin-code|pin number|cvv|cvc|cvv2|cvc2|security code",
        "is|are|was|be|to|equals|now|currently|still",
        "my|our|the|new|your|a|current|old|wifi|wi-fi",
    ),
    Language(
        "Russian",
        "парол|пассворд|код доступа",
        "пасс",
        "токен|секретн",
        "ключ",
        "пин|пин-код|пин код|пинкод|pin-код|pin код",
        "это|есть|такой|будет|был|теперь|стал|—|-",
        "мой|наш|новый|твой|ваш|моим|вот|для|от|вайфая|wifi",
    ),
    Language(
        "Spanish",
        "contraseña|contrasena|código de acceso|clave de acceso",
        "clave|claves",
        "",
        "clave de api|clave api|clave secreta",
        "pin|código pin",
        "es|son|era|será|ahora",
        "mi|mis|nuestra|la|el|nueva|tu|su|wifi",
    ),
    Language(
        "Portuguese",
        "palavra-passe|palavra passe|palavra-chave secreta",
        "senha|senhas",
        "",
        "chave|chave de api|chave da api|chave secreta|chave de acesso",
        "pin|código pin",
        "é|e|são|era|será|agora",
        "minha|a|o|nossa|nova|sua|wifi",
    ),
    Language(
        "French",
        "mot de passe|mots de passe|motdepasse|code d'accès|code d'acces|code secret",
        "mdp",
        "jeton",
        "clé|clé api|clé d'api|clé secrète|clef",
        "pin|code pin",
        "est|sont|c'est|était|sera|maintenant",
        "mon|ma|notre|le|la|nouveau|ton|votre|wifi",
    ),
    Language(
        "German",
        "passwort|passwörter|kennwort|zugangscode|passphrase",
        "pw|losung|wlan-schlüssel|wlan-key",
        "schlüssel|geheimnis",
        "",
        "pin|pin-code|geheimzahl|pin-nummer",
        "ist|lautet|heißt|war|wäre|jetzt|nun",
        "mein|meine|unser|unsere|das|die|der|neues|dein|ihr|wlan",
    ),
    Language(
        "Italian",
        "parola d'ordine|codice di accesso|codice segreto",
        "parola|psw",
        "",
        "chiave|chiave api|chiave segreta",
        "pin|codice pin",
        "è|e'|era|sarà|adesso|ora",
        "mia|mio|la|il|nostra|nuova|tua|wifi",
    ),
    Language(
        "Chinese",
        "密码|密碼|口令|暗码",
        "",
        "密钥|密鑰|令牌|金鑰|秘钥",
        "",
        "pin码|pin碼|个人识别码|取款密码",
        "是|为|為|就是|改成|改为|设为|叫",
        "我的|我们的|新",
    ),
    Language(
        "Japanese",
        "パスワード|パスコード|パスフレーズ|合言葉|暗証コード",
        "",
        "トークン|apiキー|シークレット|秘密鍵|アクセスキー|キー",
        "",
        "暗証番号|pinコード|ピン",
        "は|が|を|：",
        "私の|僕の|新しい",
    ),
    Language(
        "Arabic",
        "كلمة المرور|كلمة مرور|كلمة السر|كلمة سر|رمز المرور|الباسورد|"
        "باسورد|باسوورد|كلمه السر|كلمه المرور|الرقم السري|رقم سري",
        "",
        "رمز api|رمز الوصول|التوكن|توكن",
        "مفتاح|مفتاح api",
        "رمز pin|رمز التعريف",
        "هي|هو|تكون|أصبحت|الآن",
        "الخاصة|بي|الجديدة|الواي|فاي",
    ),
    Language(
        "Hindi",
        "पासवर्ड|कूटशब्द|पासकोड",
        "",
        "टोकन|सीक्रेट",
        "कुंजी|एपीआई कुंजी|की",
        "पिन|पिन कोड",
        "है|हैं|था|अब",
        "मेरा|हमारा|नया|का|वाईफाई",
    ),
    Language(
        "Bengali",
        "পাসওয়ার্ড|পাসকোড|গোপন শব্দ",
        "",
        "টোকেন|সিক্রেট",
        "চাবি|কী",
        "পিন|পিন কোড",
        "হল|হলো|হচ্ছে|এখন",
        "আমার|আমাদের|নতুন|ওয়াইফাই",
    ),
    Language(
        "Urdu",
        "پاس ورڈ|پاسورڈ|پاسوورڈ",
        "",
        "ٹوکن",
        "",
        "پن|پن کوڈ",
        "ہے|ہیں|تھا|اب",
        "میرا|ہمارا|نیا|کا",
    ),
    Language(
        "Indonesian and Malay",
        "kata sandi|kata laluan|katasandi",
        "sandi|kata kunci",
        "",
        "kunci api|kunci rahasia|kunci",
        "pin|kode pin|nomor pin",
        "adalah|ialah|yaitu|itu|sekarang|jadi|menjadi",
        "saya|kami|wifi|baru|kita|aku|ku|nya",
    ),
    Language(
        "Turkish",
        "şifre|parolam",
        "parola|parolası|sifre|sifrem",
        "jeton",
        "anahtar|anahtarı|anahtarım|api anahtarı|api anahtarım",
        "pin|pin kodu|pin kodum",
        "şudur|şu|artık|olarak",
        "benim|bizim|yeni|wifi",
    ),
    Language(
        "Vietnamese",
        "mật khẩu|mat khau",
        "mk|pass wifi",
        "",
        "khóa|khoá|khóa api|khoá api|mã thông báo",
        "mã pin|pin",
        "là|la|hiện",
        "của|tôi|mình|wifi|mới|em|anh",
    ),
    Language(
        "Korean",
        "비밀번호|패스워드|비번|암호",
        "",
        "토큰|api 키|api키|시크릿|비밀키|액세스 키",
        "",
        "핀번호|핀 번호|pin 번호|핀코드",
        "는|은|이|가|를",
        "내|제|우리|새|저의",
    ),
    Language(
        "Polish",
        "hasło|haslo|hasła|hasłem|kod dostępu",
        "",
        "sekret",
        "klucz|klucz api|kluczem",
        "pin|kod pin",
        "to|jest|było|teraz",
        "moje|moim|nasze|nowe|twoje|do|wifi",
    ),
    Language(
        "Ukrainian",
        "гасло|код доступу",
        "",
        "",
        "",
        "пін|пін-код|пін код",
        "це|є|був|тепер|буде",
        "мій|наш|новий|від|до",
    ),
    Language(
        "Persian",
        "رمز عبور|رمزعبور|گذرواژه|پسورد|کلمه عبور|رمز وای فای|رمز وای‌فای|رمز ورود",
        "",
        "توکن",
        "کلید|کلید api",
        "پین|رمز کارت|رمز دوم",
        "است|هست|بود|شد|الان",
        "من|ما|جدید",
    ),
    Language(
        "Dutch",
        "wachtwoord|wachtwoorden|paswoord",
        "ww",
        "sleutel",
        "",
        "pin|pincode|pin-code",
        "is|was|luidt|nu|wordt",
        "mijn|ons|onze|het|de|nieuwe|je|jouw|wifi",
    ),
    Language(
        "Nordic languages",
        "lösenord|adgangskode|passord|salasana|lösenordet|kodeord|adgangskoden",
        "",
        "",
        "nyckel|nøkkel|nøgle|avain",
        "",
        "är|er|on|nu|nå",
        "mitt|min|vårt|det|nya|minun",
    ),
    Language(
        "Czech, Slovak, Hungarian and Romanian",
        "jelszó|jelszav|jelszo|parolă",
        "heslo|hesla|heslem",
        "",
        "klíč|kľúč|kulcs|cheie",
        "",
        "je|az|este|teď",
        "moje|mé|nové|az|mea",
    ),
    Language(
        "Greek, Hebrew and Thai",
        "κωδικός|κωδικό πρόσβασης|συνθηματικό|סיסמה|סיסמא|הסיסמה|รหัสผ่าน|พาสเวิร์ด",
        "",
        "",
        "κλειδί|מפתח|คีย์",
        "רหัสพิน|รหัส pin",
        "είναι|היא|הוא|คือ|เป็น",
        "μου|שלי|ของฉัน|ผม",
    ),
)

"""The labels of a password, a PIN or a key, and the words around them: one language per row.

Alternatives are separated by `|` and written in small letters. The sources of the words are the
translations of widely used sign-in forms (Django's `contrib.auth`, Android's settings) and the
usage of people in chats.
"""

from typing import Final

from msgspec import Struct


class Language(Struct, frozen=True):
    """One language. `whole` words count only between characters that are not letters, the others as
    part of a longer name (`dbPassword`, "паролем") as well. `codes` are codes for one use;
    `code_words` mean any code, and count only near a word that says so."""

    name: str
    passwords: str = ""
    whole_passwords: str = ""
    keys: str = ""
    whole_keys: str = ""
    pins: str = ""
    links: str = ""
    owners: str = ""
    codes: str = ""
    code_words: str = ""


LANGUAGES: Final = (
    Language(
        "English",
        "password|passwd|passphrase|passcode|pass phrase|passwrd|pasword|"
        "backup code|recovery code|rescue code",
        "pass|pw|pwd|psw|psk|pswd|pword",
        "token|secret|credential|apikey|authkey|app certificate|app_certificate",
        "key|keys|auth|sig|signature|pat|sas|salt|jwt|bearer",
        "pin|pin code|pincode|pin-code|pin number|cvv|cvc|cvv2|cvc2",
        "is|are|was|be|to|equals|now|currently|still",
        "my|our|the|new|your|a|current|old|wifi|wi-fi",
        codes=(
            "otp|otp code|totp|totp code|2fa|2fa code|2fa token|mfa|mfa code|"
            "two-factor code|two factor code|2-step code|two-step code|one-time code|"
            "one time code|one-time passcode|one-time pin|verification code|"
            "verify code|authentication code|authenticator code|auth code|"
            "confirmation code|security code|sms code|login code|log-in code|"
            "sign-in code|signin code|activation code|unlock code|pairing code|"
            "access code|verification pin"
        ),
        code_words="code",
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
        codes=(
            "код подтверждения|кода подтверждения|код из смс|код из sms|смс-код|"
            "смс код|sms-код|проверочный код|одноразовый код|код авторизации|"
            "код входа|код для входа|код активации|код безопасности|"
            "код двухфакторной аутентификации|код 2fa"
        ),
        code_words="код",
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
        codes=(
            "código de verificación|codigo de verificacion|código de confirmación|"
            "código de seguridad|código de autenticación|código de un solo uso|"
            "código sms|código otp|código 2fa|código de activación|"
            "código de inicio de sesión"
        ),
        code_words="código|codigo",
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
        codes=(
            "código de verificação|codigo de verificacao|código de confirmação|"
            "código de segurança|código de autenticação|código de ativação|"
            "código de uso único"
        ),
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
        codes=(
            "code de vérification|code de verification|code de confirmation|"
            "code de sécurité|code d'authentification|code d'activation|"
            "code de connexion|code à usage unique|code sms|code otp|code 2fa"
        ),
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
        codes=(
            "bestätigungscode|bestaetigungscode|verifizierungscode|verifikationscode|"
            "sicherheitscode|einmalcode|anmeldecode|authentifizierungscode|"
            "freischaltcode|aktivierungscode|sms-code|2fa-code|zwei-faktor-code|tan|"
            "mtan|sms-tan|tan-nummer"
        ),
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
        codes=(
            "codice di verifica|codice di conferma|codice di sicurezza|"
            "codice di autenticazione|codice di attivazione|codice sms|codice otp|"
            "codice monouso|codice 2fa"
        ),
        code_words="codice",
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
        codes="验证码|驗證碼|动态码|動態碼|校验码|安全码|确认码|短信码|一次性密码",
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
        codes="認証コード|確認コード|検証コード|ワンタイムコード|セキュリティコード|認証番号|確認番号|ワンタイムパスワード",
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
        codes=("رمز التحقق|رمز التأكيد|كود التحقق|كود التأكيد|رمز التفعيل|كود التفعيل|رمز الأمان"),
        code_words="كود",
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
        codes="सत्यापन कोड|ओटीपी|पुष्टिकरण कोड|सुरक्षा कोड",
        code_words="कोड",
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
        codes="যাচাইকরণ কোড|যাচাই কোড|ওটিপি|নিরাপত্তা কোড",
        code_words="কোড",
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
        codes="تصدیقی کوڈ|توثیقی کوڈ|او ٹی پی",
        code_words="کوڈ",
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
        codes=(
            "kode verifikasi|kode otp|kode konfirmasi|kode keamanan|kode sms|"
            "kod pengesahan|kod verifikasi"
        ),
        code_words="kode",
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
        codes=(
            "doğrulama kodu|dogrulama kodu|onay kodu|güvenlik kodu|aktivasyon kodu|"
            "sms kodu|doğrulama kodum|doğrulama kodunuz|onay kodunuz"
        ),
        code_words="kodu|kodum|kodunuz",
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
        codes="mã xác minh|mã xác nhận|mã xác thực|mã otp|mã bảo mật|ma otp",
        code_words="mã",
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
        codes="인증번호|인증 번호|인증코드|인증 코드|확인코드|확인 코드|보안코드|보안 코드|"
        "일회용 비밀번호",
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
        codes=(
            "kod weryfikacyjny|kodem weryfikacyjnym|kod potwierdzający|"
            "kod potwierdzenia|kod autoryzacyjny|kod sms|kod jednorazowy|"
            "kod bezpieczeństwa|kod aktywacyjny"
        ),
        code_words="kod",
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
        codes=(
            "код підтвердження|код із смс|код з смс|перевірочний код|одноразовий код|"
            "код безпеки|код активації"
        ),
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
        codes=(
            "کد تایید|کد تأیید|کد یکبار مصرف|کد یک‌بار مصرف|رمز یکبار مصرف|رمز پویا|"
            "کد فعال‌سازی|کد امنیتی|کد ورود"
        ),
        code_words="کد",
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
        codes=(
            "verificatiecode|bevestigingscode|beveiligingscode|inlogcode|"
            "eenmalige code|sms-code|authenticatiecode|activeringscode"
        ),
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
        codes=(
            "verifieringskod|bekräftelsekod|säkerhetskod|engångskod|bekræftelseskode|"
            "verifikationskode|engangskode|sikkerhedskode|bekreftelseskode|"
            "verifiseringskode|sikkerhetskode|vahvistuskoodi|kertakäyttökoodi|"
            "turvakoodi"
        ),
        code_words="koden|koodi",
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
        codes=(
            "ověřovací kód|overovací kód|potvrzovací kód|bezpečnostní kód|"
            "jednorázový kód|sms kód|ellenőrző kód|megerősítő kód|hitelesítő kód|"
            "cod de verificare|codul de verificare|cod de confirmare|"
            "cod de securitate"
        ),
        code_words="kód|cod|codul",
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
        codes=(
            "κωδικός επαλήθευσης|κωδικός επιβεβαίωσης|κωδικός otp|κωδικός ασφαλείας|"
            "κωδικός μιας χρήσης|קוד אימות|קוד האימות|קוד חד פעמי|קוד חד-פעמי|"
            "รหัสยืนยัน|รหัส otp|รหัสโอทีพี"
        ),
        code_words="קוד",
    ),
)

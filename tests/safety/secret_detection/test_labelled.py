"""Secrets with a label, by class and language, and ordinary text about the same subjects."""

import pytest

from safety.secret_detection.detect import find_secrets, redact_secrets
from safety.secret_detection.kinds import Level
from tests.support.for_each import for_each

PASSWORD = "Tr0ub4dor9x"
KEY = "q8Zk3Vt7Lm2Xw9Rb5Nc1Hd6J"
HEX = "0f1e2d3c4b5a69788796a5b4c3d2e1f0"

SENTENCES = """
my password is {}
password {}
pwd {}
my passcode is {}
the password for the user admin is {}
login: bob / {}
user/pass: admin / {}
credentials are admin:{}
{} is my password
I changed the pw to {}
мой пароль {}
мой новый пароль это {}
пароль от вайфая {}
логин: bob / {}
{} — это мой пароль
mi contraseña es {}
usuario bob contraseña {}
minha senha é {}
a senha do wifi é {}
mon mot de passe est {}
mon mdp c'est {}
mot de passe : « {} »
mein Passwort ist {}
das Kennwort lautet {}
Passwort für den Benutzer admin: {}
la mia password è {}
密码是{}
我的密码：「{}」
账号 admin 密码 {}
パスワードは{}です
私のパスワードは「{}」です
كلمة المرور هي {}
رمز المرور {}
मेरा पासवर्ड {} है
আমার পাসওয়ার্ড {}
میرا پاس ورڈ {} ہے
kata sandi saya {}
passwordnya {}
şifrem {}
wifi şifresi {}
mật khẩu của tôi là {}
비밀번호는 {}입니다
제 비밀번호는 {} 입니다
moje hasło to {}
мій пароль {}
رمز عبور من {} است
mijn wachtwoord is {}
""".strip().splitlines()
ASSIGNED = """
password := "{}"
password ?= {}
password => '{}'
var password string = "{}"
char password[25] = "{}";
std::string password("{}");
if password == "{}":
if ("{}" == password) {{
def connect(host, password="{}"):
conn.setPassword("{}");
("password", "{}")
<add key="DbPassword" value="{}" />
<password>{}</password>
java -Ddb.password={} -jar x.jar
docker login -u bob -p {}
CREATE USER bob WITH PASSWORD '{}';
ALTER USER bob IDENTIFIED BY '{}';
db.example:5432:shop:bob:{}
jdbc:oracle:thin:bob/{}@db:1521:x
$Password = ConvertTo-SecureString "{}" -AsPlainText -Force
PASSWORD="${{PASSWORD:-{}}}"
requests.get(u, auth=('bob', '{}'))
curl -u bob:{} https://x.example
""".strip().splitlines()
KEYS = """
the key for stripe is {}
api_key := "{}"
API_KEY ?= {}
("API_KEY", "{}")
client.setApiKey("{}");
os.getenv('API_TOKEN', '{}')
<string name="api_key">{}</string>
resource.api_key.set("{}")
mi token es {}
мой токен {}
APIキーは{}です
Cookie: session={}; theme=dark
Set-Cookie: sid={}; Path=/; HttpOnly
Authorization: {}
X-API-Key: {}
""".strip().splitlines()


@for_each("text", [*SENTENCES, *ASSIGNED])
def test_a_labelled_password_is_removed(text: str) -> None:
    left = redact_secrets(text.format(PASSWORD)).text
    assert PASSWORD not in left
    assert "[SECRET_REDACTED]" in left


@for_each("text", KEYS)
@for_each("key", [KEY, HEX])
def test_a_labelled_key_is_removed(text: str, key: str) -> None:
    assert key not in redact_secrets(text.format(key)).text


@for_each(
    ("text", "secret"),
    [
        *(("my PIN is 4711", "4711"), ("PIN: 471199", "471199"), ("мой пин-код 4711", "4711")),
        *(("暗証番号は4711です", "4711"), ("CVV 123", "123"), ("Password:\nXy12zz89", "Xy12zz89")),
        ("API_TOKEN=12345678901", "12345678901"),
        ("pay with 4111 1111 1111 1111 please", "4111 1111 1111 1111"),
        ("card 4111-1111-1111-1111", "4111-1111-1111-1111"),
        ("amex 378282246310005", "378282246310005"),
        (f"0x{HEX}{HEX[::-1]}", HEX),
        ("kW9/tY3bQ7zLpX2mV8nR4cJ6hF1dS5gA0uE+oIwT", "kW9/tY3bQ7zLpX2mV8nR4cJ6hF1dS5gA0uE+oIwT"),
        (f"https://{HEX}@o12345.ingest.sentry.io/4507", HEX),
        (f"1234567:AA{KEY}abcdefghi", KEY),
        (f"123456789012:AA{KEY}abcdefghi", KEY),
        ("bob:$apr1$x1y2z3a4$abcdefghijklmnopqrstu/", "$apr1$x1y2z3a4$abcdefghijklmnopqrstu/"),
        ("see https://bob:Xy12@zz89@git.example/x.git", "zz89"),
    ],
)
def test_a_secret_recognised_by_its_form_or_name_is_removed(text: str, secret: str) -> None:
    assert secret not in redact_secrets(text).text


ORDINARY = """
I forgot my password again
мой пароль не работает
мой пароль слишком простой
Пароль должен содержать не менее 8 символов
the password policy requires 12 characters
my password manager is 1Password
the new password is at least 12 characters long
密码长度至少为8位
パスワードは8文字以上にしてください
비밀번호는 8자 이상이어야 합니다
كلمة المرور يجب أن تكون 8 أحرف على الأقل
पासवर्ड कम से कम 8 अक्षरों का होना चाहिए
পাসওয়ার্ড কমপক্ষে ৮ অক্ষরের হতে হবে
رمز عبور خود را فراموش کرده‌اید؟
kata sandi harus minimal 8 karakter
Şifre en az 8 karakter olmalıdır
mật khẩu phải có ít nhất 8 ký tự
Hasło musi mieć co najmniej 8 znaków
palabra clave: seguridad
"passwort": "Passwort eingeben",
password: required
def login(user: str, password: str) -> bool:
token = get_token()
key=lambda x: x
api_key = os.environ["X"]
password !== passwordConfirm
const [password, setPassword] = useState("")
max_tokens=4096
total tokens: 98765432
PASSWORD_RESET_TIMEOUT = 259200
PASS: test_login_1
additional arguments to pass to `fields()`
a library identified by 'name'
order number 4012888888881881 was shipped
IMEI 490154203237518
call me at +49 170 1234567
ISBN 978-3-16-148410-0
GPIO pin 2134
PIN 12 is connected to GPIO 18
transaction 0x5c504ed432cb51138bcf09aa5e8a410dd4a1e204ef84bfed1be16dfba1b22060 confirmed
https://etherscan.io/tx/0x5c504ed432cb51138bcf09aa5e8a410dd4a1e204ef84bfed1be16dfba1b22060
gpg --recv-keys 9DC858229FC7DD38854AE2D88D81803C0EBFCD88
Cookie: theme=dark; lang=en
login: bob / see the vault
ssh -p 2222 host
docker run -p 8080:80 nginx
""".strip().splitlines()


@for_each("text", ORDINARY)
def test_ordinary_text_is_kept(text: str) -> None:
    assert redact_secrets(text).text == text


def test_a_finding_has_kind_and_position() -> None:
    text = f"мой пароль {PASSWORD}"
    (finding,) = find_secrets(text)
    assert (finding.kind.name, finding.kind.level) == ("password", Level.PROBABLE)
    assert text[finding.start : finding.end] == PASSWORD


@pytest.mark.parametrize("label", ["password: ", "password = ", 'password="', "my password is "])
def test_a_password_that_begins_like_a_variable_is_removed(label: str) -> None:
    assert "w0rd" not in redact_secrets(f"{label}$ecretPa55w0rd!x").text


@pytest.mark.parametrize(
    "value", ["$HOME", "$db_pass1", "$PASS2!", "$pass1&user=2", "$A1-$B2", "${DB}x9!", "$(cat f1)!"]
)
def test_a_variable_is_kept(value: str) -> None:
    assert redact_secrets(text := f"password={value}").text == text


@pytest.mark.parametrize("password", ["Xy**7!abcd", "ab**cd12", "Tr0ub**4dor"])
def test_two_asterisks_within_a_password_belong_to_it(password: str) -> None:
    assert password not in redact_secrets(f"my password is {password}").text


@pytest.mark.parametrize("masked", ["****", "abc***", "a1***b2"])
def test_a_masked_password_is_kept(masked: str) -> None:
    assert redact_secrets(f"my password is {masked}").text == f"my password is {masked}"

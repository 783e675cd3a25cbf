"""Short secrets that a statement gives away, and statements of the same form that give none."""

import pytest

from memory.model.record import Draft, InputKind, Kind
from memory.write.prepare import Prepared, prepare
from safety.secret_detection.credential_sentences import may_state_credential
from safety.secret_detection.detect import redact_secrets
from tests.support.for_each import for_each

SECRETS = """
my api key is 12345|12345
my API key is 98765.|98765
api key: 12345|12345
API_KEY=12345|12345
secret is abc|abc
my secret is xyz123|xyz123
token is abcdefgh|abcdefgh
the token is abc123|abc123
my token is qwerty|qwerty
our client secret is shh99|shh99
my password is abc|abc
my password is 123|123
the password is qwerty|qwerty
mein Passwort ist xyz|xyz
mein API-Key ist 12345|12345
mein Token ist abc123|abc123
mi contraseña es qwerty|qwerty
mi clave es 12345|12345
mon mot de passe est azerty|azerty
mon jeton est 12345|12345
密码是12345|12345
我的密钥是12345|12345
トークンはabc123です|abc123
пароль: qwerty|qwerty
мой токен 12345|12345
minha senha é 1234|1234
moje hasło to qwerty|qwerty
mijn wachtwoord is kat12|kat12
şifrem 12345|12345
비밀번호는 1234|1234
kata sandi saya 12345|12345
""".strip().splitlines()
ORDINARY = """
the secret is to stir slowly
the secret is patience
my password is in the safe
my password is wrong
our password is temporary
my password is public
the token is expired
the key is under the mat
the key is communication
the key is ctrl
the key is F5
the secret is 42
my api key is missing
the api key is invalid.
The token is base64
a token is about four characters
my token was stolen
Press any key
mein Passwort ist abgelaufen
mein Passwort ist unsicher
mein Schlüssel ist verloren
das Geheimnis ist Geduld
mi contraseña es débil
mi clave es privada
la clave es la paciencia
mon mot de passe est expiré
la clé est sous le paillasson
minha senha é inválida
o segredo é simples
la mia password è scaduta
moje hasło jest słabe
klucz jest na stole
мой пароль неверный
мой пароль это секрет
ключ под ковриком
密码是错误的
关键是沟通
パスワードは必須です
秘密は愛です
비밀번호는 필수입니다
mijn wachtwoord is verlopen
mitt lösenord är svagt
şifrem zayıf
kata sandi saya salah
mật khẩu của tôi là sai
""".strip().splitlines()


@for_each("line", SECRETS)
def test_a_short_secret_behind_its_label_is_removed(line: str) -> None:
    text, _, secret = line.partition("|")
    assert redact_secrets(text).text == text.replace(secret, "[SECRET_REDACTED]")


@for_each("text", ORDINARY)
def test_a_statement_about_a_secret_is_kept(text: str) -> None:
    assert redact_secrets(text).text == text


@pytest.mark.parametrize(
    "text", ["my api key is swordfish", "secret is chocolate", "mein Token ist Sonnenschein"]
)
def test_a_word_that_may_be_a_secret_is_asked_about(text: str) -> None:
    done = prepare(Draft(text, Kind.FACT), InputKind.EXPLICIT, Kind.FACT.tier)
    assert isinstance(done, Prepared)
    assert (done.doubtful, done.content, done.possible) == (True, text, ("stated_word",))


@for_each("text", ORDINARY)
def test_nobody_is_asked_about_a_statement_about_a_secret(text: str) -> None:
    assert not may_state_credential(text)

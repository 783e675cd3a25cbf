"""A text that says nothing beside a removed secret is told from one with other content."""

import pytest

from memory.write.only_secret import says_more
from safety.unicode import REDACTED

NOTHING_MORE = (
    "My access key is …",
    "my password is …",
    "The password is ….",
    "Mein Passwort ist: …",
    "Unser WLAN-Passwort lautet …",
    "token: …",
    "…",
    "API key = …",
    "Here is my key …, thanks!",
    "Mon mot de passe est …",
    "Mi contraseña es …",
    "La mia password è …",
    "A minha senha é …",
    "Moje hasło to …",
    "Мой пароль: …",
    "Мій пароль — …",
    "私のパスワードは…です",
    "我的密钥是 …",
    "密码：…",
    "제 비밀번호는 …",
    "Parolam …",
    "كلمة المرور الخاصة بي …",
    "मेरा पासवर्ड … है",
    "My new wifi password is …",
    "the secret key is …",
    "Mijn wachtwoord is …",
    "My PIN is …",
    "User's API token is …",
    "Hi, my token is …",
)
MORE = (
    "The AWS key of the billing account is …",
    "My bank is UBS and the PIN is …",
    "I keep my password … in Bitwarden",
    "Der Schlüssel für den Server in Zürich ist …",
    "Mon mot de passe Netflix est …",
    "Das Passwort von Anna ist …",
    "Deploy with … on Fridays",
    "Мой пароль от Госуслуг: …",
    "GitHub的密码是…",
    "私の銀行はみずほで、暗証番号は…",
    "Ada has a cat, and her key is …",
    "La contraseña de la impresora es …",
    "The key opens the garage, …",
    "My passport number is …",
    "회사 프린터 비밀번호는 …",
    "Stripe test key: …",
    "I drink tea. My password is …",
    "Secretary: …",
    "La clave del gimnasio es …",
    "كلمة مرور حساب البنك …",
    "yapıkredi şifrem …",
)


@pytest.mark.parametrize("text", NOTHING_MORE)
def test_a_text_about_the_secret_alone_says_no_more(text: str) -> None:
    assert not says_more(text.replace("…", REDACTED))


@pytest.mark.parametrize("text", MORE)
def test_other_content_is_seen(text: str) -> None:
    assert says_more(text.replace("…", REDACTED))

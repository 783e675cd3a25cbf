"""Ordinary texts that look like secrets or speak of them: none may be changed."""

import random
import string
from collections.abc import Iterator
from typing import Final

SEED: Final = 20_261_128
_HEX: Final = "0123456789abcdef"
_BASE64: Final = string.ascii_letters + string.digits + "+/"

_SENTENCES: Final = """
the secret is to stir slowly
the secret is patience
my password is in the safe
my password is wrong
our password is temporary
the token is expired
the key is under the mat
the key is communication
my api key is missing
the api key is invalid.
a token is about four characters
the token bucket holds 100
press any key
the key is ESC
the hash is SHA-256
mein Passwort ist abgelaufen
mein Passwort ist unsicher
mein Schlüssel ist verloren
das Geheimnis ist Geduld
mi contraseña es incorrecta
mi clave es privada
la clave es la paciencia
mon mot de passe est oublié
la clé est sous le paillasson
minha senha é fraca
a chave está na mesa
la mia password è scaduta
la chiave è sul tavolo
moje hasło jest nieprawidłowe
klucz jest na stole
мой пароль неверный
ключ под ковриком
密码是错误的
关键是沟通
パスワードは必須です
秘密は愛です
비밀번호는 필수입니다
mijn wachtwoord is verlopen
nyckeln är under mattan
şifrem yanlış
kata sandi saya salah
The credential helper is git-credential
password: required
<password>Enter your password</password>
max_tokens=4096
Press Ctrl+C to stop
""".strip().splitlines()
_PATTERNS: Final = (
    *(
        "commit {hex40}",
        "Merge {hex40} into main",
        "index {hex7}..{hex7} 100644",
        "git show {hex40}",
    ),
    *("request id {uuid}", "trace_id={uuid}", "/orders/{uuid}/items", "user {uuid} signed in"),
    *('"integrity": "sha512-{b86}=="', "sha256:{hex64}", "--hash=sha256:{hex64}", "etag: {hex32}"),
    *('<img src="data:image/png;base64,{b40}">', "tel. +49 30 {digits}"),
    *("ISBN 978-3-16-148410-0", "git show {hex40}"),
    *("DE89 3704 0044 0532 0130 00", "1Z999AA10123456784", "order {digits}", "build 1.2.{digits}"),
    *("https://a.example/d/{hex32}/edit", 'File "/usr/lib/x.py", line 12, in <module>'),
    *("ssh -p 2222 bob@a.example", "docker run -p 8080:80 -u 1000:1000 nginx", "mkdir -p a/b/c"),
    *(
        "curl -u $USER:$PASS https://a.example",
        "mysql -u root -p shop",
        "psexec \\\\h -u b -p %PW% cmd",
    ),
    *("password: ${{{{ secrets.PW }}}}", "API_KEY=${{API_KEY}}", "token = os.environ['TOKEN']"),
    *(
        "cache key: user:{hex7}:profile",
        'key = "name"',
        "sort_key = created_at",
        "{hex64}  a.tar.gz",
    ),
)
_EACH: Final = 8


def lookalikes() -> Iterator[str]:
    """Yield each text."""
    source = random.Random(SEED)
    yield from _SENTENCES
    for pattern in _PATTERNS:
        for _ in range(_EACH):
            yield pattern.format(**_values(source))


def _values(source: random.Random) -> dict[str, str]:
    digits = _made(source, _HEX, 32)
    return {
        "hex7": digits[:7],
        "hex32": digits,
        "hex40": _made(source, _HEX, 40),
        "hex64": _made(source, _HEX, 64),
        "uuid": f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}",
        "b40": _made(source, _BASE64, 40),
        "b86": _made(source, _BASE64, 86),
        "digits": _made(source, string.digits[1:], 8),
    }


def _made(source: random.Random, alphabet: str, length: int) -> str:
    return "".join(source.choice(alphabet) for _ in range(length))

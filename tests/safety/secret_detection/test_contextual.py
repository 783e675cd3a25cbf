"""Secrets that are named by the text around them, in several languages, and text about secrets."""

import pytest

from safety.secret_detection.detect import redact_secrets
from safety.secret_detection.kinds import Level
from tests.support.for_each import for_each


@for_each(
    ("text", "secret"),
    [
        ("my password is hunter2", "hunter2"),
        ("password: Tr0ub4dor&3", "Tr0ub4dor&3"),
        ("Password: swordfish", "swordfish"),
        ("my password is swordfish.", "swordfish"),
        ("DB_PASSWORD=s3cr3t!x", "s3cr3t!x"),
        ('{"password": "open sesame 1"}', "open sesame 1"),
        ("the password for the wifi is sunny-day-42", "sunny-day-42"),
        ("mein Passwort lautet Kaffee123", "Kaffee123"),
        ("Kennwort: Kaffee123!", "Kaffee123!"),
        ("mon mot de passe est Soleil2024", "Soleil2024"),
        ("mi contraseña es Verano99", "Verano99"),
        ("minha senha é Verao99", "Verao99"),
        ("пароль: Привет123", "Привет123"),
        ("密码是abc12345", "abc12345"),
        ("mysql -u root --password=Xy12zz89 shop", "Xy12zz89"),
        ("curl -u anna:Xy12zz89 https://example.org", "Xy12zz89"),
        ("machine example.org login anna password Xy12zz89", "Xy12zz89"),
        ("Authorization: Basic YW5uYTpYeTEyeno4OQ==", "YW5uYTpYeTEyeno4OQ=="),
        ("Authorization: Bearer 9f8e7d6c5b4a", "9f8e7d6c5b4a"),
        ("DD_API_KEY=0f1e2d3c4b5a69788796a5b4c3d2e1f0", "0f1e2d3c4b5a69788796a5b4c3d2e1f0"),
        ("our datadog api key is 0f1e2d3c4b5a69788796a5b4c3d2e1f0", "0f1e2d3c4b5a6978"),
        ("HEROKU_API_KEY=01234567-89ab-cdef-0123-456789abcdef", "89ab-cdef"),
        ("redis://:Xy12zz89@cache:6379/0", "Xy12zz89"),
        ("https://anna:Xy12zz89@git.example.org/shop.git", "Xy12zz89"),
        ("mongodb+srv://anna:Xy12zz89@cluster0.example.net/shop", "Xy12zz89"),
        ("seed phrase: " + "apple river stone " * 4, "apple river stone"),
    ],
)
def test_a_secret_named_by_the_text_is_removed_and_reported(text: str, secret: str) -> None:
    redaction = redact_secrets(text)
    assert secret not in redaction.text
    assert "[SECRET_REDACTED]" in redaction.text
    assert {finding.kind.level for finding in redaction.findings} == {Level.PROBABLE}


@for_each(
    "text",
    [
        "The password is required",
        "the password is stored in the vault",
        "Your password is incorrect, reset it",
        "password: ****, token: xxxx, secret=<your-secret>",
        "password: required",
        "Password: incorrect",
        "my password is wrong",
        "api_key=YOUR_API_KEY",
        "export TOKEN=${GITHUB_TOKEN}",
        "OPENAI_API_KEY=sk-...",
        "password=password, token=token",
        "password = getpass.getpass()",
        "def login(user: str, password: str | None = None) -> Token:",
        "token: Optional[str] = settings.API_TOKEN",
        "The credential helper is git-credential",
        "the token is validated by the gateway",
        "primary key: 5f2b9c1e-7a44-4c1e-9a55-0123456789ab",
        "nextPageToken=CiAKGjBpNDd2Nmp2Zml2cXRwYjBpOXA",
        "public key: ssh-ed25519",
        "postgres://user:password@localhost:5432/db",
        "https://example.org:8080/a@b and git@github.com:owner/repo.git",
        "load-bearing walls, the bearer of bad news",
        "Basic authentication is required",
        "order 4711-0815, IBAN DE89370400440532013000, +49 170 1234567",
        "numpy==2.1.3, sha256:9f86d081884c7d659a2feaa0c55ad015",
        "Das Passwort ist abgelaufen",
        "le mot de passe est obligatoire",
    ],
)
def test_text_about_secrets_is_kept(text: str) -> None:
    redaction = redact_secrets(text)
    assert redaction.text == text
    assert redaction.findings == ()


HEX = "4f9a8b7c6d5e4f3a2b1c0d9e8f7a6b5c"


@pytest.mark.parametrize(
    ("code", "secret"),
    [
        (f'new Client("{HEX}") // api key', HEX),
        (f'const c = new Client("{HEX}");  // the API key\nconst d = 1', HEX),
        (f"client = Client('{HEX}')  # my access token", HEX),
        ('default = "Tr0ub4dor&3" # password', "Tr0ub4dor&3"),
        ('default = "Tr0ub4dor&3" /* password */', "Tr0ub4dor&3"),
    ],
)
def test_a_value_named_by_its_comment_is_removed(code: str, secret: str) -> None:
    assert redact_secrets(code).text == code.replace(secret, "[SECRET_REDACTED]")


@pytest.mark.parametrize(
    "code",
    [
        'color = "ff00aa1234" # the key color',
        'print("Passw0rd is wrong") # password check',
        f'find("{HEX}") # see the api key docs',
        f'parse("{HEX}") # token count of the page',
        'open("key2024.pem") # api key',
        'label = "Enter your password" # password',
        '"Tr0ub4dor&3"\n# password',
    ],
)
def test_other_values_and_comments_are_kept(code: str) -> None:
    assert redact_secrets(code).text == code

"""Secrets that the comment at the end of their line of code tells."""

import pytest

from safety.secret_detection.detect import redact_secrets

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
def test_a_value_that_its_comment_tells_is_removed(code: str, secret: str) -> None:
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
def test_other_values_and_other_comments_stay(code: str) -> None:
    assert redact_secrets(code).text == code

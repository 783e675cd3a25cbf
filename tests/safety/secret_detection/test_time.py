"""The processor time of redaction is linear in the length of every text."""

import pytest

from safety.secret_detection.detect import redact_secrets
from tests.support.processor_time import seconds

PUMPS = [
    *("a", "1", " ", "\n", "\t", "=", ":", "-", "'", '"', "`", "й", "密", "\u200b", "0x", "://a:"),
    *("key=", "password=", "password is ", "key key key is ", "пароль ", "şifre ", "密码是"),
    *("-----BEGIN ", "-----BEGIN PRIVATE KEY-----\n", "-----END PRIVATE KEY-----\n", "aB3/"),
    *("4111 1111 1111 1111 ", "411111111111", "cookie: a=b; ", "login: "),
    *("login bob / ", "-u a:b ", "ENV A", "app password abcd ", "eyJabcdefgh.", "AKIA"),
    *("sig=A1", "key=" * 120 + "1", "pw a1 ", "1 is my key ", 'pw "', "eyJ", ".eyJabcdefgh"),
    *("KeyKey", "code 482911 ", "otp 1 ", "2fa ", "a1b2c3 is my password '"),
    *('"a1b2c3d4e5f6" // key\n', "secret set A --body ", "--", "key=A1 "),
    *("Bearer ", "seed ", "heroku key is ", "--password ", "' , '", '"value": ',
      "machine a login b ", "[SECRET_REDACTED]", "${password:-"),
    *("token ::= ", "<token>{a1 ", "<secret>a", "password 7 ", "secret 5 a1", "$argon2id$"),
    *("{SSHA}", "a::b:", "psexec -p a1b2 ", "mysql -pa1b2 ", "net use \\\\a b1c2 ", "echo a1b2 | "),
    *("token is abc. ", "secret is abc\n", "key: |\n  a1b2\n", "token=" + "aB3/" * 16 + "\n"),
    *('variable "token" {\n type = a\n', "getToken() { return ", " /user:a b1c "),
]  # fmt: skip
MOST_GROWTH = 150
"""Times as long that a text of 50,000 characters may take as one of 1,000."""


def redacting(text: str, enough: float = 0.0) -> float:
    return seconds(lambda: redact_secrets(text), enough)


@pytest.mark.parametrize("pump", PUMPS)
def test_work_grows_linearly_with_the_text(pump: str) -> None:
    limit = MOST_GROWTH * redacting((pump * 1_000)[:1_000])
    assert redacting((pump * 50_000)[:50_000], limit) <= limit


def test_a_long_name_is_not_read_again_from_each_of_its_words() -> None:
    apart, together = ("Key " * 20_000)[:20_000], ("Key" * 20_000)[:20_000]
    # Neighbours in time: the machine's speed changes. It is 1.4, and was twice that.
    assert any(redacting(together) <= 1.9 * redacting(apart) for _ in range(3))


@pytest.mark.parametrize("piece", ["sig=A1", "key=A1", "token=A1_"])
def test_names_without_spaces_are_not_read_to_the_end_from_each(piece: str) -> None:
    limit = 3 * redacting((f"{piece} " * 2_000)[:10_000])
    assert redacting((piece * 2_000)[:10_000], limit) <= limit

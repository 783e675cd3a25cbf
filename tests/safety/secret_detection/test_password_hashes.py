"""Hashes of passwords are a kind of their own; other hashes are kept."""

from safety.secret_detection.detect import find_secrets, redact_secrets
from tests.support.for_each import for_each

SALT = "x1Y2z3A4"
B22 = "aB3dE5gH7jK9mN1pQ3sT5u"
B43 = "aB3d/5gH7jK9mN1pQ3sT5uW7yZ9bC1dE3fG5hJ7kL9n"
B53 = "aB3/" * 13 + "x"
HEX = "0f1e2d3c4b5a69788796a5b4c3d2e1f0"
LONG = HEX * 6

HASHES = [
    *(f"$1${SALT}${B22}", f"$apr1${SALT}${B22}", f"$2a$12${B53}", f"$2y$05${B53}"),
    *(f"$5${SALT}${B43}", f"$5$rounds=5000${SALT}${B43}", f"$6${SALT}${B43}{B43}"),
    *(f"$y$j9T${SALT}${B43}", f"$argon2id$v=19$m=65536,t=3,p=4${SALT}${B43}"),
    *(f"$scrypt$ln=16,r=8,p=1${SALT}${B43}", f"$pbkdf2-sha256$29000${SALT}${B43}"),
    *(f"$8${SALT}abcdef${B43}", f"$9${SALT}abcdef${B43}", f"$P$B{B22}abcdefgh"),
    *(f"pbkdf2_sha256$600000${SALT}${B43}=", f"bcrypt_sha256$$2b$12${B53}"),
    *(f"pbkdf2:sha256:260000${SALT}${HEX}{HEX}", f"scrypt:32768:8:1${SALT}${HEX * 4}"),
    *(f"{{SSHA}}{B43}", f"{{SSHA512}}{B43}{B43}==", f"{{CRYPT}}$6${SALT}${B43}{B43}"),
    *(f"SCRAM-SHA-256$4096:{SALT}{SALT}==${B43}=:{B43}=", f"*{HEX.upper()}0A1B2C3D"),
    *(f"$krb5tgs$23$*bob$EXAMPLE.COM$http/a*${HEX}${LONG}", f"$krb5asrep$23$bob@EX:{HEX}${LONG}"),
    f"grub.pbkdf2.sha512.10000.{HEX}{HEX}.{HEX}{HEX}",
]


@for_each("value", HASHES)
@for_each("text", ["{}", "bob:{}", "the hash is {} here", "'{}'"])
def test_a_hash_of_a_password_is_removed(text: str, value: str) -> None:
    assert redact_secrets(text.format(value)).text == text.format("[SECRET_REDACTED]")


@for_each("value", HASHES)
def test_it_is_a_kind_of_its_own(value: str) -> None:
    assert "password_hash" in {one.kind.name for one in find_secrets(value)}


@for_each(
    ("text", "secret"),
    [
        ("enable secret 5 $1$aB3d$" + B22, B22),
        ("username bob password 7 0822455D0A16544541", "0822455D0A16544541"),
        (f"bob:1001:{HEX}:{HEX[::-1]}:::", HEX[::-1]),
        (f"bob::EXAMPLE:{HEX[:16]}:{HEX}:{LONG}", LONG),
        (f"NTLM hash: {HEX}", HEX),
        (f"CREATE ROLE bob PASSWORD 'md5{HEX}'", HEX),
    ],
)
def test_a_hash_in_the_form_of_its_system_is_removed(text: str, secret: str) -> None:
    assert secret not in redact_secrets(text).text


@for_each(
    "text",
    [
        *(f"md5sum: {HEX}  a.iso", f"etag {HEX}", f"sha256:{HEX}{HEX}", "it costs $5 or $6 a day"),
        *(
            "the array is *0123 long",
            "std::vector::size",
            "chapter 7 covers hashing",
            "{SHA} is weak",
        ),
        *("key 7 of the piano", "$1 and $2 are the groups", "password 5 times wrong"),
    ],
)
def test_other_hashes_and_dollars_are_kept(text: str) -> None:
    assert redact_secrets(text).text == text

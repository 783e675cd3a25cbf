"""Made-up secrets that only their surroundings give away: behind operators, in files of
configuration, in commands, wrapped and longer than a finder reads, hashed, stated in sentences."""

import random
import string
from collections.abc import Iterator
from typing import Final

SEED: Final = 20_261_127
_ALNUM: Final = string.ascii_letters + string.digits
_LOWER: Final = string.ascii_lowercase + string.digits
_HEX: Final = "0123456789abcdef"
_CRYPT: Final = _ALNUM + "./"
_UPPER: Final = string.ascii_uppercase + string.digits
_WIDTHS: Final = (48, 64, 76)
_LENGTHS: Final = (150, 256, 401, 600, 3_000, 9_000)

_OPERATORS: Final = (
    *("=", " = ", ": ", " := ", " ::= ", " :::= ", " ?= ", " ??= ", " += ", " .= ", " => ", "=>"),
    *(" -> ", " == ", " === ", " != ", "::", "\t=\t", " || ", " - ", ":      "),
)
_NAMES: Final = (
    *("API_KEY", "clientSecret", "acme-secret-token", "ACME_TOKEN", "acmeToken", "token"),
    *("datadog-secrettoken", "DB_PASSWORD", "dbPassword", "PgPassword", "x-api-key", "SHOP.TOKEN"),
)
_FILES: Final = (
    *(
        '{{"apiKey": "{}"}}',
        "api_key: '{}'",
        "api_key: |\n  {}\nnext: 1",
        "<apiToken>{}</apiToken>",
    ),
    *('<add key="ApiToken" value="{}" />', "<secret>{{shop AQAAABAAA {}}}</secret>"),
    *('variable "api_token" {{\n  type = string\n  default = "{}"\n}}', "export API_TOKEN={}"),
    *("ENV API_TOKEN {}", "ARG API_TOKEN={}", "setx API_TOKEN {}", "-Dapi.token={}", "-Dkey={}"),
    *(
        "[auth]\ntoken = {}\n",
        "machine a.example login bob password {}",
        "https://a.example/?key={}",
    ),
    *('curl -H "X-Api-Key: {}" https://a.example', "Authorization: Bearer {}", "token\n{}\n"),
    *('def get_token(self): return "{}"', 'func apiToken() string {{ return "{}" }}'),
    *("$t = ConvertTo-SecureString '{}' -AsPlainText -Force; $token = '{}'",),
)
_COMMANDS: Final = (
    *("mysql -u root -p{} shop", "mysqldump --password={} shop", "sshpass -p {} ssh bob@a.example"),
    *("psexec \\\\HOST1 -u admin -p {} cmd", "PsExec64.exe \\\\h -u d\\bob -p {} cmd"),
    *("plink -ssh bob@a.example -pw {}", "net use Z: \\\\srv\\share {} /user:bob"),
    *("net user bob {} /add", "net use \\\\srv\\ipc$ /user:bob {}", "redis-cli -h a.example -a {}"),
    *(
        "ldapsearch -D cn=admin -w {} -b dc=x",
        "smbclient //srv/x -U bob%{}",
        "curl -u bob:{} a.example",
    ),
    *("curl -u {}: https://a.example", "curl --user ':{}' https://a.example", "PGPASSWORD={} psql"),
    *(
        "curl -k -X POST \\\n  -H 'A: b' \\\n  -u bob:{}",
        "docker login -u bob -p {}",
        "zip -P {} a.zip b",
    ),
    *("sqlcmd -S a -U sa -P {}", "sqlplus bob/{}@db1", "echo {} | sudo -S ls", "vault login {}"),
    *("cmdkey /add:h /user:bob /pass:{}", "xfreerdp /u:bob /p:{} /v:h", "snmpwalk -v3 -A {} h"),
    *(
        "CREATE USER bob IDENTIFIED BY '{}'",
        "keytool -storepass {} -list",
        "evil-winrm -i h -u b -p {}",
    ),
)
_STATED: Final = """
my api key is {}
the access token is {}.
secret is {}
api key: {}
mein Token ist {}
mein API-Key lautet {}
mi clave es {}
mi token es {}
mon jeton est {}
minha chave é {}
la mia chiave è {}
мой токен {}
пароль: {}
我的密钥是{}
トークンは{}です
moje hasło to {}
mijn sleutel is {}
비밀번호는 {}
kata sandi saya {}
şifrem {}
""".strip().splitlines()
_SHORT: Final = ("12345", "a1b2c3", "t0k3n", "98765", "x9y8")


def labelled() -> Iterator[tuple[str, str, str]]:
    """Yield kind, secret and text."""
    source = random.Random(SEED)
    for kind, secret, texts in _kinds(source):
        for text in texts:
            yield kind, secret, text


def _kinds(source: random.Random) -> Iterator[tuple[str, str, list[str]]]:
    for name in _NAMES:
        for length, alphabet in ((20, _ALNUM), (32, _LOWER), (40, _HEX), (80, _UPPER)):
            value = _made(source, alphabet, length)
            texts = [f"{name}{sign}{quote}{value}{quote}" for sign in _OPERATORS for quote in '"']
            yield "operators", value, texts
        if "token" in name.lower():
            value = _uuid(source)
            yield "ids", value, [f"{name}{sign}{value}" for sign in ("=", ": ", " ::= ")]
    for pattern in _FILES:
        value = _made(source, _ALNUM, 32)
        yield "files", value, [pattern.format(value, value)]
    for pattern in _COMMANDS:
        value = _made(source, _ALNUM, 12) + "7!"
        yield "commands", value, [pattern.format(value)]
    yield from _long(source)
    for value in _hashes(source):
        yield "hashes", value, [value, f"bob:{value}", f"the hash is {value}"]
    for pattern in _STATED:
        for value in _SHORT:
            yield "stated", value, [pattern.format(value)]


def _long(source: random.Random) -> Iterator[tuple[str, str, list[str]]]:
    for length in _LENGTHS:
        value = _made(source, _ALNUM, length)
        texts = [f"token={value}", f"my password is {value}", f'{{"secret": "{value}"}}']
        yield "long", value, [*texts, f"postgres://bob:{value}@db.example/shop"]
    for width in _WIDTHS:
        value = _made(source, _ALNUM, 600)
        lines = [value[start : start + width] for start in range(0, len(value), width)]
        for joint in ("\n", "\n  ", "\r\n", '\\n" +\n  "', "' \\\n  '"):
            yield "wrapped", lines[-2], [f"API_SECRET={joint.join(lines)}\nnext=1"]


def _hashes(source: random.Random) -> Iterator[str]:
    crypt = [_made(source, _CRYPT, length) for length in (22, 53, 43, 86, 31)]
    salt = _made(source, _ALNUM, 8)
    digits = _made(source, _HEX, 64)
    yield from (f"$1${salt}${crypt[0]}", f"$apr1${salt}${crypt[0]}", f"$2b$12${crypt[1]}")
    yield from (f"$5${salt}${crypt[2]}", f"$6$rounds=5000${salt}${crypt[3]}", f"$P${crypt[4]}")
    yield from (f"$y$j9T${salt}${crypt[2]}", f"$argon2id$v=19$m=65536,t=3,p=4${salt}${crypt[2]}")
    yield from (f"$8${salt}abcdef${crypt[2]}", f"$9${salt}abcdef${crypt[2]}")
    yield from (f"pbkdf2_sha256$600000${salt}${crypt[2]}=", f"pbkdf2:sha256:9${salt}${digits}")
    yield from (f"scrypt:32768:8:1${salt}${digits}", f"{{SSHA}}{crypt[2]}", f"{{CRYPT}}{crypt[2]}")
    base64 = _made(source, _ALNUM + "+/", 43)
    yield f"SCRAM-SHA-256$4096:{salt}{salt}==${base64}=:{base64}="
    yield f"$krb5tgs$23$*bob$EXAMPLE$spn*${digits[:32]}${digits * 4}"
    yield f"$krb5asrep$23$bob@EXAMPLE:{digits[:32]}${digits * 4}"
    yield f"*{digits[:40].upper()}"


def _uuid(source: random.Random) -> str:
    digits = _made(source, _HEX, 32)
    return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))


def _made(source: random.Random, alphabet: str, length: int) -> str:
    return "".join(source.choice(alphabet) for _ in range(length))

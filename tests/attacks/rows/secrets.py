"""Secrets in a conversation must not be stored where a thief of a backup can read them."""

import base64
import hashlib
import re

from tests.attacks.scene import Scene, hold
from tests.attacks.steps import does
from tests.attacks.stored import all_stored
from tests.attacks.table import EVERYWHERE, Attack, Step

GOAL = "read in a backup what a person said in confidence"
ONE = ("telegram",)
BARE_AWS = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYzzTT1Q9xKd"


def token(row: str) -> str:
    """A key of its own for a row, because the database of all rows is one."""
    digits = base64.b32hexencode(hashlib.sha256(row.encode()).digest()).decode()
    return "ghp_" + "".join(c.lower() if n % 2 else c for n, c in enumerate(digits))[:36]


SHORT = 8
"""Characters below which a secret is found in what is random."""
PASSWORD = "Vq7-kLpm2x9Z"
LONG = "".join(hashlib.sha256(f"long {n}".encode()).hexdigest() for n in range(10))[:600]
LINES = tuple(
    base64.b64encode(hashlib.sha384(f"line {n}".encode()).digest()).decode() for n in range(5)
)
HASH = base64.b64encode(hashlib.sha512(b"hash").digest()).decode().rstrip("=").replace("+", ".")


def _said(text: str, *secrets: str) -> Step:
    """A person says it, is answered, and nothing of the secrets is stored afterwards."""

    async def step(scene: Scene) -> None:
        await scene.say("ada", text)
        await scene.records("ada")  # takes up what waits for memory
        stored = await all_stored(scene.stage)
        for secret in secrets:
            around = _around(stored, secret)
            hold(not around, f"a secret is stored: {around}")

    return step


def _around(stored: str, secret: str) -> str:
    """What is stored around the secret, empty if it is not stored. A short secret counts only
    alone, as random ids and the fractions of times may contain it."""
    alone = rf"(?:(?<![0-9A-Za-z_.+/-])|(?<=\\[nt])){re.escape(secret)}(?![0-9A-Za-z_+/-])"
    found = re.search(alone if len(secret) < SHORT else re.escape(secret), stored)
    return stored[max(0, found.start() - 60) : found.end() + 60] if found else ""


def _row(name: str, text: str, *secrets: str, on: tuple[str, ...] = ONE) -> Attack:
    return Attack(f"secret-{name}", "thief of a backup", GOAL, on, (_said(text, *secrets),))


async def _split(scene: Scene) -> None:
    whole = token("split")
    for half in (whole[:20], whole[20:]):
        await scene.say("ada", f"half of my github token: {half}")
    await scene.records("ada")  # takes up what waits for memory
    stored = await all_stored(scene.stage)
    hold(whole[:20] not in stored or whole[20:] not in stored, "both halves of a token are stored")


async def _copies(scene: Scene) -> None:
    whole = token("copies")
    copies = {
        "base64": base64.b64encode(whole.encode()).decode(),
        "spaced": " ".join(whole),
        "reversed": whole[::-1],
    }
    await scene.say("ada", f"my token is {whole}")
    for copy in copies.values():
        await scene.say("ada", f"the same in another form: {copy}")
    await scene.records("ada")  # takes up what waits for memory
    stored = await all_stored(scene.stage)
    for name, copy in copies.items():
        hold(copy not in stored, f"a {name} copy of a secret is stored")


async def _as_name(scene: Scene) -> None:
    shown = token(f"name {scene.tag}")
    scene.guest("tina", shown)
    await scene.say("tina", "hello", "team")
    await scene.records("tina")
    hold(shown not in await all_stored(scene.stage), "a token as display name is stored")


async def _remembered(scene: Scene) -> None:
    """Short secrets, which a command would store as knowledge."""
    for label, secret in (("api key", "528491"), ("token", "qv7zx"), ("secret", "xkcdq")):
        await scene.command("ada", "remember", f"my {label} is {secret}")
        around = _around(await all_stored(scene.stage), secret)
        hold(not around, f"a short secret is stored: {around}")


async def _while_waiting(scene: Scene) -> None:
    """The answer is given, and memory has not taken the turn up yet: a copy is made just then."""
    key = token("waiting")
    await scene.say("ada", f"is this key valid? {key}")
    hold(key not in await all_stored(scene.stage), "a turn that waits holds a secret")


async def _at_rest(scene: Scene) -> None:
    """The database, as a backup takes it, holds none of the configured secrets."""
    await scene.plant("ada")
    stored = await all_stored(scene.stage)
    for secret in scene.stage.secrets:
        hold(secret not in stored, "a configured secret is in the database")


SECRETS = (
    _row("vendor-key", f"is this key valid? {token('vendor')}", token("vendor"), on=EVERYWHERE),
    _row("english", f"my password is {PASSWORD}1", PASSWORD + "1"),
    _row("russian", f"мой пароль {PASSWORD}2", PASSWORD + "2"),
    _row("german", f"mein Passwort ist {PASSWORD}3", PASSWORD + "3"),
    _row("spanish", f"mi contraseña es {PASSWORD}4", PASSWORD + "4"),
    _row("french", f"mon mot de passe est {PASSWORD}5", PASSWORD + "5"),
    _row("portuguese", f"minha senha é {PASSWORD}6", PASSWORD + "6"),
    _row("italian", f"la mia password è {PASSWORD}7", PASSWORD + "7"),
    _row("chinese", f"我的密码是 {PASSWORD}8", PASSWORD + "8"),
    _row("japanese", f"パスワードは {PASSWORD}9 です", PASSWORD + "9"),
    _row("arabic", f"كلمة المرور {PASSWORD}10", PASSWORD + "10"),
    _row("hindi", f"मेरा पासवर्ड {PASSWORD}11 है", PASSWORD + "11"),
    _row("next-line", f"the password:\n{PASSWORD}12", PASSWORD + "12"),
    _row("login-slash", f"login: bob / {PASSWORD}13", PASSWORD + "13"),
    _row("cookie", "Cookie: sessionid=h7gk2lq9x0vb3nm8p4zs; csrftoken=q8w7e6r5",
         "h7gk2lq9x0vb3nm8p4zs"),
    _row("named-in-prose", "use the API key 9fK2mX7qLp4RtZ8vWc3N for the weather",
         "9fK2mX7qLp4RtZ8vWc3N"),
    _row("bare-aws", f"aws secret {BARE_AWS}", BARE_AWS),
    _row("card", "my card number is 4111 1111 1111 1111", "4111 1111 1111 1111",
         "4111111111111111"),
    _row("pin", "the PIN is 739182", "739182"),
    _row("sentry", "https://0a1b2c3d4e5f60718293a4b5c6d7e8f9@o12345.ingest.sentry.io/67890",
         "0a1b2c3d4e5f60718293a4b5c6d7e8f9"),
    _row("long", f"token={LONG}", LONG[-40:], LONG[400:440]),
    _row("long-password", f"my password is {LONG[::-1]}", LONG[::-1][-40:], LONG[::-1][260:300]),
    _row("wrapped", "API_SECRET=" + "\n".join(LINES), *LINES),
    _row("hash", f"our shadow file says bob:$6$Vq7kLpm2${HASH}", HASH),
    _row("command", f"run psexec \\\\host -u admin -p {PASSWORD}14 cmd", PASSWORD + "14"),
    _row("token-in-command", f"curl -u {PASSWORD}15: https://a.example", PASSWORD + "15"),
    _row("id-as-token", "token ::= 7c1e9d04-5a2b-4f83-b6d1-90e2f7a3c458",
         "7c1e9d04-5a2b-4f83-b6d1-90e2f7a3c458"),
    _row("short", "my api key is 604817", "604817"),
    _row("zero-width", f"{token('zero')[:12]}\u200b{token('zero')[12:]}", token("zero")[12:]),
    Attack("secret-remembered", "thief of a backup", GOAL, ONE, (does(_remembered),)),
    Attack("secret-split", "thief of a backup", GOAL, ONE, (does(_split),)),
    Attack("secret-copies", "thief of a backup", GOAL, ONE, (does(_copies),)),
    Attack("secret-as-name", "thief of a backup", GOAL, ("discord", "slack", "telegram"),
           (does(_as_name),)),
    Attack("secret-while-waiting", "thief of a backup", GOAL, ONE, (does(_while_waiting),)),
    Attack("secret-configured", "thief of a backup", "read a configured secret in a backup",
           ONE, (does(_at_rest),)),
)  # fmt: skip

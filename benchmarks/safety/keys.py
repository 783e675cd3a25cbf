"""Made-up keys in the current formats of their issuers, in the sentences they leak in."""

import base64
import json
import random
import string
from collections.abc import Callable, Iterator
from typing import Final

from benchmarks.safety.more_formats import MORE

SEED: Final = 20_261_121
EACH: Final = 12
"""Keys per format, every one in another context."""

LONGEST_PREFIX: Final = 25
"""Characters; what is longer before a key is an address."""

_ALNUM: Final = string.ascii_letters + string.digits
_KEY: Final = _ALNUM + "-_"
_HEX: Final = "0123456789abcdef"
_UPPER: Final = string.ascii_uppercase + string.digits
_LOWER: Final = string.ascii_lowercase + string.digits
_BASE64: Final = _ALNUM + "+/"
_ALPHABETS: Final = {
    "a": _ALNUM,
    "k": _KEY,
    "h": _HEX,
    "u": _UPPER,
    "l": _LOWER,
    "b": _BASE64,
    "d": string.digits,
    "2": string.ascii_uppercase + "234567",
}

FORMATS: Final = """
anthropic sk-ant-api03- k93 AA
anthropic_admin sk-ant-admin01- k93 AA
anthropic_oauth sk-ant-oat01- k93 AA
openai_project sk-proj- k74 T3BlbkFJ k74
openai_service sk-svcacct- k74 T3BlbkFJ k74
openai_admin sk-admin- k58 T3BlbkFJ k58
openai_legacy sk- a20 T3BlbkFJ a20
deepseek sk- h32
openrouter sk-or-v1- h64
groq gsk_ a52
xai xai- a80
perplexity pplx- a48
huggingface hf_ a34
replicate r8_ a37
nvidia nvapi- k64
elevenlabs sk_ h48
langsmith lsv2_pt_ h32 _ h10
pinecone pcsk_ a6 _ a63
tavily tvly-dev- a32
cerebras csk- l48
aws_id AKIA 216
aws_session_id ASIA 216
gcp_key AIzaSy k33
google_secret GOCSPX- k28
google_token ya29. k150
azure_ad a3 8Q~ k34
azure_storage DefaultEndpointsProtocol=https;AccountName=shop;AccountKey= b86 ==;Suffix=
azure_sas https://shop.blob.core.windows.net/c?sv=2024-11-04&sp=r&sig= a43 %3D
azure_devops a76 AZDO a4
alibaba LTAI5t a18
digitalocean dop_v1_ h64
cloudflare cfut_ a40 h8
cloudflare_global cfk_ a40 h8
cloudflare_origin v1.0- h24 - h146
vercel vcp_ a56
netlify nfp_ a36
heroku HRKU-AA k58
fly fm2_ b120
render rnd_ a28
terraform a14 .atlasv1. k67
vault hvs. k90
pulumi pul- h40
doppler dp.pt. a43
github ghp_ a36
github_oauth gho_ a36
github_user ghu_ a36
github_server ghs_ a36
github_refresh ghr_ a36
github_fine github_pat_ a22 _ a59
gitlab glpat- k20
gitlab_routable glpat- k27 .01. l9
gitlab_deploy gldt- k20
gitlab_runner glrt- k20
gitlab_job glcbt-64_ k20
gitlab_trigger glptt- h40
npm npm_ a36
pypi pypi-AgEIcHlwaS5vcmc k120
docker dckr_pat_ k27
rubygems rubygems_ h48
circleci CCIPAT_ a22 _ h40
sonar sqp_ h40
jfrog AKCp a69
postman PMAK- h24 - h34
slack_bot xoxb- d12 - d13 - a24
slack_user xoxp- d12 - d12 - d13 - h32
slack_app xapp-1-A u10 - d13 - h64
slack_config xoxe.xoxp-1- a163
slack_hook https://hooks.slack.com/services/T u10 /B u10 / a24
discord MTI a23 . k6 . k38
discord_hook https://discord.com/api/webhooks/ d19 / k68
telegram d10 :AA k33
meta EAA a180
stripe sk_live_ a99
stripe_old sk_live_ a24
stripe_restricted rk_live_ a99
stripe_test sk_test_ a24
stripe_hook whsec_ a32
twilio SK h32
sendgrid SG. k22 . k43
mailgun key- h32
mailgun_new h32 - h8 - h8
mailchimp h32 -us21
brevo xkeysib- h64 - a16
resend re_ a8 _ a24
shopify shpat_ h32
shopify_shared shpss_ h32
square EAAAl k60
square_oauth sq0csp- k43
plaid access-production- h8 - h4 - h4 - h4 - h12
linear lin_api_ a40
notion ntn_ d11 a35
notion_old secret_ a43
figma figd_ k40
atlassian ATATT3xFfGF0 k180 = u8
bitbucket ATBB a32
asana 2/ d16 / d16 : h32
airtable pat a14 . h64
hubspot pat-na1- h8 - h4 - h4 - h4 - h12
dropbox sl.u. k140
contentful CFPAT- k43
supabase sb_secret_ k31
supabase_personal sbp_ h40
planetscale pscale_tkn_ k43
planetscale_password pscale_pw_ k43
neon napi_ l64
databricks dapi h32
clickhouse 4b1d a38
grafana glsa_ a32 _ h8
grafana_cloud glc_ b120
newrelic NRAK- u27
newrelic_license h36 NRAL
sentry sntrys_ b120 _ b43
sentry_user sntryu_ h64
posthog phx_ a43
honeycomb hcaik_01 l62
dynatrace dt0c01. u24 . u64
age AGE-SECRET-KEY-1 u58
tailscale tskey-auth-k a11 CNTRL- a32
launchdarkly sdk- h8 - h4 - h4 - h4 - h12
mapbox sk.eyJ a80 . k22
"""
_NAMED: Final = """
AWS_SECRET_ACCESS_KEY b40
DD_API_KEY h32
DATADOG_APP_KEY h40
TWILIO_AUTH_TOKEN h32
ALGOLIA_ADMIN_API_KEY h32
FASTLY_API_TOKEN k32
CLOUDFLARE_API_KEY h37
HEROKU_API_KEY h8 - h4 - h4 - h4 - h12
MISTRAL_API_KEY a32
COHERE_API_KEY a40
PAYPAL_CLIENT_SECRET k80
OKTA_API_TOKEN 00 k40
AZURE_OPENAI_API_KEY h32
DISCORD_CLIENT_SECRET k32
SPOTIFY_CLIENT_SECRET h32
JWT_SECRET k48
APP_SECRET h32
"""

_SENTENCES: Final[tuple[Callable[[str], str], ...]] = (
    lambda key: key,
    lambda key: f"here is the key: {key}",
    lambda key: f"my token is {key}, please keep it",
    lambda key: f"Use `{key}` for the deployment.",
    lambda key: f"export API_TOKEN={key}\n./deploy.sh",
    lambda key: f'{{"apiKey": "{key}", "region": "eu"}}',
    lambda key: f"curl -H 'Authorization: Bearer {key}' https://api.example.org/v1",
    lambda key: f"api_token: {key}\nname: shop",
    lambda key: f'client = Client(api_key="{key}")',
    lambda key: f"Hey, I pasted it wrong, it's {key} and not the old one",
    lambda key: f"```\nTOKEN={key}\n```",
    lambda key: f"mein Schlüssel ({key}) funktioniert nicht",
)
_ASSIGNED: Final[tuple[str, ...]] = (
    "{name}={key}",
    '{name}="{key}"',
    "export {name}={key}",
    '"{name}": "{key}",',
    "{name}: {key}",
    "{name} = '{key}'",
)
_TOLD: Final[tuple[str, ...]] = (
    "my password is {password}",
    "password: {password}",
    "Password = {password}",
    'password="{password}"',
    "DB_PASSWORD={password}",
    '{{"user": "eva", "password": "{password}"}}',
    "mein Passwort ist {password}",
    "das Kennwort lautet {password}",
    "mon mot de passe est {password}",
    "mi contraseña es {password}",
    "a minha senha é {password}",
    "the passphrase for the backup is {password}",
    "login: eva / pwd: {password}",
    "machine git.example.org login eva password {password}",
    "mysql --user=eva --password={password} shop",
    "curl -u eva:{password} https://example.org",
    "postgres://eva:{password}@db.example.org:5432/shop",
    "mongodb+srv://eva:{password}@cluster0.ab1cd.mongodb.net/shop",
    "redis://:{password}@cache:6379/0",
    "amqps://eva:{password}@mq.example.org/vhost",
    "mysql://eva:{password}@10.0.0.5/shop",
    "https://eva:{password}@git.example.org/shop.git",
    "Server=db;Database=shop;User Id=eva;Password={password};",
)


def keys() -> Iterator[tuple[str, str, str]]:
    """Name of the format, the secret, and a text with it."""
    random_ = random.Random(SEED)
    for line in (FORMATS.strip() + MORE).splitlines():
        name, *parts = line.split()
        for sentence in random_.sample(_SENTENCES, EACH):
            made = [_made([part], random_) for part in parts]
            # Of an address with a key in it only the key is secret.
            within = len(parts[0]) > LONGEST_PREFIX
            secret = max(made[1:], key=len) if within else "".join(made)
            yield name, secret, sentence("".join(made))
    for line in _NAMED.strip().splitlines():
        name, *parts = line.split()
        for shape in _ASSIGNED:
            key = _made(parts, random_)
            yield name, key, shape.format(name=name, key=key)
    for shape in _TOLD:
        for _ in range(3):
            password = _password(random_)
            yield shape.split("{")[0][:20], password, f"ok, {shape.format(password=password)}"
    yield from _blocks(random_)


def _made(parts: list[str], random_: random.Random) -> str:
    made = ""
    for part in parts:
        alphabet = _ALPHABETS.get(part[0])
        if alphabet and part[1:].isdigit() and part != "00":
            made += "".join(random_.choices(alphabet, k=int(part[1:])))
        else:
            made += part
    return made


def _password(random_: random.Random) -> str:
    word = random_.choice(["Sommer", "falcon", "Lisbon", "tr0ub", "correct-horse", "Kaffee"])
    return f"{word}{random_.randint(10, 9999)}{random_.choice('!$?x_#')}"


def _blocks(random_: random.Random) -> Iterator[tuple[str, str, str]]:
    for label in ("RSA ", "EC ", "OPENSSH ", "ENCRYPTED ", "", "DSA "):
        body = "\n".join("".join(random_.choices(_BASE64, k=64)) for _ in range(20))
        begin, end = f"-----BEGIN {label}PRIVATE KEY-----", f"-----END {label}PRIVATE KEY-----"
        whole = f"{begin}\n{body}\n{end}"
        line = body.splitlines()[10]
        yield "private key", line, f"see:\n{whole}\nthanks"
        yield "private key, cut off", line, f"see:\n{begin}\n{body}"
        yield "private key, in JSON", line, json.dumps({"private_key": whole})
        yield "private key, its end", line, f"{body}\n{end}\nthanks"
    for _ in range(EACH):
        parts = [json.dumps({"alg": "HS256"}), json.dumps({"sub": str(random_.random())})]
        token = ".".join(base64.urlsafe_b64encode(p.encode()).decode().rstrip("=") for p in parts)
        token += "." + "".join(random_.choices(_KEY, k=43))
        yield "jwt", token, f"session={token}; path=/"
        pair = base64.b64encode(f"eva:{_password(random_)}".encode()).decode()
        yield "basic", pair, f"Authorization: Basic {pair}"
        key_id = "AKIA" + "".join(random_.choices(_ALPHABETS["2"], k=16))
        secret = "".join(random_.choices(_BASE64, k=40))
        yield "aws pair", secret, f"{key_id} {secret}"

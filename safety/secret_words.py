"""The words that tell a password or a key, in the languages people tell them in."""

from typing import Final

WORDS_FOR_IT: Final = (
    r"pass(?:word|wd|phrase|code|wort)s?|kennwort|pwd|mot[ ]de[ ]passe|mdp|contrase[nñ]a|clave|"
    r"senha|wachtwoord|has[lł]o|парол[ья]|lösenord|"
    r"adgangskode|passord|salasana|heslo|jelszó|şifre|parola|"
    r"密码|密碼|口令|パスワード|비밀번호"
    r"|(?:backup|recovery|rescue)[ _-]codes?"
    r"|(?:(?<![a-z])|(?-i:(?<=[a-z0-9])(?=P)))pass(?=[\"']?\s{0,4}[:=])|(?<![a-z])pw(?=\s{0,4}[:=])"
)
"""A password, as an expression."""
WORDS_FOR_KEYS: Final = (
    r"(?:nextauth|api|app|application|access|auth|authentication|secret|private|client|consumer|signing|"
    r"encryption|master|admin|account|storage|shared|webhook|bot|license|licence|licen[sc]e|service|"
    r"session|refresh|bearer|personal[ _-]access|deploy|user|write|read|ingest|insert|oauth|"
    r"subscription|integration|functions?|server|live|test|bearer|id|security|root|vault|"
    r"registration|verification|verify|developer|dev|prod|production|rest|team|organization|org)"
    r"[ _.-]?(?:api[ _.-]?)?(?:key|token|secret|schlüssel)s?"
    r"|secret[ _-]key[ _-]base"
    r"|api[ _-]?schlüssel|cl[eé][ _-]api|clave[ _-]api|chave[ _-](?:de[ ])?api|密钥|令牌"
    r"|app[ _-]?certificate"
    r"|(?:(?<![a-z])|(?-i:(?<=[a-z0-9])(?=[A-Z])))(?:secret|token|credentials?|apikey|authkey|"
    r"pat(?![a-z])|jeton|geheimnis|access[ ]?key|sas(?![a-z]))"
)
"""A key or a token, as an expression."""

PASSWORD_STEMS: Final = (
    "pass",
    "recovery",
    "backup",
    "rescue",
    "pwd",
    "pw",
    "kennwort",
    "mdp",
    "contrase",
    "clave",
    "senha",
    "wachtw",
    "hasł",
    "haslo",
    "парол",
    "lösen",
    "adgang",
    "salasana",
    "heslo",
    "jelsz",
    "şifre",
    "parola",
    "密",
    "口令",
    "パス",
    "비밀",
)
"""Without one of them, in small letters, a text holds none of `WORDS_FOR_IT`."""
KEY_STEMS: Final = (
    "key",
    "token",
    "secret",
    "schlüssel",
    "clé",
    "cle api",
    "cle-api",
    "clave",
    "chave",
    "credential",
    "pat",
    "sas",
    "jeton",
    "geheimnis",
    "sig",
    "certificate",
    "密钥",
    "令牌",
)
"""The same for `WORDS_FOR_KEYS`."""
VENDOR_NAMES: Final = (
    "abuseipdb|adafruit|airtable|alchemy|algolia|amplitude|asana|assemblyai|beamer|bitly|bittrex|bugsnag|"
    "codecov|cohere|coinbase|confluent|contentful|datadog|deepgram|deepl|droneci|dropbox|elevenlabs|"
    "etsy|facebook|fastly|finicity|finnhub|flickr|freshbooks|gitter|gocardless|heroku|hubspot|"
    "infura|intercom|ipinfo|jfrog|artifactory|kaggle|kraken|kucoin|launchdarkly|linkedin|mailgun|mapbox|"
    "mattermost|messagebird|mistral|mixpanel|netlify|new[_-]?relic|nytimes|okta|openweather|plaid|"
    "privateai|pushbullet|railway|rapidapi|rollbar|sendbird|snyk|sonar|splunk|spotify|squarespace|sumo(?:logic)?|travis|"
    "twitch|twitter|typeform|zendesk"
)
"""Issuers whose keys have no form of their own, as an expression."""

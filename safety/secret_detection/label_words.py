"""The words of all languages that label a secret, prepared for the search."""

import re
import unicodedata
from collections.abc import Iterable
from enum import Enum
from itertools import groupby
from typing import Final

from msgspec import Struct

from safety.secret_detection.languages import LANGUAGES


class Class(Enum):
    """The class of secret that a word labels."""

    PASSWORD = "password"  # noqa: S105 - a class, no password
    KEY = "key"
    PIN = "pin"
    CODE = "code"


class Word(Struct, frozen=True):
    """A label. `spaced`: its script puts spaces between words."""

    kind: Class
    whole: bool
    spaced: bool


_UNSPACED: Final = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\u0e00-\u0e7f]")


def _words() -> Iterable[tuple[str, Word]]:
    for language in LANGUAGES:
        for words, kind, whole in (
            (language.passwords, Class.PASSWORD, False),
            (language.whole_passwords, Class.PASSWORD, True),
            (language.keys, Class.KEY, False),
            (language.whole_keys, Class.KEY, True),
            (language.pins, Class.PIN, True),
            (language.code_words, Class.CODE, True),
            (_written(language.codes), Class.CODE, True),
        ):
            for word in filter(None, words.split("|")):
                spaced = not _UNSPACED.search(word)
                for form in ("NFC", "NFD"):
                    yield (
                        unicodedata.normalize(form, word).replace("\u200c", ""),
                        Word(kind, whole and spaced, spaced),
                    )


def _written(codes: str) -> str:
    """The codes, those in ASCII also as names in programs: `verification_code`, `otpCode`."""
    written = [codes]
    for code in codes.split("|"):
        if code.isascii():
            written += (re.sub("[ -]", to, code) for to in ("_", "-", "") if set(code) & set(" -"))
    return "|".join(written)


WORDS: Final = dict(_words())
"""Every word, composed and decomposed."""


def _every(field: str) -> frozenset[str]:
    texts = (getattr(language, field) for language in LANGUAGES)
    return frozenset(
        unicodedata.normalize(form, word)
        for text in texts
        for word in text.split("|")
        if word
        for form in ("NFC", "NFD")
    )


GENERIC_KEYS: Final = frozenset(
    word
    for word, entry in WORDS.items()
    if entry.kind is Class.KEY and " " not in word and (entry.whole or not entry.spaced)
) - {"pat", "jwt", "bearer", "sas"}
"""Words for a key that are everyday words as well."""
ANY_CODES: Final = _every("code_words")
"""Words for a code of any kind."""
LINKS: Final = _every("links")
"""Words between a name and its value: "is", "lautet", "это"."""
_OF_WEAK_LINKS: Final = """
    to e la on je az be
"""
WEAK_LINKS: Final = frozenset(_OF_WEAK_LINKS.split())
"""Those that mean something else in another language, or between other words."""
OWNERS: Final = _every("owners")
"""Words that say whose it is, before the name or behind it."""


def expression_of(words: Iterable[str]) -> re.Pattern[str]:
    """Any of the words, the longest first; for small letters. Words that begin alike share their
    beginning in the expression, so that few are tried at a place."""
    return re.compile(_alternatives(sorted(set(words))))


def _alternatives(words: Iterable[str]) -> str:
    """An expression for sorted words; for the longest of those that match."""
    optional = ""
    parts: list[str] = []
    for first, group in groupby(words, key=lambda word: word[:1]):
        if first:
            parts.append(re.escape(first) + _alternatives(word[1:] for word in group))
        else:
            optional = "?"
    if len(parts) == 1 and not optional:
        return parts[0]
    return f"(?:{'|'.join(parts)}){optional}" if parts else ""


ASCII_WORDS: Final = expression_of(word for word in WORDS if word.isascii())
ANY_WORD: Final = expression_of(WORDS)
_OF_NAMED_BY: Final = """
    nextauth api app application access auth authentication secret private client consumer
    signing encryption master admin account storage shared webhook bot license licence
    service session refresh bearer personal deploy user write read ingest insert oauth
    subscription integration function functions server live test id security root vault
    registration verification verify developer dev prod production rest team organization
    org db database priv stripe hmac aes rsa jwt cookie pass sign crypt cipher data
    decryption decrypt encrypt wallet eth license serial activation product ssh gpg project
    host sms push mail smtp ftp payment merchant partner customer backup
"""
NAMED_BY: Final = tuple(_OF_NAMED_BY.split())
"""Words before `key` that make it a secret's name, as in `api_key` and `signingKey`."""
_OF_NO_SECRETS: Final = """
    public publishable page next csrf xsrf sync continuation cursor idempotency cache
    partition sort foreign primary push device max min num count cancellation site anon host
    total prompt completion input output cached per hot natural composite unique group row
    hash range lookup translation i18n message dict object map event index
"""
NO_SECRETS: Final = frozenset(_OF_NO_SECRETS.split())
"""Words before a key or a token that make it none."""
_OF_NO_VALUES: Final = """
    name names id ids ref refs arn path paths file files filename url uri type types length
    len size count counts version versions expires expiry expiration ttl timeout field
    fields label labels hint hints policy policies prompt regex pattern env header headers
    param params placeholder column attribute attr mode algorithm algo alg manager provider
    helper validator validators reset strength min max minlength maxlength error errors
    message messages required enabled disabled input box form view icon text title
    description help link page screen format age days hours minutes seconds date at by usage
    limit limits budget class hasher hashers rules rule set store storage service source
    fingerprint prefix suffix ring board word words bits rotation index map list status
    state kind endpoint issuer audience scope encoding charset schema template selector
    locator xpath css test tests case cases
"""
NO_VALUES: Final = frozenset(_OF_NO_VALUES.split())
"""Last words of a name whose value is about a secret and no secret: `password_length`."""
TECHNICAL: Final = re.compile(
    r"(?:sha|aes|utf|base|md|rsa|bcrypt|oauth|ed|x|rs|hs|es|ps|web|ipv|tls|ssl|http|pbkdf|argon|"
    r"scrypt|crc|iso|win|mp|int|uint|float|latin|cp|wpa|v|ios|python|php|unicode|ascii|fido|u)"
    r"[-_. ]?\d{1,5}(?:[a-z]{1,3}|[-_./]\w{1,12})?"
)
"""Names of algorithms and formats, which have digits in them and are no passwords."""
_OF_VENDOR_NAMES: Final = """
    abuseipdb adafruit airtable alchemy algolia amplitude asana assemblyai beamer bitly
    bittrex bugsnag codecov cohere coinbase confluent contentful datadog deepgram deepl
    droneci dropbox elevenlabs etsy facebook fastly finicity finnhub flickr freshbooks gitter
    gocardless heroku hubspot infura intercom ipinfo jfrog artifactory kaggle kraken kucoin
    launchdarkly linkedin mailgun mapbox mattermost messagebird mistral mixpanel netlify
    newrelic new_relic new-relic nytimes okta openweather plaid privateai pushbullet railway
    rapidapi rollbar sendbird snyk sonar splunk spotify squarespace sumologic travis twitch
    twitter typeform zendesk
"""
VENDOR_NAMES: Final = tuple(_OF_VENDOR_NAMES.split())
"""Issuers whose keys have no form of their own."""

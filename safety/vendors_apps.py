"""The formats of keys and tokens, continued: chat, payment, mail, teams, data, wallets."""

from typing import Final

from safety.patterns import literal, some
from safety.secret_kinds import (
    ALNUM,
    ANY_HEX,
    BASE64,
    DOTTED,
    HEX,
    KEY,
    UPPER,
    SecretKind,
    exact,
    row,
    short,
    token,
)

CHAT: Final[tuple[SecretKind, ...]] = (
    row(
        "slack_token",
        "xox",
        literal("xox"),
        some("[abcdeoprs]", 1, 1),
        literal("-"),
        some("[A-Za-z0-9_%-]", 10, 250),
    ),
    token("slack_token", "xoxe.xox", KEY, 20, 250),
    token("slack_token", "xapp-", KEY, 10, 250),
    token("slack_token", "xwfp-", KEY, 20, 250),
    *(
        token("slack_webhook", f"hooks.slack.com/{kind}/", "[A-Za-z0-9/]", 20, 100)
        for kind in ("services", "workflows", "triggers")
    ),
    row("telegram_token", ":A", some("[0-9]", 8, 10), literal(":A"), some(KEY, 34, 34)),
    row(
        "discord_token",
        ".",
        some("[MNO]", 1, 1),
        some(KEY, 23, 27),
        literal("."),
        some(KEY, 6, 6),
        literal("."),
        some(KEY, 27, 60),
    ),
    short("discord_token", "mfa.", KEY, 80, 100),
    *(
        row(
            "discord_webhook",
            "/api/webhooks/",
            literal(f"{host}/api/webhooks/"),
            some("[0-9]", 15, 22),
            literal("/"),
            some(KEY, 40, 100),
        )
        for host in ("discord.com", "discordapp.com")
    ),
    short("meta_token", "EAA", ALNUM, 60, 500),
    row(
        "teams_webhook",
        ".webhook.office.com/",
        literal(".webhook.office.com/"),
        some("[A-Za-z0-9@/-]", 60, 250),
    ),
    token("matrix_token", "syt_", "[A-Za-z0-9_]", 30, 120),
)
"""The platforms Parley speaks to, and their like."""

MONEY: Final[tuple[SecretKind, ...]] = (
    *(
        token("stripe_key", f"{kind}_{mode}_", ALNUM, 10, 250)
        for kind in ("sk", "rk")
        for mode in ("live", "test", "prod")
    ),
    token("stripe_key", "sk_org_", "[A-Za-z0-9_]", 20, 250),
    short("webhook_secret", "whsec_", BASE64, 24, 120),
    row("square_token", "EAAA", literal("EAAA"), some(KEY, 22, 64), alone=True),
    token("square_token", "sq0atp-", KEY, 20, 60),
    token("square_token", "sq0csp-", KEY, 30, 60),
    *(
        token("shopify_token", f"shp{kind}_", ANY_HEX, 32, 40)
        for kind in ("at", "ca", "pa", "ss", "tka", "ua", "rt")
    ),
    short("paypal_token", "A21AA", KEY, 60, 120),
    row(
        "braintree_token",
        "access_token$",
        literal("access_token$"),
        some("[a-z]", 7, 10),
        literal("$"),
        some("[a-z0-9]", 16, 16),
        literal("$"),
        some(HEX, 32, 32),
    ),
    row(
        "plaid_token",
        "access-",
        literal("access-"),
        some("[a-z]", 7, 11),
        literal("-"),
        some("[a-f0-9-]", 36, 36),
        alone=True,
    ),
    token("razorpay_key", "rzp_live_", ALNUM, 14, 24),
    token("razorpay_key", "rzp_test_", ALNUM, 14, 24),
    row(
        "paddle_key",
        "pdl_",
        literal("pdl_"),
        some("[a-z]", 4, 4),
        literal("_apikey_"),
        some("[A-Za-z0-9_]", 30, 80),
    ),
    token("flutterwave_key", "FLWSECK", "[A-Za-z0-9_-]", 12, 60),
    short("easypost_key", "EZAK", ALNUM, 54, 54),
    short("easypost_key", "EZTK", ALNUM, 54, 54),
    token("shippo_token", "shippo_live_", HEX, 40, 40),
    token("shippo_token", "shippo_test_", HEX, 40, 40),
    token("duffel_token", "duffel_live_", KEY, 40, 50),
    token("duffel_token", "duffel_test_", KEY, 40, 50),
)
"""Payment and trade."""

MAIL: Final[tuple[SecretKind, ...]] = (
    exact("twilio_key", "SK", HEX, 32),
    row("sendgrid_key", "SG.", literal("SG."), some(KEY, 16, 32), literal("."), some(KEY, 30, 64)),
    short("mailgun_key", "key-", HEX, 32, 32),
    row(
        "mailgun_key",
        "-",
        some(HEX, 32, 32),
        literal("-"),
        some(HEX, 8, 8),
        literal("-"),
        some(HEX, 8, 8),
        alone=True,
    ),
    row("mailchimp_key", "-us", some(HEX, 32, 32), literal("-us"), some("[0-9]", 1, 2), alone=True),
    token("brevo_key", "xkeysib-", KEY, 60, 100),
    token("brevo_key", "xsmtpsib-", KEY, 60, 100),
    row(
        "resend_key",
        "re_",
        literal("re_"),
        some(ALNUM, 8, 10),
        literal("_"),
        some(ALNUM, 20, 32),
        alone=True,
    ),
)
"""Mail and text messages."""

TEAMS: Final[tuple[SecretKind, ...]] = (
    short("linear_key", "lin_api_", ALNUM, 32, 60),
    short("linear_key", "lin_oauth_", ALNUM, 32, 80),
    short("notion_token", "ntn_", ALNUM, 40, 60),
    short("notion_token", "secret_", ALNUM, 43, 43),
    *(short("figma_token", f"fig{kind}_", KEY, 36, 100) for kind in "duoh"),
    *(token("atlassian_token", f"AT{kind}T3", DOTTED, 60, 400) for kind in ("AT", "CT", "ST")),
    short("bitbucket_token", "ATBB", ALNUM, 28, 40),
    row(
        "asana_token",
        "/",
        some("[12]", 1, 1),
        literal("/"),
        some("[0-9]", 13, 17),
        some("[/0-9]", 0, 20),
        literal(":"),
        some(HEX, 32, 32),
        alone=True,
    ),
    row(
        "airtable_token",
        "pat",
        literal("pat"),
        some(ALNUM, 14, 14),
        literal("."),
        some(HEX, 64, 64),
        alone=True,
    ),
    row(
        "hubspot_token",
        "pat-",
        literal("pat-"),
        some("[a-z]", 2, 2),
        some("[0-9]", 1, 1),
        literal("-"),
        some("[a-f0-9-]", 36, 36),
        alone=True,
    ),
    row("dropbox_token", "sl.", literal("sl."), some("[A-Za-z0-9_.-]", 100, 1500), alone=True),
    token("contentful_token", "CFPAT-", KEY, 40, 50),
    short("typeform_token", "tfp_", DOTTED, 40, 80),
    row(
        "mapbox_token",
        "sk.eyJ",
        literal("sk.eyJ"),
        some(KEY, 40, 120),
        literal("."),
        some(KEY, 20, 40),
        alone=True,
    ),
    row("intercom_token", "dG9rO", literal("dG9rO"), some(BASE64, 40, 80), alone=True),
)
"""What teams work with."""

DATA: Final[tuple[SecretKind, ...]] = (
    token("supabase_key", "sb_secret_", KEY, 20, 60),
    short("supabase_token", "sbp_", "[a-z0-9_]", 40, 60),
    *(
        token("planetscale_token", f"pscale_{kind}_", DOTTED, 30, 80)
        for kind in ("tkn", "oauth", "pw", "api")
    ),
    short("neon_key", "napi_", ALNUM, 40, 80),
    short("databricks_token", "dapi", HEX, 32, 34),
    short("databricks_token", "dose", HEX, 32, 34),
    token("mongodb_atlas_key", "mdb_sa_sk_", KEY, 30, 60),
    exact("clickhouse_key", "4b1d", ALNUM, 38),
    short("grafana_token", "glc_", BASE64, 32, 400),
    row(
        "grafana_token",
        "glsa_",
        literal("glsa_"),
        some(ALNUM, 32, 32),
        literal("_"),
        some(ANY_HEX, 8, 8),
    ),
    short("grafana_key", "eyJrIjoi", BASE64, 40, 400),
    *(
        short("newrelic_key", f"NR{kind}-", "[A-Za-z0-9_-]", 18, 60)
        for kind in ("AK", "II", "IQ", "JS", "RA", "AA")
    ),
    row("newrelic_license", "NRAL", some(ALNUM, 32, 40), literal("NRAL"), alone=True),
    token("sentry_token", "sntrys_", "[A-Za-z0-9+/=_]", 40, 500),
    *(token("sentry_token", f"sntry{kind}_", HEX, 60, 64) for kind in "uai"),
    *(short("posthog_key", f"ph{kind}_", KEY, 32, 64) for kind in "xsar"),
    *(
        short("honeycomb_key", f"hc{kind}_", ALNUM, 40, 80)
        for kind in ("aik", "bik", "cik", "xik", "xmk")
    ),
    row(
        "dynatrace_token",
        "dt0",
        literal("dt0"),
        some("[a-z]", 1, 1),
        literal("0"),
        some("[0-9]", 1, 1),
        literal("."),
        some(UPPER, 24, 24),
        literal("."),
        some(UPPER, 64, 64),
    ),
)
"""Databases and what watches over programs."""

WALLETS: Final[tuple[SecretKind, ...]] = (
    token("age_key", "AGE-SECRET-KEY-", "[A-Z0-9-]", 50, 100),
    short("nostr_key", "nsec1", "[a-z0-9]", 58, 58),
    short("bitcoin_key", "xprv", ALNUM, 100, 110),
)
"""Private keys that are no PEM blocks."""

"""Keys of payment and wallets, chat and mail, tools of teams, databases and monitoring."""

from typing import Final

from safety.secret_detection.vendors.format import (
    ALNUM,
    ANY_HEX,
    BARE64,
    BASE32,
    BASE64,
    DASHED_HEX,
    DASHED_LOWER,
    DIGITS,
    DOTTED,
    HEX,
    KEY,
    LETTERS,
    LOW_WORD,
    LOWER,
    OFFICE,
    PATH,
    UPPER,
    WORD,
    alone,
    anywhere,
    exactly,
)

MONEY: Final = (
    anywhere(
        "stripe_key", "sk_live_ sk_test_ sk_prod_ rk_live_ rk_test_ rk_prod_", (ALNUM, 10, 250)
    ),
    anywhere("stripe_key", "sk_org_", (WORD, 20, 250)),
    alone("webhook_secret", "whsec_", (BASE64, 24, 120)),
    alone("square_token", "EAAA", (KEY, 22, 64)),
    anywhere("square_token", "sq0atp-", (KEY, 20, 60)),
    anywhere("square_token", "sq0csp-", (KEY, 30, 60)),
    anywhere(
        "shopify_token", "shpat_ shpca_ shppa_ shpss_ shptka_ shpua_ shprt_", (ANY_HEX, 32, 40)
    ),
    alone("paypal_token", "A21AA", (KEY, 60, 120)),
    anywhere(
        "braintree_token", "access_token$", (LETTERS, 7, 10), "$", (LOWER, 16), "$", (HEX, 32)
    ),
    alone("plaid_token", "access-", (LETTERS, 7, 11), "-", (DASHED_HEX, 36)),
    anywhere("razorpay_key", "rzp_live_ rzp_test_", (ALNUM, 14, 24)),
    anywhere("paddle_key", "pdl_", (LETTERS, 4), "_apikey_", (WORD, 30, 80)),
    anywhere("flutterwave_key", "FLWSECK", (KEY, 12, 60)),
    alone("easypost_key", "EZAK EZTK", (ALNUM, 54)),
    anywhere("shippo_token", "shippo_live_ shippo_test_", (HEX, 40)),
    anywhere("duffel_token", "duffel_live_ duffel_test_", (KEY, 40, 50)),
    alone("payment_key", "live_", (KEY, 30, 64)),
    alone("payment_key", "test_", (ALNUM, 30, 64)),
    alone("checkout_key", "sk_sbox_", ("[a-z0-9*#$=]", 26, 28)),
    alone("checkout_key", "sk_", (BASE32, 26, 27)),
    alone("polar_token", "polar_oat_ polar_pat_", (ALNUM, 32, 60)),
    alone("midtrans_key", "Mid-server-", (KEY, 20, 40)),
    alone("asaas_key", "aact_", ("[A-Za-z0-9_:=]", 60, 250)),
    alone("pangea_token", "pts_", (BASE32, 32, 40)),
    alone("onfido_token", "api_live. api_sandbox.", (DOTTED, 20, 100)),
    alone("amazon_token", "amzn.mws.", (DASHED_HEX, 36)),
    alone("amazon_token", "amzn1.oa2-cs.v1.", (HEX, 60, 64)),
    alone("amazon_token", "Atzr| Atza|", ("[A-Za-z0-9+/=_-]", 60, 1000)),
    anywhere("xendit_key", "xnd_", (LETTERS, 4, 12), "_", (ALNUM, 30, 90)),
    alone(
        "adyen_key",
        "AQE",
        (LETTERS, 1),
        ("[A-Za-z0-9+/=-]", 60, 160),
        "=-",
        ("[A-Za-z0-9+/=<>(){}_!^~,.-]", 16, 90),
    ),
    anywhere("mercado_pago_token", "APP_USR-", (DIGITS, 13, 20), "-", (DIGITS, 6), "-", (HEX, 32)),
    exactly("woocommerce_key", "ck_ cs_", (HEX, 40)),
    alone("ebay_key", "PRD- SBX-", (HEX, 12), "-", (DASHED_HEX, 19)),
)
"""Payment and trade."""

WALLETS: Final = (
    anywhere("age_key", "AGE-SECRET-KEY-", ("[A-Z0-9-]", 50, 100)),
    alone("nostr_key", "nsec1", (LOWER, 58)),
    alone("bitcoin_key", "xprv", (ALNUM, 100, 110)),
)
"""Wallets."""


CHAT: Final = (
    anywhere("slack_token", "xox", ("[abcdeoprs]", 1), "-", ("[A-Za-z0-9_%-]", 10, 250)),
    anywhere("slack_token", "xoxe.xox", (KEY, 20, 250)),
    anywhere("slack_token", "xapp-", (KEY, 10, 250)),
    anywhere("slack_token", "xwfp-", (KEY, 20, 250)),
    anywhere("telegram_token", (DIGITS, 5, 16), ":AA", (KEY, 30, 60)),
    exactly("telegram_token", (DIGITS, 6, 12), ":", (KEY, 35)),
    anywhere("discord_token", ("[MNO]", 1), (KEY, 23, 27), ".", (KEY, 6), ".", (KEY, 27, 60)),
    alone("discord_token", "mfa.", (KEY, 80, 100)),
    alone("meta_token", "EAA", (ALNUM, 60, 500)),
    anywhere("matrix_token", "syt_", (WORD, 30, 120)),
    alone("instagram_token", "IGQ", (KEY, 100, 400)),
    alone("instagram_token", "IGAA", (KEY, 80, 400)),
    alone("threads_token", "THA", (KEY, 100, 400)),
    alone("twitter_token", "AAAAAAAAAAAAAAAAAAAAA", ("[A-Za-z0-9%]", 60, 150)),
    alone("twitch_token", "oauth:", (LOWER, 30)),
    alone("linkedin_secret", "WPL_AP", ("[A-Za-z0-9.+/=]", 20, 60)),
    alone("pinterest_token", "pina_", (ALNUM, 32, 120)),
    anywhere("facebook_app_token", (DIGITS, 15, 16), "|", (KEY, 27, 40)),
    alone("ably_key", (KEY, 6), ".", (KEY, 6), ":", (KEY, 43)),
    anywhere("firebase_key", (KEY, 11), ":APA91b", (KEY, 100, 180)),
)
"""The platforms Parley speaks to, and their like."""

MAIL: Final = (
    exactly("twilio_key", "SK", (HEX, 32)),
    anywhere("sendgrid_key", "SG.", (KEY, 16, 32), ".", (KEY, 30, 64)),
    alone("mailgun_key", "key-", (HEX, 32)),
    alone("mailgun_key", (HEX, 32), "-", (HEX, 8), "-", (HEX, 8)),
    alone("mailchimp_key", (HEX, 32), "-us", (DIGITS, 1, 2)),
    anywhere("brevo_key", "xkeysib- xsmtpsib-", (KEY, 60, 100)),
    alone("resend_key", "re_", (ALNUM, 8, 10), "_", (ALNUM, 20, 32)),
    alone("mandrill_key", "md-", (KEY, 22)),
    alone("mailersend_key", "mlsn.", (HEX, 60, 70)),
    alone("klaviyo_key", "pk_", (HEX, 34)),
    alone("courier_key", "pk_prod_ pk_test_", (UPPER, 28)),
    alone("onesignal_key", "os_v2_", (LOW_WORD, 60, 130)),
    alone("pagerduty_key", "u+", ("[A-Za-z0-9_+-]", 18)),
    alone("telnyx_key", "KEY01", (WORD, 40, 70)),
    alone("adobe_secret", "p8e-", (KEY, 32, 40)),
    alone("ntfy_token", "tk_", (LOWER, 29)),
)
"""Mail and text messages."""

WEBHOOKS: Final = (
    anywhere("zapier_webhook", "hooks.zapier.com/hooks/catch/", (PATH, 10, 60)),
    anywhere("ifttt_webhook", "/with/key/", (KEY, 20, 50)),
    anywhere("make_webhook", "hook.", (LOWER, 2, 4), ".make.com/", (LOWER, 20, 60)),
    anywhere("lark_webhook", "/open-apis/bot/v2/hook/", ("[A-Za-z0-9-]", 30, 60)),
    anywhere("dingtalk_webhook", "oapi.dingtalk.com/robot/send?access_token=", (ANY_HEX, 40, 80)),
    anywhere(
        "wecom_webhook", "qyapi.weixin.qq.com/cgi-bin/webhook/send?key=", (DASHED_HEX, 30, 60)
    ),
    anywhere("teams_webhook", "outlook.office.com/webhook/", (OFFICE, 60, 250)),
    anywhere("teams_webhook", ".webhook.office.com/", (OFFICE, 60, 250)),
    anywhere(
        "slack_webhook",
        "hooks.slack.com/services/ hooks.slack.com/workflows/ hooks.slack.com/triggers/",
        (PATH, 20, 100),
    ),
    anywhere(
        "discord_webhook",
        "discord.com/api/webhooks/ discordapp.com/api/webhooks/",
        (DIGITS, 15, 22),
        "/",
        (KEY, 40, 100),
    ),
    anywhere("mattermost_webhook", "/hooks/", (LOWER, 26)),
    anywhere("rocket_chat_webhook", "/hooks/", (ALNUM, 17, 24), "/", (ALNUM, 43)),
)
"""Addresses that are a secret themselves: who knows one may write there."""


TEAMS: Final = (
    alone("linear_key", "lin_api_", (ALNUM, 32, 60)),
    alone("linear_key", "lin_oauth_", (ALNUM, 32, 80)),
    alone("notion_token", "ntn_", (ALNUM, 40, 60)),
    alone("notion_token", "secret_", (ALNUM, 43)),
    alone("figma_token", "figd_ figu_ figo_ figh_", (KEY, 36, 100)),
    alone("figma_token", "fig", (LETTERS, 2), "_", (KEY, 36, 100)),
    anywhere("atlassian_token", "ATATT3 ATCTT3 ATSTT3", (DOTTED, 60, 400)),
    alone("bitbucket_token", "ATBB", (ALNUM, 28, 40)),
    alone("asana_token", ("[12]", 1), "/", (DIGITS, 13, 17), ("[/0-9]", 0, 20), ":", (HEX, 32)),
    alone("airtable_token", "pat", (ALNUM, 14), ".", (HEX, 64)),
    alone("hubspot_token", "pat-", (LETTERS, 2), (DIGITS, 1), "-", (DASHED_HEX, 36)),
    alone("dropbox_token", "sl.", ("[A-Za-z0-9_.-]", 100, 1500)),
    anywhere("contentful_token", "CFPAT-", (KEY, 40, 50)),
    alone("typeform_token", "tfp_", (DOTTED, 40, 80)),
    alone("mapbox_token", "sk.eyJ tk.eyJ", (KEY, 20, 120), ".", (KEY, 20, 40)),
    alone("intercom_token", "dG9rO", (BASE64, 40, 80)),
    alone("trello_token", "ATTA", (ALNUM, 60, 80)),
    alone("calcom_key", "cal_live_ cal_", (HEX, 32, 40)),
    alone("sanity_token", "sk", (ALNUM, 80, 250)),
    alone("configcat_key", "configcat-sdk-1/", ("[A-Za-z0-9_/-]", 40, 60)),
    alone("statsig_key", "secret-", (ALNUM, 36, 60)),
    alone("wakatime_key", "waka_", (DASHED_HEX, 36)),
    alone("frameio_token", "fio-u-", (KEY, 60, 70)),
    alone("nightfall_key", "NF-", (ALNUM, 32, 40)),
    alone("samsara_token", "samsara_api_", (ALNUM, 24, 40)),
    alone("thunderstore_token", "tss_", (ALNUM, 24, 60)),
    alone("fullstory_key", "na1.", (BARE64, 80, 200)),
    alone("salesforce_token", "5Aep861", ("[A-Za-z0-9._]", 60, 120)),
    alone("salesforce_token", "00D", (ALNUM, 12, 15), "!", ("[A-Za-z0-9._]", 80, 130)),
    alone("clickup_token", "pk_", (DIGITS, 5, 9), "_", (UPPER, 32)),
    anywhere("maxmind_key", (ALNUM, 6), "_", (ALNUM, 29), "_mmk"),
    anywhere("workato_token", "wrk", (LETTERS, 2, 3), "-eyJ", (DOTTED, 40, 2000)),
    alone("rapidapi_key", (LOWER, 10), "msh", (LOWER, 15), "p1", (LOWER, 5, 6), "jsn", (LOWER, 12)),
    alone("zoho_token", "1000.", (HEX, 32), ".", (HEX, 32)),
    alone("ghost_key", (HEX, 24), ":", (HEX, 64)),
    alone("imagekit_key", "private_", (BARE64, 27), "="),
    alone("adafruit_key", "aio_", (ALNUM, 28)),
)
"""Tools of teams."""

DATA: Final = (
    anywhere("supabase_key", "sb_secret_", (KEY, 20, 60)),
    alone("supabase_token", "sbp_", (LOW_WORD, 40, 60)),
    anywhere(
        "planetscale_token", "pscale_tkn_ pscale_oauth_ pscale_pw_ pscale_api_", (DOTTED, 30, 80)
    ),
    alone("neon_key", "napi_", (ALNUM, 40, 80)),
    alone("neon_password", "npg_", (ALNUM, 12, 24)),
    alone("databricks_token", "dapi dose", (HEX, 32, 34)),
    anywhere("mongodb_atlas_key", "mdb_sa_sk_", (KEY, 30, 60)),
    exactly("clickhouse_key", "4b1d", (ALNUM, 38)),
    alone("grafana_token", "glc_", (BASE64, 32, 400)),
    anywhere("grafana_token", "glsa_", (ALNUM, 32), "_", (ANY_HEX, 8)),
    alone("grafana_key", "eyJrIjoi", (BASE64, 40, 400)),
    alone("newrelic_key", "NRAK- NRII- NRIQ- NRJS- NRRA- NRAA-", (KEY, 18, 60)),
    alone("newrelic_license", (ALNUM, 32, 40), "NRAL"),
    anywhere("sentry_dsn", "://", (HEX, 32), "@"),
    anywhere("sentry_token", "sntrys_", ("[A-Za-z0-9+/=_]", 40, 500)),
    anywhere("sentry_token", "sntryu_ sntrya_ sntryi_", (HEX, 60, 64)),
    alone("posthog_key", "phx_ phs_ pha_ phr_", (KEY, 32, 64)),
    alone("honeycomb_key", "hcaik_ hcbik_ hccik_ hcxik_ hcxmk_", (ALNUM, 40, 80)),
    anywhere(
        "dynatrace_token", "dt0", (LETTERS, 1), "0", (DIGITS, 1), ".", (ALNUM, 24), ".", (ALNUM, 64)
    ),
    anywhere("dynatrace_token", "dt0s", (DIGITS, 2), ".", (UPPER, 8), ".", (UPPER, 64)),
    alone("xata_key", "xau_", (ALNUM, 28, 60)),
    alone("cockroach_key", "CCDB1_", (WORD, 40, 90)),
    alone("confluent_secret", "cflt", (BARE64, 60)),
    alone("elastic_key", "essu_", (BASE64, 40, 200)),
    alone("convex_key", (LETTERS, 3, 10), ":", (DASHED_LOWER, 5, 60), "|", (BASE64, 40, 200)),
    anywhere("astra_token", "AstraCS:", (ALNUM, 20, 30), ":", (HEX, 60, 64)),
    alone("datadog_token", "ddpat_", (WORD, 40, 80)),
    alone("axiom_token", "xaat- xapt-", (DASHED_HEX, 36)),
    alone("rootly_token", "rootly_", (HEX, 60, 70)),
    alone("fauna_key", "fnA", (KEY, 37)),
)
"""Databases and what watches over programs."""

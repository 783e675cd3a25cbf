"""Keys of chat and mail, and addresses that are a secret themselves."""

from typing import Final

from safety.secret_detection.vendors.alphabets import (
    ALNUM,
    ANY_HEX,
    DASHED_HEX,
    DIGITS,
    HEX,
    KEY,
    LOW_WORD,
    LOWER,
    OFFICE,
    PATH,
    UPPER,
    WORD,
)
from safety.secret_detection.vendors.format import alone, anywhere, exactly

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

"""Further issuers, keys that are recognised by their form only, and the places in which a key can
be."""

import random
from base64 import b64encode

from safety.secret_detection.detect import redact_secrets
from tests.support.for_each import for_each

ALNUM = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"


def a(length: int, alphabet: str = ALNUM, seed: int = 11) -> str:
    return "".join(random.Random(seed).choices(alphabet, k=length))


def h(length: int) -> str:
    return a(length, "0123456789abcdef")


def low(length: int) -> str:
    return a(length, "abcdefghijklmnopqrstuvwxyz234567")


def up(length: int) -> str:
    return a(length, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789")


UUID = f"{h(8)}-{h(4)}-{h(4)}-{h(4)}-{h(12)}"
KEYS = [
    f"sk-kimi-{a(64)}", f"unkey_{a(22)}", f"key_{h(64)}", f"rpa_{up(45)}", f"as-{a(22)}",
    f"m0-{a(40)}", f"BSA{a(27)}", f"db-{a(29)}", f"bb_live_{a(27)}", f"apify_api_{a(36)}",
    f"{h(32)}.{a(16)}", f"{a(42)}AzSe{a(6)}", f"{a(44)}AzFu{a(5)}A==", f"{a(33)}+ASb{a(6)}=",
    f"IQoJb3JpZ2luX2Vj{a(220)}", f"AVNS_{a(19)}", f"AKLT{a(44)}", f"npg_{a(12)}",
    f"CCDB1_{a(22)}_{a(40)}", f"cflt{a(60)}", f"AstraCS:{a(24)}:{h(64)}", f"2{a(26)}_{a(21)}",
    f"SWMTKN-1-{low(50)}-{low(25)}", f"dnkey-{up(26)}-{up(52)}", f"st.{h(24)}.{h(32)}.{h(32)}",
    f"0.{UUID}.{a(30)}:{a(22)}==", f"packagist_uut_{h(68)}", f"snyk_sat.{a(8)}.{a(90)}.{a(86)}",
    f"pat.{a(22)}.{h(24)}.{a(20)}", f"CCIPRJ_{a(22)}_{h(40)}", f"live_{a(30)}", f"live_{h(35)}",
    f"xnd_production_{a(50)}", f"Mid-server-{a(24)}", f"$aact_prod_{a(100)}",
    f"1000.{h(32)}.{h(32)}",
    f"{a(11)}:APA91b{a(134)}", f"md-{a(22)}", f"mlsn.{h(64)}", f"pk_{h(34)}",
    f"pk_12345678_{up(32)}",
    f"IGQ{a(160)}", f"123456789012345|{a(27)}", f"WPL_AP1.{a(16)}.{a(6)}==", f"p8e-{a(32)}",
    f"KEY01{up(30)}_{a(22)}", f"secret-live-{a(35)}=", f"ATTA{h(64)}{up(8)}", f"cal_live_{h(32)}",
    f"sk{a(178)}", f"configcat-sdk-1/{a(22)}/{a(22)}", f"{a(6)}_{a(29)}_mmk", f"waka_{UUID}",
    f"dt0s16.{up(8)}.{up(64)}", f"xaat-{UUID}", f"{h(36)}FFFFNRAL", f"00D{a(12)}!AR{a(94)}",
    f"t1.{a(140)}.{a(86)}", f"{UUID}:fx", f"{h(10)}msh{h(15)}p1{h(5)}jsn{h(12)}",
    f"xoxd-{a(60)}%2B{a(40)}",
    f"hooks.zapier.com/hooks/catch/1234567/{low(7)}", f"/open-apis/bot/v2/hook/{UUID}",
    f"oapi.dingtalk.com/robot/send?access_token={h(64)}", f"hook.eu1.make.com/{low(32)}",
    f"chat.example.org/hooks/{low(26)}", f"chat.example.org/hooks/{a(17)}/{a(43)}",
    f"llx-{a(48)}", f"esecret_{low(26)}", f"{UUID}:{h(32)}", f"{h(32)}.{a(24)}", f"sess-{a(40)}",
    f"da2-{low(26)}", f"v2.{low(20)}", f"tk_{low(29)}", f"cs_{h(40)}", f"{h(24)}:{h(64)}",
    f"eyJhIjoi{a(180)}", f"Atza|{a(30)}-_{a(60)}", f"sk_sbox_{low(27)}", f"aio_{a(28)}",
    f"APP_USR-1234567890123456-112233-{h(32)}-{h(8)}", f"private_{a(27)}=", f"fnA{a(37)}",
    f"PRD-{h(12)}-{h(4)}-{h(4)}-{h(4)}-{h(4)}", f"4|{a(48)}", f"{low(6)}.{low(16)}",
]  # fmt: skip
SHAPED = [
    f"zorble_{a(40)}",
    f"zorble_live_{a(30)}",
    f"acme-secret-{a(24)}",
    f"some_api_key_{h(32)}",
    f"ramp_tok_{a(48)}",
]
AROUND = [
    "{}",
    "it is {}, I think",
    "({})",
    "**{}**",
    "_{}_",
    '{{"k": "{}"}}',
    "x={}",
    "A=1\\n{}\\nB=2",
    "k%3D{}%26",
    "```\n{}\n```",
    "这个是{}，请保存",
    "https://api.example.org/v1/{}/users",
    "https://api.example.org/v1?t={}&b=2",
]


@for_each("secret", [*KEYS, *SHAPED])
def test_a_key_is_removed_in_every_context(secret: str) -> None:
    for around in AROUND:
        if "/" in secret and "://" in around:
            continue
        left = redact_secrets(around.format(secret)).text
        middle = len(secret) // 3
        assert not any(secret[i : i + 9] in left for i in range(middle, len(secret) - 9)), left


@for_each(
    "text",
    [
        "zorble_some_long_name_of_a_variable_that_goes_on_and_on",
        f"cs_test_a1{a(56)} and evt_1{a(23)}, pk_live_{a(40)}",
        f"chatcmpl_{a(32)} and msg_01{a(30)}",
        f"sha256_{h(64)} and commit_{h(40)}",
        "test_parse_of_2_messages_and_10_attachments_of_every_kind",
        "api-gateway-production-deployment-configuration-for-2026",
        "live_streaming_dashboard_widget_v2_final_cut_december_2026",
        "arn:aws:secretsmanager:eu-west-1:123456789012:secret:prod/db-AbCdEf",
        "postgres://postgres:postgres@localhost:5432/postgres",
        "md-grid-list-tile-header-2 and as-a-matter-of-principle-2",
        f"prefix_{'a' * 40}",
        f"my_model_{low(40).translate({ord(c): None for c in '234567'})}",
        "a | b: <| f |> and 0.5:12 and 1/2/2026:30",
    ],
)
def test_names_and_ids_are_kept(text: str) -> None:
    assert redact_secrets(text).text == text


@for_each(
    "text",
    [
        f"SNYK_TOKEN={UUID}",
        f"Authorization: Splunk {UUID}",
        f"heroku: {UUID}",
        f'"datadog": "{h(40)}"',
        f"**API_TOKEN={a(40)}**",
        f"AGORA_APP_CERTIFICATE={h(32)}",
        f"_authToken={UUID}",
        f"https://{h(8)}:12345678@gems.example.org/",
        "jdbc:postgresql://db.example.org/d?user=u&password=kJZoFqSaEyWqDw",
        f"api_key: {a(8)}.{a(32)}",
        f'<add key="SHOP_TOKEN" value="{h(32)}" />',
        f"- name: SHOP_TOKEN\n  value: {h(32)}",
        f'{{"name": "SHOP_TOKEN", "value": "{UUID}"}}',
        f"| Shop API key | {h(32)} |",
        f"Shop API key\n{h(32)}",
        f"**Shop API key:** {h(32)}",
        f"the new shop API key is now {h(32)}.",
        f"shop_token: !vault {h(32)}",
        f"ENV SHOP_TOKEN {h(32)}",
        f"shop --api-shop-token {h(32)}",
        f"{{railwayToken: '{UUID}'}}",
        f"our Railway token is {UUID}",
        f"NEXTAUTH_SECRET={a(44)}",
        "SHOP_SECRET=RHP6JgDflwxbEkdvuZzsUQYBGQcXSXsI",
        f'{{"auth": {{"auth": "{b64encode(b"ada:Xy12zz89Xy12").decode()}"}}}}',
        f'{{"kty": "EC", "d": "{a(43)}"}}',
        "app password: abcd efgh ijkl mnop",
        "WordPress application password is a1B2 c3D4 e5F6 g7H8 i9J0 k1L2",
        "define('DB_PASSWORD', 'Xy12zz89');",
        "mysql -u root -pXy12zz89 shop",
        "sshpass -p 'Xy12zz89' ssh ada@host",
        "gh secret set DEPLOY --body Xy12zz89",
        'gh secret set DEPLOY -b "Xy12zz89"',
        "login ada / pw Xy12zz89",
        "recovery codes: v9qio-5v2sw",
    ],
)
def test_a_key_recognised_by_its_context_is_removed(text: str) -> None:
    assert "[SECRET_REDACTED]" in redact_secrets(text).text


@for_each(
    "text",
    [
        *(f"the secret: {UUID}", "twitter: @somebody_with_a_long_name", "okta = True"),
        *("| password | required |", "| token | count |\n|---|---|", "Password\nConfirm password"),
        *("Token\nA token is the smallest unit of text.", "ENV PATH /usr/local/bin:$PATH"),
        *("the app password page is hard to find", "mysql -u root -p shop < dump.sql"),
        *("backup codes: print them", "app password: where do I find that"),
        f"cache key: user:{h(6)}:profile and sort key: created_at",
    ],
)
def test_an_id_after_an_everyday_word_is_kept(text: str) -> None:
    assert redact_secrets(text).text == text

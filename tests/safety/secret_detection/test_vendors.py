"""Keys in their issuers' formats go; samples of them and other long texts stay."""

import random
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from safety.secret_detection.detect import KINDS, find_secrets, redact_secrets
from safety.secret_detection.kinds import Level
from tests.support.for_each import for_each
from tests.support.processor_time import seconds
from tests.support.property_cases import cases

ALNUM = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"


def made(alphabet: str, length: int, seed: int = 7) -> str:
    return "".join(random.Random(seed).choices(alphabet, k=length))


def a(length: int) -> str:
    return made(ALNUM, length)


def h(length: int) -> str:
    return made("0123456789abcdef", length)


@for_each(
    "secret",
    [
        f"sk-ant-admin01-{a(93)}AA",
        f"sk-ant-oat01-{a(93)}AA",
        f"sk-proj-{a(74)}T3BlbkFJ{a(74)}",
        f"sk-or-v1-{h(64)}",
        f"gsk_{a(52)}",
        f"xai-{a(80)}",
        f"hf_{a(34)}",
        f"github_pat_{a(22)}_{a(59)}",
        f"ghs_{a(36)}",
        f"glrt-{a(20)}",
        f"glpat-{a(27)}.01.{made('abcdef0123456789', 9)}",
        f"xapp-1-A{a(10)}-1234567890123-{h(64)}",
        f"https://hooks.slack.com/services/T{a(8)}/B{a(8)}/{a(24)}",
        f"https://discord.com/api/webhooks/123456789012345678/{a(68)}",
        f"EAAB{a(180)}",
        f"whsec_{a(32)}",
        f"rk_live_{a(99)}",
        f"SG.{a(22)}.{a(43)}",
        f"SK{h(32)}",
        f"npm_{a(36)}",
        f"pypi-AgEIcHlwaS5vcmc{a(120)}",
        f"dckr_pat_{a(27)}",
        f"dop_v1_{h(64)}",
        f"cfut_{a(40)}{h(8)}",
        f"vcp_{a(56)}",
        f"HRKU-AA{a(58)}",
        f"shpat_{h(32)}",
        f"sq0atp-{a(22)}",
        f"lin_api_{a(40)}",
        f"ntn_12345678901{a(35)}",
        f"figd_{a(40)}",
        f"ATATT3xFfGF0{a(180)}=ABCD1234",
        f"glsa_{a(32)}_{h(8)}",
        f"NRAK-{made('ABCDEFGHJKLMNPQRSTUVWXYZ0123456789', 27)}",
        f"sntryu_{h(64)}",
        f"phx_{a(43)}",
        f"sb_secret_{a(31)}",
        f"pscale_tkn_{a(43)}",
        f"dapi{h(32)}",
        f"{a(3)}8Q~{a(34)}",
        f"hvs.{a(90)}",
        f"AGE-SECRET-KEY-1{made('QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L', 58)}",
        f"sk.eyJ{a(80)}.{a(22)}",
        f"ya29.{a(150)}",
        f"GOCSPX-{a(28)}",
    ],
)
@for_each("around", ["{}", "see {}, please", 'key="{}"', "```\n{}\n```", "({})."])
def test_a_key_is_removed_completely(secret: str, around: str) -> None:
    redaction = redact_secrets(around.format(secret))
    assert redaction.text.count("[SECRET_REDACTED]") == 1
    assert not any(secret[i : i + 9] in redaction.text for i in range(8, len(secret) - 9))
    assert {finding.kind.level for finding in redaction.findings} == {Level.DEFINITE}


@pytest.mark.parametrize(
    "text",
    [
        "ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx and sk-xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
        "sk-ant-api03-your-key-goes-right-here",
        "550e8400-e29b-41d4-a716-446655440000",
        "commit 4ee28d6a1b2c3d4e5f60718293a4b5c6d7e8f901",
        "https://github.com/o/r/blob/4ee28d6a1b2c3d4e5f60718293a4b5c6d7e8f901/x.py",
        "fw_some_long_name_of_a_variable pa-rt of re_mainder, key-value, api-version",
        "the-quick-brown-fox-jumps-over-the-lazy-dog-and-runs-away-from-it-all-day-long",
        "src/components/dashboard/widgets/charts/line/LineChartContainerWithLegend",
        "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ",
    ],
)
def test_text_that_is_not_a_key_is_kept(text: str) -> None:
    assert redact_secrets(text).text == text


def test_forty_characters_beside_the_id_of_an_aws_key_are_the_key() -> None:
    secret = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYzzAMPLEKEY"
    assert secret in redact_secrets(f"it is {secret}").text
    assert secret not in redact_secrets(f"AKIA{'ABCD2345' * 2} {secret}").text


def test_adjacent_keys_are_both_removed() -> None:
    redaction = redact_secrets(f"AKIA{'ABCD2345' * 2}ghp_{a(36)}")
    assert redaction.text == "[SECRET_REDACTED]" * 2
    assert [(f.start, f.end) for f in redaction.findings] == [(0, 20), (20, 60)]


def test_forty_hexadecimal_digits_are_a_possible_secret() -> None:
    text = "da39a3ee5e6b4b0d3255bfef95601890afd80709"
    redaction = redact_secrets(text)
    assert redaction.text == text
    assert [f.kind.level for f in redaction.findings] == [Level.POSSIBLE]


BODY = "\n".join(made(ALNUM + "+/", 64, seed) for seed in range(12))
PGP = "-----BEGIN PGP PRIVATE KEY BLOCK-----"
BEGIN, END = "-----BEGIN OPENSSH PRIVATE KEY-----", "-----END OPENSSH PRIVATE KEY-----"


@pytest.mark.parametrize(
    "key",
    [
        f"{BEGIN}\n{BODY}\n{END}",
        f"{BEGIN}\n{BODY}",
        f"{BODY}\n{END}",
        f"{BEGIN}\n{BODY}\n{END}".replace("\n", "\\n"),
        f"{BEGIN}\n{BODY}\n{END}".replace("OPENSSH ", ""),
        f"{PGP}\nVersion: 1\n\n{BODY}\n{PGP.replace('BEGIN', 'END')}",
        f"> {BEGIN}\n{BODY}\n{END}".replace("\n", "\n> "),
        "b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAAAAABAAAAMwAAAAtzc2gtZWQyNTUx",
    ],
)
def test_a_private_key_is_removed_completely_and_the_rest_is_kept(key: str) -> None:
    redaction = redact_secrets(f"Here it is:\n{key}\nThanks, and see you tomorrow.")
    assert not re.search(r"[A-Za-z0-9+/]{30}", redaction.text)
    assert redaction.text.startswith("Here it is:")
    assert redaction.text.endswith("see you tomorrow.")


@settings(max_examples=cases(300), deadline=None)
@given(
    st.lists(
        st.one_of(
            st.text(max_size=8),
            st.sampled_from(
                [
                    *("password", " is ", "=", ": ", "token", "hunter2", "\n", '"', f"ghp_{a(36)}"),
                    *(BEGIN, END, "AKIAABCD2345ABCD2345", "://a:", "@b", "Bearer ", a(40), h(40)),
                    "[SECRET_REDACTED]",
                ]
            ),
        ),
        max_size=12,
    ).map("".join)
)
def test_removal_is_idempotent_and_findings_are_in_order(text: str) -> None:
    redaction = redact_secrets(text)
    assert redact_secrets(redaction.text).text == redaction.text
    ends = 0
    for finding in redaction.findings:
        assert ends <= finding.start < finding.end <= len(text)
        ends = finding.end


@for_each("kind", KINDS)
def test_every_kind_contains_its_anchor(kind: object) -> None:
    pattern = kind.pattern  # type: ignore[attr-defined]
    fixed = "".join(
        chars.replace("\\", "") for chars, least, most in pattern.elements if least == most == 1
    )
    assert pattern.anchor in fixed or pattern.ignore_case


@pytest.mark.parametrize(
    "seed",
    ["password is ", "-----BEGIN PRIVATE KEY-----", "-----END PRIVATE KEY-----", "api key for ",
     "seed phrase: abcde ", "MIIEpAIBAAKCAQEA" + "A" * 30, "token=", "://a:"],
)  # fmt: skip
def test_time_grows_linearly_with_the_text(seed: str) -> None:
    text = (seed * 100_000)[:100_000]
    assert seconds(lambda: find_secrets(text), 5) < 5

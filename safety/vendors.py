"""The formats of keys and tokens that their issuers can be told by.

Prefixes, alphabets and lengths are those that issuers document, or that the public rules of
secret scanners agree on. Lengths are lenient: issuers lengthen their tokens without notice.
"""

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

_UUID: Final = (
    *some(ANY_HEX, 8, 8),
    *(e for _ in range(3) for e in (*literal("-"), *some(ANY_HEX, 4, 4))),
    *literal("-"),
    *some(ANY_HEX, 12, 12),
)

MODELS: Final[tuple[SecretKind, ...]] = (
    token("anthropic_key", "sk-ant-", KEY, 20, 200),
    token("openai_key", "sk-proj-", KEY, 20, 300),
    token("openai_key", "sk-svcacct-", KEY, 20, 300),
    token("openai_key", "sk-admin-", KEY, 20, 300),
    token("openai_key", "sk-None-", KEY, 20, 300),
    token("openrouter_key", "sk-or-", KEY, 32, 128),
    row("langfuse_key", "sk-lf-", literal("sk-lf-"), _UUID),
    token("openai_key", "sk-", ALNUM, 32, 128),
    token("groq_key", "gsk_", ALNUM, 32, 100),
    short("xai_key", "xai-", ALNUM, 40, 120),
    short("perplexity_key", "pplx-", ALNUM, 32, 80),
    short("huggingface_token", "hf_", ALNUM, 30, 60),
    short("huggingface_token", "api_org_", ALNUM, 30, 60),
    short("replicate_token", "r8_", ALNUM, 30, 60),
    short("cerebras_key", "csk-", ALNUM, 32, 80),
    short("fireworks_key", "fw_", ALNUM, 20, 60),
    short("together_key", "tgp_v1_", KEY, 30, 80),
    short("voyage_key", "pa-", KEY, 40, 60),
    short("nvidia_key", "nvapi-", KEY, 40, 100),
    short("elevenlabs_key", "sk_", HEX, 40, 64),
    row(
        "langsmith_key",
        "lsv2_",
        literal("lsv2_"),
        some("[ps]", 1, 1),
        some("[tk]", 1, 1),
        literal("_"),
        some("[a-f0-9_]", 30, 60),
    ),
    short("pinecone_key", "pcsk_", KEY, 40, 100),
    short("jina_key", "jina_", KEY, 40, 100),
    short("tavily_key", "tvly-", KEY, 20, 80),
    short("firecrawl_key", "fc-", HEX, 32, 40),
    short("e2b_key", "e2b_", HEX, 40, 64),
    short("wandb_key", "wandb_v1_", KEY, 30, 120),
)
"""Providers of language models and what belongs to them."""

CLOUDS: Final[tuple[SecretKind, ...]] = (
    *(exact("aws_key_id", prefix, UPPER, 16) for prefix in ("AKIA", "ASIA", "ABIA", "ACCA")),
    short("aws_bedrock_key", "ABSK", BASE64, 100, 280),
    token("aws_bedrock_key", "bedrock-api-key-", BASE64, 20, 2000),
    token("google_key", "AIza", KEY, 35, 45),
    short("google_key", "AQ.A", KEY, 40, 120),
    token("google_oauth", "GOCSPX-", KEY, 24, 40),
    short("google_oauth", "ya29.", KEY, 20, 500),
    short("google_oauth", "1//0", KEY, 40, 150),
    row(
        "azure_secret",
        "Q~",
        some("[A-Za-z0-9_.~-]", 3, 3),
        some("[0-9]", 1, 1),
        literal("Q~"),
        some("[A-Za-z0-9_.~-]", 31, 34),
        alone=True,
    ),
    token("azure_storage_key", "AccountKey=", BASE64, 60, 100),
    token("azure_storage_key", "SharedAccessKey=", BASE64, 40, 100),
    row("azure_sas", "sig=", literal("sig="), some("[A-Za-z0-9%+/]", 40, 120), literal("%3D")),
    row("azure_devops_token", "AZDO", some(ALNUM, 76, 76), literal("AZDO"), some(ALNUM, 4, 4)),
    row("azure_key", "JQQJ9", some(ALNUM, 40, 60), literal("JQQJ9"), some(ALNUM, 20, 40)),
    row("azure_key", "+ASt", some("[A-Za-z0-9+/]", 60, 80), literal("+ASt"), some(BASE64, 4, 12)),
    short("alibaba_key", "LTAI", ALNUM, 12, 24),
    short("tencent_key", "AKID", ALNUM, 32, 40),
    short("yandex_key", "AQVN", KEY, 35, 40),
    short("yandex_token", "y0_", KEY, 50, 80),
    token("digitalocean_token", "dop_v1_", HEX, 60, 64),
    token("digitalocean_token", "doo_v1_", HEX, 60, 64),
    token("digitalocean_token", "dor_v1_", HEX, 60, 64),
    *(short("cloudflare_token", prefix, KEY, 40, 60) for prefix in ("cfk_", "cfut_", "cfat_")),
    row(
        "cloudflare_origin_key",
        "v1.0-",
        literal("v1.0-"),
        some(HEX, 24, 24),
        literal("-"),
        some(HEX, 140, 150),
        alone=True,
    ),
    *(
        short("vercel_token", prefix, KEY, 24, 80)
        for prefix in ("vcp_", "vci_", "vca_", "vcr_", "vck_", "vercel_blob_rw_")
    ),
    *(short("netlify_token", f"nf{kind}_", KEY, 30, 60) for kind in "pcobu"),
    short("heroku_key", "HRKU-", KEY, 36, 80),
    short("fly_token", "fo1_", KEY, 40, 60),
    short("fly_token", "fm1a_", BASE64, 60, 1500),
    short("fly_token", "fm1r_", BASE64, 60, 1500),
    short("fly_token", "fm2_", BASE64, 60, 1500),
    short("render_key", "rnd_", ALNUM, 20, 60),
    row(
        "terraform_token",
        ".atlasv1.",
        some(ALNUM, 14, 14),
        literal(".atlasv1."),
        some(DOTTED, 60, 80),
    ),
    short("vault_token", "hvs.", KEY, 24, 300),
    short("vault_token", "hvb.", KEY, 24, 400),
    short("vault_token", "hvr.", KEY, 24, 400),
    short("pulumi_token", "pul-", HEX, 40, 40),
    *(
        short("doppler_token", f"dp.{kind}.", ALNUM, 40, 64)
        for kind in ("pt", "st", "ct", "sa", "scim", "audit")
    ),
    row(
        "doppler_token",
        "dp.st.",
        literal("dp.st."),
        some("[a-z0-9_-]", 2, 40),
        literal("."),
        some(ALNUM, 40, 44),
        alone=True,
    ),
    short("onepassword_token", "ops_eyJ", BASE64, 60, 2000),
    row(
        "onepassword_key",
        "A3-",
        literal("A3-"),
        some(UPPER, 6, 6),
        literal("-"),
        some("[A-Z0-9-]", 11, 12),
        *((literal("-"), some(UPPER, 5, 5))[i % 2] for i in range(6)),
        alone=True,
    ),
    row(
        "tailscale_key",
        "tskey-",
        literal("tskey-"),
        some("[a-z]", 3, 10),
        literal("-"),
        some(KEY, 12, 80),
    ),
    short("openshift_token", "sha256~", KEY, 43, 43),
    short("oracle_token", "ocid1.credential.", DOTTED, 20, 120),
)
"""Clouds, hosting, and stores of secrets."""

CODE: Final[tuple[SecretKind, ...]] = (
    row(
        "parley_token",
        "parley_",
        literal("parley_"),
        some(KEY, 20, 1900),
        literal("."),
        some(KEY, 43, 43),
    ),
    *(token("github_token", prefix, ALNUM, 36, 255) for prefix in ("ghp_", "gho_", "ghu_", "ghr_")),
    token("github_token", "ghs_", "[A-Za-z0-9_.-]", 36, 1000),
    token("github_token", "github_pat_", "[A-Za-z0-9_]", 22, 255),
    *(
        token("gitlab_token", f"gl{kind}-", DOTTED, 20, 320)
        for kind in (
            "pat",
            "dt",
            "rt",
            "rtr",
            "ptt",
            "ft",
            "imt",
            "agent",
            "soat",
            "ffct",
            "wt",
            "oas",
        )
    ),
    token("gitlab_token", "glcbt-", DOTTED, 20, 320),
    short("gitlab_token", "GR1348941", KEY, 20, 40),
    short("npm_token", "npm_", ALNUM, 36, 60),
    token("pypi_token", "pypi-AgE", KEY, 50, 1000),
    token("docker_token", "dckr_pat_", KEY, 20, 60),
    token("docker_token", "dckr_oat_", KEY, 20, 60),
    token("rubygems_key", "rubygems_", HEX, 48, 48),
    short("nuget_key", "oy2", "[a-z0-9]", 43, 43),
    short("clojars_token", "CLOJARS_", ALNUM, 60, 60),
    short("crates_token", "cio", ALNUM, 32, 32),
    row(
        "circleci_token",
        "CCIP",
        literal("CCIP"),
        some("[ARTJ]", 2, 2),
        literal("_"),
        some("[A-Za-z0-9_]", 40, 90),
    ),
    short("buildkite_token", "bkua_", HEX, 40, 40),
    short("buildkite_token", "bkat_", ALNUM, 40, 64),
    *(short("sonar_token", f"sq{kind}_", HEX, 40, 40) for kind in "pua"),
    short("jfrog_key", "AKCp", ALNUM, 60, 80),
    short("jfrog_token", "cmVmd", ALNUM, 59, 59),
    row("octopus_key", "API-", literal("API-"), some(UPPER, 26, 30), alone=True),
    short("sourcegraph_token", "sgp_", "[A-Za-z0-9_]", 40, 80),
    row(
        "postman_key", "PMAK-", literal("PMAK-"), some(HEX, 24, 24), literal("-"), some(HEX, 34, 34)
    ),
    short("snyk_token", "snyk_uat.", DOTTED, 30, 400),
    short("prefect_key", "pnu_", ALNUM, 36, 40),
    short("prefect_key", "pnb_", ALNUM, 36, 40),
    row("launchdarkly_key", "sdk-", literal("sdk-"), _UUID, alone=True),
    row("launchdarkly_key", "api-", literal("api-"), _UUID, alone=True),
    short("scalingo_token", "tk-us-", KEY, 48, 48),
    short("readme_key", "rdme_", "[a-z0-9]", 60, 80),
)
"""Source code, packages and builds."""

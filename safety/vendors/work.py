"""Keys of what teams work with, of databases and of what watches over programs."""

from typing import Final

from safety.vendors.alphabets import (
    ALNUM,
    ANY_HEX,
    BARE64,
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
    UPPER,
    WORD,
)
from safety.vendors.format import alone, anywhere, exactly

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
    alone("mapbox_token", "sk.eyJ", (KEY, 40, 120), ".", (KEY, 20, 40)),
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
)
"""What teams work with."""

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
    anywhere("sentry_token", "sntrys_", ("[A-Za-z0-9+/=_]", 40, 500)),
    anywhere("sentry_token", "sntryu_ sntrya_ sntryi_", (HEX, 60, 64)),
    alone("posthog_key", "phx_ phs_ pha_ phr_", (KEY, 32, 64)),
    alone("honeycomb_key", "hcaik_ hcbik_ hccik_ hcxik_ hcxmk_", (ALNUM, 40, 80)),
    anywhere(
        "dynatrace_token", "dt0", (LETTERS, 1), "0", (DIGITS, 1), ".", (UPPER, 24), ".", (UPPER, 64)
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
)
"""Databases and what watches over programs."""

"""Keys of language models and of what belongs to them."""

from typing import Final

from safety.vendors.alphabets import ALNUM, BASE64, DASHED_LOWER, DOTTED, HEX, KEY
from safety.vendors.format import UUID, alone, anywhere

MODELS: Final = (
    anywhere("anthropic_key", "sk-ant-", (KEY, 20, 200)),
    anywhere("openai_key", "sk-proj- sk-svcacct- sk-admin- sk-None-", (KEY, 20, 300)),
    anywhere("openai_key", "sk-", (ALNUM, 32, 128)),
    anywhere("openrouter_key", "sk-or-", (KEY, 32, 128)),
    anywhere("langfuse_key", "sk-lf-", *UUID),
    anywhere("groq_key", "gsk_", (ALNUM, 32, 100)),
    alone("xai_key", "xai-", (ALNUM, 40, 120)),
    alone("perplexity_key", "pplx-", (ALNUM, 32, 80)),
    alone("huggingface_token", "hf_ api_org_", (ALNUM, 30, 60)),
    alone("replicate_token", "r8_", (ALNUM, 30, 60)),
    alone("cerebras_key", "csk-", (ALNUM, 32, 80)),
    alone("fireworks_key", "fw_", (ALNUM, 20, 60)),
    alone("together_key", "tgp_v1_", (KEY, 30, 80)),
    alone("voyage_key", "pa-", (KEY, 40, 60)),
    alone("nvidia_key", "nvapi-", (KEY, 40, 100)),
    alone("elevenlabs_key", "sk_", (HEX, 40, 64)),
    anywhere("langsmith_key", "lsv2_", ("[ps]", 1), ("[tk]", 1), "_", ("[a-f0-9_]", 30, 60)),
    alone("pinecone_key", "pcsk_", (KEY, 40, 100)),
    alone("jina_key", "jina_", (KEY, 40, 100)),
    alone("tavily_key", "tvly-", (KEY, 20, 80)),
    alone("firecrawl_key", "fc-", (HEX, 32, 40)),
    alone("e2b_key", "e2b_", (HEX, 40, 64)),
    alone("wandb_key", "wandb_v1_", (KEY, 30, 120)),
    alone("moonshot_key", "sk-kimi-", (KEY, 32, 128)),
    alone("helicone_key", "sk-helicone-", (DASHED_LOWER, 20, 60)),
    alone("cursor_key", "crsr_", (HEX, 40, 80)),
    alone("agent_key", "key_", (HEX, 24, 80)),
    alone("runpod_key", "rpa_", (ALNUM, 40, 60)),
    alone("modal_key", "as- ak-", (ALNUM, 22)),
    alone("composio_key", "ak_", (KEY, 20, 40)),
    alone("mem0_key", "m0-", (ALNUM, 36, 60)),
    alone("zep_key", "z_1dWlkIjoi", (DOTTED, 60, 400)),
    alone("cartesia_key", "sk_car_", (ALNUM, 20, 60)),
    alone("brave_key", "BSA", (KEY, 27, 28)),
    alone("databento_key", "db-", (ALNUM, 29)),
    alone("upstage_key", "up_", (ALNUM, 29)),
    alone("browserbase_key", "bb_live_", (KEY, 20, 60)),
    alone("apify_token", "apify_api_", (ALNUM, 30, 60)),
    alone("devin_key", "apk_user_", (BASE64, 40, 200)),
    alone("zhipu_key", (HEX, 32), ".", (ALNUM, 16)),
    alone("deepl_key", *UUID, ":fx"),
)
"""Providers of language models and what belongs to them."""

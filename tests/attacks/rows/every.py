"""All rows of the suite."""

from collections.abc import Sequence
from typing import Final

from tests.attacks.rows.admission import ADMISSION
from tests.attacks.rows.agent_tokens import AGENT_TOKENS
from tests.attacks.rows.agents import AGENTS
from tests.attacks.rows.appointments import APPOINTMENTS
from tests.attacks.rows.availability import AVAILABILITY
from tests.attacks.rows.contradictions import CONTRADICTIONS
from tests.attacks.rows.cut_texts import CUT_TEXTS
from tests.attacks.rows.http import HTTP
from tests.attacks.rows.identity import IDENTITY
from tests.attacks.rows.isolation import ISOLATION
from tests.attacks.rows.local_port import LOCAL_PORT
from tests.attacks.rows.mcp import MCP
from tests.attacks.rows.memory_backends import MEMORY_BACKENDS
from tests.attacks.rows.models import MODELS
from tests.attacks.rows.outbound import OUTBOUND
from tests.attacks.rows.proactive import PROACTIVE
from tests.attacks.rows.quotes import QUOTES
from tests.attacks.rows.repositories import REPOSITORIES
from tests.attacks.rows.secrets import SECRETS
from tests.attacks.rows.tenants import TENANTS
from tests.attacks.rows.threads import THREAD_ATTACKS
from tests.attacks.rows.tokens import TOKENS
from tests.attacks.rows.webhooks import WEBHOOKS
from tests.attacks.rows.words import WORDS
from tests.attacks.table import Attack

ATTACKS: Final[Sequence[Attack]] = (
    *ISOLATION,
    *CONTRADICTIONS,
    *IDENTITY,
    *ADMISSION,
    *WORDS,
    *QUOTES,
    *OUTBOUND,
    *PROACTIVE,
    *HTTP,
    *LOCAL_PORT,
    *AGENTS,
    *AGENT_TOKENS,
    *MCP,
    *MEMORY_BACKENDS,
    *MODELS,
    *REPOSITORIES,
    *SECRETS,
    *TENANTS,
    *THREAD_ATTACKS,
    *TOKENS,
    *WEBHOOKS,
    *AVAILABILITY,
    *CUT_TEXTS,
    *APPOINTMENTS,
)

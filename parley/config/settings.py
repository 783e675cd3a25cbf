"""The whole configuration: our sections, and one section per platform that was discovered."""

from collections.abc import Iterator, Mapping
from typing import Final

from msgspec import Struct
from pydantic import Field, SerializeAsAny, create_model

from gateway.languages.installed import LanguagePolicy
from gateway.policy.access import ToolRule
from gateway.policy.invocation import InvocationPolicy
from gateway.policy.rate_limits import RateLimits
from gateway.ports import AccountSettings, AdapterManifest
from gateway.settings import Section
from gateway.zones import TimePolicy
from parley.config import sections
from parley.config.knowledge import KnowledgeSection
from parley.config.memory import (
    AgentsSection,
    GroundingSection,
    HeartbeatSection,
    MemorySection,
    PlansSection,
)
from parley.config.sections import MAIN, AccountName


class ConfiguredAccount(Struct, frozen=True):
    """One account of one platform, as configured."""

    platform: str
    name: str
    """The name of the account, unique on its platform."""
    settings: AccountSettings
    """The section of the account."""

    @property
    def path(self) -> str:
        """The key of the account in the configuration."""
        section = f"platforms.{self.platform}"
        return section if self.name == MAIN else f"{section}.accounts.{self.name}"


class Platforms(Section):
    """Base of `platforms`; loading creates a subclass with one field per platform."""

    def accounts(self) -> Iterator[ConfiguredAccount]:
        """All accounts, including those without credentials; the main one of a platform first."""
        for platform in type(self).model_fields:
            section = getattr(self, platform)
            yield ConfiguredAccount(platform, MAIN, section)
            for name, settings in section.accounts.items():
                yield ConfiguredAccount(platform, name, settings)


DEFAULT_FILE: Final = "sqlite:///data/parley.db"


class Settings(Section):
    """The configuration. Immutable; secrets do not show in its repr."""

    assistant: sections.AssistantSection = sections.AssistantSection()
    model: sections.ModelSection = sections.ModelSection()
    mcp: sections.McpSection = sections.McpSection()
    mcp_server: sections.OwnMcpServerSection = sections.OwnMcpServerSection()
    tools: dict[str, ToolRule] = Field(default={})
    """Rules by tool name (`server__tool`) or MCP server name. Without a rule, tools that change
    something are not available in public rooms, and tools that handle secrets are for operators in
    a direct message."""
    extensions: sections.ExtensionsSection = sections.ExtensionsSection()
    budgets: sections.BudgetsSection = sections.BudgetsSection()
    limits: RateLimits = RateLimits()
    invocation: InvocationPolicy = InvocationPolicy()
    access: sections.AccessSection = sections.AccessSection()
    languages: LanguagePolicy = LanguagePolicy()
    time: TimePolicy = TimePolicy()
    context: sections.ContextSection = sections.ContextSection()
    documents: sections.DocumentsSection = sections.DocumentsSection()
    conversation: sections.ConversationSection = sections.ConversationSection()
    workers: sections.WorkersSection = sections.WorkersSection()
    watchdog: sections.WatchdogSection = sections.WatchdogSection()
    delivery: sections.DeliverySection = sections.DeliverySection()
    memory: MemorySection = MemorySection()
    plans: PlansSection = PlansSection()
    grounding: GroundingSection = GroundingSection()
    heartbeat: HeartbeatSection = HeartbeatSection()
    agents: AgentsSection = AgentsSection()
    knowledge: KnowledgeSection = KnowledgeSection()
    database: sections.DatabaseSection = sections.DatabaseSection()
    storage: sections.StorageSection = sections.StorageSection()
    server: sections.ServerSection = sections.ServerSection()
    console: sections.ConsoleSection = sections.ConsoleSection()
    webhooks: sections.WebhooksSection = sections.WebhooksSection()
    observe: sections.ObserveSection = sections.ObserveSection()
    platforms: SerializeAsAny[Platforms] = Platforms()

    def accounts(self) -> tuple[ConfiguredAccount, ...]:
        """The accounts that have their credentials; others are off."""
        return tuple(a for a in self.platforms.accounts() if a.settings.configured())

    @property
    def storage_url(self) -> str:
        """The URL of short-lived data: `storage.url`, or else `database.url` when that is a
        file."""
        if self.storage.url:
            return self.storage.url
        url = self.database.url
        return DEFAULT_FILE if url.startswith("postgresql://") else url


def settings_model(manifests: Mapping[str, AdapterManifest]) -> type[Settings]:
    """The model of a configuration with these platforms."""
    fields = {}
    for platform, manifest in manifests.items():
        section = create_model(
            manifest.settings.__name__,
            __base__=manifest.settings,
            accounts=(dict[AccountName, manifest.settings], Field(default={})),  # type: ignore[name-defined]
        )
        fields[platform] = (section, Field(default=section()))
    platforms = create_model("Platforms", __base__=Platforms, **fields)  # type: ignore[call-overload]
    return create_model("Settings", __base__=Settings, platforms=(platforms, platforms()))

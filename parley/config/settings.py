"""The whole configuration: our sections, and one section per platform that was discovered."""

from collections.abc import Iterator, Mapping
from typing import Final

from msgspec import Struct
from pydantic import Field, SerializeAsAny, create_model

from gateway.policy.invocation import InvocationPolicy
from gateway.policy.rate_limits import RateLimits
from gateway.policy.roles import ToolRule
from gateway.ports import AccountSettings, AdapterManifest
from gateway.settings import Section
from parley.config import sections
from parley.config.knowledge import Knowledge
from parley.config.memory import Agents, Grounding, Heartbeat, Memory, Plans
from parley.config.sections import MAIN, AccountName


class Account(Struct, frozen=True):
    """One account of one platform, as configured."""

    platform: str
    name: str
    settings: AccountSettings

    @property
    def path(self) -> str:
        """The key of the account in the configuration."""
        section = f"platforms.{self.platform}"
        return section if self.name == MAIN else f"{section}.accounts.{self.name}"


class Platforms(Section):
    """Base of `platforms`; loading creates a subclass with one field per platform."""

    def accounts(self) -> Iterator[Account]:
        """All accounts, including those without credentials; the main one of a platform first."""
        for platform in type(self).model_fields:
            section = getattr(self, platform)
            yield Account(platform, MAIN, section)
            for name, settings in section.accounts.items():
                yield Account(platform, name, settings)


DEFAULT_FILE: Final = "sqlite:///data/parley.db"


class Settings(Section):
    """The configuration. Immutable; secrets do not show in its repr."""

    assistant: sections.Assistant = sections.Assistant()
    model: sections.Model = sections.Model()
    mcp: sections.Mcp = sections.Mcp()
    mcp_server: sections.OwnMcpServer = sections.OwnMcpServer()
    tools: dict[str, ToolRule] = Field(default={})
    """Rules by tool name (`server__tool`) or MCP server name. Without a rule, tools that change
    something are not available in public rooms, and tools that handle secrets are for operators in
    a direct message."""
    extensions: sections.Extensions = sections.Extensions()
    budgets: sections.Costs = sections.Costs()
    limits: RateLimits = RateLimits()
    invocation: InvocationPolicy = InvocationPolicy()
    access: sections.Access = sections.Access()
    context: sections.Context = sections.Context()
    conversation: sections.Conversation = sections.Conversation()
    workers: sections.Workers = sections.Workers()
    watchdog: sections.Watchdog = sections.Watchdog()
    delivery: sections.Delivery = sections.Delivery()
    memory: Memory = Memory()
    plans: Plans = Plans()
    grounding: Grounding = Grounding()
    heartbeat: Heartbeat = Heartbeat()
    agents: Agents = Agents()
    knowledge: Knowledge = Knowledge()
    database: sections.Database = sections.Database()
    storage: sections.Storage = sections.Storage()
    server: sections.Server = sections.Server()
    console: sections.Console = sections.Console()
    webhooks: sections.Webhooks = sections.Webhooks()
    observe: sections.Observe = sections.Observe()
    platforms: SerializeAsAny[Platforms] = Platforms()

    def accounts(self) -> tuple[Account, ...]:
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

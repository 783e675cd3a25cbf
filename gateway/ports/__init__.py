"""The seams between the gateway and everything that touches the outside, as small Protocols.

A class takes part by having the methods; nothing is registered. The facts of a platform that no
method shows are declared in its `Capabilities` and proven by `tests/contract`.
"""

from gateway.ports.abilities import (
    REMOTE_ABILITIES,
    CanAnswerInline,
    CanCheckLiveness,
    CanCheckMembership,
    CanClearButtons,
    CanDelete,
    CanDiagnose,
    CanFetchFiles,
    CanMarkRead,
    CanReact,
    CanReconnect,
    CanType,
    Check,
    Liveness,
)
from gateway.ports.activity import Activity, ActivityLog
from gateway.ports.adapter import (
    AdapterContext,
    AdapterState,
    Capabilities,
    CommandSpec,
    Counter,
    EventSink,
    PlatformAdapter,
)
from gateway.ports.clock import AlarmClock, Clock
from gateway.ports.identities import keep_ids, kept_ids
from gateway.ports.live import (
    CanShowLive,
    LiveStyle,
    LiveView,
)
from gateway.ports.manifest import (
    AccountSettings,
    AdapterManifest,
    SendPace,
)
from gateway.ports.membership import (
    MembershipCheck,
    MembershipStatus,
)
from gateway.ports.model import (
    ContentBlock,
    ImageBlock,
    LLMProvider,
    ModelEvent,
    ModelFinished,
    ModelMessage,
    ModelRequest,
    OpaqueBlock,
    StopReason,
    TextBlock,
    TextDelta,
    ToolCall,
    ToolOutcome,
    Usage,
)
from gateway.ports.tools import ServerState, ToolProvider
from gateway.ports.webhooks import (
    WebhookHandler,
    WebhookRequest,
    WebhookResponse,
    WebhookRoutes,
)
from gateway.tool_spec import ToolSpec

__all__ = [
    "REMOTE_ABILITIES",
    "AccountSettings",
    "Activity",
    "ActivityLog",
    "AdapterContext",
    "AdapterManifest",
    "AdapterState",
    "AlarmClock",
    "CanAnswerInline",
    "CanCheckLiveness",
    "CanCheckMembership",
    "CanClearButtons",
    "CanDelete",
    "CanDiagnose",
    "CanFetchFiles",
    "CanMarkRead",
    "CanReact",
    "CanReconnect",
    "CanShowLive",
    "CanType",
    "Capabilities",
    "Check",
    "Clock",
    "CommandSpec",
    "ContentBlock",
    "Counter",
    "EventSink",
    "ImageBlock",
    "LLMProvider",
    "LiveStyle",
    "LiveView",
    "Liveness",
    "MembershipCheck",
    "MembershipStatus",
    "ModelEvent",
    "ModelFinished",
    "ModelMessage",
    "ModelRequest",
    "OpaqueBlock",
    "PlatformAdapter",
    "SendPace",
    "ServerState",
    "StopReason",
    "TextBlock",
    "TextDelta",
    "ToolCall",
    "ToolOutcome",
    "ToolProvider",
    "ToolSpec",
    "Usage",
    "WebhookHandler",
    "WebhookRequest",
    "WebhookResponse",
    "WebhookRoutes",
    "keep_ids",
    "kept_ids",
]

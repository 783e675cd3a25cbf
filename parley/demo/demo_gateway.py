"""The gateway, as far as the demo looks at it; `parley.app.App` is one."""

from typing import Protocol

from gateway.ports.traces import Trace


class DemoGateway(Protocol):
    """A running Parley that tells what it decided."""

    async def decisions(self, limit: int) -> list[Trace]:
        """The latest traces, newest first, those of ignored messages included."""
        ...

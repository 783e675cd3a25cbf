"""What the running program remembers of what it decided, for whoever looks on."""

from collections import Counter, deque
from collections.abc import Callable
from dataclasses import dataclass, field

from gateway.ports.traces import Trace

MAX_RECENT = 1_000
MAX_COUNTERS = 5_000


@dataclass(slots=True)
class RecentActivity:
    """What is seen live: the latest decisions, and how often what happened. Nothing of it is
    stored, and both are bounded. `also` counts as well."""

    also: Callable[[str, str], None]
    recent: deque[Trace] = field(default_factory=lambda: deque(maxlen=MAX_RECENT))
    counts: Counter[tuple[str, str]] = field(default_factory=Counter)

    def count(self, what: str, detail: str = "") -> None:
        """Count an event under its name and detail."""
        self.also(what, detail)
        key = (what, detail)
        if key in self.counts or len(self.counts) < MAX_COUNTERS:
            self.counts[key] += 1

    def observe(self, trace: Trace) -> None:
        """Remember a trace for a while."""
        self.recent.append(trace)

"""Decisions that checked nothing, and the reason in words."""

from collections.abc import Mapping
from typing import Final

from gateway.policy.decision import Decision

SKIPPED: Final[Mapping[tuple[str, str], str]] = {
    ("access", "no_controller"): "no access controller is installed",
    ("access", "open"): "no access list is set: everybody is served",
    ("attachments", "none"): "the message has no files",
    ("budget", "no_budget"): "no budget is set",
    ("context", "memory_off"): "the person switched memory off",
    ("limits", "counted_before"): "the message was counted before",
    ("limits", "no_limits"): "no limits are set",
    ("memory", "nothing_kept"): "there was nothing to store",
    ("memory", "off"): "memory is off",
    ("recall", "no_memory"): "memory is off",
    ("recall", "nothing_to_recall"): "nothing is stored that could help",
    ("recall", "recall_failed"): "the search of memory failed",
    ("recall", "recall_too_slow"): "the search of memory took too long",
    ("response_filter", "not_public"): "the answer is not public",
    ("task", "none"): "no task was named",
}


def why_skipped(decision: Decision) -> str:
    """Return the reason why a check was not made, empty if it was made."""
    return SKIPPED.get((decision.stage, decision.reason), "") if decision.allowed else ""

"""The write path, through which every memory is stored."""

from memory.grounding.hedges import analyze_hedges
from memory.write.prepare import sanitize_brain_content
from memory.write.validate import validate
from safety.injection_detection.detect import detect_injection
from safety.secret_detection.detect import redact_secrets

__all__ = [
    "analyze_hedges",
    "detect_injection",
    "redact_secrets",
    "sanitize_brain_content",
    "validate",
]

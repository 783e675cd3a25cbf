"""The write path: everything that may be remembered passes through here."""

from memory.write.hedges import analyze_hedges

__all__ = ["analyze_hedges"]
